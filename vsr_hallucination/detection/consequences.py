"""Numbers an answer may state without the evidence stating them: counts, rounding, sums, differences, conversions.

Sums, differences and quotients count only beside a word that says so ("in total", "fewer", "per"), only of numbers of
one kind, and only of those near: in the answer's own sentence, in the evidence lines closest to it, or in a grounding
of a handful. Where even so many pairs would make any figure of that size, none is believed. Words are looked for and
operands gathered once a sentence, so that an answer of nothing but numbers costs no more than its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.values import Value, values

_HANDFUL = 8  # distinct numbers in a grounding up to which all of them are near
_TOTALS_UP_TO = 40
_OPERANDS = 24  # of one sentence
_GATHERED = 256  # sentences whose evidence lines are looked up
_FEW = 4
_CLOSE = 32  # characters between a figure and the word that calls it a difference
_EQUALS = re.compile(r"=[ ]?[$€£]?$")
_CHANCE = Decimal("0.2")
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
_QUOTIENT = re.compile(r"\b(?:per|each|average|mean|ratio|apiece|times (?:as|more|the))\b", re.IGNORECASE)
_REMAINDER = re.compile(r"\b(?:remain\w*|rest|other|others|balance)\b", re.IGNORECASE)
_YEARS = re.compile(r"[\s-]*years?\b", re.IGNORECASE)
_POINTS = re.compile(r"[^.;]{0,14}\b(?:points?|more|less|higher|lower|fewer|difference|gap|lead|margin)\b")
_AGE = re.compile(
    r"\b(?:age(?:d| of)?|turn(?:ed|ing)|when (?:s?he|they) (?:was|were)|since (?:s?he|they) (?:was|were)|old)[ ]?$",
    re.IGNORECASE,
)
_OVER = re.compile(r"(?:over|above|more than|at least|exceed\w*|upwards of|>)\s*[$€£]?\s*$", re.IGNORECASE)
_UNDER = re.compile(r"(?:under|below|less than|fewer than|at most|up to|nearly|almost|<)\s*[$€£]?\s*$", re.IGNORECASE)
_LISTING = re.compile(r"[^:,.]{1,40}: ([^,:]{1,40}(?:,[^,:]{1,40})+)$")
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


def is_about(answer: str, value: Value) -> bool:
    """True where a word before the number says that it is rounded."""
    return _APPROX.search(answer[max(0, value.start - 24) : value.start]) is not None


@dataclass(slots=True)
class Consequences:
    """What follows from one grounding, for one answer."""

    answer: str
    evidence: ValueSet
    lines: Callable[[tuple[int, int]], list[str]] = lambda sentence: []  # evidence lines closest to a sentence
    _said: dict[int, _Said] = field(default_factory=dict)
    _lists: dict[int, set[int]] = field(default_factory=dict)
    _near: dict[int, tuple[list[Value], list[Value]]] = field(default_factory=dict)

    def counts_items(self, sentence: tuple[int, int], value: Value) -> bool:
        """True where a small whole number is how many items the answer then lists."""
        number = value.readings[0]
        if not 1 < number <= 100 or number != number.to_integral_value() or value.units:
            return False
        if self._of(sentence, value).items == number or number in self._listed(sentence):
            return True
        tail = self.answer[value.end : sentence[1]]
        split = r",\s*(?:and|or)\s+|,|;|\band\b|\bor\b|、"
        listed = re.split(split, tail.partition(":")[2] or tail, maxsplit=2 * int(number))
        return len([item for item in listed if item.strip(" .\n")]) == number and len(listed) > 1

    def _listed(self, sentence: tuple[int, int]) -> set[int]:
        """How many items the fields of the evidence ("Labels: Virgin, EMI") close to a sentence list."""
        found = self._lists.get(sentence[0])
        if found is None:
            lines = self.lines(sentence) if len(self._lists) < _GATHERED else []
            fields = [match.group(1).split(",") for line in lines if (match := _LISTING.match(line.strip()))]
            found = self._lists[sentence[0]] = {len(items) for items in fields}
        return found

    def follows(self, sentence: tuple[int, int], value: Value) -> bool:
        """True where the number is a rounding, sum, difference, quotient or count of what the evidence holds."""
        number = value.readings[0]
        counted = 1 < number <= 10_000 and number == number.to_integral_value() and not value.negative
        if counted and not value.units and int(number) in self.evidence.counts:
            return True
        if self._rounds(value):
            return True
        if self._spans_years(sentence, value):
            return True
        said = self._of(sentence, value)
        if value.percent and _REMAINDER.search(self.answer, *sentence) and 100 - number in self.evidence.percents:
            return True
        if not (said.total or said.difference or said.quotient):
            return False
        own, near = self._operands(sentence)
        few = len(self.evidence.numbers) + len(self.evidence.ends) <= _FEW
        if value.percent and said.difference:
            amounts = [v.readings[0] for v in (*own, *(near if few else ())) if v.readings and not v.percent]
            if len(amounts) <= _HANDFUL and self._is_quotient(set(amounts), value):
                return True
        if _years_of(value):  # a year is no sum; some years on from another it may be
            ages = [v.readings[0] for v in (*own, *near) if "year" in v.units]
            return said.difference and any(abs(number - y) in ages for v in (*own, *near) for y in _years_of(v))
        twice = [half for half, times in Counter(_like(value, near)).items() if times > 1]
        if said.total and not value.percent and any(2 * half == number for half in twice):
            return True
        if self._made_of(_like(value, own), value, said, few=True):
            return True
        return self._made_of(_like(value, [*own, *near]), value, said, few=few)

    def _made_of(self, pool: list[Decimal], value: Value, said: _Said, *, few: bool) -> bool:
        """Whether ``pool`` makes the number. ``few``: so few numbers that chance is no explanation."""
        number, known = value.readings[0], set(pool)
        made: set[Decimal] = set()
        if said.total:
            made |= {a + b for a in known for b in known if a != b}
            if len(known) <= _TOTALS_UP_TO:
                made |= {sum(pool, Decimal(0)), sum(known, Decimal(0))}
        if said.difference and (not value.percent or _POINTS.search(self.answer, value.end, value.end + 24)):
            made |= {a - b for a in known for b in known if a > b}
            made |= {a + b for a in known for b in known if a != b} if not value.percent else set()
        if number in made and (few or _unlikely(made, number)):
            return True
        return not value.percent and said.quotient and len(known) <= _HANDFUL and self._is_quotient(known, value)

    def _spans_years(self, sentence: tuple[int, int], value: Value) -> bool:
        """True for the years between two that the evidence names, where the answer speaks of years or an age."""
        number = value.readings[0]
        aged = _AGE.search(self.answer[max(0, value.start - 24) : value.start]) is not None
        if not 0 < number < 1000 or number != number.to_integral_value():
            return False
        if not aged and not _YEARS.match(self.answer[value.end : value.end + 16]):
            return False
        years = self.evidence.measures.years
        if len(years) > 6:
            own, near = self._operands(sentence)
            years = sorted({year for v in (*own, *near) for year in _years_of(v)})
        years = [year for year in years if 1000 <= year <= 2200][:40]
        gaps = {b - a for a in years for b in years if b > a}
        if not aged and is_about(self.answer, value):
            return any(abs(gap - number) <= 2 * _reach(number) for gap in gaps)
        return int(number) in gaps or (aged and int(number) + 1 in gaps)

    def _operands(self, sentence: tuple[int, int]) -> tuple[list[Value], list[Value]]:
        """Numbers of the sentence (and the one before) that the evidence has; numbers of the evidence near it."""
        found = self._near.get(sentence[0])
        if found is None:
            text = self.answer[max(0, sentence[0] - 300, sentence[0] - 2000) : sentence[1]][:2300]
            own = [v for v in _figures(text) if v.kind != "number" or self.evidence.holds_number(v)]
            near: list[Value] = []
            if len(self._near) < _GATHERED:
                few = len(self.evidence.numbers) + len(self.evidence.ends) <= _HANDFUL
                near = [v for t in (self.evidence.texts if few else self.lines(sentence)) for v in _figures(t)]
            found = self._near[sentence[0]] = (own[:_OPERANDS], near[:_OPERANDS])
        return found

    def _of(self, sentence: tuple[int, int], value: Value) -> _Said:
        """What is said of ``value``: a difference close to it, a sum or quotient anywhere in its sentence."""
        found = self._said.get(sentence[0])
        if found is None:
            text = self.answer[sentence[0] : sentence[1]][:2000]
            found = self._said[sentence[0]] = _Said(
                _SUM.search(text) is not None,
                False,
                _QUOTIENT.search(text) is not None,
                len(_ITEM.findall(self.answer[sentence[0] : sentence[0] + 20_000])),
            )
        low, high = max(sentence[0], value.start - _CLOSE), min(sentence[1], value.end + _CLOSE)
        worked_out = _EQUALS.search(self.answer, max(0, value.start - 8), value.start) is not None
        total = found.total and (not value.percent or _SUM.search(self.answer, low, high) is not None)
        difference = _DIFFERENCE.search(self.answer, low, high) is not None
        return _Said(total or worked_out, difference or worked_out, found.quotient, found.items)

    def _is_quotient(self, known: set[Decimal], value: Value) -> bool:
        number = value.readings[0]
        quotients = [a / b for a in known for b in known if b and a != b]
        step = step_of(number) / 2
        if not value.percent:
            return any(number - step <= q <= number + step for q in quotients)
        low, high = (number - step) / 100, (number + step) / 100
        return any(low <= q <= high or low <= q - 1 <= high or low <= 1 - q <= high for q in quotients)

    def _rounds(self, value: Value) -> bool:
        """True where the number is one of the evidence, of its kind, with fewer digits; or it bounds one."""
        before = self.answer[max(0, value.start - 24) : value.start]
        near = self.evidence.near
        # "20 elements" are as many by chance where -19.6 stands as where 19.6 does.
        fits = self.evidence.measures.fits if value.counts else self.evidence.fits
        for number in value.readings:
            exponent = number.as_tuple().exponent
            if not isinstance(exponent, int):
                return False
            step = Decimal(1).scaleb(exponent) if exponent <= 0 or value.scaled else Decimal(1)
            for known in near(number - step / 2, number + step / 2):
                finer = known.as_tuple().exponent
                if isinstance(finer, int) and finer < exponent and fits(known, value):
                    return True
            if not number or not _APPROX.search(before):
                continue
            reach = _reach(number)
            low, high = number - reach, number + reach
            if _OVER.search(before):
                low, high = number, number + 2 * reach
            elif _UNDER.search(before):
                low, high = number - 2 * reach, number
            tags = self.evidence.measures.tags
            for known in near(low, high):
                alike = not value.units or not tags.get(known, frozenset()).isdisjoint(value.units)
                if alike and _digits(known) > _digits(number) and self.evidence.signed_so(known, value):
                    return True
        return False


def _figures(text: str) -> list[Value]:
    return [v for v in values(text[:2300]) if v.kind in ("number", "date") and not v.ordinal and not v.decade]


def _years_of(value: Value) -> list[int]:
    if value.kind == "date":
        return [year for year, _, _ in value.dates if year is not None]
    number = value.readings[0]
    return [int(number)] if not value.units and 1000 <= number <= 2200 and number == int(number) else []


def _like(value: Value, pool: list[Value]) -> list[Decimal]:
    """Readings of the numbers of one kind with ``value``: percentages or none, of its unit or of no other."""
    return [
        v.readings[0]
        for v in pool
        if v.kind == "number"
        and v.percent == value.percent
        and (v.start != value.start or v.readings != value.readings)
        and (not value.units or not v.units or not set(v.units).isdisjoint(value.units))
    ]


def _unlikely(made: set[Decimal], number: Decimal) -> bool:
    """Whether few enough figures of this size can be made for this one to mean something."""
    about = sum(1 for m in made if number / 2 <= m <= 2 * number)
    return about * step_of(number) <= _CHANCE * number * Decimal("1.5")


def step_of(number: Decimal) -> Decimal:
    """One in the last place that is said, at most 1."""
    exponent = number.as_tuple().exponent
    return Decimal(1).scaleb(min(0, exponent)) if isinstance(exponent, int) else Decimal(1)


def _reach(number: Decimal) -> Decimal:
    """How far below and above ``number`` lies what people round to it: further for one digit, or a 5 at the end."""
    digits = "".join(map(str, number.as_tuple().digits))
    kept = digits.rstrip("0")
    exponent = number.as_tuple().exponent
    place = Decimal(1).scaleb((exponent if isinstance(exponent, int) else 0) + len(digits) - len(kept))
    if len(kept) == 1:
        gap = min(place / 2, number / 10)
    elif kept.endswith("5"):
        gap = min(place * Decimal("2.5"), number / 10)
    else:
        gap = place * Decimal("0.6")
    return gap


def _digits(number: Decimal) -> int:
    """Significant digits, trailing zeros aside."""
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))
