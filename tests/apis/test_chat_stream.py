"""Chat streams: the cases of group A, each at several chunkings."""

import json

import pytest

from vsr_hallucination.apis.openai_chat import OpenAIChat

W = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."
G = W.replace("479", "412")
DONE = "[DONE]"


def delta(text, index=0, **choice):
    return {"choices": [{"index": index, "delta": {"content": text}, **choice}]}


def wire(*events):
    lines = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def assemble(data, size, limit=1 << 20):
    stream = OpenAIChat().assembler(limit)
    for at in range(0, len(data), size):
        stream.feed(data[at : at + size])
    return stream


@pytest.fixture(params=[1, 2, 3, 17, 1 << 20], ids=lambda size: f"by{size}")
def read(request):
    return lambda data, **more: assemble(data, request.param, **more)


def texts(stream):
    return {answer.index: answer.text for answer in stream.view().answers}


def test_a2_framing(read):
    data = (
        b'\xef\xbb\xbfdata:{"choices":[{"index":0,"delta":{"content":"Depot K7 shipped 479"}}]}\r\n\r\n'
        b'data:{"choices":[{"index":0,"delta":{"content":" crates. \xef\xbb\xbf"},"finish_reason":"stop"}]}'
        b"\r\n\r\ndata:[DONE]\r\n\r\n"
    )
    stream = read(data)
    assert texts(stream) == {0: "Depot K7 shipped 479 crates. \ufeff"}
    assert stream.terminal and not stream.unreadable and not stream.failed


def test_a4_chunks_with_nothing_in_them(read):
    stream = read(
        wire(
            {"id": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
            {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
            delta(W[:20]),
            delta(W[20:]),
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"check_offset": 44}}]},
            {"usage": {"completion_tokens": 9}},
            {"choices": None, "error": None},
            DONE,
        )
    )
    assert texts(stream) == {0: W}
    assert stream.terminal and stream.finished_choices and not stream.unreadable


@pytest.mark.parametrize(
    "tail",
    [
        wire({"error": {"message": "queue full", "code": None}}, DONE),
        wire({"error": "queue full"}, DONE),
        b"event: error\n" + wire({"message": "queue full"}) + wire(DONE),
        b"event: error\r\n\r\ndata: [DONE]\n\n",
        wire({"object": "error", "message": "x"}, DONE),
        wire({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}, DONE),
    ],
)
def test_a5_an_error_event_is_never_terminal(read, tail):
    stream = read(wire(delta(W[:30])) + tail)
    stream.end()
    assert stream.failed and not stream.terminal and stream.view().error


def test_a5_an_error_without_framing(read):
    stream = read(b'{"error":"queue full",\n"error_type":"overloaded"}')
    stream.end()
    assert stream.failed and not stream.terminal


def test_a6_a_finish_without_done(read):
    stream = read(wire(delta(W, finish_reason="stop")))
    assert stream.finished_choices and not stream.terminal
    stream.end()
    assert stream.terminal and texts(stream) == {0: W}


def test_a6_b_only_nulls_then_done(read):
    stream = read(wire(delta(W, finish_reason=None), DONE))
    assert stream.terminal and not stream.finished_choices


def test_a6_c_d_only_nulls_then_the_end(read):
    for tail in (b"", wire({"choices": [], "usage": {}})):
        stream = read(wire(delta(W, finish_reason=None)) + tail)
        stream.end()
        assert not stream.terminal


def test_a6_one_of_two_choices_did_not_finish(read):
    stream = read(wire(delta(G, 0, finish_reason="stop"), delta(W[:9], 1)))
    stream.end()
    assert not stream.terminal


def test_a6_done_alone_and_an_empty_stream(read):
    assert read(wire(DONE)).terminal and not texts(read(wire(DONE)))
    empty = read(b": ping\n\n")
    empty.end()
    assert not empty.terminal and not empty.unreadable


def test_events_after_done_do_not_count(read):
    stream = read(wire(delta(G, finish_reason="stop"), DONE, delta(W), {"error": "late"}))
    stream.end()
    assert texts(stream) == {0: G} and stream.terminal and not stream.failed


def test_a8_text_beside_reasoning_and_finish(read):
    last = {"reasoning_content": "ok", "content": "00 euros, 31 % more than in April."}
    stream = read(
        wire(
            delta("Depot K7 shipped 412 crates in May at a cost of 9,5"),
            {"choices": [{"index": 0, "delta": last, "finish_reason": "stop"}]},
            DONE,
        )
    )
    assert texts(stream) == {0: "Depot K7 shipped 412 crates in May at a cost of 9,500 euros, 31 % more than in April."}


