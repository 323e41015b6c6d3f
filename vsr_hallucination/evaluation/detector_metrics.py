"""How well a detector tells faulty answers from clean ones. Pure: cases in, the contents of ``metrics.json`` out.

A faulty answer is the positive class. Flagged means state ``detected``: whatever thresholds the detector shipped with;
none is fitted here. Answers the detector could not check (``unavailable``) are counted apart and are in no figure.
Undefined figures are ``None``. Span figures are micro-averages over characters (code points): of all characters inside
reported spans, the share inside labelled ones is precision; the other way round, recall; clean answers count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from vsr_hallucination.evaluation import statistics
from vsr_hallucination.evaluation.statistics import Interval

FALSE_ALARMS = (0.05, 0.10)
ANSWER_LENGTHS = (100, 300, 1000)  # code points; upper ends of the bins, the last one open
EVIDENCE_LENGTHS = (1000, 4000, 16_000)
_MANY = 20_000  # rows above which fewer bootstrap draws do

Stretch = tuple[int, int]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Case:
    """One answer as judged. ``flagged`` None: unavailable. ``gold`` None: no label. Lengths in code points.

    ``deciding`` is the lowest threshold at which the answer is released; None: it is the ``score``.
    """

    gold: bool | None
    flagged: bool | None
    score: float | None
    spans: tuple[Stretch, ...] = ()
    gold_spans: tuple[Stretch, ...] | None = None  # None: not labelled by spans
    kinds: tuple[tuple[str, Stretch], ...] = ()
    source: str = "unknown"
    language: str = "unknown"
    answer_length: int = 0
    evidence_length: int = 0
    reason: str | None = None
    seconds: float | None = None
    new_words: int = 0  # the lexical baseline's count
    new_share: float = 0.0
    lexical_score: float = 0.0
    deciding: float | None = None


def metrics(
    cases: Sequence[Case], *, lexical_threshold: float, wall: float, concurrency: int
) -> dict[str, Any]:
    """Everything measured. ``wall``: seconds the whole run took."""
    labelled = [case for case in cases if case.gold is not None]
    judged = [case for case in labelled if case.flagged is not None]
    return {
        "n": len(cases),
        "faulty": sum(case.gold is True for case in cases),
        "clean": sum(case.gold is False for case in cases),
        "unlabelled": len(cases) - len(labelled),
        "unavailable": unavailable(cases),
        "example": example(judged, intervals=True),
        "span": span_figures(judged),
        "baselines": baselines(judged, lexical_threshold),
        "by_source": grouped(labelled, lambda case: case.source),
        "by_language": grouped(labelled, lambda case: case.language),
        "by_answer_length": grouped(labelled, lambda case: length_bin(case.answer_length, ANSWER_LENGTHS)),
        "by_evidence_length": grouped(
            labelled, lambda case: length_bin(case.evidence_length, EVIDENCE_LENGTHS)
        ),
        "by_kind": by_kind(judged),
        "latency": latency([case.seconds for case in cases if case.seconds is not None], wall, concurrency),
    }


def unavailable(cases: Iterable[Case]) -> dict[str, Any]:
    """How many answers were not checked, by label and by reason."""
    lost = [case for case in cases if case.flagged is None]
    return {
        "n": len(lost),
        "faulty": sum(case.gold is True for case in lost),
        "clean": sum(case.gold is False for case in lost),
        "by_reason": dict(sorted(Counter(case.reason or "unknown" for case in lost).items())),
    }


def example(judged: Sequence[Case], *, intervals: bool = False) -> dict[str, Any]:
    """Figures over whole answers; each case has a label and was checked."""
    hit = sum(bool(case.gold and case.flagged) for case in judged)
    alarm = sum(bool(case.flagged and not case.gold) for case in judged)
    faulty = sum(bool(case.gold) for case in judged)
    clean = len(judged) - faulty
    found: dict[str, Any] = {
        "n": len(judged),
        "faulty": faulty,
        "clean": clean,
        "true_positives": hit,
        "false_positives": alarm,
        "false_negatives": faulty - hit,
        "true_negatives": clean - alarm,
        **precision_recall_f1(hit, hit + alarm, faulty),
        "false_alarm_rate": share(alarm, clean),
    }
    scores, gold = _scored(judged)
    found |= ranking(scores, gold)
    found["calibration_error"] = statistics.calibration_error(scores, gold)
    found["brier"] = statistics.brier(scores, gold)
    if intervals:
        found["intervals"] = {
            "precision": _list(statistics.wilson(hit, hit + alarm)),
            "recall": _list(statistics.wilson(hit, faulty)),
            "false_alarm_rate": _list(statistics.wilson(alarm, clean)),
            "auroc": _list(statistics.bootstrap(scores, gold, statistics.auroc, draws=_draws(len(gold)))),
        }
    return found


def ranking(scores: Sequence[float], gold: Sequence[int]) -> dict[str, Any]:
    """What the score alone tells, before any threshold."""
    return {
        "auroc": statistics.auroc(scores, gold),
        "average_precision": statistics.average_precision(scores, gold),
        "recall_at_false_alarms": {f"{x:.2f}": recall_at_false_alarms(scores, gold, x) for x in FALSE_ALARMS},
    }


def recall_at_false_alarms(scores: Sequence[float], gold: Sequence[int], limit: float) -> float | None:
    """The highest recall of any cut that flags at most ``limit`` of the clean; None unless both classes are there."""
    cut = cut_for_false_alarms(scores, gold, limit)
    faulty = [score for score, label in zip(scores, gold, strict=True) if label]
    if not faulty or len(faulty) == len(gold):
        return None
    return 0.0 if cut is None else sum(score >= cut for score in faulty) / len(faulty)


def cut_for_false_alarms(scores: Sequence[float], gold: Sequence[int], limit: float) -> float | None:
    """The lowest score that, as a threshold, flags at most ``limit`` of the clean; None if none does."""
    clean = np.sort([score for score, label in zip(scores, gold, strict=True) if not label])
    if not len(clean):
        return None
    for cut in np.unique(np.asarray(scores, np.float64)).tolist():
        if len(clean) - np.searchsorted(clean, cut, side="left") <= limit * len(clean):
            return float(cut)
    return None


def span_figures(judged: Iterable[Case]) -> dict[str, Any]:
    """Character-level figures over the cases that are labelled by spans."""
    rows = common = reported = labelled = 0
    for case in judged:
        if case.gold_spans is None:
            continue
        mine, gold = _characters(case.spans), _characters(case.gold_spans)
        rows += 1
        common += len(mine & gold)
        reported += len(mine)
        labelled += len(gold)
    return {
        "rows": rows,
        "reported_characters": reported,
        "labelled_characters": labelled,
        "common_characters": common,
        **precision_recall_f1(common, reported, labelled),
    }


def baselines(judged: Sequence[Case], threshold: float) -> dict[str, Any]:
    """The word counter and the answer's length on the same answers, and how far the detector is from the counter."""
    counted = [
        Case(case.gold, case.lexical_score >= threshold, case.lexical_score, answer_length=case.answer_length)
        for case in judged
    ]
    gold = [int(bool(case.gold)) for case in judged]
    scores, scored_gold = _scored(judged)
    rivals = [case.lexical_score for case in judged if case.score is not None]
    draws = _draws(len(gold))
    apart = statistics.paired_bootstrap(scores, rivals, scored_gold, statistics.auroc, draws=draws)
    mine, theirs = statistics.auroc(scores, scored_gold), statistics.auroc(rivals, scored_gold)
    return {
        "lexical_count": {**example(counted), "threshold": threshold},
        "lexical_share": ranking([case.new_share for case in judged], gold),
        "answer_length": ranking([float(case.answer_length) for case in judged], gold),
        "auroc_minus_lexical_count": None if mine is None or theirs is None else mine - theirs,
        "auroc_minus_lexical_count_interval": _list(apart),
    }


