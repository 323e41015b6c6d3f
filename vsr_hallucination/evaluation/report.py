"""``report.md``: the figures, what they mean, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vsr_hallucination.evaluation.metrics import FEW_ANSWERS, Figures, Summary
from vsr_hallucination.evaluation.operating_points import OPERATING_POINTS, point_at
from vsr_hallucination.evaluation.scoring import Kind, level, number
from vsr_hallucination.evaluation.statistics import Interval, wilson

_LOW_COVERAGE = 0.5  # of the questions that have an answer
_TRUNCATED = 0.03  # "more than a few per cent"
_IDS = 50


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a report says about the run itself. ``partial``: it was stopped before its end."""

    title: str
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    partial: bool = False
    unavailable_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def report(summary: Summary, facts: RunFacts, picture: str | None) -> str:
    """The whole of ``report.md``. ``picture``: its file name, None where matplotlib is not installed."""
    parts = [f"# {_plain(facts.title)}", *_banner(summary, facts), _table(summary)]
    if picture is not None:
        parts.append(f"![Coverage against accuracy, one point per threshold]({picture})")
    else:
        parts.append(
            "The curve is not drawn: matplotlib is not installed (`pip install 'vsr-hallucination[eval]'`)."
        )
    parts.append(
        "Coverage is the share of replies that are answers; accuracy is among answers that were graded, with its 95 % "
        "Wilson interval; the score is +1 right, −t/(1−t) wrong, 0 for IDK (Kalai et al., arXiv:2509.04664)."
    )
    if summary.unknown:
        parts.append("## What is not known\n\n" + "\n".join(_unknown(summary, facts)))
    parts.append("## Behaviour\n\n" + "\n".join(_behaviour(summary)))
    parts.append("## Advice\n\n" + "\n".join(f"- {line}" for line in advice(summary)))
    parts.append("## Where a threshold fits\n\n" + _operating_points())
    parts.append("## Settings\n\n" + "\n".join(_settings(facts)))
    return "\n\n".join(parts) + "\n"


def advice(summary: Summary) -> list[str]:
    """What to do, most pressing first; one reassuring line where there is nothing."""
    found: list[str] = []
    truncated = sum(dict(f.kinds).get(Kind.TRUNCATED, 0) for f in summary.figures)
    if summary.settled and truncated > _TRUNCATED * summary.settled:
        found.append(
            f"{truncated} of {summary.settled} replies were cut by the token limit: raise `--max-tokens` (and for a "
            "model that thinks, its budget). They are not graded."
        )
    for f in summary.figures:
        found += _of_threshold(f)
    return found or ["Nothing stands out: accuracy is not below t, and enough is answered."]


def _of_threshold(f: Figures) -> Iterator[str]:
    name = f"t = {level(f.t)}"
    interval = f.accuracy_interval
    below = f.accuracy is not None and interval is not None and interval[1] < f.t
    answered, abstained, _ = f.answerable
    answering = wilson(answered, answered + abstained)
    cautious = answering is not None and answering[1] < _LOW_COVERAGE
    few = f"only {answered} of {answered + abstained} questions that have an answer were answered"
    shown = f"accuracy {_percent(f.accuracy)} ({_range(interval)}, n = {f.graded})"
    if below and cautious:
        yield (
            f"{name}: {shown} is below t, and {few}: the model's confidence says little about what it knows, and no "
            "other t will mend that. Give it retrieval or hand over to a person, and check its output."
        )
    elif below:
        yield (
            f"{name}: {shown} is below t: the model is over-confident, or does not follow the instruction. Raise t, "
            "make the instruction firmer, give it retrieval or hand over to a person, or check its output before it "
            "goes out."
        )
    elif cautious:
        yield (
            f"{name}: {few}: the model is too cautious here. Lower t, or improve the prompt or what it may look up, "
            "to win coverage back."
        )
    elif f.accuracy is not None and f.accuracy < f.t:
        yield f"{name}: {shown} lies below t, but t is within the interval: ask more questions before acting on it."


