"""What the numbers of a grounding stand for: their units, shares said in words, years and ordinals.

A number supports another only in a unit that it stands with: 12 kilometres say nothing of 12 miles. One that stands
alone as a field ("timeout: 30") supports any; one bare in a sentence does if it has no unit elsewhere. Amounts in
other units support by conversion (``units.equal``), bounded in number.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from vsr_hallucination.detection.quantities import quantities
from vsr_hallucination.detection.units import PERCENT, UNITS, base, dimensions, equal, unit_named
from vsr_hallucination.detection.values import Value

FIELD, BARE, COUNTS, NTH, OTHER = "field", "", "#", "nth", "other"
_NO_COUNT = frozenset(("length", "area", "mass", "volume", "data", "temperature", "percent"))
_LOOKED_AT = 64  # amounts of about the same size that one value is compared with
_WORDS = re.compile(
    r"\b(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?(first|second|third|fourth|fifth|sixth|seventh|"
    r"eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|"
    r"nineteenth|twentieth|thirtieth)\b",
    re.IGNORECASE,
)
_ORDINALS = {
    word: n + 1
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
    )
} | {"thirtieth": 30}
_TENS = {t: 10 * (n + 2) for n, t in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())}
_LABELS = frozenset("passage source document doc text step figure fig table section chapter page no item".split())
_LABEL_ENDS = re.compile(r"[:\])]|\.\s")
_FIELD_ENDS = re.compile(r"[*_`]*[ \t]*(?:[,;|\"\n})\]/]|$)|,?[ ]?(?:and[ ]|or[ ]|to[ ]|-|/)?\d")
_KEY = re.compile(r"([A-Za-z][\w ()/.\[\]-]{1,40})\W{0,2}[:=]\s*$")
_KEY_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TOGETHER = re.compile(r"(?:,? and |, |[ ])")
_CENTURY = re.compile(r"[ -]*(?:st|nd|rd|th)?[ -]*centur", re.IGNORECASE)


@dataclass(slots=True)
class Measures:
    """Built with a ``ValueSet``; ``close`` before asking."""

    tags: dict[Decimal, frozenset[str]] = field(default_factory=dict)
    mantissas: set[Decimal] = field(default_factory=set)  # "40" of "40 million"
    shares: list[Decimal] = field(default_factory=list)  # percentages, said in figures or not, in order
    worded: set[Decimal] = field(default_factory=set)  # those said without a figure
    ordinals: set[int] = field(default_factory=set)
    years: list[int] = field(default_factory=list)
    _amounts: dict[str, list[tuple[Decimal, Decimal, str]]] = field(default_factory=dict)
    _joined: set[tuple[Decimal, str]] = field(default_factory=set)
    _last: tuple[int, str, Value] | None = None

    def tag(self, numbers: Iterable[Decimal], *tags: str) -> None:
        for number in numbers:
            known = self.tags.get(number)
            self.tags[number] = frozenset(tags) if known is None else known.union(tags)

    def add(self, value: Value, text: str) -> None:
        """``value`` stands in ``text``."""
        if value.kind == "date":
            self.years.extend(year for year, _, _ in value.dates if year is not None)
        if value.kind == "identifier":
            self.tag(value.parts, OTHER)
        if value.kind != "number":
            return
        number = value.readings[0]
        if not value.units and not value.scaled and 1000 <= number <= 2200 and number == number.to_integral_value():
            self.years.append(int(number))
        if value.scaled:
            self.mantissas.update(value.parts)
        self.tag((*value.readings, *(() if value.scaled else value.parts)), *self._stands_with(value, text))
        if value.percent:
            self.shares.extend(value.readings)
        for unit in value.units:
            for reading in value.readings:
                # Degrees are the only amounts that another unit gives another sign.
                below = value.negative and UNITS[unit].dimension == "temperature"
                self._amount(-reading if below else reading, unit)
        self._join(value, text)

    def _stands_with(self, value: Value, text: str) -> tuple[str, ...]:
        if value.ordinal or value.decade:
            return (NTH if value.ordinal else OTHER,)
        if value.units:
            return (*value.units, COUNTS) if value.counts else value.units
        if value.counts or value.spelled:
            return (COUNTS,)
        before = text[max(0, value.start - 12) : value.start].rstrip(" \t*_`")
        first = before[-1:] in ("", "\n")
        if _LABEL_ENDS.match(text, value.end) and (
            first or before[-1] in "[#" or before.rpartition(" ")[2].strip(".").lower() in _LABELS
        ):
            return (OTHER,)
        if before[-1:] in (":", "="):
            self._read_key(value, text[max(0, value.start - 48) : value.start])
        field_of_its_own = first or before[-1] in ":=|,;\"(["
        return (FIELD if field_of_its_own and _FIELD_ENDS.match(text, value.end) else BARE,)

    def _read_key(self, value: Value, before: str) -> None:
        """The unit that a key names: of ``duration_min: 180``, minutes."""
        key = _KEY.search(before)
        for word in _KEY_WORDS.findall(key.group(1)) if key else ():
            for unit in unit_named(word) or unit_named(word.lower()):
                for reading in value.readings:
                    self._amount(reading, unit)

    def _amount(self, number: Decimal, unit: str) -> None:
        if UNITS[unit].system:
            self._amounts.setdefault(UNITS[unit].dimension, []).append((base(number, unit), number, unit))

    def _join(self, value: Value, text: str) -> None:
        """An hour and 30 minutes are 90 minutes, too."""
        last, self._last = self._last, (value.unit_end, text, value)
        if last is None or last[1] is not text or not last[2].units or not value.units:
            return
        joined = together(last[2], value, text)
        if joined is not None:
            self._amount(joined, value.units[0])
            self._joined.add((joined, value.units[0]))

    def add_words(self, text: str) -> None:
        """Amounts and ordinals that ``text`` says without figures."""
        for value in quantities(text):
            if value.percent:
                self.worded.update(value.readings)
                if value.readings[0] >= 200:
                    self.worded.add(value.readings[0] - 100)
            else:
                self.tag(value.readings, *value.units)
                for unit in value.units:
                    self._amount(value.readings[0], unit)
        for match in _WORDS.finditer(text):
            tens = _TENS[match.group(1).lower()] if match.group(1) else 0
            self.ordinals.add(tens + _ORDINALS[match.group(2).lower()])

    def close(self) -> None:
        self._last = None
        self.shares = sorted({*self.shares, *self.worded})
        self.years = sorted(set(self.years))
        for amounts in self._amounts.values():
            amounts.sort()

    def fits(self, number: Decimal, value: Value) -> bool:
        """Whether ``number`` stands here as something that ``value`` may be."""
        tags = self.tags.get(number)
        if tags is None or FIELD in tags:
            return True
        if not value.units:
            # "76 races" are no 76 metres.
            return not value.counts or not all(tag in UNITS and UNITS[tag].dimension in _NO_COUNT for tag in tags)
        if not tags.isdisjoint(value.units) or (NTH in tags and "year" in value.units):  # the 70th anniversary
            return True
        if value.percent:
            return BARE in tags and not self.shares
        return (BARE in tags or COUNTS in tags) and not self.rivals(value)

    def rivals(self, value: Value) -> bool:
        """Whether the number of ``value`` stands here, but in other units of its dimension."""
        mine = dimensions(value.units)
        for number in value.readings:
            units = tuple(tag for tag in self.tags.get(number, ()) if tag in UNITS)
            if units and not mine.isdisjoint(dimensions(units)):
                return True
        return False

    def converts(self, number: Decimal, units: tuple[str, ...], step: Decimal, *, approximate: bool = False) -> bool:
        """Whether an amount here is ``number`` of one of ``units``."""
        for unit in units:
            amounts = self._amounts.get(UNITS[unit].dimension, [])
            degrees = UNITS[unit].dimension == "temperature"
            low, high = base(number, unit) * Decimal("0.85"), base(number, unit) * Decimal("1.18")
            at = 0 if degrees else bisect_left(amounts, (low,))
            around = [a for a in amounts[at : at + _LOOKED_AT] if degrees or a[0] <= high]
            if (number, unit) in self._joined:
                return True
            # One in the same unit, and another number: "1,993 m (6,539 ft)" does not say 1,994 m.
            if any(other == unit for _, _, other in around):
                around = [a for a in around if UNITS[a[2]].system == UNITS[unit].system]
            if any(
                equal(number, unit, said, other, step=step, approximate=approximate) for _, said, other in around
            ):
                return True
        return False

    def share(self, number: Decimal, step: Decimal, *, figures: bool = False, approximate: bool = False) -> bool:
        """Whether a share said in words is ``number`` percent; with ``figures``, one in figures, too."""
        gap = max(step / 2, Decimal("0.5")) * (4 if approximate else 1)
        if not figures:
            return any(abs(share - number) <= gap for share in self.worded)
        at = bisect_left(self.shares, number - gap)
        return at < len(self.shares) and self.shares[at] <= number + gap

    def in_span(self, value: Value, text: str) -> bool:
        """Whether a decade or century ("1980s", "the 19th century") has one of the years here; or an ordinal is."""
        number = value.readings[0]
        if number != number.to_integral_value():
            return False
        whole = int(number)
        if value.ordinal:
            if whole in self.ordinals:
                return True
            if _CENTURY.match(text, value.end) is None or whole > 22:
                return False
            return self._year_in(100 * whole - 100, 100 * whole)
        if not value.decade:
            return False
        if whole < 100:
            return whole % 10 == 0 and any(self._year_in(c + whole, c + whole + 9) for c in (1800, 1900, 2000))
        return self._year_in(whole, whole + (99 if whole % 100 == 0 else 9))

    def _year_in(self, low: int, high: int) -> bool:
        at = bisect_left(self.years, low)
        return at < len(self.years) and self.years[at] <= high


def together(first: Value, second: Value, text: str) -> Decimal | None:
    """``first`` and ``second`` as one amount in the unit of ``second``; None where they are two."""
    if not first.units or not second.units or not 0 <= second.start - first.unit_end <= 6:
        return None
    if _TOGETHER.fullmatch(text, first.unit_end, second.start) is None:
        return None
    one, two = UNITS[first.units[0]], UNITS[second.units[0]]
    if one.dimension != two.dimension or one.system != two.system or not one.system or one.factor <= two.factor:
        return None
    return (first.readings[0] * one.factor + second.readings[0] * two.factor) / two.factor


def percent_of(value: Value) -> bool:
    return value.units == (PERCENT,)