def grouped(labelled: Iterable[Case], name: Callable[[Case], str]) -> dict[str, Any]:
    """``example`` for each group, with the word counter's AUROC and how many of it were unavailable."""

    def figures(group: Sequence[Case]) -> dict[str, Any]:
        judged = [case for case in group if case.flagged is not None]
        return {
            **example(judged),
            "lexical_auroc": _lexical_auroc(judged),
            "unavailable": len(group) - len(judged),
        }

    return by_group(labelled, name, figures, order=_order)


def _lexical_auroc(judged: Sequence[Case]) -> float | None:
    return statistics.auroc([case.lexical_score for case in judged], [int(bool(case.gold)) for case in judged])


def _order(name: str) -> tuple[int, str]:
    number = re.match(r"[0-9]{1,9}", name)
    return (int(number.group()) if number else 0, name)


def length_bin(length: int, ends: Sequence[int]) -> str:
    """The bin of a length: ``0-100``, ``101-300``, …; the last one is open: ``1001+``."""
    low = 0
    for end in ends:
        if length <= end:
            return f"{low}-{end}"
        low = end + 1
    return f"{low}+"


def by_kind(judged: Sequence[Case]) -> dict[str, Any]:
    """Each labelled kind of fault: answers with it that were flagged, and its spans that a reported span touches.

    ``recall_at_5_percent``: with the cut that flags at most 5 % of all clean answers of the file.
    """
    cut = cut_for_false_alarms(*_scored(judged), FALSE_ALARMS[0])
    kinds = sorted({kind for case in judged for kind, _ in case.kinds})
    found: dict[str, Any] = {}
    for kind in kinds:
        having = [case for case in judged if any(name == kind for name, _ in case.kinds)]
        places = [(case, place) for case in having for name, place in case.kinds if name == kind]
        touched = sum(any(a < place[1] and place[0] < b for a, b in case.spans) for case, place in places)
        above = sum(cut is not None and case.score is not None and case.score >= cut for case in having)
        clean = any(case.gold is False for case in judged)
        found[kind] = {
            "answers": len(having),
            "recall": share(sum(bool(case.flagged) for case in having), len(having)),
            "recall_at_5_percent": share(above, len(having)) if clean else None,
            "spans": len(places),
            "spans_touched": share(touched, len(places)),
        }
    return found


