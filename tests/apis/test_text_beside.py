"""An error beside text switches no check off, and text in a shape that is not read is never taken for checked."""

import json

import pytest

from vsr_hallucination.apis.base import ResponseUnreadable
from vsr_hallucination.apis.registry import api_for_path

G, W = "All is well. ", "Depot K7 shipped 479 crates."
CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
RESPONSES, MESSAGES = "/v1/responses", "/v1/messages"


def read(path, body):
    return api_for_path(path).read_response(json.dumps(body).encode())


def stream(path, *events, done=True):
    assembler = api_for_path(path).assembler(10_000)
    for event in events:
        assembler.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
    if done:
        assembler.feed(b"data: [DONE]\n\n")
    assembler.end()
    return assembler


def chat(content, **message):
    return {"choices": [{"index": 0, "message": {"content": content, **message}, "finish_reason": "stop"}]}


def event(content, **delta):
    return {"choices": [{"index": 0, "delta": {"content": content, **delta}}]}


def items(*content, **fields):
    return {"output": [{"type": "message", "content": list(content)}], **fields}


def output(text):
    return {"type": "output_text", "text": text}


def text(value):
    return {"type": "text", "text": value}


BODIES = {
    CHAT: chat(W),
    COMPLETIONS: {"choices": [{"index": 0, "text": W, "finish_reason": "stop"}]},
    RESPONSES: items(output(W)),
    MESSAGES: {"type": "message", "content": [text(W)]},
}
ERRORS = [
    {"error": "none"},
    {"error": True},
    {"error": {"code": 0}},
    {"error": {"type": "overloaded_error", "message": "x"}},
    {"object": "error"},
    {"type": "error"},
    {"error": ""},
]


@pytest.mark.parametrize("error", ERRORS, ids=json.dumps)
@pytest.mark.parametrize("path", BODIES)
def test_a5_d_text_beside_an_error_is_checked(path, error):
    view = read(path, BODIES[path] | error)
    assert not view.error and [answer.text for answer in view.answers] == [W]
    body = json.dumps(BODIES[path] | error).encode()
    rewritten = api_for_path(path).prepend(body, {0: "N "})
    assert [answer.text for answer in api_for_path(path).read_response(rewritten).answers] == ["N " + W]


def test_a5_d_one_failed_choice_of_two_hides_nothing():
    failed = {"index": 1, "message": {"content": ""}, "finish_reason": "error", "error": {"code": 502}}
    for more in (failed, failed | {"message": {"content": G}}):
        view = read(CHAT, {"choices": [*chat(W)["choices"], more]})
        assert not view.error and view.incomplete and view.answers[0].text == W


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a5_d_a_failed_response_with_text_is_checked_as_cut(status):
    view = read(RESPONSES, items(output(W), status=status, error={"code": "server_error"}))
    assert not view.error and view.incomplete and view.answers[0].text == W
    assert read(RESPONSES, {"status": status, "error": {"code": "server_error"}, "output": []}).error
    with pytest.raises(ResponseUnreadable):
        read(RESPONSES, {"status": status, "output_text": W})


@pytest.mark.parametrize("path", BODIES)
def test_a5_d_an_error_alone_is_an_error(path):
    for body in ({"error": "queue full"}, {"object": "error", "message": "x"}, {"type": "error", "error": {}}):
        assert read(path, body).error


@pytest.mark.parametrize("error", ERRORS, ids=json.dumps)
def test_a5_stream_events_with_text_are_read_beside_an_error(error):
    for one in (stream(CHAT, event(W) | error), stream(COMPLETIONS, BODIES[COMPLETIONS] | error)):
        assert not one.failed and one.terminal and one.view().answers[0].text == W


def test_a5_a_stream_event_of_a_failed_choice_with_text_is_read():
    last = {"choices": [{"index": 0, "delta": {"content": W}, "finish_reason": "error"}]}
    assert stream(CHAT, last).view().incomplete and not stream(CHAT, last).failed
    last["choices"][0]["delta"]["content"] = ""
    assert stream(CHAT, event(W), last).failed


def test_a5_an_error_inside_an_event_with_text_of_the_other_apis():
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": W}, "error": "none"}
    one = stream(MESSAGES, delta, {"type": "message_stop", "error": "none"}, done=False)
    assert not one.failed and one.terminal and one.view().answers[0].text == W
    delta = {"type": "response.output_text.delta", "delta": W, "error": "none"}
    one = stream(
        RESPONSES, delta, {"type": "response.completed", "response": items(output(W), error="none")}, done=False
    )
    assert not one.failed and one.terminal and one.view().answers[0].text == W


