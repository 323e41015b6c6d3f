"""``eval fact-check``: does the classifier know which prompts need grounding? Positive: needs a fact check."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vsr_hallucination.detection.types import Gate
from vsr_hallucination.evaluation import statistics
from vsr_hallucination.evaluation.detector_metrics import by_group, latency, precision_recall_f1, share
from vsr_hallucination.evaluation.markdown import between, decimal, milliseconds, percent, plain, settings, table
from vsr_hallucination.evaluation.rows import Row

NEEDS, NEEDS_NOT = "needs_fact_check", "no_fact_check"


@dataclass(frozen=True, slots=True)
class Gated:
    """One prompt and the classifier's word; ``score`` is P(needs a fact check), None where it failed."""

    row: Row
    needs: bool
    score: float | None
    reason: str | None
    seconds: float

    @property
    def gold(self) -> bool:
        return self.row.label == NEEDS

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.row.id,
            "needs_fact_check": self.needs if self.score is not None else None,
            "score": self.score,
            "reason": self.reason,
            "gold": self.row.label,
        }


def prompt_rows(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Labelled prompts, and how many were dropped because ``meta.noisy`` says that the label is a guess."""
    prompts = [row for row in rows if row.task == "prompt" and row.label in (NEEDS, NEEDS_NOT)]
    kept = [row for row in prompts if not row.meta.get("noisy")]
    return kept, len(prompts) - len(kept)


async def gate_one(gate: Gate, row: Row, timeout: float) -> Gated:
    started = time.monotonic()
    found = await gate.classify(row.question, timeout)
    reason = None if found.failure is None else str(found.failure.reason)
    score = None if found.failure is not None else found.score
    return Gated(row, found.needs_fact_check, score, reason, time.monotonic() - started)


def metrics(found: Sequence[Gated], *, wall: float, concurrency: int) -> dict[str, Any]:
    """The contents of metrics.json. Balanced accuracy: the mean of recall on prompts that need and that do not."""
    judged = [one for one in found if one.score is not None]
    scores, gold = [one.score or 0.0 for one in judged], [int(one.gold) for one in judged]
    spread = statistics.bootstrap(scores, gold, statistics.auroc, draws=1000 if len(judged) <= 20_000 else 200)
    return {
        "n": len(found),
        "unavailable": len(found) - len(judged),
        **figures(judged),
        "auroc_interval": None if spread is None else list(spread),
        "calibration_error": statistics.calibration_error(scores, gold),
        "by_source": by_group(judged, lambda one: one.row.source, figures),
        "by_language": by_group(judged, lambda one: one.row.language, figures),
        "latency": latency([one.seconds for one in judged], wall, concurrency),
    }


def figures(judged: Sequence[Gated]) -> dict[str, Any]:
    """Figures of prompts that were judged; balanced accuracy is None unless both kinds are there."""
    needs = sum(one.gold for one in judged)
    rest = len(judged) - needs
    hit = sum(one.gold and one.needs for one in judged)
    spared = sum(not one.gold and not one.needs for one in judged)
    sensitivity, specificity = share(hit, needs), share(spared, rest)
    balanced = None if sensitivity is None or specificity is None else (sensitivity + specificity) / 2
    return {
        "judged": len(judged),
        "needs": needs,
        "needs_not": rest,
        "balanced_accuracy": balanced,
        "sensitivity": sensitivity,
        "specificity": specificity,
        **precision_recall_f1(hit, hit + rest - spared, needs),
        "accuracy": share(hit + spared, len(judged)),
        "auroc": statistics.auroc([one.score or 0.0 for one in judged], [int(one.gold) for one in judged]),
    }


def report(found: dict[str, Any], picture: str | None) -> str:
    """``report.md`` from the contents of metrics.json (with ``run``)."""
    run = found["run"]
    parts = [f"# Fact-check classifier {plain(run['fact_check'])} on {plain(run['data'])}"]
    if found["unavailable"]:
        parts.append(f"> **{found['unavailable']} of {found['n']} rows were not judged.** They are in no figure below.")
    parts += [f"> {plain(note)}" for note in run.get("notes", ())]
    parts.append(
        f"{found['judged']} prompts judged: balanced accuracy {percent(found['balanced_accuracy'])}, AUROC "
        f"{decimal(found['auroc'])} (95 % {between(found['auroc_interval'])}, bootstrap), calibration error "
        f"{decimal(found['calibration_error'])} (ten equal bins)."
    )
    header = ("", "need", "do not", "balanced accuracy", "found of those that need", "spared of the rest", "AUROC")
    for key, title in (("by_source", "By source"), ("by_language", "By language")):
        rows = [("all", found), *found[key].items()]
        parts += [f"## {title}", table(header, [_line(plain(name), f) for name, f in rows])]
    if picture:
        parts.append(f"![Score against the share of prompts that need a fact check]({picture})")
    spent = found["latency"]
    parts.append(
        f"## Speed\n\n{spent['checks']} prompts, {spent['concurrency']} side by side: p50 "
        f"{milliseconds(spent['p50_seconds'])}, p99 {milliseconds(spent['p99_seconds'])}."
    )
    parts.append("## Settings\n\n" + settings(run))
    return "\n\n".join(parts) + "\n"


def _line(name: str, found: dict[str, Any]) -> tuple[str, ...]:
    shares = (percent(found[key]) for key in ("balanced_accuracy", "sensitivity", "specificity"))
    return (name, str(found["needs"]), str(found["needs_not"]), *shares, decimal(found["auroc"]))


def headline(found: dict[str, Any]) -> str:
    return (
        f"{found['n']} prompts, {found['unavailable']} unavailable: balanced accuracy "
        f"{percent(found['balanced_accuracy'])}, AUROC {decimal(found['auroc'])}"
    )
