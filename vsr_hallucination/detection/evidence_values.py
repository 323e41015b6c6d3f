"""The values a grounding carries, ready to be asked: built once per exchange, linear in its length."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from heapq import merge

from vsr_hallucination.detection.encoding import MONTHS
from vsr_hallucination.detection.evidence_signs import Signs
from vsr_hallucination.detection.fold import latin_skeleton
from vsr_hallucination.detection.measures import BARE, FIELD, OTHER, Measures
from vsr_hallucination.detection.numerals import Style, style_of
from vsr_hallucination.detection.text import pieces_of
from vsr_hallucination.detection.values import Date, Value, values

_BLOCK = 8192
_HUNDRED = Decimal(100)
_ALL_ONE_TYPE = 65_536  # characters read to learn a text's number style
_LITERAL_SEARCHES = 200  # verbatim look-ups of identifiers per exchange; each is one pass in C
# Spaces are taken once, and a key begins with none: else a line of spaces is tried from each of them to each other.
_KEY = re.compile(r"^[^\S\n]*+([^\s:][^\n:]{0,119}?)(?:\[\d+\])?[^\S\n]{0,32}+:", re.MULTILINE)
_GROUPS = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])")
_PLAIN = re.compile(r"[1-9]\d{0,14}(?:\.\d{1,9})?|0(?:\.\d{1,9})?")
_FIELD_TEXT = 200
_QUARTER = re.compile(r"q([1-4])")
_INNER = re.compile(r"(?<=[^\W\d_])(?=\d)")


@dataclass(slots=True)
class ValueSet:
    """Values of some texts. ``numbers`` stand for themselves, ``ends`` only as endpoints of ``ranges``."""

    numbers: set[Decimal] = field(default_factory=set)
    percents: set[Decimal] = field(default_factory=set)
    signs: Signs = field(default_factory=Signs)
    ends: set[Decimal] = field(default_factory=set)
    ranges: set[tuple[Decimal, Decimal]] = field(default_factory=set)
    identifiers: set[str] = field(default_factory=set)
    dates: set[Date] = field(default_factory=set)
    minutes: set[int] = field(default_factory=set)
    counts: set[int] = field(default_factory=set)  # how often a key or a passage repeats
    words: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    measures: Measures = field(default_factory=Measures)
    _sorted: list[Decimal] = field(default_factory=list)
    _shapes: set[Date] = field(default_factory=set)  # the dates with any of their parts left out
    _days: set[tuple[int | None, int | None]] = field(default_factory=set)  # month and day (or none) of the dates
    _yearless: set[tuple[int | None, int | None]] = field(default_factory=set)  # likewise of those without a year
    _folded: list[str] | None = None  # the texts as identifiers are compared, in pieces
    _searches: int = 0

    @classmethod
    def build(cls, texts: Iterable[str], alive: Callable[[], None] = lambda: None) -> ValueSet:
        """Reads all values of ``texts``. ``alive`` is called now and then and may raise to stop the work."""
        found = cls()
        keys: Counter[str] = Counter()
        for text in texts:
            found.texts.append(text)
            style = style_of(text[:_ALL_ONE_TYPE])
            for low, high in pieces_of(text):
                alive()
                piece = text[low:high]
                for n, value in enumerate(values(piece, style)):
                    if n % 256 == 255:
                        alive()
                    found._add(value)
                    found.measures.add(value, piece)
                found._add_fields(piece, style)
                found.measures.add_words(piece)
                lowered = piece.lower()
                found.words.update(month for month in MONTHS if month in lowered)
                for match in _KEY.finditer(piece):
                    keys[match.group(1)] += 1
        found.counts = {len(found.texts), *keys.values()}
        found._sorted = _in_order(found.numbers)
        found.measures.close()
        return found

    def _add_fields(self, piece: str, style: Style) -> None:
        """Fields of comma-separated lines that read as part of their neighbour: "5,232" is 5 and 232 there, too."""
        for line in piece.split("\n"):
            if line.count(",") < 2 or ", " in line or "," not in _GROUPS.sub("", line):
                continue
            fields = line.split(",")
            for n, text in enumerate(fields):
                glued = text[:1].isdigit() and n and fields[n - 1][-1:].isdigit()
                if not glued and not (text[-1:].isdigit() and fields[n + 1 : n + 2] and fields[n + 1][:1].isdigit()):
                    continue
                if _PLAIN.fullmatch(text):
                    number = Decimal(text)
                    self.numbers.add(number)
                    self.measures.tag((number,), FIELD)
                    self.signs.add_plain((number,))
                    continue
                for value in values(text[:_FIELD_TEXT], style):
                    self._add(value)
                    self.measures.add(value, text)

    def _add(self, value: Value) -> None:
        if value.kind == "number":
            if value.range is None:
                self.numbers.update(value.readings)
                self.numbers.update(value.parts if not value.scaled else ())
            else:
                self.ranges.add(value.range)
                self.ends.update(value.readings)
            self.signs.add(value)
            if value.percent:
                self.percents.update(value.readings)
        elif value.kind == "identifier":
            self.identifiers.add(value.key)
            self.numbers.update(value.parts)
            self.signs.add_plain(value.parts)
        elif value.kind == "time":
            self.minutes.update(value.minutes)
        else:
            for date in value.dates:
                self._add_date(date)
            for year, _, day in value.dates:
                parts = [Decimal(part) for part in (year, day) if part is not None]
                self.numbers.update(parts)
                self.measures.tag(parts, OTHER)
                self.signs.add_plain(parts)

    def _add_date(self, date: Date) -> None:
        if date in self.dates:
            return
        self.dates.add(date)
        year, month, day = date
        self._shapes.update((y, m, d) for y in {year, None} for m in {month, None} for d in {day, None})
        for days in (self._days, self._yearless) if year is None else (self._days,):
            days.update(((month, day), (month, None)))

    def holds_number(self, value: Value, *, as_bound: bool = False) -> bool:
        """Whether one of the value's readings is here; a percentage also as a fraction, and the other way round.

        With another sign it is another number; but "fell by 3 %" says -3 %, too (``signs``)."""
        fits = self.fits
        for number in value.readings:
            if (number in self.numbers or (as_bound and number in self.ends)) and fits(number, value):
                return True
            share = number / _HUNDRED
            if value.percent and share != share.to_integral_value() and share in self.numbers and fits(share, value):
                return True
            if not value.units and number * _HUNDRED in self.percents and self.signed_so(number * _HUNDRED, value):
                return True
        if value.range is not None and value.range in self.ranges and fits(value.readings[0], value):
            return True
        return bool(value.parts) and not value.scaled and all(part in self.numbers for part in value.parts)

    def fits(self, number: Decimal, value: Value) -> bool:
        """Whether ``number`` stands here as something that ``value`` may be, and with its sign."""
        return self.measures.fits(number, value) and self.signed_so(number, value)

    def signed_so(self, number: Decimal, value: Value) -> bool:
        return self.signs.hold(number, value, self.measures.tags.get(number, frozenset()), self.texts)

    def holds_identifier(self, value: Value) -> bool:
        """Whether the identifier is here as a string (case and look-alike letters aside), or inside a longer one."""
        if value.key in self.identifiers or any(part in self.numbers for part in value.parts):
            return True
        if value.key.isdigit() or self._searches >= _LITERAL_SEARCHES:
            return False
        self._searches += 1
        if (quarter := _QUARTER.fullmatch(value.key)) and int(quarter.group(1)) in self.measures.ordinals:
            return True
        # "F1-score" is "F1 score", "TiO2" is "TiO 2".
        spaced = _INNER.sub(r"[ ]?", re.escape(value.key).replace(r"\-", "[ -]?"))
        literal = re.compile(rf"(?<![^\W_]){spaced}(?![^\W_])")
        if self._folded is None:
            self._folded = [
                latin_skeleton(text[low:high]).casefold() for text in self.texts for low, high in pieces_of(text)
            ]
        return any(literal.search(piece) for piece in self._folded)

    def holds_date(self, value: Value) -> bool:
        """Whether a date agrees in every part the value names, or its parts are here one by one."""
        for year, month, day in value.dates:
            if (year, month, day) in self._shapes:
                return True
            known_year = year is None or Decimal(year) in self.numbers
            known_day = day is None or Decimal(day) in self.numbers
            pair = (month, day) in (self._days if year is None else self._yearless)
            named = month is not None and MONTHS[month - 1] in self.words
            if known_year and (pair or (named and known_day)):
                return True
        return False

    def holds_time(self, value: Value) -> bool:
        """Whether the time of day is here, on a 12 or 24 hour clock."""
        tags = self.measures.tags
        for minute in value.minutes:  # "7 pm" for "at 7?"
            hours = (Decimal(minute // 60), Decimal(minute // 60 % 12 or 12)) if minute % 60 == 0 else ()
            if any(tags.get(hour, frozenset()) & {BARE, FIELD} for hour in hours):
                return True
        twelve = {minute % 720 for minute in self.minutes}
        return any(minute in self.minutes or minute % 720 in twelve for minute in value.minutes)

    def near(self, low: Decimal, high: Decimal) -> list[Decimal]:
        """Numbers in [low, high], at most 64 of them."""
        at = bisect_left(self._sorted, low)
        out: list[Decimal] = []
        while at < len(self._sorted) and self._sorted[at] <= high and len(out) < 64:
            out.append(self._sorted[at])
            at += 1
        return out


def _in_order(numbers: set[Decimal]) -> list[Decimal]:
    """Sorted in blocks and merged: one sort of a hundred thousand decimals holds the interpreter too long."""
    found = list(numbers)
    return list(merge(*(sorted(found[at : at + _BLOCK]) for at in range(0, len(found), _BLOCK))))