def test_a5_a_body_with_text_where_a_stream_was_announced_is_no_error():
    for path, body in BODIES.items():
        one = api_for_path(path).assembler(10_000)
        one.feed(json.dumps(body | {"error": "none"}).encode())
        one.end()
        assert not one.failed and one.unreadable


PARTS = [
    {"type": "markdown", "text": W},
    {"type": "TEXT", "text": W},
    {"type": 5, "text": W},
    {"type": ["text"], "text": W},
    {"type": "text", "text": {"value": W}},
    {"type": "text", "text": [W]},
    {"type": "text", "text": G, "transcript": W},
    {"type": "group", "content": [{"type": "text", "text": W}]},
    {"type": "x", "content": W},
    {"type": "audio", "audio": {"transcript": W}},
    {"type": "card", "body": {"lines": [{"text": {"value": W}}]}},
    {"type": "refusal", "refusal": W},
]


@pytest.mark.parametrize("part", PARTS, ids=json.dumps)
def test_a10_a_part_with_text_that_is_not_read_is_never_clean(part):
    for path, body in (
        (CHAT, chat([text(G), part])),
        (RESPONSES, items(output(G), part)),
        (MESSAGES, {"content": [text(G), part]}),
    ):
        with pytest.raises(ResponseUnreadable):
            read(path, body)
        with pytest.raises(ResponseUnreadable):
            api_for_path(path).prepend(json.dumps(body).encode(), {0: "N"})
    assert stream(CHAT, event(G), event([part])).unreadable
    started = {"type": "content_block_start", "index": 1, "content_block": part}
    clean = {"type": "content_block_start", "index": 0, "content_block": text(G)}
    if part["type"] != "refusal":
        assert stream(MESSAGES, clean, started, {"type": "message_stop"}).unreadable
    told = {"type": "response.output_text.delta", "delta": G}
    for kind in ("added", "done"):
        one = {"type": f"response.content_part.{kind}", "content_index": 1, "part": part}
        assert stream(RESPONSES, told, one, {"type": "response.completed", "response": {}}).unreadable


SILENT = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "maybe 480?"}]},
    {"type": "reasoning", "text": "maybe 480?"},
    {"type": "redacted_thinking", "data": "Zm9v"},
    {"type": "reference", "reference_ids": [1], "text": "report"},
    {"type": "image_url", "image_url": {"url": "https://example.org/k7.png"}},
    {"type": "tool_use", "id": "t", "name": "f", "input": {"text": "480"}},
    {"type": "web_search_tool_result", "content": [{"type": "text", "text": "480"}]},
    {"type": "mystery", "text": "", "content": []},
]


@pytest.mark.parametrize("part", SILENT, ids=json.dumps)
def test_a10_a_part_that_is_not_the_answer_is_passed_over(part):
    cited = {**text(W), "citations": [{"type": "char_location", "cited_text": "412", "text": "412"}]}
    assert read(CHAT, chat([part, text(W)])).answers[0].text == W
    assert read(MESSAGES, {"content": [part, cited]}).answers[0].text == W
    noted = {**output(W), "annotations": [{"text": "480"}], "logprobs": [{"token": "K7", "text": "K7"}]}
    assert read(RESPONSES, {"output": [{"type": "reasoning", "content": [text("480")]}, *items(part, noted)["output"]]})
    assert not stream(CHAT, event([part]), event(W)).unreadable


@pytest.mark.parametrize(
    "choice",
    [
        {"text": W},
        {"output_text": [W]},
        {"delta": {"content": W}},
        {"delta": {"text": W}},
        {"message": {"content": G, "text": W}},
        {"message": {"content": G, "audio": {"id": "a", "transcript": W}}},
        {"message": {"content": None, "audio": {"transcript": W}}},
        {"message": {"content": G, "refusal": W}},
        {"message": {"content": G, "output_text": {"value": W}}},
    ],
    ids=json.dumps,
)
def test_a8_chat_text_beside_the_content_is_never_clean(choice):
    with pytest.raises(ResponseUnreadable):
        read(CHAT, {"choices": [{"message": {"content": G}} | choice]})


@pytest.mark.parametrize(
    "choice",
    [
        {"text": W},
        {"message": {"content": W}},
        {"delta": {"content": G, "text": W}},
        {"delta": {"audio": {"transcript": W}}},
        {"delta": {"refusal": W}},
    ],
    ids=json.dumps,
)
def test_a8_chat_stream_text_beside_the_content_is_never_clean(choice):
    one = {"choices": [{"index": 0, "delta": {"content": G}} | choice]}
    assert stream(CHAT, event(G), one).unreadable


