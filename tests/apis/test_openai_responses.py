"""Responses: where a stream says its text, and bodies beyond the corpus."""

import json

import pytest

from vsr_hallucination.apis.base import RequestUnreadable, ResponseUnreadable
from vsr_hallucination.apis.openai_responses import OpenAIResponses

API = OpenAIResponses()
W = "Depot K7 shipped 479 crates."


def delta(text, content=0, output=0):
    return {"type": "response.output_text.delta", "output_index": output, "content_index": content, "delta": text}


def done(text, content=0):
    return {"type": "response.output_text.done", "output_index": 0, "content_index": content, "text": text}


def ended(*texts, kind="completed", **fields):
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    output = [{"type": "message", "content": content}] if texts else []
    return {"type": f"response.{kind}", "response": {"status": kind, "error": None, "output": output, **fields}}


@pytest.fixture(params=[1, 13, 1 << 20], ids=lambda size: f"by{size}")
def read(request):
    def assemble(*events, end=False):
        data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        stream = API.assembler(1000)
        for at in range(0, len(data), request.param):
            stream.feed(data[at : at + request.param])
        if end:
            stream.end()
        return stream

    return assemble


def text(stream):
    assert not stream.unreadable and not stream.failed
    (answer,) = stream.view().answers
    return answer.text


def test_a14_a_deltas_and_an_empty_completed(read):
    stream = read({"type": "response.created", "response": {}}, delta(W[:9]), delta(W[9:]), ended())
    assert text(stream) == W and stream.terminal and not stream.view().incomplete


def test_a14_b_only_the_completed_event_has_text(read):
    stream = read(ended(W))
    assert text(stream) == W and stream.terminal
    assert stream.view().answers[0].parts[0].path == "$.output[0].content[0].text"


def test_a14_c_text_told_four_times_is_read_once(read):
    item = {"type": "message", "content": [{"type": "output_text", "text": W}]}
    part = {"type": "response.content_part.done", "part": {"type": "output_text", "text": W}}
    events = (delta(W[:9]), delta(W[9:]), done(W), part)
    stream = read(*events, {"type": "response.output_item.done", "output_index": 0, "item": item}, ended(W))
    assert text(stream) == W


def test_a14_d_two_parts(read):
    for events in ((delta("All is well. "), delta(W, 1)), (delta("All is well. "), ended("All is well. ", W))):
        stream = read(*events, ended())
        assert text(stream) == "All is well. " + W
        assert [part.path for part in stream.view().answers[0].parts] == [
            "$.output[0].content[0].text",
            "$.output[0].content[1].text",
        ]


def test_a14_e_an_incomplete_response(read):
    stream = read(delta(W[:9]), ended(W[:9], kind="incomplete"))
    assert text(stream) == W[:9] and stream.terminal and stream.view().incomplete


def test_items_counted_another_way_in_the_terminal_event_are_read_once(read):
    assert text(read(delta(W, output=3), ended(W))) == W


def test_two_texts_that_differ_are_never_clean(read):
    assert read(delta("Depot K7 shipped 412."), ended(W)).unreadable
    assert read(delta("Depot K7 shipped 412."), done(W), ended()).unreadable


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
        {"type": "error", "code": "x", "message": "y"},
        ended(error={"code": "x"}),
    ],
)
def test_a5_a_failed_response_is_never_terminal(read, event):
    stream = read(delta(W[:9]), event, end=True)
    assert stream.failed and not stream.terminal


def test_a6_a_stream_without_its_last_event_is_not_whole(read):
    assert not read(delta(W), done(W), end=True).terminal


def test_reasoning_and_arguments_are_not_the_answer(read):
    stream = read(
        {"type": "response.reasoning_summary_text.delta", "delta": "480?"},
        {"type": "response.function_call_arguments.delta", "delta": "480"},
        {"type": "response.reasoning_summary_part.done", "part": {"type": "summary_text", "text": "480?"}},
        {"type": "response.output_item.done", "item": {"type": "reasoning", "summary": [{"text": "480?"}]}},
        delta(W),
        ended(),
    )
    assert text(stream) == W


def test_the_same_text_told_for_ever_is_too_large():
    stream = API.assembler(1000)
    stream.feed(f"data: {json.dumps(delta('x' * 900))}\n\n".encode())
    stream.feed(f"data: {json.dumps(done('x'))}\n\n".encode() * 30)
    assert stream.too_large


@pytest.mark.parametrize("body", [b"[]", b'{"input":5}', b'{"input":[5]}', b'{"input":[{"role":"user","content":5}]}'])
def test_an_unreadable_request_is_told(body):
    with pytest.raises(RequestUnreadable):
        API.read_request(body)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"output":"x"}',
        b'{"output":[5]}',
        b'{"output":[{"content":"x"}]}',
        b'{"output":[{"content":[5]}]}',
        b'{"output":[{"content":[{"type":"output_text","text":5}]}]}',
    ],
)
def test_an_unreadable_response_is_told(body):
    with pytest.raises(ResponseUnreadable):
        API.read_response(body)


def test_a_joined_text_field_takes_the_notice_too():
    body = json.dumps({"output": [{"content": [{"type": "output_text", "text": W}]}], "output_text": W}).encode()
    assert API.prepend(body, {0: "N "}) == body.replace(W.encode(), b"N " + W.encode())
