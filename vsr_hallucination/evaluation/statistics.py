"""Figures with their uncertainty. Pure, deterministic (bootstraps take a seed), numpy only.

Undefined figures are ``None``, never NaN: an interval over no trials, an AUROC with one class.
Sources: Wilson 1927; Clopper & Pearson 1934; Newcombe 1998 (method 10); Geifman & El-Yaniv 2017 (risk–coverage,
AURC); Naeini et al. 2015 (expected calibration error); Efron & Tibshirani 1993 (percentile bootstrap).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Interval = tuple[float, float]
Statistic = Callable[[Floats, Floats], float | None]


def z_of(confidence: float) -> float:
    """The two-sided standard normal quantile: 1.96 for 0.95. Raises ValueError outside (0, 1)."""
    _check_share(confidence, "confidence")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval | None:
    """Wilson score interval of a share; None over no trials."""
    _check_counts(successes, trials)
    if trials == 0:
        return None
    z = z_of(confidence)
    share = successes / trials
    scale = 1 + z * z / trials
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return low, high


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> Interval | None:
    """Exact two-sided binomial interval; None over no trials."""
    _check_counts(successes, trials)
    if trials == 0:
        return None
    tail = (1 - confidence) / 2
    return lower_bound(successes, trials, 1 - tail), upper_bound(successes, trials, 1 - tail)


def upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """Exact one-sided upper bound of a share: 1.0 over no trials. P(share ≤ bound) ≥ confidence."""
    _check_counts(successes, trials)
    _check_share(confidence, "confidence")
    if successes == trials:
        return 1.0
    return _solve(lambda p: binomial_cdf(successes, trials, p) - (1 - confidence))


def lower_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """Exact one-sided lower bound of a share: 0.0 over no trials."""
    _check_counts(successes, trials)
    return 1 - upper_bound(trials - successes, trials, confidence)


def binomial_cdf(successes: int, trials: int, share: float) -> float:
    """P(X ≤ successes), X ~ Binomial(trials, share); exact to rounding, by a sum over the shorter tail."""
    if successes < 0:
        return 0.0
    if successes >= trials or share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 0.0
    if 2 * successes > trials:
        return 1 - _tail(trials - successes - 1, trials, 1 - share)
    return _tail(successes, trials, share)


def _tail(successes: int, trials: int, share: float) -> float:
    terms = np.arange(successes + 1, dtype=np.float64)
    steps = np.log(trials - terms[:-1]) - np.log(terms[1:])
    log_choose = np.concatenate(([0.0], np.cumsum(steps)))
    logs = log_choose + terms * math.log(share) + (trials - terms) * math.log1p(-share)
    top = float(logs.max())
    return min(1.0, math.exp(top) * float(np.exp(logs - top).sum()))


def _solve(falling: Callable[[float], float]) -> float:
    """The root in [0, 1] of a falling function, by bisection to 1e-12."""
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return high  # the safe side of an upper bound


def newcombe(first: tuple[int, int], second: tuple[int, int], confidence: float = 0.95) -> Interval | None:
    """Interval of share(first) − share(second), each given as (successes, trials); None over no trials."""
    one, two = wilson(*first, confidence), wilson(*second, confidence)
    if one is None or two is None:
        return None
    p, q = first[0] / first[1], second[0] / second[1]
    low = p - q - math.hypot(p - one[0], two[1] - q)
    high = p - q + math.hypot(one[1] - p, q - two[0])
    return low, high


def sign_test(more: int, fewer: int) -> float:
    """One-sided exact p-value that ``more`` of ``more + fewer`` discordant pairs is chance (McNemar, exact)."""
    return 1 - binomial_cdf(more - 1, more + fewer, 0.5) if more + fewer else 1.0


def auroc(scores: ArrayLike, positives: ArrayLike) -> float | None:
    """P(score of a positive > score of a negative), ties as half; None unless both classes are there."""
    values, labels = _pair(scores, positives)
    count = int(labels.sum())
    others = len(labels) - count
    if not count or not others:
        return None
    _, inverse, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(sizes) - (sizes - 1) / 2  # mean rank of each tied group, from 1
    total = float(ranks[inverse][labels > 0].sum())
    return (total - count * (count + 1) / 2) / (count * others)


def average_precision(scores: ArrayLike, positives: ArrayLike) -> float | None:
    """Σ (R_i − R_{i−1}) P_i over distinct scores, without interpolation; None without a positive."""
    precision, recall = precision_recall(scores, positives)
    if not len(recall):
        return None
    return float((np.diff(np.concatenate(([0.0], recall))) * precision).sum())


def auprc(scores: ArrayLike, positives: ArrayLike) -> float | None:
    """Area under the precision–recall curve by trapezoids from recall 0 (precision 1); None without a positive."""
    precision, recall = precision_recall(scores, positives)
    if not len(recall):
        return None
    x, y = np.concatenate(([0.0], recall)), np.concatenate(([1.0], precision))
    return float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum())


def precision_recall(scores: ArrayLike, positives: ArrayLike) -> tuple[Floats, Floats]:
    """Precision and recall at each distinct score, highest score first; empty without a positive."""
    values, labels = _pair(scores, positives)
    total = float(labels.sum())
    if not total:
        return np.empty(0), np.empty(0)
    order = np.argsort(-values, kind="stable")
    values, labels = values[order], labels[order]
    last = np.flatnonzero(np.append(np.diff(values) != 0, True))  # last of each tied group
    hits = np.cumsum(labels)[last]
    return hits / (last + 1), hits / total


@dataclass(frozen=True, slots=True)
class Bin:
    """One reliability bin: scores in (low, high], how many, their mean, the share of positives."""

    low: float
    high: float
    n: int
    mean_score: float | None
    share: float | None


def reliability(probabilities: ArrayLike, positives: ArrayLike, bins: int = 10) -> tuple[Bin, ...]:
    """Equal-width reliability bins over [0, 1]; 0 belongs to the first."""
    values, labels = _pair(probabilities, positives)
    if len(values) and (values.min() < 0 or values.max() > 1):
        raise ValueError("probabilities lie in [0, 1]")
    at = np.clip(np.ceil(values * bins).astype(int) - 1, 0, bins - 1)
    out = []
    for n in range(bins):
        inside = at == n
        count = int(inside.sum())
        mean = float(values[inside].mean()) if count else None
        share = float(labels[inside].mean()) if count else None
        out.append(Bin(n / bins, (n + 1) / bins, count, mean, share))
    return tuple(out)


def calibration_error(probabilities: ArrayLike, positives: ArrayLike, bins: int = 10) -> float | None:
    """Expected calibration error over equal-width bins; None without data."""
    found = reliability(probabilities, positives, bins)
    total = sum(b.n for b in found)
    if not total:
        return None
    gaps = [
        b.n * abs(b.mean_score - b.share) for b in found if b.mean_score is not None and b.share is not None
    ]
    return sum(gaps) / total


def brier(probabilities: ArrayLike, positives: ArrayLike) -> float | None:
    """Mean squared error of probabilities; None without data."""
    values, labels = _pair(probabilities, positives)
    return float(((values - labels) ** 2).mean()) if len(values) else None


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk among the kept as more is kept, most certain first: one point per distinct confidence.

    ``coverage``: share kept; ``risk``: share of errors among the kept; ``confidences``: the lowest confidence kept.
    """

    confidences: tuple[float, ...]
    coverage: tuple[float, ...]
    risk: tuple[float, ...]