def test_a_refusal_alone_is_no_text():
    assert read(CHAT, chat(None, refusal="No.")).answers[0].text == ""
    assert read(RESPONSES, items({"type": "refusal", "refusal": "No."})).answers[0].text == ""
    one = stream(CHAT, event(None, refusal="No."))
    assert not one.unreadable and one.view().answers[0].text == ""
    told = {"type": "response.refusal.delta", "delta": "No."}
    ended = {"type": "response.completed", "response": items({"type": "refusal", "refusal": "No."})}
    assert not stream(RESPONSES, told, ended).unreadable
    assert stream(RESPONSES, {"type": "response.output_text.delta", "delta": G}, told, ended).unreadable


@pytest.mark.parametrize("choice", [{"message": {"content": W}}, {"delta": {"content": W}}, {"transcript": W}])
def test_a8_completions_text_in_the_shapes_of_chat_is_never_clean(choice):
    body = {"choices": [{"index": 0, "text": G} | choice]}
    with pytest.raises(ResponseUnreadable):
        read(COMPLETIONS, body)
    assert stream(COMPLETIONS, body).unreadable


@pytest.mark.parametrize(
    "body",
    [
        {"output": [*items(output(G))["output"], {"type": "Message", "content": [output(W)]}]},
        {"output": [*items(output(G))["output"], {"type": None, "content": [output(W)]}]},
        {"output": [{"type": "message", "content": [output(G)], "text": W}]},
        items(output(G), output_text=W),
        {"output": [], "output_text": W},
    ],
    ids=json.dumps,
)
def test_a14_responses_text_elsewhere_is_never_clean(body):
    with pytest.raises(ResponseUnreadable):
        read(RESPONSES, body)
    told = {"type": "response.output_text.delta", "delta": G}
    assert stream(RESPONSES, told, {"type": "response.completed", "response": body}).unreadable
    done = {
        "type": "response.output_item.done",
        "output_index": 1,
        "item": body["output"][-1] if body["output"] else {},
    }
    if "output_text" not in body:
        assert stream(RESPONSES, told, done, {"type": "response.completed", "response": {}}).unreadable


def test_a14_responses_items_that_are_not_the_answer_are_passed_over():
    others = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "480"}]},
        {"type": "function_call", "name": "f", "arguments": '{"text":"480"}'},
        {"type": "file_search_call", "results": [{"text": "480"}]},
        {"type": "mcp_list_tools", "tools": [{"name": "f", "input_schema": {"properties": {"text": "x"}}}]},
    ]
    body = {"output": [*others, *items(output(W))["output"]], "output_text": W, "text": {"format": {"type": "text"}}}
    assert read(RESPONSES, body).answers[0].text == W
    created = {"type": "response.created", "response": {"text": {"format": {"type": "text"}}, "output": []}}
    one = stream(RESPONSES, created, {"type": "response.completed", "response": body})
    assert not one.unreadable and one.view().answers[0].text == W


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.audio.transcript.delta", "delta": W},
        {"type": "response.text.delta", "delta": W},
        {"type": "response.mystery", "part": {"text": W}},
    ],
    ids=json.dumps,
)
def test_a14_responses_events_with_text_that_are_not_known_are_never_clean(event):
    told = {"type": "response.output_text.delta", "delta": G}
    assert stream(RESPONSES, told, event, {"type": "response.completed", "response": {}}).unreadable


@pytest.mark.parametrize("delta", [{"type": "Text_delta", "text": W}, {"text": W}, {"type": 5, "text": [W]}])
def test_a15_anthropic_deltas_with_text_that_are_not_known_are_never_clean(delta):
    clean = {"type": "content_block_start", "index": 0, "content_block": text(G)}
    one = {"type": "content_block_delta", "index": 0, "delta": delta}
    assert stream(MESSAGES, clean, one, {"type": "message_stop"}).unreadable


@pytest.mark.parametrize("block", [{"text": W}, {"type": None, "text": W}, {"type": "md", "text": W}])
def test_a15_anthropic_blocks_without_a_known_type_are_never_clean(block):
    with pytest.raises(ResponseUnreadable):
        read(MESSAGES, {"content": [text(G), block]})


def test_of_a_key_told_twice_the_last_counts():
    body = b'{"choices":[{"message":{"content":"first","content":"last"}}]}'
    assert api_for_path(CHAT).read_response(body).answers[0].text == "last"