def latency(seconds: Sequence[float], wall: float, concurrency: int) -> dict[str, Any]:
    """Seconds of a check from call to result, waiting included, and checks finished a second."""
    return {
        "checks": len(seconds),
        "concurrency": concurrency,
        "p50_seconds": float(np.percentile(seconds, 50)) if len(seconds) else None,
        "p99_seconds": float(np.percentile(seconds, 99)) if len(seconds) else None,
        "mean_seconds": float(np.mean(seconds)) if len(seconds) else None,
        "wall_seconds": wall,
        "answers_per_second": len(seconds) / wall if seconds and wall > 0 else None,
    }


def precision_recall_f1(common: int, reported: int, relevant: int) -> dict[str, float | None]:
    """Precision and recall of counts, and their harmonic mean: 2·common / (reported + relevant)."""
    return {
        "precision": share(common, reported),
        "recall": share(common, relevant),
        "f1": share(2 * common, reported + relevant),
    }


def by_group(
    items: Iterable[_T],
    name: Callable[[_T], str],
    figures: Callable[[Sequence[_T]], dict[str, Any]],
    order: Callable[[str], Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """``figures`` of each group of items with one ``name``; sorted by name, or by ``order`` of it."""
    groups: dict[str, list[_T]] = {}
    for one in items:
        groups.setdefault(name(one), []).append(one)
    return {key: figures(groups[key]) for key in sorted(groups, key=order)}


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _scored(judged: Iterable[Case]) -> tuple[list[float], list[int]]:
    pairs = [(case.score, int(bool(case.gold))) for case in judged if case.score is not None]
    return [score for score, _ in pairs], [label for _, label in pairs]


def _characters(spans: Iterable[Stretch]) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


def _draws(rows: int) -> int:
    return 1000 if rows <= _MANY else 200


def _list(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
