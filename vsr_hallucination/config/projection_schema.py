"""Projections after loading: only what this filter can evaluate, names as declared, in an order that can be walked.

A projection that reads another signal family, at whatever remove, is not in here (the loader reports who reads it).
Meaning: Semantic Router's documentation of ``routing.projections``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SLOPE = 12.0  # of the sigmoid that turns a score's distance from its band's edge into a confidence


class ValueSource(StrEnum):
    """What an input of a score counts as: ``match`` or ``miss``, its confidence, or another score's value."""

    BINARY = "binary"
    CONFIDENCE = "confidence"
    SCORE = "score"  # never written: an input of type projection that names a score


class MappingMethod(StrEnum):
    THRESHOLD_BANDS = "threshold_bands"  # the first band that holds the score
    MULTI_EMIT = "multi_emit"  # every band that holds it
    TOP_K = "top_k"  # of those, the ``top_k`` whose centres are nearest


@dataclass(frozen=True, slots=True)
class ScoreInput:
    """One addend, ``weight * value``. ``type``: keyword, fact_check or projection (an output, or a score)."""

    type: str
    name: str
    weight: float
    source: ValueSource = ValueSource.BINARY
    match: float = 1.0
    miss: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """A weighted sum of what the inputs count."""

    name: str
    inputs: tuple[ScoreInput, ...] = ()


@dataclass(frozen=True, slots=True)
class Band:
    """An output of a mapping: it is emitted while the score lies within all bounds that are given."""

    name: str
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None

    def holds(self, score: float) -> bool:
        return (
            (self.gt is None or score > self.gt)
            and (self.gte is None or score >= self.gte)
            and (self.lt is None or score < self.lt)
            and (self.lte is None or score <= self.lte)
        )

    @property
    def bounds(self) -> tuple[float, ...]:
        return tuple(bound for bound in (self.gt, self.gte, self.lt, self.lte) if bound is not None)

    @property
    def centre(self) -> float:
        """Half-way between the tighter bounds; the only bound where there is one side; 0 for none."""
        low = [bound for bound in (self.gt, self.gte) if bound is not None]
        high = [bound for bound in (self.lt, self.lte) if bound is not None]
        if low and high:
            return (max(low) + min(high)) / 2
        return max(low) if low else min(high, default=0.0)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Names for ranges of the score ``source``."""

    name: str
    source: str
    bands: tuple[Band, ...]
    method: MappingMethod = MappingMethod.THRESHOLD_BANDS
    slope: float = SLOPE
    top_k: int = 0  # 0: all


@dataclass(frozen=True, slots=True)
class Partition:
    """Of ``members`` (signals of one family) at most one is left matching, and ``default`` where none does.

    ``temperature``: the winner's confidence is its share in a softmax over the contenders; None: it stays as it is.
    """

    name: str
    family: str
    members: tuple[str, ...]
    default: str | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Projections:
    """``steps``: scores and mappings, each after all that it reads."""

    partitions: tuple[Partition, ...] = ()
    steps: tuple[Score | Mapping, ...] = ()
