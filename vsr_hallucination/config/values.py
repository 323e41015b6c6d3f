"""One scalar → one checked value; None, and an error noted, where it does not fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from vsr_hallucination.config import scalars
from vsr_hallucination.config.problems import listed, nearest

E = TypeVar("E")
T = TypeVar("T")


class Place(Protocol):
    """Where a fault is noted."""

    def error(self, message: str, remedy: str) -> None: ...


class Read(NamedTuple):
    """A scalar read: its value, and its text as written (safe to print: variables are not expanded in it)."""

    value: scalars.Value
    text: str
    written: str


def flag(at: Place, read: Read) -> bool | None:
    if isinstance(read.value, bool):
        return read.value
    truth = scalars.OLD_TRUTHS.get(read.text.lower())
    if truth is not None:
        at.error(f"`{read.written}` is a word, not a truth value, in YAML 1.2", f"write {truth}")
    elif read.text.lower() in ("true", "false"):
        at.error("is quoted text, not a truth value", f"write {read.text.lower()} without quotes")
    else:
        at.error(f"`{read.written}` is not a truth value", "write true or false")
    return None


def number(at: Place, read: Read, low: float, high: float) -> float | None:
    value = _numeric(at, read, f"write a number from {low:g} to {high:g}")
    if value is None:
        return None
    if not low <= value <= high:  # also NaN
        at.error(f"{read.written} is out of range", f"write a number from {low:g} to {high:g}")
        return None
    return float(value)


def integer(at: Place, read: Read, low: int, high: int) -> int | None:
    wanted = f"write a whole number from {low} to {high}"
    value = _numeric(at, read, wanted)
    if value is None:
        return None
    if not isinstance(value, int):
        at.error(f"`{read.written}` is not a whole number", wanted)
        return None
    if not low <= value <= high:
        at.error(f"{read.written} is out of range", wanted)
        return None
    return value


def _numeric(at: Place, read: Read, wanted: str) -> int | float | None:
    trap = scalars.number_trap(read.text)
    if trap is not None:
        at.error(*trap)
    elif isinstance(read.value, (int, float)) and not isinstance(read.value, bool):
        return read.value
    else:
        at.error(f"`{read.written}` is not a number", wanted)
    return None


def measured(
    at: Place,
    read: Read,
    measure: Callable[[str | int | float], T | None],
    low: float,
    high: float,
    wanted: str,
    unit: str,
) -> T | None:
    """``unit``: of a number that stands alone."""
    trap = scalars.number_trap(read.text) or (scalars.size_trap(read.text) if measure is scalars.size else None)
    if trap is not None:
        at.error(*trap)
        return None
    value = None if read.value is None else measure(read.value)
    if value is None:
        at.error(f"`{read.written}` cannot be read", f"write {wanted}")
        return None
    if not (isinstance(value, (int, float)) and math.isfinite(value) and low <= value <= high):
        alone = f" (a number alone means {unit})" if isinstance(read.value, (int, float)) else ""
        at.error(f"{read.written} is out of range{alone}", f"write {wanted}")
        return None
    return value


def choice(at: Place, read: Read, allowed: Mapping[str, E], *, any_case: bool = False) -> E | None:
    word = read.text.strip().upper() if any_case else read.text
    if word in allowed:
        return allowed[word]
    guess = nearest(read.text, allowed)
    hint = f" (did you mean `{guess}`?)" if guess is not None else ""
    at.error(f"`{read.written}` is not known{hint}", f"write one of: {listed(list(allowed))}")
    return None


def seconds(value: float) -> str:
    if value == 0:
        return "0s"
    for unit, seconds in (("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)):
        if value >= seconds and value % seconds == 0:
            return f"{value / seconds:g}{unit}"
    return f"{value * 1000:g}ms"


def bytes(value: int) -> str:
    for unit, count in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= count and value % count == 0:
            return f"{value // count}{unit}"
    return f"{value}B"
