"""Numbers as people write them, read exactly (``Decimal``, never a float).

One documented rule for ambiguous forms, the same wherever figures are compared (value check, exact judge):
``9,500`` reads as 9500 and as 9.5 (either may match); ``1.234`` reads as both too and is *ambiguous*: it supports a
match but is never a reason to flag, unless the text around it shows its style (``Style``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from vsr_hallucination.detection.text import PIECE

# Grouped by three (one separator throughout), Indian grouping, or plain with at most one decimal mark.
CORE = (
    r"(?:\d{1,3}(?:(?:,\d{3})+|(?:\.\d{3})+|(?:'\d{3})+|(?:[\u00a0 ]\d{3})+)(?:[.,]\d+)?"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?|\d+(?:[.,]\d+)?)"
)
MAGNITUDE = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "tausend": 3,
    "mille": 3,
    "mil": 3,
    "tsd": 3,
    "lakh": 5,
    "million": 6,
    "millions": 6,
    "millionen": 6,
    "mn": 6,
    "mio": 6,
    "mln": 6,
    "crore": 7,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "mrd": 9,
    "milliarde": 9,
    "milliarden": 9,
    "milliard": 9,
    "milliards": 9,
    "trillion": 12,
    "trillions": 12,
    "千": 3,
    "万": 4,
    "萬": 4,
    "百万": 6,
    "亿": 8,
    "億": 8,
}
# A letter that is a magnitude in "$5m" and a unit in "5 m": both readings stand.
LOOSE_MAGNITUDE = {"m": 6, "b": 9, "t": 12}

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SPELLED = {word: n for n, word in enumerate(_ONES)} | {word: 10 * (n + 2) for n, word in enumerate(_TENS)}
_SCALE = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_ANY = "|".join(sorted((*_SPELLED, *_SCALE), key=len, reverse=True))
# "a hundred" is a number, "hundred" after digits is a magnitude: it never starts a spelled number.
_FIRST = "|".join(sorted(_SPELLED, key=len, reverse=True))
SPELLED = rf"(?:an?[ -](?:{'|'.join(_SCALE)})|(?:{_FIRST}))(?:(?:[ -]and)?[ -](?:{_ANY})){{0,12}}"


@dataclass(frozen=True, slots=True)
class Style:
    """Which decimal mark a text shows unmistakably: ``"."``, ``","`` or none."""

    decimal: str | None = None


NO_STYLE = Style()
_LONGEST = 64  # digits and marks in a row: more are no number that a person wrote
_POINT = re.compile(r"\d,\d{3}\.\d|(?<![\d.,])\d+\.(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|(?<![\d.,])0\.\d{3}(?!\d)")
_COMMA = re.compile(r"\d\.\d{3},\d|(?<![\d.,])\d+,(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|\d\.\d{3}\.\d{3}(?!\.?\d)")


def style_of(text: str) -> Style:
    """The style ``text`` shows; none where it shows none or both."""
    point, comma = _shows(_POINT, text), _shows(_COMMA, text)
    return Style("." if point else ",") if point != comma else Style()


def _shows(pattern: re.Pattern[str], text: str) -> bool:
    """Searched a stretch at a time, none ending within a number: one search of a long text holds the interpreter."""
    start = 0
    while start < len(text):
        end = min(len(text), start + PIECE)
        most = min(len(text), end + _LONGEST)
        while end < most and (text[end].isdecimal() or text[end] in ".,"):
            end += 1
        if pattern.search(text, start, end) is not None:
            return True
        start = end
    return False


def readings(token: str, style: Style = NO_STYLE) -> tuple[tuple[Decimal, ...], bool]:
    """Values that a digit token (``CORE``) may mean, and whether it is ambiguous in the sense above."""
    token = re.sub(r"[\u00a0 ']", "", token)
    dots, commas = token.count("."), token.count(",")
    if dots and commas:
        decimal = max(token.rfind("."), token.rfind(","))
        group = "," if token[decimal] == "." else "."
        return (Decimal(token[:decimal].replace(group, "") + "." + token[decimal + 1 :]),), False
    if dots + commas == 0:
        return (Decimal(token),), False
    mark = "." if dots else ","
    if dots + commas > 1:
        return (Decimal(token.replace(mark, "")),), False
    whole, _, fraction = token.partition(mark)
    as_decimal = Decimal(f"{whole}.{fraction}")
    if len(fraction) != 3 or len(whole) > 3 or whole.startswith("0"):
        return (as_decimal,), False
    grouped = Decimal(whole + fraction)
    if style.decimal == mark:
        return (as_decimal,), False
    if style.decimal is not None:
        return (grouped,), False
    return (grouped, as_decimal), mark == "."


def spelled(phrase: str) -> Decimal | None:
    """The value of an English number phrase ("two hundred and five", "a dozen"); None if it is not one."""
    total, current, seen = 0, 0, False
    for word in re.split(r"[ -]+", phrase.lower()):
        if word in {"and", "a", "an"}:
            continue
        if word in _SPELLED:
            step = _SPELLED[word]
            # "two three" is two numbers, not one.
            if current % 100 and (step >= 10 or current % 10 or current % 100 < 20):
                return None
            current, seen = current + step, True
        elif word in _SCALE:
            scale, seen = _SCALE[word], True
            if scale in (12, 100):
                current = max(current, 1) * scale
            else:
                total, current = total + max(current, 1) * scale, 0
        else:
            return None
    return Decimal(total + current) if seen else None
