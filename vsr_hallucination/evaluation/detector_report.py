"""``report.md`` of ``eval detector``: the detector beside the word counter, and where each is weak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vsr_hallucination.evaluation.detector_plots import PRECISION_RECALL, RELIABILITY, SCORES
from vsr_hallucination.evaluation.markdown import (
    between,
    decimal,
    milliseconds,
    percent,
    plain,
    settings,
    table,
)

_CAPTIONS = {
    PRECISION_RECALL: "Precision against recall, the word counter in grey",
    RELIABILITY: "Mean score against the share of faulty answers",
    SCORES: "Scores of clean and of faulty answers",
}
_GROUPS = (
    ("by_source", "By source"),
    ("by_language", "By language"),
    ("by_answer_length", "By length of the answer (characters)"),
    ("by_evidence_length", "By length of the evidence (characters)"),
)
_GROUP_FIGURES = ("auroc", "lexical_auroc", "precision", "recall", "f1", "calibration_error")
_GROUP_TITLES = ("AUROC", "word counter's", "precision", "recall", "F1", "calibration error")
_LENGTH_TELLS = 0.7  # AUROC of the answer's length alone above which a set says little


def report(metrics: Mapping[str, Any], pictures: Sequence[str]) -> str:
    """The whole file from the contents of metrics.json (with ``run``). ``pictures``: files that were drawn."""
    run = metrics["run"]
    name = plain(run["detector"])
    parts = [
        f"# {name} on {plain(run['data'])}",
        *_banner(metrics),
        _summary(metrics, name),
        *_against(metrics),
    ]
    parts += ["## Spans", _spans(metrics)]
    if metrics["by_kind"]:
        parts += ["## By kind of fault", _kinds(metrics["by_kind"])]
    for key, title in _GROUPS:
        parts += [f"## {title}", _grouped(metrics[key])]
    if pictures:
        parts += [f"![{_CAPTIONS[picture]}]({picture})" for picture in pictures]
    else:
        parts.append(
            "No plots: there was nothing to draw, or matplotlib is not installed (`pip install matplotlib`)."
        )
    parts += [
        "## Speed",
        _speed(metrics["latency"]),
        "## Settings",
        settings(run),
        "## How it is measured",
        _HOW,
    ]
    return "\n\n".join(parts) + "\n"


def headline(metrics: Mapping[str, Any]) -> str:
    """The figures in one line, for a terminal."""
    found, rival = metrics["example"], metrics["baselines"]["lexical_count"]
    return (
        f"{metrics['n']} answers, {metrics['unavailable']['n']} unavailable: AUROC {decimal(found['auroc'])} "
        f"(word counter {decimal(rival['auroc'])}), F1 {decimal(found['f1'])}, span F1 "
        f"{decimal(metrics['span']['f1'])}, clean answers flagged {percent(found['false_alarm_rate'])}"
    )


def _banner(metrics: Mapping[str, Any]) -> Iterator[str]:
    lost = metrics["unavailable"]
    if lost["n"]:
        reasons = ", ".join(f"{count} {plain(reason)}" for reason, count in lost["by_reason"].items())
        yield (
            f"> **{lost['n']} of {metrics['n']} answers were not checked** ({reasons}); {lost['faulty']} of them are "
            "labelled faulty. They are in no figure below."
        )
    if metrics["unlabelled"]:
        yield f"> {metrics['unlabelled']} rows carry no label: they have predictions, and are in no figure."
    length = metrics["baselines"]["answer_length"]["auroc"]
    if length is not None and abs(length - 0.5) > _LENGTH_TELLS - 0.5:
        yield (
            f"> **The answer's length alone reaches an AUROC of {decimal(max(length, 1 - length))} here**: figures on "
            "this file say little. `--pairs-within 0.2` keeps pairs of like length."
        )
    for note in metrics["run"].get("notes", ()):
        yield f"> {plain(note)}"


def _summary(metrics: Mapping[str, Any], name: str) -> str:
    base = metrics["baselines"]
    header = ("", name, "word counter", "its share", "length alone")
    whole = (metrics["example"], base["lexical_count"])
    ranks = (*whole, base["lexical_share"], base["answer_length"])
    rows = [("AUROC", *(decimal(f["auroc"]) for f in ranks))]
    rows.append(("average precision", *(decimal(f["average_precision"]) for f in ranks)))
    for limit in metrics["example"]["recall_at_false_alarms"]:
        values = (percent(f["recall_at_false_alarms"][limit]) for f in ranks)
        rows.append((f"recall at {float(limit):.0%} false alarms", *values))
    for key in ("precision", "recall", "f1", "calibration_error", "brier"):
        rows.append((key.replace("_", " ").replace("f1", "F1"), *(decimal(f[key]) for f in whole), "–", "–"))
    rows.append(("clean answers flagged", *(percent(f["false_alarm_rate"]) for f in whole), "–", "–"))
    return table(header, rows)


def _against(metrics: Mapping[str, Any]) -> Iterator[str]:
    found, base = metrics["example"], metrics["baselines"]
    spread = found["intervals"]
    yield (
        f"{found['faulty']} faulty and {found['clean']} clean answers were checked. 95 % intervals: AUROC "
        f"{between(spread['auroc'])} (bootstrap), precision {between(spread['precision'])}, recall "
        f"{between(spread['recall'])}, clean answers flagged {between(spread['false_alarm_rate'], percent)} (Wilson)."
    )
    if metrics["run"]["backend"] == "lexical":
        yield "The detector under test is the word counter itself."
        return
    gain, interval = base["auroc_minus_lexical_count"], base["auroc_minus_lexical_count_interval"]
    if gain is not None:
        verdict = "cannot be told from the word counter"
        if interval is not None and interval[0] > 0:
            verdict = "beats the word counter"
        elif interval is not None and interval[1] < 0:
            verdict = "is worse than the word counter"
        yield f"The detector {verdict} here: AUROC {gain:+.3f} (95 % {between(interval)}, paired bootstrap)."


def _spans(metrics: Mapping[str, Any]) -> str:
    found = metrics["span"]
    if not found["rows"]:
        return "No row of this file is labelled by spans."
    shown = table(
        ("rows", "precision", "recall", "F1", "reported", "labelled", "common"),
        [
            (
                str(found["rows"]),
                *(decimal(found[key]) for key in ("precision", "recall", "f1")),
                *(str(found[f"{key}_characters"]) for key in ("reported", "labelled", "common")),
            )
        ],
    )
    return shown + "\n\nOver characters, summed over all rows labelled by spans; clean rows count."


def _kinds(kinds: Mapping[str, Any]) -> str:
    return table(
        ("kind", "answers", "flagged", "recall at 5 % false alarms", "spans", "touched by a reported span"),
        [
            (
                plain(kind),
                str(f["answers"]),
                percent(f["recall"]),
                percent(f["recall_at_5_percent"]),
                str(f["spans"]),
                percent(f["spans_touched"]),
            )
            for kind, f in kinds.items()
        ],
    )


def _grouped(groups: Mapping[str, Any]) -> str:
    return table(
        ("", "faulty", "clean", "unavailable", *_GROUP_TITLES, "clean flagged"),
        [
            (
                plain(name),
                *(str(f[key]) for key in ("faulty", "clean", "unavailable")),
                *(decimal(f[key]) for key in _GROUP_FIGURES),
                percent(f["false_alarm_rate"]),
            )
            for name, f in groups.items()
        ],
    )


def _speed(found: Mapping[str, Any]) -> str:
    return (
        f"{found['checks']} checks, {found['concurrency']} side by side: p50 {milliseconds(found['p50_seconds'])}, p99 "
        f"{milliseconds(found['p99_seconds'])}, {decimal(found['answers_per_second'], 1)} answers a second."
    )


_HOW = """\
- Every row counts as needing grounding. A faulty answer is the positive class; *flagged* means state `detected` under \
the thresholds of the model directory or the configuration. None is fitted on this file.
- AUROC, average precision and recall at a share of false alarms read the unsupported score, before any threshold; the \
cut for the latter is taken on this file, with hindsight, for every column alike.
- Calibration error: ten equal bins, |mean score − share of faulty answers|, weighted by count.
- The word counter counts words (three letters or more) and numbers that neither evidence nor question holds; \
its own threshold is that of `--backend lexical`."""
