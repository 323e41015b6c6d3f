"""What a run leaves in its folder. Each file is written beside its name and moved into place, so none is ever half.

``results.csv`` opens in a spreadsheet without running anything (OWASP, "CSV injection"): a cell that would be a formula
gets an apostrophe in front; a plain number stays one. JSON is strict: undefined figures are null.
"""

from __future__ import annotations

import csv
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from vsr_hallucination.evaluation import plots
from vsr_hallucination.evaluation.metrics import Summary, summarise
from vsr_hallucination.evaluation.report import RunFacts, report
from vsr_hallucination.evaluation.runlog import RunLog
from vsr_hallucination.evaluation.scoring import Item, Outcome, State, correct, level, score

RESULTS = "results.csv"
METRICS = "metrics.json"
BEHAVIOR = "behavior.json"
PICTURE = "rc_curve.png"
REPORT = "report.md"

HEADER = ("id", "t", "question", "gold", "unknown_ok", "pred", "abstained", "correct", "score")
OWN_HEADER = ("category", "row", "state", "kind", "detail", "judged_by", "attempts", "seconds", "warnings")

_NUMBER = re.compile(r"[+-]?\d[\d,. ]{0,40}(?:[eE][+-]?\d{1,3})?%?")
_FORMULA = frozenset("=+-@＝＋－＠")
_SURROGATE = re.compile("[\ud800-\udfff]")


def safe_cell(text: str) -> str:
    """``text`` as a cell that no spreadsheet takes for a formula."""
    text = _SURROGATE.sub("\ufffd", text).replace("\x00", "\ufffd")
    if _NUMBER.fullmatch(text):
        return text
    visible = next((c for c in text if not c.isspace() and unicodedata.category(c) not in {"Cf", "Cc"}), "")
    # White space in front is no danger by itself; a tab or return that a program eats up is.
    return "'" + text if visible in _FORMULA or text[:1] in {"\t", "\r"} else text


def write_results(path: Path, outcomes: Iterable[tuple[Item, Outcome]], thresholds: Sequence[float]) -> None:
    """One row an outcome. Flags are 1, 0 or, where nobody knows, empty."""
    with _replaced(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*HEADER, *OWN_HEADER))
        for item, outcome in outcomes:
            writer.writerow(_row(item, outcome, thresholds[outcome.at]))


def _row(item: Item, outcome: Outcome, t: float) -> tuple[str, ...]:
    abstained = None if outcome.state is State.UNAVAILABLE else outcome.state is State.ABSTAINED
    points = score(outcome.state, t)
    return (
        safe_cell(item.id),
        level(t),
        safe_cell(item.question),
        safe_cell(item.gold),
        _flag(item.unknown_ok),
        safe_cell(outcome.pred),
        _flag(abstained),
        _flag(correct(outcome.state, item.unknown_ok)),
        "" if points is None else repr(points),
        safe_cell(item.category),
        str(item.row),
        str(outcome.state),
        str(outcome.kind or ""),
        safe_cell(outcome.detail),
        outcome.judged_by,
        str(outcome.attempts),
        str(outcome.seconds),
        safe_cell(outcome.warnings),
    )


def _flag(value: bool | None) -> str:
    return "" if value is None else str(int(value))


def metrics_json(summary: Summary, facts: RunFacts) -> dict[str, Any]:
    """What ``metrics.json`` holds."""
    return {
        "complete": summary.complete,
        "partial": facts.partial,
        "settled": summary.settled,
        "total": summary.total,
        "run": dict(facts.settings),
        "notes": list(facts.notes),
        "thresholds": [figures.to_json() for figures in summary.figures],
        "categories": {
            name: [
                {
                    "t": f.t,
                    "n": f.n,
                    "coverage": f.coverage,
                    "accuracy_conditioned_on_answering": f.accuracy,
                    "unavailable": f.unavailable,
                }
                for f in found
            ]
            for name, found in summary.categories
        },
    }


def behavior_json(summary: Summary) -> dict[str, Any]:
    """What ``behavior.json`` holds: does coverage fall and accuracy rise with t, noise aside?"""
    found = summary.violations()
    return {
        "thresholds": [f.t for f in summary.figures],
        "coverage_by_t": [f.coverage for f in summary.figures],
        "accuracy_by_t": [f.accuracy for f in summary.figures],
        "coverage_monotonicity_violations": sum(v.beyond_noise for v in found if v.figure == "coverage"),
        "accuracy_monotonicity_violations": sum(v.beyond_noise for v in found if v.figure != "coverage"),
        "within_noise": sum(not v.beyond_noise for v in found),
        "violations": [v.to_json() for v in found],
        "changes_between_neighbours": [{"idk_to_answer": a, "answer_to_idk": b} for a, b in summary.pairs],
    }


def write_json(path: Path, value: Any) -> None:
    """Strict JSON (RFC 8259): raises ValueError for a NaN or Infinity rather than writing one."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    write_text(path, _SURROGATE.sub("\ufffd", text) + "\n")


def write_text(path: Path, text: str) -> None:
    with _replaced(path) as beside:
        beside.write_text(_SURROGATE.sub("\ufffd", text), "utf-8")


def write_all(
    folder: Path, log: RunLog, items: Sequence[Item], thresholds: Sequence[float], facts: RunFacts
) -> Summary:
    """All artifacts of the log as it stands; the figures. Without matplotlib the picture is left out, and says so."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = summarise(log.outcomes(), thresholds, len(items))
    write_results(folder / RESULTS, log.outcomes(), thresholds)
    picture: str | None = None
    if plots.available():
        with _replaced(folder / PICTURE) as beside:
            plots.model_curve(summary, beside, facts.title)
        picture = PICTURE
    else:
        (folder / PICTURE).unlink(missing_ok=True)  # of an earlier run: not this one's curve
    write_json(folder / BEHAVIOR, behavior_json(summary))
    write_text(folder / REPORT, report(summary, facts, picture))
    write_json(folder / METRICS, metrics_json(summary, facts))
    return summary


class _replaced:
    """A path to write to, which takes the place of ``path`` when all went well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._beside = path.with_name(f".{path.name}.{os.getpid()}.new")

    def __enter__(self) -> Path:
        return self._beside

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            os.replace(self._beside, self._path)
        else:
            self._beside.unlink(missing_ok=True)
