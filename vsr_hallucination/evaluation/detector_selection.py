"""What ``eval detector`` adds about releasing answers unseen: risk and coverage, named operating points, a threshold
with a guarantee. The arithmetic is ``selection``'s; this is its block of metrics.json, its section and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vsr_hallucination.evaluation import plots, selection
from vsr_hallucination.evaluation.detector_metrics import Case
from vsr_hallucination.evaluation.markdown import between, decimal, percent, plain, table
from vsr_hallucination.evaluation.scoring import level

PICTURE = "release_curve.png"
SNIPPET = "threshold.yaml"
_POINTS = 60
_INK, _GRID = "#1f4e79", "#999999"


def arrays(cases: Sequence[Case]) -> tuple[list[float], list[int]]:
    """What decides, and labels, of the cases that were judged and have a label; the others are never released unseen.

    That is the answer's worst part, not its score: many slight doubts raise the score above a threshold that no part
    reaches, and the gateway, which flags by parts, would release what was counted as flagged.
    """
    judged = [c for c in cases if c.gold is not None and c.flagged is not None and c.score is not None]
    deciding = [c.score if c.deciding is None else c.deciding for c in judged]
    return [min(1.0, max(0.0, one or 0.0)) for one in deciding], [int(bool(c.gold)) for c in judged]


def figures(cases: Sequence[Case], *, risk: float | None, confidence: float) -> dict[str, Any]:
    """The ``selection`` block. ``chosen`` is None where no risk was asked for."""
    scores, faulty = arrays(cases)
    points = selection.operating_points(scores, faulty)
    chosen = None if risk is None else selection.select(scores, faulty, risk=risk, confidence=confidence)
    return {
        "n": len(scores),
        "aurc": selection.release_aurc(scores, faulty),
        "curve": [release.to_json() for release in selection.curve(scores, faulty, most=_POINTS)],
        "operating_points": [
            {"name": p.name, "t": p.t, "use": p.use, **p.release.to_json()} for p in points
        ],
        "chosen": None if chosen is None else {**chosen.to_json(), "snippet": selection.snippet(chosen)},
    }


def section(found: Mapping[str, Any], picture: str | None) -> str:
    """The part of report.md."""
    parts = [
        "## Releasing answers unseen",
        "An answer is released as not_detected where its worst part lies below the threshold. Coverage is the "
        "share of answers released; clean is the share of those that are supported. Intervals are Wilson's, 95 %. "
        f"Area under risk and coverage (AURC, lower is better): {decimal(found['aurc'], 4)}, n = {found['n']}.",
    ]
    if picture is not None:
        parts.append(f"![Coverage against the share of clean answers among the released]({picture})")
    rows = [
        (
            f"{plain(p['name'])}: {plain(p['use'])}",
            level(p["t"]),
            level(p["threshold"]),
            percent(p["coverage"]),
            percent(p["clean_among_released"]),
            between(p["clean_interval"], percent),
            f"{p['faulty_released']} of {p['released']}",
        )
        for p in found["operating_points"]
    ]
    parts.append(table(("point", "t", "threshold", "coverage", "clean", "interval", "faulty, released"), rows))
    parts.append(
        "At a point the detector has to be t sure that nothing is unsupported. Where clean falls short of t its scores "
        "are not calibrated for these answers: choose by the figures, or by `--risk`."
    )
    if found["chosen"] is not None:
        parts += [f"**{verdict(found['chosen'])}.**", "```yaml\n" + found["chosen"]["snippet"] + "```"]
    return "\n\n".join(parts) + "\n"


def verdict(chosen: Mapping[str, Any]) -> str:
    """The choice in one line, for the report and the terminal."""
    promise = f"at most {chosen['risk']:.1%} unsupported among the released, with {chosen['confidence']:.0%} confidence"
    release = chosen["release"]
    if chosen["threshold"] is None:
        if release is None:
            return f"No threshold reaches this ({promise}): no answer to release"
        return (
            f"No threshold reaches this ({promise}): at best, {release['faulty_released']} of {release['released']} "
            f"released answers are unsupported, so that it may be {chosen['risk_upper_bound']:.1%}; "
            f"{chosen['faultless_answers_needed']} without a fault would be needed"
        )
    return (
        f"Threshold {chosen['threshold']:g} ({promise}): {percent(release['coverage'])} are released, "
        f"{release['faulty_released']} of {release['released']} of them unsupported"
    )


def draw(cases: Sequence[Case], folder: Path, chosen: Mapping[str, Any] | None) -> str | None:
    """The curve; None without matplotlib or rows (an earlier run's picture is then removed)."""
    (folder / PICTURE).unlink(missing_ok=True)
    scores, faulty = arrays(cases)
    points = selection.curve(scores, faulty)
    if not plots.available() or not points:
        return None
    figure, ax = plots.axes()
    shown = [point.to_json() for point in points]
    x = [point["coverage"] for point in shown]
    ax.fill_between(
        x, [p["clean_interval"][0] for p in shown], [p["clean_interval"][1] for p in shown], color=_INK, alpha=0.12
    )
    ax.plot(x, [point["clean_among_released"] for point in shown], color=_INK)
    for named in selection.operating_points(scores, faulty):
        if named.release.clean is not None:
            ax.plot([named.release.coverage], [named.release.clean], "o", color=_INK)
            ax.annotate(
                f"{named.name} ({level(named.t)})",
                (named.release.coverage, named.release.clean),
                textcoords="offset points",
                xytext=(4, 8),
                fontsize=8,
            )
    if chosen is not None and chosen["threshold"] is not None:
        ax.axvline(chosen["release"]["coverage"], color=_GRID, linestyle=":")
        ax.axhline(1 - chosen["risk"], color=_GRID, linestyle=":")
    ax.set(xlim=(0, 1.02), xlabel="coverage: share of answers released", ylabel="clean among the released")
    ax.set_title("Releasing answers unseen", fontsize=11)
    figure.savefig(folder / PICTURE, format="png", metadata={"Software": None})
    return PICTURE
