"""Amounts said without a figure: "half an hour", "a decade", "a third of", "one in five", "double".

They stand apart from ``values``: no figure is read into a text that shows none, but 50 % supports "half", "a
fortnight" supports 14 days, and the other way round. Bounded and linear; English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from vsr_hallucination.detection.fold import folded_chunks
from vsr_hallucination.detection.units import PERCENT, unit_named
from vsr_hallucination.detection.values import Value

_TIME = "second|minute|hour|day|week|fortnight|month|year|decade|century|millennium"
_SIZE = rf"(?:{_TIME}|mile|kilomet(?:re|er)|met(?:re|er)|lit(?:re|er)|kilogram|kilo|tonne|pound|dozen)"
_COUNT = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
          "nine": 9, "ten": 10}  # fmt: skip
_PART = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "tenth": 10,
         "twentieth": 20}  # fmt: skip
_NUMBERS = "|".join(_COUNT)
_SCAN = re.compile(
    rf"\b(?:(?P<half>half[ -](?:an?[ -])?)(?P<of>{_SIZE})|(?:an?|one)[ -](?:(?:whole|full|single)[ ])?"
    rf"(?P<one>{_SIZE})(?P<more>[ ]and[ ]a[ ]half)?|quarter[ ]of[ ]an?[ ](?P<quarter>hour|century)"
    rf"|(?P<count>{_NUMBERS})[ -](?P<part>halves|half|thirds?|quarters?|fifths?|sixths?|sevenths?|eighths?|tenths?|"
    rf"twentieth)|(?P<alone>half)|(?P<some>{_NUMBERS})[ ](?:in|out[ ]of)[ ](?:every[ ])?(?P<all>{_NUMBERS})"
    rf"|(?P<times>doubled?|tripled?|twice|threefold|twofold))\b",
    re.IGNORECASE,
)
_TIMES = {"doub": 200, "twi": 200, "two": 200, "tri": 300, "three": 300}
# "A third" may be a third man, "a quarter" three months: a share has "of" behind it or nothing more.
_NO_SHARE = re.compile(
    r"\b(?:first|second|other|latter|former|top|bottom|upper|lower|next|last|and|a|the|one|this|that|each|\w+ern)\s*-?$",
    re.IGNORECASE,
)
_SHARE = re.compile(r"[ ]of\b|[ ]*(?:[.,;:)!?\n]|$)")


def quantities(text: str) -> Iterator[Value]:
    """Every such amount in ``text``, in order, as a spelled number with its unit."""
    for chunk in folded_chunks(text):
        for match in _SCAN.finditer(chunk.text):
            read = _read(match, chunk.text)
            if read is not None:
                start, end = chunk.at(*match.span())
                yield Value(
                    start, end, "number", readings=(read[0],), spelled=True, percent=read[1] == (PERCENT,),
                    units=read[1], unit_end=end,
                )  # fmt: skip


def _read(match: re.Match[str], text: str) -> tuple[Decimal, tuple[str, ...]] | None:
    if match.group("of"):
        return Decimal("0.5"), unit_named(match.group("of").lower())
    if match.group("one"):
        units = unit_named(match.group("one").lower())
        return (Decimal("1.5") if match.group("more") else Decimal(1), units) if units else None
    if match.group("quarter"):
        return Decimal("0.25"), unit_named(match.group("quarter").lower())
    if match.group("times"):
        word = match.group("times").lower()
        return Decimal(next(n for lead, n in _TIMES.items() if word.startswith(lead))), (PERCENT,)
    if match.group("all"):
        some, every = _COUNT[match.group("some").lower()], _COUNT[match.group("all").lower()]
        return (Decimal(100) * some / every, (PERCENT,)) if 0 < some < every else None
    if _SHARE.match(text, match.end(), match.end() + 8) is None:
        return None
    if match.group("alone"):
        if _NO_SHARE.search(text[max(0, match.start() - 12) : match.start()]):
            return None
        return Decimal(50), (PERCENT,)
    part = match.group("part").lower().rstrip("s")
    share = Decimal(100) * _COUNT[match.group("count").lower()] / _PART["half" if part == "halve" else part]
    return (share, (PERCENT,)) if share < 100 else None