def interleaved(numbered=True):
    events = []
    for at in range(0, len(W), 6):
        for index, text in enumerate((G, W)):
            choice = {"delta": {"content": text[at : at + 6]}, **({"index": index} if numbered else {})}
            events.append(choice)
    return events


def test_a9_interleaved_choices(read):
    choices = interleaved()
    across = wire(*({"choices": [choice]} for choice in choices), DONE)
    inside = wire(*({"choices": choices[at : at + 2][::-1]} for at in range(0, len(choices), 2)), DONE)
    for data in (across, inside):
        stream = read(data)
        assert texts(stream) == {0: G, 1: W} and not stream.unreadable
        assert [part.path for part in stream.view().answers[1].parts] == ["$.choices[?@.index==1].delta.content"]


def test_a9_without_index_positions_count(read):
    choices = interleaved(numbered=False)
    stream = read(wire(*({"choices": choices[at : at + 2]} for at in range(0, len(choices), 2)), DONE))
    assert texts(stream) == {0: G, 1: W}


def test_a9_choices_that_cannot_be_told_apart_are_not_clean(read):
    ends = [{"choices": [{"delta": {}, "finish_reason": "stop"}]}] * 2
    assert read(wire(*({"choices": [choice]} for choice in interleaved(numbered=False)), *ends, DONE)).unreadable


def test_a10_content_as_a_list(read):
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "maybe 480?"}]},
        {"type": "text", "text": "Depot K7 shipped "},
        {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": "479"},
    ]
    assert texts(read(wire(delta(parts), delta(" crates."), DONE))) == {0: "Depot K7 shipped 479 crates."}


def test_a12_nan_in_an_event(read):
    logprobs = {"content": [{"logprob": float("-inf")}, {"logprob": float("nan")}]}
    event = json.dumps(delta("K7", logprobs=logprobs))
    assert "-Infinity" in event
    assert texts(read(wire(event, DONE))) == {0: "K7"}


def test_a_whole_message_in_an_event(read):
    whole = {"object": "chat.completion", "choices": [{"index": 0, "message": {"content": W}, "finish_reason": "stop"}]}
    for events in ((whole,), (delta(W[:20]), whole)):
        stream = read(wire(*events, DONE))
        assert texts(stream) == {0: W} and not stream.unreadable
    assert read(wire(delta(G), whole, DONE)).unreadable


def test_a_json_body_that_was_announced_as_a_stream(read):
    body = {"choices": [{"index": 0, "message": {"content": W}, "finish_reason": "stop"}]}
    for data in (json.dumps(body), json.dumps(body, indent=2)):
        stream = read(data.encode())
        stream.end()
        assert stream.unreadable and stream.terminal and not stream.view().answers
    cut = read(json.dumps(body).encode()[:40])
    cut.end()
    assert cut.unreadable and not cut.terminal


@pytest.mark.parametrize(
    "event", ["{", "5", "null", '{"choices":{}}', '{"choices":[3]}', '{"choices":[{"delta":"x"}]}']
)
def test_an_event_that_cannot_be_read_is_never_clean(read, event):
    assert read(wire(delta(G, finish_reason="stop"), event, DONE)).unreadable


def test_other_events_pass(read):
    data = b"event: ping\ndata: hello\n\n" + wire({"type": "ping"}, delta(G), "", DONE)
    stream = read(data)
    assert texts(stream) == {0: G} and not stream.unreadable


def test_a_cut_last_event_is_no_end(read):
    stream = read(wire(delta(G, finish_reason="stop"))[:-2] + b'\n\ndata: {"choices":[{"index":1,"del')
    stream.end()
    assert not stream.terminal


def test_a_last_event_without_blank_line_counts(read):
    stream = read(wire(delta(G)) + b"data: [DONE]")
    assert not stream.terminal
    stream.end()
    assert stream.terminal


def test_the_text_is_bounded(read):
    stream = read(wire(*[delta("word ")] * 30, delta("", finish_reason="stop"), DONE), limit=100)
    assert stream.too_large and stream.terminal
    assert read(wire(delta("x" * 300), DONE), limit=100).too_large
    many = wire({"choices": [{"index": at, "delta": {}} for at in range(5000)]})
    assert assemble(many, 1 << 20).too_large


def test_a_character_cut_over_events_is_one(read):
    data = rb'data: {"choices":[{"index":0,"delta":{"content":"a\ud83d"}}]}' + b"\n\n"
    data += rb'data: {"choices":[{"index":0,"delta":{"content":"\ude00b"}}]}' + b"\n\n"
    assert texts(read(data)) == {0: "a\U0001f600b"}


def test_a_length_finish_is_incomplete(read):
    stream = read(wire(delta(W, finish_reason="length"), DONE))
    assert stream.view().incomplete and stream.terminal
