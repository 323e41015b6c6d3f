"""``eval explainer``: the label of a premise and a hypothesis, through the explainer that labels spans.

A row's context is the evidence and its answer, whole, the span that wants explaining: windows, the rule that a
contradiction outranks, and the rule that an unread premise entails nothing are all part of what is measured.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from vsr_hallucination.detection.checker import Prepared, SpanExplainer, Work
from vsr_hallucination.detection.deadline import Deadline
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.text import replace_surrogates
from vsr_hallucination.detection.types import Coverage, Detection, Grounding, NliLabel, Span
from vsr_hallucination.evaluation import statistics
from vsr_hallucination.evaluation.detector_metrics import by_group, latency, precision_recall_f1, share
from vsr_hallucination.evaluation.markdown import between, decimal, milliseconds, percent, plain, settings, table
from vsr_hallucination.evaluation.rows import Row

LABELS = tuple(str(label) for label in NliLabel)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One row and what the explainer said; ``said`` None: it failed."""

    row: Row
    said: str | None
    confidence: float | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return {"id": self.row.id, "label": self.said, "confidence": self.confidence, "gold": self.row.label}


def nli_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows with a premise, a hypothesis and one of the three labels."""
    return [row for row in rows if row.label in LABELS and row.context.strip() and row.answer.strip()]


async def label(
    explainer: SpanExplainer, row: Row, grounded: Callable[[str], Grounding], pool: ThreadPoolExecutor, timeout: float
) -> Labelled:
    """The explainer's word on one row. Its NLI filtering must be off, or entailed spans vanish."""
    answer = replace_surrogates(row.answer)
    grounding = await asyncio.to_thread(grounded, replace_surrogates(row.context))
    prepared = Prepared(answer, row.question, await asyncio.to_thread(EvidenceIndex.build, grounding))
    whole = Detection((Span(0, len(answer), answer, 1.0),), (), 1.0, 0.0, Coverage(1.0, 1.0))
    started = time.monotonic()
    explained = await explainer.explain(Work(prepared, Deadline.after(timeout), pool), whole)
    seconds = time.monotonic() - started
    (span,) = explained.spans
    if span.explainer_failed or span.nli_label is None:
        return Labelled(row, None, None, seconds)
    return Labelled(row, str(span.nli_label), span.nli_confidence, seconds)


def metrics(found: Sequence[Labelled], *, wall: float, concurrency: int) -> dict[str, Any]:
    """The contents of metrics.json. Macro F1 is the mean over the classes that occur, as gold or as said."""
    judged = [one for one in found if one.said is not None]
    sure = [one for one in judged if one.confidence is not None]
    right = [int(one.said == one.row.label) for one in sure]
    confidences = [one.confidence or 0.0 for one in sure]
    return {
        "n": len(found),
        "unavailable": len(found) - len(judged),
        **accuracy(judged),
        "calibration_error": statistics.calibration_error(confidences, right),
        "confusion": {
            gold: {said: sum(one.row.label == gold and one.said == said for one in judged) for said in LABELS}
            for gold in LABELS
        },
        "by_source": by_group(judged, lambda one: one.row.source, accuracy),
        "by_language": by_group(judged, lambda one: one.row.language, accuracy),
        "latency": latency([one.seconds for one in judged], wall, concurrency),
    }


def accuracy(judged: Sequence[Labelled]) -> dict[str, Any]:
    """Accuracy with its 95 % Wilson interval, macro F1, and each class's figures."""
    said, gold = Counter(one.said for one in judged), Counter(one.row.label for one in judged)
    common = Counter(one.said for one in judged if one.said == one.row.label)
    classes = {name: precision_recall_f1(common[name], said[name], gold[name]) for name in LABELS}
    occurring = [classes[name]["f1"] or 0.0 for name in LABELS if said[name] or gold[name]]
    spread = statistics.wilson(common.total(), len(judged))
    return {
        "judged": len(judged),
        "accuracy": share(common.total(), len(judged)),
        "accuracy_interval": None if spread is None else list(spread),
        "macro_f1": sum(occurring) / len(occurring) if occurring else None,
        "classes": {name: {"n": gold[name], **figures} for name, figures in classes.items()},
    }


def report(found: dict[str, Any], picture: str | None) -> str:
    """``report.md`` from the contents of metrics.json (with ``run``)."""
    run = found["run"]
    parts = [f"# Explainer {plain(run['explainer'])} on {plain(run['data'])}"]
    if found["unavailable"]:
        parts.append(f"> **{found['unavailable']} of {found['n']} rows were not judged.** They are in no figure below.")
    parts += [f"> {plain(note)}" for note in run.get("notes", ())]
    parts.append(
        f"{found['judged']} rows judged: accuracy {percent(found['accuracy'])} (95 % "
        f"{between(found['accuracy_interval'], percent)}), macro F1 {decimal(found['macro_f1'])}, calibration error of "
        f"the label's confidence {decimal(found['calibration_error'])} (ten equal bins)."
    )
    columns = ("n", "precision", "recall", "f1")
    parts.append(
        table(
            ("class", *columns),
            [
                (name, str(figures["n"]), *(decimal(figures[key]) for key in columns[1:]))
                for name, figures in found["classes"].items()
            ],
        )
    )
    parts.append("## Confusion\n\nRows: the label; columns: what the explainer said.")
    confused = found["confusion"].items()
    parts.append(table(("", *LABELS), [(gold, *(str(counts[said]) for said in LABELS)) for gold, counts in confused]))
    for key, title in (("by_source", "By source"), ("by_language", "By language")):
        rows = [
            (plain(name), str(f["judged"]), percent(f["accuracy"]), decimal(f["macro_f1"]))
            for name, f in found[key].items()
        ]
        parts += [f"## {title}", table(("", "n", "accuracy", "macro F1"), rows)]
    if picture:
        parts.append(f"![Confidence against the share of right labels]({picture})")
    spent = found["latency"]
    parts.append(
        f"## Speed\n\n{spent['checks']} rows, {spent['concurrency']} side by side: p50 "
        f"{milliseconds(spent['p50_seconds'])}, p99 {milliseconds(spent['p99_seconds'])}."
    )
    parts.append("## Settings\n\n" + settings(run))
    return "\n\n".join(parts) + "\n"


def headline(found: dict[str, Any]) -> str:
    return (
        f"{found['n']} rows, {found['unavailable']} unavailable: accuracy {percent(found['accuracy'])}, macro F1 "
        f"{decimal(found['macro_f1'])}, calibration error {decimal(found['calibration_error'])}"
    )
