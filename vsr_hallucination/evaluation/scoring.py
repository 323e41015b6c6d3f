"""The abstention-aware score (Kalai et al., arXiv:2509.04664): right +1, wrong −t/(1−t), "I don't know" 0."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction


class State(StrEnum):
    """What became of one (item, t). ``UNAVAILABLE``: no answer came; ``JUDGE_FAILED``: one came, nobody judged it.
    Both are neither right nor wrong nor abstentions, and stay out of every score."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSTAINED = "abstained"
    UNAVAILABLE = "unavailable"
    JUDGE_FAILED = "judge_failed"


class Kind(StrEnum):
    """Why no answer came."""

    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    REFUSED = "refused"  # a 4xx that asking again would not change
    UNREADABLE = "unreadable"  # not the API's shape
    TRUNCATED = "truncated"  # the token limit cut it (thinking included)
    BLOCKED = "blocked"  # a content filter or a refusal
    EMPTY = "empty"


# Asking again may help: not a word about the model.
TRANSIENT = frozenset((Kind.RATE_LIMITED, Kind.TIMEOUT, Kind.SERVER_ERROR, Kind.CONNECTION, Kind.UNREADABLE))


@dataclass(frozen=True, slots=True)
class Item:
    """One question. ``row``: its place in the data, from 0, which is what tells items of one id apart."""

    row: int
    id: str
    question: str
    gold: str
    unknown_ok: bool
    category: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of item ``row`` at threshold number ``at``. ``attempts`` counts requests, ``seconds`` waits too."""

    row: int
    at: int
    state: State
    pred: str = ""
    kind: Kind | None = None
    detail: str = ""
    judged_by: str = ""
    attempts: int = 1
    seconds: float = 0.0
    warnings: str = ""  # x-vsr-response-warnings, where the answer came through the filter


class ThresholdError(ValueError):
    """A threshold that has no finite penalty."""


def thresholds(values: Iterable[float]) -> tuple[float, ...]:
    """In rising order, duplicates merged. Raises ThresholdError for none, and for any outside (0, 1)."""
    found = sorted(set(values))
    if not found:
        raise ThresholdError("no threshold given: for example --thresholds 0.5 0.75 0.9")
    for t in found:
        if not 0 < t < 1 or math.isnan(t) or not math.isfinite(penalty(t)):
            raise ThresholdError(
                f"threshold {t:g} is not between 0 and 1, both excluded: a wrong answer costs t/(1-t), which has no "
                "finite value at 1; take for example 0.95"
            )
    return tuple(found)


def penalty(t: float) -> float:
    """t/(1−t), exact for the decimal that was written: 9.0 at 0.9. Raises ZeroDivisionError at 1."""
    share = Fraction(repr(float(t)))
    return float(share / (1 - share))


def number(value: float) -> str:
    """A figure for people, without an exponent: 9, 0.9, 0.9999, 0.429 for 3/7, 99."""
    places = 6 if float(f"{value:.6f}") == value else 3 if abs(value) >= 0.1 else 9
    text = f"{value:.{places}f}"
    text = text.rstrip("0").rstrip(".")
    return text if text not in {"", "-0"} else "0"


def level(t: float) -> str:
    """A threshold as it was written, without an exponent."""
    return format(Decimal(repr(float(t))), "f")


def score(state: State, t: float) -> float | None:
    """The item's score at ``t``; None where there is nothing to score."""
    if state is State.RIGHT:
        return 1.0
    if state is State.WRONG:
        return -penalty(t)
    return 0.0 if state is State.ABSTAINED else None


def correct(state: State, unknown_ok: bool) -> bool | None:
    """Whether it was the right thing to do; an abstention is, where the question has no answer. None: not known."""
    if state is State.ABSTAINED:
        return unknown_ok
    if state in (State.RIGHT, State.WRONG):
        return state is State.RIGHT
    return None
