"""Chat completions: what hostile and odd bodies do, beyond the corpus."""

import json

import pytest

from vsr_hallucination.apis.base import RequestUnreadable, ResponseUnreadable
from vsr_hallucination.apis.openai_chat import OpenAIChat

API = OpenAIChat()
W = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."
G = W.replace("479", "412")


def request(messages, **more):
    return API.read_request(json.dumps({"model": "m", "messages": messages, **more}).encode())


def response(*choices, **more):
    return json.dumps({"choices": list(choices), **more}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'"x"',
        b"{",
        b"{}",
        b'{"messages":{}}',
        b'{"messages":[1]}',
        b'{"messages":[{}]}',
        b'{"messages":[{"role":"user","content":5}]}',
        b"[" * 90_000,
    ],
)
def test_an_unreadable_request_is_told_without_its_text(body):
    with pytest.raises(RequestUnreadable):
        API.read_request(body)


@pytest.mark.parametrize("model, stream", [(None, None), (5, "yes"), ([], 1), ({}, {})])
def test_wrong_types_beside_the_messages_are_ignored(model, stream):
    view = API.read_request(json.dumps({"messages": [], "model": model, "stream": stream, "documents": None}).encode())
    assert (view.model, view.stream, view.prompt) == (None, False, "")


def test_b6_results_without_content():
    view = request([{"role": "tool"}, {"role": "tool", "content": 7}, {"role": "tool", "content": {"a": 1}}])
    assert not view.grounding and [one.kind for one in view.grounding.unread] == ["unknown", "unknown"]


def test_b7_a_list_of_tools_is_no_evidence():
    assert not request(
        [{"role": "user", "content": "q"}], tools=[{"type": "function", "function": {"name": "f"}}]
    ).grounding


def test_a_lone_surrogate_is_one_code_point():
    view = API.read_request(rb'{"messages":[{"role":"user","content":"\ud800!"}]}')
    assert view.prompt == "\ud800!"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"<html>",
        b"{}",
        b'{"choices":{}}',
        b'{"choices":[5]}',
        b'{"choices":[{"message":"x"}]}',
        b'{"choices":[{"message":{"content":7}}]}',
        b'{"choices":[{"message":{"content":[7]}}]}',
    ],
)
def test_an_unreadable_response_is_told(body):
    with pytest.raises(ResponseUnreadable):
        API.read_response(body)
    with pytest.raises(ResponseUnreadable):
        API.prepend(body, {0: "x"})


def test_a5_d_errors_inside_a_200():
    for body in (
        {"error": "top_p out of range", "error_type": "validation"},
        {"object": "error", "message": "x", "code": 400},
        {"choices": [{"error": {"code": 502}, "message": {"content": ""}}]},
        {"choices": [{"finish_reason": "error", "message": {"content": None}}]},
        {"choices": [], "error": {"message": "queue full"}},
    ):
        view = API.read_response(json.dumps(body).encode())
        assert view.error and not view.answers
    assert not API.read_response(response({"message": {"content": G}}, error=None)).error


def test_a9_choices_by_their_own_index():
    one, zero = {"index": 1, "message": {"content": W}}, {"index": 0, "message": {"content": G}}
    assert [(a.index, a.text) for a in API.read_response(response(one, zero)).answers] == [(1, W), (0, G)]
    body = response(one, zero)
    assert API.prepend(body, {1: "N: "}) == body.replace(W.encode(), b"N: " + W.encode())


@pytest.mark.parametrize("index", [{}, {"index": None}, {"index": 3}, {"index": True}, {"index": -1}])
def test_a9_without_usable_indices_positions_count(index):
    body = response({**index, "message": {"content": G}}, {**index, "message": {"content": W}})
    assert [(a.index, a.text) for a in API.read_response(body).answers] == [(0, G), (1, W)]
    assert API.prepend(body, {1: "N: "}) == body.replace(W.encode(), b"N: " + W.encode())


def test_a_choice_without_text_takes_no_notice():
    body = response({"message": {"content": None, "refusal": "no"}}, {"message": {"content": [{"type": "x"}]}}, {})
    assert API.prepend(body, {0: "N", 1: "N", 2: "N"}) == body
    assert [a.text for a in API.read_response(body).answers] == ["", "", ""]


@pytest.mark.parametrize("text", ["a</think>b", "<|channel|>analysis<|message|>480?<|end|>K7", "Put `<think>` first."])
def test_d10_all_visible_text_is_the_answer_in_body_and_stream(text):
    assert API.read_response(response({"message": {"content": text}})).answers[0].text == text
    stream = API.assembler(1000)
    for piece in (text[:5], text[5:]):
        event = {"choices": [{"index": 0, "delta": {"content": piece}}]}
        stream.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
    assert stream.view().answers[0].text == text


def test_the_error_object_is_openais():
    body = json.loads(API.error_body(message="Blocked – see x", code="hallucination_detected", param="messages"))
    assert body == {
        "error": {
            "message": "Blocked – see x",
            "type": "hallucination_blocked",
            "param": "messages",
            "code": "hallucination_detected",
        }
    }