def _banner(summary: Summary, facts: RunFacts) -> Iterator[str]:
    left = summary.total - summary.settled
    if left:
        why = "was stopped before its end" if facts.partial else "has not settled everything"
        yield (
            f"> **PARTIAL: this run {why}.** {summary.settled} of {summary.total} outcomes are in; `--resume` goes on."
        )
    if summary.unknown:
        yield (
            f"> **INCOMPLETE: {summary.unknown} of {summary.settled} outcomes are not known** (no answer came, or no "
            "judge could judge it). They are in no figure below but the bounds. `--resume --retry-unavailable` asks "
            "again for those that failed on the way."
        )
    for note in facts.notes:
        yield f"> Note: {_plain(note)}"


def _table(summary: Summary) -> str:
    lines = [
        "| t | wrong costs | items | answered | IDK | not known | coverage | accuracy | 95 % interval "
        "| hallucinated | mean score |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|:-:|--:|--:|",
    ]
    for f in summary.figures:
        figures = f.to_json()
        few = " (few)" if f.graded < FEW_ANSWERS else ""
        cells = (
            level(f.t),
            number(figures["penalty"]),
            str(f.n),
            str(f.answered),
            str(f.abstentions),
            str(f.unknown),
            _percent(f.coverage),
            _percent(f.accuracy),
            f"{_range(f.accuracy_interval)}, n = {f.graded}{few}",
            _percent(figures["hallucination_rate_among_answers"]),
            "–" if f.expected_score is None else f"{f.expected_score:.3f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _unknown(summary: Summary, facts: RunFacts) -> Iterator[str]:
    for f in summary.figures:
        if not f.unknown:
            continue
        kinds = [f"{count} {kind}" for kind, count in f.kinds]
        if f.judge_failed:
            kinds.append(f"{f.judge_failed} judge_failed")
        yield (
            f"- t = {level(f.t)}: {', '.join(kinds)}. Accuracy without them {_percent(f.accuracy)}; were they all "
            f"right or all wrong, it would lie in {_range(f.accuracy_bounds)}; coverage in {_range(f.coverage_bounds)}."
        )
        if f.judge_failed_ids:
            yield f"  - not judged: {_ids(f.judge_failed_ids)}"
    for kind, ids in facts.unavailable_ids.items():
        yield f"- {kind}: {_ids(ids)}"


def _behaviour(summary: Summary) -> Iterator[str]:
    found = summary.violations()
    if len(summary.figures) < 2:
        yield "One threshold: there is nothing to compare."
    elif not found:
        yield "As t rises, coverage never rises and accuracy never falls, as it should be."
    for v in found:
        wrong_way = "rises" if v.figure == "coverage" else "falls"
        told = "beyond noise" if v.beyond_noise else "within noise, not counted"
        p = "" if v.p_value is None else f", p = {v.p_value:.3f}"
        name = v.figure.replace("_", " ")
        yield (
            f"- {name} {wrong_way} from {_percent(v.value_from)} at t = {level(v.t_from)} to "
            f"{_percent(v.value_to)} at t = {level(v.t_to)}{p}: {told}."
        )


def _operating_points() -> str:
    lines = ["| t | point | for |", "|--:|---|---|"]
    lines += [f"| {level(p.t)} | {p.name} | {p.use} |" for p in OPERATING_POINTS]
    return "\n".join(lines)


def _settings(facts: RunFacts) -> Iterator[str]:
    for key, value in facts.settings.items():
        yield f"- {_plain(key)}: `{' '.join(str(value).split())[:300].replace('`', '')}`"


def _ids(ids: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{_plain(i).replace('`', '')}`" for i in ids[:_IDS])
    return shown + (f" and {len(ids) - _IDS} more (see results.csv)" if len(ids) > _IDS else "")


def _plain(text: str) -> str:
    """One line of text that opens no markup of its own."""
    text = " ".join(text.split())[:300]
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _range(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval[0]:.1%} to {interval[1]:.1%}"


def headline(summary: Summary) -> Iterator[str]:
    """The table for a terminal, one line a threshold."""
    for f in summary.figures:
        point = point_at(f.t)
        yield (
            f"t={level(f.t):<5} coverage {_percent(f.coverage):>6}  accuracy {_percent(f.accuracy):>6} "
            f"({_range(f.accuracy_interval)}, n={f.graded})  mean score "
            f"{'–' if f.expected_score is None else format(f.expected_score, '.3f')}"
            + (f"  unknown {f.unknown}" if f.unknown else "")
            + (f"  [{point.name}]" if point else "")
        )
