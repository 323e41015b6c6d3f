"""Time that passed between two times of day or two dates of the evidence: "45 minutes" for 14:02 to 14:47."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import permutations

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.units import UNITS
from vsr_hallucination.detection.values import Value

_MOST = 12  # times or dates: between many, some two lie any time apart
_DAY = 86_400
_ROUGHLY = Decimal("0.15")  # of what is said to be about right
_NIGHTS = frozenset({"night"})


@dataclass(frozen=True)
class Elapsed:
    """How far the times and dates of the evidence lie apart, read once however many values are held against them."""

    evidence: ValueSet

    def has(self, value: Value, *, about: bool) -> bool:
        """Whether ``value``, a number with a unit of time, is how long two times of the evidence lie apart. ``about``:
        the answer says that it is rounded. A day counts from one date to another, and with both ends (a stay)."""
        number = value.readings[0]
        for name in value.units:
            unit = UNITS[name]
            if unit.dimension != "time":
                continue
            if name == "month":
                found: Iterable[Decimal] = map(Decimal, self._months)
            elif unit.factor >= _DAY:
                days = [Decimal(days + more) for days in self._days for more in ((0,) if name in _NIGHTS else (0, 1))]
                found = [gap * _DAY / unit.factor for gap in days]
            else:
                found = [Decimal(gap * 60) / unit.factor for gap in self._minutes]
            if any(abs(gap - number) <= (gap * _ROUGHLY if about else 0) for gap in found if gap):
                return True
        return False

    @cached_property
    def _minutes(self) -> set[int]:
        return _minutes(self.evidence)

    @cached_property
    def _days(self) -> set[int]:
        return _days(self.evidence)

    @cached_property
    def _months(self) -> set[int]:
        return _months(self.evidence)


def _minutes(evidence: ValueSet) -> set[int]:
    """Minutes from one time of day to another, also past midnight."""
    times = sorted(evidence.minutes)
    return {(two - one) % 1440 for one, two in permutations(times, 2)} if len(times) <= _MOST else set()


def _days(evidence: ValueSet) -> set[int]:
    """Days between dates; those without a year count as of one year."""
    whole = {(year, month, day) for year, month, day in evidence.dates if month is not None and day is not None}
    if len(whole) > _MOST:
        return set()
    known = sorted({year for year, _, _ in whole if year is not None})
    found = set()
    for (y1, m1, d1), (y2, m2, d2) in permutations(whole, 2):
        year = y1 or y2 or (known[0] if known else 2001)
        one, two = _date(y1 or year, m1, d1), _date(y2 or year, m2, d2)
        if one is not None and two is not None and two > one:
            found.add((two - one).days)
    return found


def _months(evidence: ValueSet) -> set[int]:
    named = {(year, month) for year, month, _ in evidence.dates if year is not None and month is not None}
    if len(named) > _MOST:
        return set()
    return {12 * (y2 - y1) + m2 - m1 for (y1, m1), (y2, m2) in permutations(named, 2)} - {0}


def _date(year: int, month: int | None, day: int | None) -> datetime.date | None:
    try:
        return datetime.date(year, month or 1, day or 1)
    except ValueError:
        return None