def risk_coverage(confidences: ArrayLike, errors: ArrayLike) -> RiskCoverage:
    """The curve of selective prediction. ``errors``: 1 where the answer is wrong. Ties are kept or left together."""
    values, labels = _pair(confidences, errors)
    order = np.argsort(-values, kind="stable")
    values, labels = values[order], labels[order]
    last = np.flatnonzero(np.append(np.diff(values) != 0, True)) if len(values) else np.empty(0, int)
    kept = last + 1
    risk = np.cumsum(labels)[last] / kept if len(values) else np.empty(0)
    return RiskCoverage(
        tuple(values[last].tolist()), tuple((kept / max(1, len(values))).tolist()), tuple(risk.tolist())
    )


def aurc(confidences: ArrayLike, errors: ArrayLike) -> float | None:
    """Mean risk over the coverages 1/n … n/n (lower is better); tied answers share their group's risk."""
    curve = risk_coverage(confidences, errors)
    if not curve.coverage:
        return None
    steps = np.diff(np.concatenate(([0.0], curve.coverage)))
    return float((steps * np.asarray(curve.risk)).sum())


def bootstrap(
    scores: ArrayLike,
    positives: ArrayLike,
    statistic: Statistic,
    *,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 1234,
) -> Interval | None:
    """Percentile interval of ``statistic`` over rows drawn with replacement; None if it is undefined too often."""
    values, labels = _pair(scores, positives)

    def one(rows: NDArray[np.int64]) -> float | None:
        return statistic(values[rows], labels[rows])

    return _percentiles(one, len(values), draws, confidence, seed)


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    positives: ArrayLike,
    statistic: Statistic,
    *,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 1234,
) -> Interval | None:
    """Interval of statistic(first) − statistic(second), both on the same drawn rows."""
    one, labels = _pair(first, positives)
    two, _ = _pair(second, positives)

    def difference(rows: NDArray[np.int64]) -> float | None:
        a, b = statistic(one[rows], labels[rows]), statistic(two[rows], labels[rows])
        return None if a is None or b is None else a - b

    return _percentiles(difference, len(labels), draws, confidence, seed)


def _percentiles(
    figure: Callable[[NDArray[np.int64]], float | None], rows: int, draws: int, confidence: float, seed: int
) -> Interval | None:
    _check_share(confidence, "confidence")
    if not rows:
        return None
    generator = np.random.default_rng(seed)
    drawn = (figure(generator.integers(0, rows, rows)) for _ in range(draws))
    found = [value for value in drawn if value is not None]
    if len(found) < 0.9 * draws:
        return None
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _pair(scores: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    values, marks = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
    if values.ndim != 1 or values.shape != marks.shape:
        raise ValueError(f"scores {values.shape} and labels {marks.shape} are not two rows of one length")
    if not np.isfinite(values).all():
        raise ValueError("scores are finite numbers")
    if not np.isin(marks, (0.0, 1.0)).all():
        raise ValueError("labels are 0 or 1")
    return values, marks


def _check_counts(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")


def _check_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} lies between 0 and 1, both excluded, not {value}")
