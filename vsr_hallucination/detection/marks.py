"""Numbers that count nothing: citations, list marks, labels ("step 3") and fenced code in a named language.

Fenced text and data ("```json") are no code: what they say is part of the answer.
The look of a mark is cheap, so a number must also be able to be one. A citation's numbers are whole and at most
``max(number of passages, 20)``; one with a counted noun behind it ("[14] crates") is for the evidence to judge. A list
mark has text behind it on its line and is small or has a neighbour in the answer (2 beside 1 or 3); before a colon or
within brackets only the neighbour counts. A label's number is bounded like a citation's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from vsr_hallucination.detection.values import Value

_SMALL = 20
_CITED = re.compile(r"[\[【〔]\^?(?:\d{1,3}(?:[ ]?[,;:–-][ ]?)?){1,10}[†\w]{0,8}[\]】〕]")
_NUMBERS = re.compile(r"\d{1,3}")
# Units, and words that look like plurals; those that look so and are none follow citations all the time.
_COUNTED = re.compile(
    r"[ \u00a0]?(?:[%‰$€£°]|(?:km|kg|cm|mm|mg|ml|ms|kWh?|MWh?|GB|MB|TB|KB|Hz|EUR|USD|GBP|percent|euro|dollar|million|"
    r"billion|thousand|people|children|men|women)\b|(?!(?:is|was|has|does|as|its|this|his|us|these|those|plus|thus|"
    r"yes|always|perhaps|whereas|unless|across|besides|towards)\b)[a-z]{2,30}s\b)",
)
_LABELLED = re.compile(
    r"(?:\b(?:step|option|figure|fig\.|table|section|part|point|example|item|phase|chapter|note|question|case|method|"
    r"reason|tip|answer|passage|source|document|doc|ref(?:erence)?)s?|#)\s*$",
    re.IGNORECASE,
)
_MARKER = re.compile(r"(?:^|\n)[ \t>]*(?:[-*+•][ \t]+)?(?:#{1,6}[ \t]+)?[*_]{0,2}\(?$")
_BEHIND = re.compile(r"[.):][*_]{0,2}[ \t]+[*_`\"'(\[]{0,4}\w|[.):][*_]{1,2}\w")
_ANY_MARK = re.compile(r"(?:^[ \t>]{0,16}(?:[-*+•][ \t]+)?(?:#{1,6}[ \t]+)?[*_]{0,2}|\()(\d{1,3})[.):]", re.MULTILINE)
_DATA = "te?xt|plain(?:text)?|json[5lc]?|ya?ml|toml|csv|tsv|md|markdown|xml|html|table|output|console|answer"
_FENCE = re.compile(rf"^[ \t]*```[ \t]*(?!(?:{_DATA})\b)\w[^\n]{{0,40}}\n", re.MULTILINE | re.IGNORECASE)
_CLOSING = re.compile(r"^[ \t]*```", re.MULTILINE)

Kind = Literal["none", "exempt", "judge"]


@dataclass(slots=True)
class Marks:
    """The marks of one answer. ``passages``: how many the grounding has."""

    answer: str
    passages: int
    _stretches: list[tuple[int, int, Kind]] = field(default_factory=list)  # in order
    _numbers: frozenset[int] = frozenset()
    _at: int = 0

    def __post_init__(self) -> None:
        found: list[tuple[int, int, Kind]] = [(*m.span(), self._cited(m)) for m in _CITED.finditer(self.answer)]
        found += [(start, end, "exempt") for start, end in _fences(self.answer)]
        self._stretches = sorted(found)
        self._numbers = frozenset(int(m.group(1)) for m in _ANY_MARK.finditer(self.answer))

    def kind(self, value: Value) -> Kind:
        """Whether ``value`` is a mark, none, or one only if the evidence gives no other figure for what it counts.

        Values are asked for in text order.
        """
        while self._at < len(self._stretches) and self._stretches[self._at][1] <= value.start:
            self._at += 1
        for start, end, kind in self._stretches[self._at : self._at + 2]:
            if start <= value.start < end and kind != "none":
                return kind
        return "exempt" if self._is_list_mark(value) else "none"

    def _cited(self, mark: re.Match[str]) -> Kind:
        most = max(self.passages, _SMALL)
        if any(int(number) > most for number in _NUMBERS.findall(mark.group())):
            return "none"
        return "judge" if _COUNTED.match(self.answer, mark.end(), mark.end() + 40) else "exempt"

    def _is_list_mark(self, value: Value) -> bool:
        answer = self.answer
        if value.kind != "number" or value.end - value.start > 3 or value.spelled:
            return False
        number = int(value.readings[0])
        before = answer[max(0, value.start - 32) : value.start]
        # The look-back may start in mid-line; only a true line start (or the answer's) counts.
        at_line_start = _MARKER.search(before) is not None and ("\n" in before or value.start <= 32)
        ordered = number == 1 or number - 1 in self._numbers or number + 1 in self._numbers
        if at_line_start and _BEHIND.match(answer, value.end, value.end + 24):
            return ordered or (number <= _SMALL and answer[value.end] != ":")
        if before.endswith("(") and answer[value.end : value.end + 1] == ")":
            return ordered and number <= 99
        return number <= max(self.passages, _SMALL) and _LABELLED.search(before) is not None


def _fences(answer: str) -> Iterator[tuple[int, int]]:
    """Fenced code in a named language, to the closing fence or the answer's end."""
    at = 0
    while (opened := _FENCE.search(answer, at)) is not None:
        closed = _CLOSING.search(answer, opened.end())
        at = closed.end() if closed is not None else len(answer)
        yield opened.start(), at
