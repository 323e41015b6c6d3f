"""Completions: echo, token ids, streams."""

import json

import pytest

from vsr_hallucination.apis.base import RequestUnreadable, ResponseUnreadable, without_echo
from vsr_hallucination.apis.openai_completions import OpenAICompletions

API = OpenAICompletions()
PROMPT = "<context>K7: 412 crates</context>\nQ: K7 in May? A:"


def request(**fields):
    return API.read_request(json.dumps({"model": "m", **fields}).encode())


def bodies(*texts):
    return json.dumps({"choices": [{"index": at, "text": text} for at, text in enumerate(texts)]}).encode()


def stream(*texts):
    assembler = API.assembler(1000)
    for text in texts:
        assembler.feed(b"data: " + json.dumps({"choices": [{"index": 0, "text": text}]}).encode() + b"\n\n")
    assembler.feed(b"data: [DONE]\n\n")
    return assembler


def test_b9_an_echoed_prompt_is_not_the_answer():
    asked = request(prompt=PROMPT, echo=True)
    for view in (API.read_response(bodies(PROMPT + " 479 crates.")), stream(PROMPT, " 479", " crates.").view()):
        (answer,) = without_echo(view, asked).answers
        assert answer.text[answer.skip :] == " 479 crates."
        assert answer.text.index("479") == len(PROMPT) + 1  # offsets count from the whole text


def test_b9_each_choice_meets_its_own_prompt():
    asked = request(prompt=["one", "two"], n=2, echo=True)
    view = API.read_response(bodies("one 1", "one 2", "two 3", "other"))
    assert [answer.skip for answer in without_echo(view, asked).answers] == [3, 3, 3, 0]


def test_without_echo_nothing_is_skipped():
    view = API.read_response(bodies(PROMPT + " 479"))
    assert without_echo(view, request(prompt=PROMPT)) == view


@pytest.mark.parametrize("prompt", [5, {}, [5, "x"], ["x", None], [[1, "x"]], [True]])
def test_a_prompt_of_the_wrong_type_is_unreadable(prompt):
    with pytest.raises(RequestUnreadable):
        request(prompt=prompt)


def test_an_absurd_number_of_choices_is_refused():
    with pytest.raises(RequestUnreadable):
        request(prompt="x", n=10**9, echo=True)


def test_a_text_of_the_wrong_type_is_unreadable():
    with pytest.raises(ResponseUnreadable):
        API.read_response(b'{"choices":[{"text":5}]}')
    assert stream(5).unreadable


def test_a4_a6_streams_end_like_those_of_chat():
    assembler = API.assembler(1000)
    assembler.feed(b'data: {"choices":[{"index":0,"text":"a","finish_reason":"length"}]}\n\ndata: {"choices":[]}\n\n')
    assert assembler.finished_choices and not assembler.terminal
    assembler.end()
    assert assembler.terminal and assembler.view().incomplete
    assert [part.path for part in assembler.view().answers[0].parts] == ["$.choices[?@.index==0].text"]
