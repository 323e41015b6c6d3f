"""When may the gateway release an answer unseen? Pure: scores and labels in, curves and a guaranteed threshold out.

``scores``: how likely each answer's worst part is unsupported, in [0, 1]; ``faulty``: 1 where the answer really is
unsupported. At a threshold an answer is released (``not_detected``) if its score lies below it, and flagged otherwise.
Coverage is the share of answers released, risk the share of faulty answers among the released.

The guarantee is Learn-then-Test (Angelopoulos et al., arXiv:2110.01052): for each threshold of a grid that was fixed
before the data were seen, the hypothesis "risk > ``risk``" has an exact binomial p-value, since given how many answers
are released, the faulty ones among them are binomial if the rows are drawn independently from what the gateway will
see. Fixed-sequence testing from several starts, each with its part of the error rate, holds the chance of one false
rejection, and so of choosing a threshold that releases more than ``risk``, at 1 − ``confidence``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vsr_hallucination.evaluation import statistics
from vsr_hallucination.evaluation.operating_points import OPERATING_POINTS
from vsr_hallucination.evaluation.statistics import Interval, aurc, auroc, average_precision

# Where sequences start: the first threshold, and every third of those in between. A detector that tells all apart by a
# gap of 0.06 in probability gets a threshold then, wherever it lies.
_STARTS_FROM, _STARTS_TO, _STARTS_EVERY = 0.018, 0.9, 3
_STEPS = 192
_WIDEST = 7.0  # logits: the grid runs from 0.0009 to 0.9991


@dataclass(frozen=True, slots=True)
class Release:
    """What one threshold would do on the rows measured. ``released`` of ``n`` answers, ``faulty`` of those."""

    threshold: float
    n: int
    released: int
    faulty: int

    @property
    def coverage(self) -> float | None:
        return self.released / self.n if self.n else None

    @property
    def risk(self) -> float | None:
        return self.faulty / self.released if self.released else None

    @property
    def clean(self) -> float | None:
        return 1 - self.faulty / self.released if self.released else None

    def to_json(self, confidence: float = 0.95) -> dict[str, Any]:
        """The figures with their Wilson intervals; undefined ones are None."""
        clean = statistics.wilson(self.released - self.faulty, self.released, confidence)
        coverage = statistics.wilson(self.released, self.n, confidence)
        return {
            "threshold": self.threshold,
            "n": self.n,
            "released": self.released,
            "faulty_released": self.faulty,
            "coverage": self.coverage,
            "coverage_interval": None if coverage is None else list(coverage),
            "clean_among_released": self.clean,
            "clean_interval": None if clean is None else list(clean),
        }


class Releases:
    """Rows sorted once, so that any threshold is a look-up."""

    def __init__(self, scores: ArrayLike, faulty: ArrayLike) -> None:
        values, labels = np.asarray(scores, np.float64), np.asarray(faulty, np.float64)
        if values.ndim != 1 or values.shape != labels.shape:
            raise ValueError(f"scores {values.shape} and labels {labels.shape} are not two rows of one length")
        if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()):
            raise ValueError("unsupported scores lie in [0, 1]")
        if not np.isin(labels, (0.0, 1.0)).all():
            raise ValueError("labels are 1 (faulty) or 0")
        order = np.argsort(values, kind="stable")
        self.scores: NDArray[np.float64] = values[order]
        self._faults = np.concatenate(([0], np.cumsum(labels[order].astype(np.int64))))
        self.n = len(values)

    def at(self, threshold: float) -> Release:
        """Answers with a score below ``threshold`` are released."""
        released = int(np.searchsorted(self.scores, threshold, side="left"))
        return Release(threshold, self.n, released, int(self._faults[released]))

    def counts(self, thresholds: Sequence[float]) -> list[tuple[int, int]]:
        """(released, faulty) at each threshold."""
        released = np.searchsorted(self.scores, thresholds, side="left")
        return list(zip(released.tolist(), self._faults[released].tolist(), strict=True))


def curve(scores: ArrayLike, faulty: ArrayLike, *, most: int = 400) -> tuple[Release, ...]:
    """A point for each number of answers that a threshold can release, at most ``most`` of them, evenly spread."""
    rows = Releases(scores, faulty)
    levels = np.unique(rows.scores)
    if len(levels) > most:
        levels = levels[np.linspace(0, len(levels) - 1, most).round().astype(int)]
    points = [rows.at(float(level)) for level in levels]
    if rows.n:
        points.append(rows.at(math.nextafter(1.0, 2.0)))  # everything
    return tuple(point for point in points if point.released)


@dataclass(frozen=True, slots=True)
class PointAt:
    """An operating point: an answer goes out if the detector is ``t`` sure that nothing in it is unsupported."""

    name: str
    t: float
    use: str
    release: Release


def operating_points(scores: ArrayLike, faulty: ArrayLike) -> tuple[PointAt, ...]:
    """The named points on these rows: t is the least certainty of being clean, so the threshold is 1 − t."""
    rows = Releases(scores, faulty)
    return tuple(PointAt(p.name, p.t, p.use, rows.at(round(1 - p.t, 12))) for p in OPERATING_POINTS)


@cache
def grid() -> tuple[float, ...]:
    """The thresholds that are tested: fixed, evenly spaced in log odds, rounded to what a configuration shows."""
    logits = np.linspace(-_WIDEST, _WIDEST, _STEPS)
    return tuple(dict.fromkeys(round(float(1 / (1 + math.exp(-x))), 4) for x in logits))


@dataclass(frozen=True, slots=True)
class Selected:
    """The outcome of a choice. ``threshold`` None: none can be shown to hold; ``release`` is then the nearest miss.

    ``bound``: exact upper bound (Clopper–Pearson, one-sided, at ``confidence``) of the risk at ``release``, by itself,
    without the allowance for having looked at many thresholds. ``needed``: faultless released answers that would do.
    """

    risk: float
    confidence: float
    threshold: float | None
    release: Release | None
    bound: float | None
    needed: int

    def to_json(self) -> dict[str, Any]:
        return {
            "risk": self.risk,
            "confidence": self.confidence,
            "threshold": self.threshold,
            "release": None if self.release is None else self.release.to_json(),
            "risk_upper_bound": self.bound,
            "faultless_answers_needed": self.needed,
        }


def select(scores: ArrayLike, faulty: ArrayLike, *, risk: float = 0.05, confidence: float = 0.95) -> Selected:
    """The threshold that releases most while, with ``confidence``, at most ``risk`` of the released are faulty.

    Raises ValueError for a risk or confidence outside (0, 1) and for scores outside [0, 1].
    """
    if not 0 < risk < 1 or not 0 < confidence < 1:
        raise ValueError("risk and confidence lie between 0 and 1, both excluded")
    rows = Releases(scores, faulty)
    thresholds = grid()
    starts = _starts(thresholds)
    level = (1 - confidence) / len(starts)
    found: Release | None = None
    counts = rows.counts(thresholds)
    for start in starts:
        if found is not None and found.threshold >= thresholds[start]:
            continue  # an earlier sequence came past here: this one would go the same way
        for threshold, (released, faults) in zip(thresholds[start:], counts[start:], strict=True):
            if not _shown(released, faults, risk, level):
                break
            found = Release(threshold, rows.n, released, faults)
    needed = math.ceil(math.log(level) / math.log1p(-risk))
    nearest = found or _nearest(rows, thresholds, confidence)
    bound = None if nearest is None else statistics.upper_bound(nearest.faulty, nearest.released, confidence)
    return Selected(risk, confidence, found.threshold if found else None, nearest, bound, needed)


def _starts(thresholds: Sequence[float]) -> list[int]:
    between = [n for n, threshold in enumerate(thresholds) if _STARTS_FROM <= threshold <= _STARTS_TO]
    return [0, *between[::_STARTS_EVERY]]


def _shown(released: int, faults: int, risk: float, level: float) -> bool:
    """Whether "more than ``risk`` of the released are faulty" is rejected at ``level``."""
    if faults >= risk * released:
        return False  # no evidence against it at all: spares the sum
    return statistics.binomial_cdf(faults, released, risk) <= level


def _nearest(rows: Releases, thresholds: Sequence[float], confidence: float) -> Release | None:
    """The threshold whose risk has the lowest upper bound (Wilson's: quick); None if nothing is ever released."""
    counts = np.asarray(rows.counts(thresholds), np.float64)
    n = np.maximum(counts[:, 0], 1)
    share = counts[:, 1] / n
    z = statistics.z_of(confidence)
    spread = np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    upper = (share + z * z / (2 * n) + z * spread) / (1 + z * z / n)
    best = int(np.where(counts[:, 0] > 0, upper, np.inf).argmin())
    return rows.at(thresholds[best]) if counts[best, 0] else None


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of two detectors on the same rows. ``interval``: of first − second, paired bootstrap."""

    figure: str
    first: float | None
    second: float | None
    interval: Interval | None

    @property
    def apart(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)

    def to_json(self) -> dict[str, Any]:
        both = self.first is not None and self.second is not None
        return {
            "figure": self.figure,
            "first": self.first,
            "second": self.second,
            "difference": self.first - self.second if both else None,  # type: ignore[operator]
            "interval": None if self.interval is None else list(self.interval),
            "beyond_noise": self.apart,
        }


def _release_aurc(scores: statistics.Floats, faulty: statistics.Floats) -> float | None:
    return aurc(1 - scores, faulty)


def release_aurc(scores: ArrayLike, faulty: ArrayLike) -> float | None:
    """Area under risk against coverage as more is released, lowest score first; lower is better."""
    return _release_aurc(np.asarray(scores, np.float64), np.asarray(faulty, np.float64))


def f1(flagged: statistics.Floats, faulty: statistics.Floats) -> float | None:
    """F1 of 0/1 decisions; None where nothing is flagged and nothing is faulty."""
    total = float(flagged.sum() + faulty.sum())
    return 2 * float((flagged * faulty).sum()) / total if total else None


def compare(
    first: ArrayLike,
    second: ArrayLike,
    faulty: ArrayLike,
    *,
    flagged: tuple[ArrayLike, ArrayLike] | None = None,
    draws: int = 1000,
    seed: int = 1234,
) -> tuple[Difference, ...]:
    """Two detectors on the same rows, figure by figure: their scores and, if given, the decisions each made."""
    figures: tuple[tuple[str, statistics.Statistic], ...] = (
        ("auroc", auroc),
        ("average_precision", average_precision),
        ("aurc", _release_aurc),
        ("brier", statistics.brier),
        ("calibration_error", statistics.calibration_error),
    )
    found = [_difference(name, figure, first, second, faulty, draws, seed) for name, figure in figures]
    if flagged is not None:
        found.append(_difference("f1_as_shipped", f1, *flagged, faulty, draws, seed))
    return tuple(found)


def _difference(
    name: str,
    figure: statistics.Statistic,
    first: ArrayLike,
    second: ArrayLike,
    faulty: ArrayLike,
    draws: int,
    seed: int,
) -> Difference:
    a, b, labels = (np.asarray(x, np.float64) for x in (first, second, faulty))
    interval = statistics.paired_bootstrap(a, b, labels, figure, draws=draws, seed=seed)
    return Difference(name, figure(a, labels), figure(b, labels), interval)


def snippet(selected: Selected) -> str:
    """The configuration that puts the choice into force; a comment that says so where there is none."""
    if selected.threshold is None or selected.release is None:
        return f"# no threshold reaches a risk of {selected.risk:g} with confidence {selected.confidence:g}\n"
    r = selected.release
    return (
        f"# With {selected.confidence:.0%} confidence at most {selected.risk:.1%} of the answers that are released as\n"
        f"# not_detected are unsupported, on traffic like the {r.n} rows this was measured on: {r.released} of them\n"
        f"# would be released, {r.faulty} of those unsupported.\n"
        "global:\n"
        "  model_catalog:\n"
        "    modules:\n"
        "      hallucination_mitigation:\n"
        "        detector:\n"
        f"          threshold: {selected.threshold:g}\n"
        "          # So that an answer at or above the threshold always keeps a span:\n"
        f"          min_span_confidence: {selected.threshold:g}\n"
        "          min_span_length: 1\n"
        "          enable_nli_filtering: false\n"
    )
