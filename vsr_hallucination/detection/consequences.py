"""Numbers an answer may state without the evidence stating them: counts, rounding, sums and differences.

Sums, differences and quotients count only beside a word that says so ("in total", "fewer", "per"), and only over a
grounding with few numbers: with many, some pair makes any figure. Words are looked for once a sentence and quotients
made once a grounding, so that an answer of nothing but numbers costs no more than its length.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from decimal import Decimal

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.values import Value

_PAIRS_UP_TO = 40  # distinct numbers in a grounding up to which sums of two are tried
_TOTALS_UP_TO = 40
_APPROX = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|over|under|above|below|just|"
    r"more than|less than|fewer than|at least|at most|up to|close to|well over|~|≈|>|<)\s*[$€£]?\s*$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:at least|at most|up to|between|from|minimum|maximum|min|max|least|most|lower|upper|"
    r"no (?:more|less|fewer) than|more than|less than|starting|start|low|high|to|until)\b",
    re.IGNORECASE,
)
_SUM = re.compile(r"\b(?:total|sum|together|combined|altogether|overall|both|in all|adds? up|plus)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"\b(?:difference|differs?|more|less|fewer|higher|lower|increase[ds]?|decrease[ds]?|rose|fell|grew|dropped|gain(?:ed)?|"
    r"loss|remain(?:s|ing)?|left|net|change[ds]?|later|earlier|ago|older|younger|gap|longer|shorter)\b",
    re.IGNORECASE,
)
_QUOTIENT = re.compile(r"\b(?:per|each|average|mean|ratio|apiece|times)\b|%|percent", re.IGNORECASE)
_YEARS = re.compile(r"[\s-]*years?\b", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a sentence (at most 2000 characters of it) says about its numbers, and how many items it introduces."""

    total: bool
    difference: bool
    quotient: bool
    items: int


def may_be_bound(answer: str, value: Value) -> bool:
    """True where words around a number say that it is one end of a range."""
    around = answer[max(0, value.start - 40) : value.start] + " " + answer[value.end : value.end + 24]
    return value.range is not None or _BOUND.search(around) is not None


@dataclass(slots=True)
class Consequences:
    """What follows from one grounding, for one answer."""

    answer: str
    evidence: ValueSet
    _pool: list[Decimal] = field(default_factory=list)
    _known: frozenset[Decimal] = frozenset()
    _quotients: list[Decimal] = field(default_factory=list)  # in order
    _said: dict[int, _Said] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if 2 <= len(self.evidence.numbers) + len(self.evidence.ends) <= 2 * _PAIRS_UP_TO:
            pool = sorted(self.evidence.numbers | self.evidence.ends)
            self._pool = pool if 2 <= len(pool) <= _PAIRS_UP_TO else []
        self._known = frozenset(self._pool)
        self._quotients = sorted({a / b for a in self._pool for b in self._pool if b and a != b})

    def counts_items(self, sentence: tuple[int, int], value: Value) -> bool:
        """True where a small whole number is how many items the answer then lists."""
        number = value.readings[0]
        if not 1 < number <= 100 or number != number.to_integral_value():
            return False
        if self._of(sentence).items == number:
            return True
        tail = self.answer[value.end : sentence[1]]
        split = r",\s*(?:and|or)\s+|,|;|\band\b|\bor\b|、"
        listed = re.split(split, tail.partition(":")[2] or tail, maxsplit=2 * int(number))
        return len([item for item in listed if item.strip(" .\n")]) == number and len(listed) > 1

    def follows(self, sentence: tuple[int, int], value: Value) -> bool:
        """True where the number is a rounding, sum, difference, quotient or count of what the evidence holds."""
        number = value.readings[0]
        counted = 1 < number <= 10_000 and number == number.to_integral_value() and not value.negative
        if counted and int(number) in self.evidence.counts:
            return True
        if (not value.negative or self.evidence.goes_below()) and _rounds(self.answer, value, self.evidence):
            return True
        if not self._pool:
            return False
        said, known = self._of(sentence), self._known
        if said.total and (any(number - a in known for a in self._pool) or self._is_total(number)):
            return True
        if said.difference and any(a - number in known or number + a in known for a in self._pool):
            return True
        if _YEARS.match(self.answer[value.end : value.end + 16]):
            years = [a for a in self._pool if 1000 <= a <= 2200]
            if any(abs(a - b) == number for a in years for b in years):
                return True
        return said.quotient and self._is_quotient(number, value)

    def _of(self, sentence: tuple[int, int]) -> _Said:
        found = self._said.get(sentence[0])
        if found is None:
            text = self.answer[sentence[0] : sentence[1]][:2000]
            found = self._said[sentence[0]] = _Said(
                _SUM.search(text) is not None,
                _DIFFERENCE.search(text) is not None,
                _QUOTIENT.search(text) is not None,
                len(_ITEM.findall(self.answer[sentence[0] : sentence[0] + 20_000])),
            )
        return found

    def _is_total(self, number: Decimal) -> bool:
        return len(self._pool) <= _TOTALS_UP_TO and sum(self._pool, Decimal(0)) == number

    def _is_quotient(self, number: Decimal, value: Value) -> bool:
        exponent = number.as_tuple().exponent
        step = Decimal(1).scaleb(min(0, exponent if isinstance(exponent, int) else 0)) / 2
        if not value.percent:
            return self._has_quotient(number - step, number + step)
        low, high = (number - step) / 100, (number + step) / 100
        return (
            self._has_quotient(low, high)
            or self._has_quotient(1 + low, 1 + high)
            or self._has_quotient(1 - high, 1 - low)
        )

    def _has_quotient(self, low: Decimal, high: Decimal) -> bool:
        at = bisect_left(self._quotients, low)
        return at < len(self._quotients) and self._quotients[at] <= high


def _rounds(answer: str, value: Value, evidence: ValueSet) -> bool:
    approximate = _APPROX.search(answer[max(0, value.start - 24) : value.start]) is not None
    for number in value.readings:
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int):
            return False
        step = Decimal(1).scaleb(exponent) if exponent <= 0 or value.scaled else Decimal(1)
        for known in evidence.near(number - step / 2, number + step / 2):
            finer = known.as_tuple().exponent
            if isinstance(finer, int) and finer < exponent:
                return True
        if approximate and number and evidence.near(number * Decimal("0.9"), number * Decimal("1.1")):
            return True
    return False
