"""Judges: the exact one, and a model that says YES or NO. Both see only answers: abstentions and questions without an
answer are settled before, in one place (``settled``)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vsr_hallucination.evaluation.abstention import is_abstention
from vsr_hallucination.evaluation.grading import exact
from vsr_hallucination.evaluation.prompts import JUDGE_SYSTEM, judge_prompt
from vsr_hallucination.evaluation.providers.base import Ask, Provider, Unavailable
from vsr_hallucination.evaluation.ratelimit import SlidingWindow
from vsr_hallucination.evaluation.retry import Retries, ask_with_retries
from vsr_hallucination.evaluation.scoring import Item, State


class Verdict(StrEnum):
    """What a judge's reply says of an answer."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_ATTEMPTED = "not_attempted"


@dataclass(frozen=True, slots=True)
class Judgement:
    """``state``: RIGHT, WRONG, ABSTAINED or JUDGE_FAILED (``detail`` says why)."""

    state: State
    detail: str = ""


class Judge(Protocol):
    """Says whether an answer is right. Never raises but cancellation."""

    @property
    def name(self) -> str: ...

    async def judge(self, item: Item, answer: str) -> Judgement: ...


def settled(item: Item, answer: str) -> State | None:
    """What needs no judge: an abstention, and any answer to a question that has none."""
    if is_abstention(answer, item.gold):
        return State.ABSTAINED
    return State.WRONG if item.unknown_ok else None


class ExactJudge:
    """By the rules of ``grading``."""

    name = "exact"

    async def judge(self, item: Item, answer: str) -> Judgement:
        return Judgement(State.RIGHT if exact(answer, item.gold) else State.WRONG)


class ModelJudge:
    """By a model, asked at temperature 0 for one word. An unreadable reply is asked for once more, then given up:
    it is ``judge_failed``, never right or wrong."""

    name = "llm"

    def __init__(
        self, provider: Provider, window: SlidingWindow, retries: Retries, *, max_tokens: int = 4
    ) -> None:
        self._provider, self._window, self._retries = provider, window, retries
        self._max_tokens = max_tokens

    async def judge(self, item: Item, answer: str) -> Judgement:
        ask = Ask(judge_prompt(item.question, item.gold, answer), JUDGE_SYSTEM, self._max_tokens)
        detail = ""
        for _ in range(2):
            try:
                reply, _ = await ask_with_retries(self._provider, ask, self._window, self._retries)
            except Unavailable as error:
                detail = f"{error.kind}: {error.detail}"
                if error.retry:  # its retries are used up
                    break
                continue
            verdict = read_verdict(reply.text)
            if verdict is Verdict.NOT_ATTEMPTED:
                return Judgement(State.ABSTAINED, "by the judge")
            if verdict is not None:
                return Judgement(State.RIGHT if verdict is Verdict.RIGHT else State.WRONG)
            detail = "its reply is neither YES nor NO"
        return Judgement(State.JUDGE_FAILED, detail)


_FENCE = re.compile(r"```[a-zA-Z]*\s*(.*?)```", re.DOTALL)
_OBJECT = re.compile(r"\{[^{}]{0,2000}\}", re.DOTALL)
_KEYS = ("verdict", "grade", "answer", "label", "result", "judgement", "judgment", "correct", "is_correct")
_LEAD = re.compile(
    r"^(?:(?:my |the |final )*(?:verdict|grade|answer|judge?ment|label)\s*(?:is)?\s*[:：=]?\s*)"
)
_WORDS = (
    (
        Verdict.NOT_ATTEMPTED,
        r"not[ _-]?attempted\b|did not attempt\b|no attempt\b|abstain(?:s|ed)?\b|abstention\b|idk\b",
    ),
    (
        Verdict.WRONG,
        r"no(?:$|\W(?!\w)|(?= (?:the|it|this|that|they|because)\b))|incorrect\b|wrong\b"
        r"|not (?:correct|right|equivalent|the same)\b"
        r"|false\b|n$|不正确|错误|不对|否|不是",
    ),
    (Verdict.RIGHT, r"yes\b|correct\b|right\b|true\b|y$|正确|对$|是$|是[,，。]"),
)
_VERDICTS = tuple((verdict, re.compile(pattern)) for verdict, pattern in _WORDS)


def read_verdict(reply: str) -> Verdict | None:
    """The verdict a judge's reply begins with; None if it cannot be read. JSON and fences are seen through; JSON that
    breaks off is not guessed at."""
    text = reply.strip()
    fence = _FENCE.search(text)
    text = fence.group(1).strip() if fence else text
    found = _OBJECT.search(text)
    if found is not None:
        return _of_object(found.group())
    return None if text.startswith(("{", "[", "```")) else _of_words(text)


def _of_object(text: str) -> Verdict | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for key in _KEYS:
        word = value.get(key)
        if isinstance(word, bool):
            return Verdict.RIGHT if word else Verdict.WRONG
        if isinstance(word, str):
            return _of_words(word)
    return None


def _of_words(text: str) -> Verdict | None:
    words = re.sub(r"[*_`\"'“”()\[\]]", lambda m: " " if m.group() == "_" else "", text.casefold())
    words = _LEAD.sub("", words.strip(" \t\r\n.!。：:#-")).strip(" \t\r\n.!。：:#-")
    words = re.sub(r"^(?:it|this|the answer|the candidate(?: answer)?|candidate) is ", "", words)
    return next((verdict for verdict, pattern in _VERDICTS if pattern.match(words)), None)
