"""Judges; case E3."""

from __future__ import annotations

import pytest

from support.model_server import Answer, error, in_turn, rubbish, running_models, says
from vsr_hallucination.evaluation.judge import (
    ExactJudge,
    Judgement,
    ModelJudge,
    Verdict,
    read_verdict,
    settled,
)
from vsr_hallucination.evaluation.providers.openai import OpenAIProvider, OpenAISettings
from vsr_hallucination.evaluation.ratelimit import SlidingWindow
from vsr_hallucination.evaluation.retry import Retries
from vsr_hallucination.evaluation.scoring import Item, State

ITEM = Item(0, "a", "How far is it?", "five miles", unknown_ok=False)


async def judged(*replies: Answer, answer: str = "8 km") -> tuple[Judgement, int, dict[str, object]]:
    with running_models(in_turn(*replies)) as server:
        provider = OpenAIProvider(OpenAISettings("judge", server.url, None))
        try:
            judge = ModelJudge(provider, SlidingWindow(None), Retries(0))
            found = await judge.judge(ITEM, answer)
        finally:
            await provider.aclose()
        return found, len(server.asked), server.asked[0].body


FENCED = '```json {"verdict":"correct"} ```'


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (FENCED, State.RIGHT),
        ("CORRECT.", State.RIGHT),
        ("YES", State.RIGHT),
        ("incorrect – although partly correct", State.WRONG),
        ("NO", State.WRONG),
        ("NOT_ATTEMPTED", State.ABSTAINED),
    ],
)
async def test_e3_verdicts_that_can_be_read(reply: str, state: State) -> None:
    found, requests, _ = await judged(says(reply))
    assert (found.state, requests) == (state, 1)


@pytest.mark.parametrize(
    "reply",
    [says(""), error(500), says('{"verdict":"cor'), says("Perhaps"), rubbish(), says("", finish="length")],
)
async def test_e3_what_cannot_be_read_is_asked_for_once_more_and_then_failed(reply: Answer) -> None:
    found, requests, _ = await judged(reply)
    assert found.state is State.JUDGE_FAILED
    assert requests <= 2
    assert found.detail


async def test_e3_the_second_reply_counts() -> None:
    found, requests, _ = await judged(says(""), says("YES"))
    assert (found.state, requests) == (State.RIGHT, 2)


async def test_the_judge_is_asked_for_few_tokens_with_a_fixed_seed() -> None:
    _, _, body = await judged(says("YES", finish="length"))
    assert (body["max_tokens"], body["temperature"], body["seed"], body["model"]) == (4, 0.0, 1234, "judge")


def test_e3_abstentions_are_settled_before_a_judge_is_asked() -> None:
    assert settled(ITEM, "I don't know") is State.ABSTAINED
    assert settled(ITEM, "five miles") is None
    trick = Item(0, "b", "What does the call that is not there return?", "", unknown_ok=True)
    assert settled(trick, "I don’t know.") is State.ABSTAINED
    assert settled(trick, "A bool") is State.WRONG


async def test_the_exact_judge_needs_no_model() -> None:
    assert (await ExactJudge().judge(ITEM, "Five miles.")).state is State.RIGHT
    assert (await ExactJudge().judge(ITEM, "5 km")).state is State.WRONG


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("yes.", Verdict.RIGHT), ("**Yes**", Verdict.RIGHT), ("Verdict: NO", Verdict.WRONG),
        ("not correct", Verdict.WRONG),
        ("The answer is correct", Verdict.RIGHT), ('{"correct": false}', Verdict.WRONG), ("正确", Verdict.RIGHT),
        ("不正确", Verdict.WRONG), ("No, because", Verdict.WRONG), ("nothing", None), ("yesterday", None),
        ("No answer", None), ("[]", None), ("{", None), ('{"verdict": 7}', None), ("```json", None),
        ("{" * 50_000, None),
    ],
)  # fmt: skip
def test_reading_a_verdict(reply: str, verdict: Verdict | None) -> None:
    assert read_verdict(reply) is verdict
