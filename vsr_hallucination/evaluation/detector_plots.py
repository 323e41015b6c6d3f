"""Pictures of one detector's scores beside the word counter's: precision–recall, reliability, histogram."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vsr_hallucination.evaluation import plots, statistics
from vsr_hallucination.evaluation.detector_metrics import Case

PRECISION_RECALL = "precision_recall.png"
RELIABILITY = "reliability.png"
SCORES = "scores.png"
_INK, _RIVAL, _FAULTY = "#1f4e79", "#999999", "#b03030"


def draw(cases: Sequence[Case], folder: Path, name: str) -> tuple[str, ...]:
    """File names of what was drawn; none without matplotlib (what an earlier run drew is then removed)."""
    for picture in (PRECISION_RECALL, RELIABILITY, SCORES):
        (folder / picture).unlink(missing_ok=True)
    judged = [
        case
        for case in cases
        if case.gold is not None and case.score is not None and case.flagged is not None
    ]
    if not plots.available() or not judged:
        return ()
    gold = [int(bool(case.gold)) for case in judged]
    scores = [case.score or 0.0 for case in judged]
    precision_recall(judged, scores, gold, folder / PRECISION_RECALL, name)
    reliability(
        scores, gold, folder / RELIABILITY, f"{name}: reliability", "score", "share of faulty answers"
    )
    histogram(scores, gold, folder / SCORES, name)
    return (PRECISION_RECALL, RELIABILITY, SCORES)


def precision_recall(
    judged: Sequence[Case], scores: list[float], gold: list[int], path: Path, name: str
) -> None:
    """The detector's curve and the counter's, and the point that the shipped thresholds choose."""
    figure, ax = plots.axes()
    rivals = [case.lexical_score for case in judged]
    for values, color, label in ((rivals, _RIVAL, "word counter"), (scores, _INK, name)):
        precision, recall = statistics.precision_recall(values, gold)
        if not len(recall):  # no faulty answer: there is no curve
            continue
        # A cut's precision holds for the recall it gained, as average precision sums it.
        x, y = np.concatenate(([0.0], recall)), np.concatenate((precision[:1], precision))
        ax.step(x, y, where="pre", color=color, label=_text(label))
    hit = sum(bool(case.gold and case.flagged) for case in judged)
    flagged = sum(bool(case.flagged) for case in judged)
    if flagged and sum(gold):
        ax.plot([hit / sum(gold)], [hit / flagged], "o", color=_FAULTY, label="flagged, as shipped")
    ax.axhline(sum(gold) / len(gold), color=_RIVAL, linestyle=":", linewidth=1, label="chance")
    ax.set(xlim=(0, 1.02), ylim=(0, 1.04), xlabel="recall of faulty answers", ylabel="precision")
    ax.set_title("Precision and recall", fontsize=11)
    ax.legend(frameon=False)
    figure.savefig(path, format="png", metadata={"Software": None})


def reliability(
    scores: Sequence[float], gold: Sequence[int], path: Path, title: str, what: str, share: str
) -> None:
    """Mean score against the share of positives, ten bins; the number beside a point is its count."""
    figure, ax = plots.axes()
    bins = [found for found in statistics.reliability(scores, gold) if found.n]
    ax.plot([0, 1], [0, 1], color=_RIVAL, linestyle=":", linewidth=1)
    ax.plot([found.mean_score for found in bins], [found.share for found in bins], "o-", color=_INK)
    for found in bins:
        ax.annotate(
            str(found.n),
            (found.mean_score, found.share),
            textcoords="offset points",
            xytext=(6, -10),
            fontsize=8,
        )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.04, 1.04), xlabel=f"mean {what}", ylabel=share)
    ax.set_title(_text(title), fontsize=11)
    figure.savefig(path, format="png", metadata={"Software": None})


def histogram(scores: Sequence[float], gold: Sequence[int], path: Path, name: str) -> None:
    """Scores of clean and of faulty answers, each as a share of its own kind."""
    figure, ax = plots.axes()
    values, labels = np.asarray(scores), np.asarray(gold)
    edges = np.linspace(0, 1, 21)
    for label, color, word in ((0, _INK, "clean"), (1, _FAULTY, "faulty")):
        own = values[labels == label]
        if len(own):
            counts, _ = np.histogram(own, edges)
            ax.stairs(
                counts / len(own), edges, color=color, fill=True, alpha=0.45, label=f"{word} (n = {len(own)})"
            )
    ax.set(xlim=(0, 1), xlabel="unsupported score, before any threshold", ylabel="share of answers")
    ax.set_title(_text(f"{name}: scores"), fontsize=11)
    ax.legend(frameon=False)
    figure.savefig(path, format="png", metadata={"Software": None})


def _text(text: str) -> str:
    # A model's name is text, not mathtext.
    return text.replace("$", r"\$")[:90]
