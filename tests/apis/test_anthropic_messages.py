"""Anthropic Messages: streams, and bodies beyond the corpus."""

import json

import pytest

from vsr_hallucination.apis.anthropic_messages import AnthropicMessages
from vsr_hallucination.apis.base import RequestUnreadable, ResponseUnreadable

API = AnthropicMessages()
W = "Depot K7 shipped 479 crates."
START = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "stop_reason": None}}
STOP = {"type": "message_stop"}


def block(index, **fields):
    return {"type": "content_block_start", "index": index, "content_block": {"type": "text", **fields}}


def delta(index, text):
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}


def ending(reason):
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}


def wire(*events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


@pytest.fixture(params=[1, 13, 1 << 20], ids=lambda size: f"by{size}")
def read(request):
    def assemble(*events, tail=b"", end=False):
        stream, data = API.assembler(1000), wire(*events) + tail
        for at in range(0, len(data), request.param):
            stream.feed(data[at : at + request.param])
        if end:
            stream.end()
        return stream

    return assemble


def text(stream):
    (answer,) = stream.view().answers
    return answer.text


def test_a15_a_text_in_the_start_block(read):
    stream = read(START, block(0, text="Depot K7 shipped 4"), delta(0, "79 crates."), ending("end_turn"), STOP)
    assert text(stream) == W and text(stream)[17:20] == "479"
    assert stream.terminal and not stream.unreadable


def test_a15_b_a_start_block_without_text(read):
    assert text(read(START, block(0), delta(0, W), STOP)) == W


def test_a15_c_two_blocks_without_stops(read):
    stream = read(START, block(0, text=""), delta(0, "Depot K7 "), block(1), delta(1, "shipped 479 crates."), STOP)
    assert text(stream) == W
    parts = stream.view().answers[0].parts
    assert [(part.path, part.start, part.end) for part in parts] == [
        ("$.content[0].text", 0, 9),
        ("$.content[1].text", 9, 28),
    ]


def test_a15_d_an_error_event(read):
    error = {"type": "error", "error": {"type": "overloaded_error"}}
    stream = read(START, block(0), delta(0, "Depot K7"), error, end=True)
    assert stream.failed and not stream.terminal


def test_a_stop_reason_and_the_end_are_terminal_a_bare_end_is_not(read):
    assert read(START, block(0), delta(0, W), ending("end_turn"), end=True).terminal
    assert not read(START, block(0), delta(0, W), end=True).terminal
    assert read(START, delta(0, W), ending("max_tokens"), STOP).view().incomplete


def test_thinking_tools_citations_and_pings_are_not_the_answer(read):
    stream = read(
        START,
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "480?"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "480"}},
        {"type": "content_block_stop", "index": 0},
        block(1),
        {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {}}},
        delta(1, W),
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{"}},
        STOP,
    )
    assert text(stream) == W and stream.terminal


@pytest.mark.parametrize("event", [delta(0, 5), {**delta(0, ""), "delta": "x"}, block(0, text=[])])
def test_an_event_that_cannot_be_read_is_never_clean(read, event):
    assert read(START, event, STOP).unreadable


def test_broken_json_in_an_event_of_this_api_is_never_clean(read):
    assert read(START, tail=b"event: content_block_delta\ndata: {\n\n").unreadable
    assert not read(START, tail=b"event: vendor\ndata: {\n\n").unreadable


def test_a_user_message_of_tool_results_is_no_prompt_but_one_with_text_is():
    result = {"type": "tool_result", "tool_use_id": "s", "content": "412"}
    messages = [{"role": "user", "content": "q"}, {"role": "user", "content": [result]}]
    body = {"messages": messages}
    assert API.read_request(json.dumps(body).encode()).prompt == "q"
    messages.append({"role": "user", "content": [result, {"type": "text", "text": "and now?"}]})
    assert API.read_request(json.dumps(body).encode()).prompt == "and now?"


@pytest.mark.parametrize("body", [b"{}", b'{"messages":[5]}', b'{"messages":[{"role":"user","content":[5]}]}'])
def test_an_unreadable_request_is_told(body):
    with pytest.raises(RequestUnreadable):
        API.read_request(body)


@pytest.mark.parametrize(
    "body", [b"{}", b'{"content":"x"}', b'{"content":[5]}', b'{"content":[{"type":"text","text":5}]}']
)
def test_an_unreadable_response_is_told(body):
    with pytest.raises(ResponseUnreadable):
        API.read_response(body)


def test_the_error_object_is_anthropics():
    body = json.loads(API.error_body(message="x", code="hallucination"))
    assert body["type"] == "error" and body["error"]["message"] == "x" and body["error"]["code"] == "hallucination"
