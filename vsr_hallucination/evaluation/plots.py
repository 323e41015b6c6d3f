"""Pictures, by matplotlib where it is installed (the ``eval`` extra). No display, no global state."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from vsr_hallucination.evaluation.metrics import FEW_ANSWERS, Figures, Summary
from vsr_hallucination.evaluation.scoring import level

_FAINT = 0.35
_INK = "#1f4e79"


def available() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def axes(width: float = 7.0, height: float = 5.0) -> tuple[Any, Any]:
    """A figure and its axes, drawn without a display."""
    figure: Any = importlib.import_module("matplotlib.figure").Figure(
        figsize=(width, height), dpi=120, layout="constrained"
    )
    importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    ax.grid(alpha=0.25)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return figure, ax


def model_curve(summary: Summary, path: Path, title: str) -> None:
    """The picture of ``draw_curve`` as PNG."""
    figure, ax = axes()
    draw_curve(summary, ax, title)
    figure.savefig(path, format="png", metadata={"Software": None})


def draw_curve(summary: Summary, ax: Any, title: str) -> None:
    """Coverage against conditional accuracy, a point per t with its 95 % intervals; few answers: drawn faint."""
    shown = [f for f in summary.figures if f.coverage is not None and f.accuracy is not None]
    ax.plot([f.coverage for f in shown], [f.accuracy for f in shown], color=_INK, alpha=0.4, linewidth=1)
    for f in shown:
        alpha = _FAINT if f.graded < FEW_ANSWERS else 1.0
        low, high = f.accuracy_interval or (f.accuracy, f.accuracy)
        assert f.accuracy is not None and low is not None and high is not None
        ax.errorbar(
            [f.coverage],
            [f.accuracy],
            yerr=[[max(0.0, f.accuracy - low)], [max(0.0, high - f.accuracy)]],
            fmt="o",
            color=_INK,
            alpha=alpha,
            capsize=3,
        )
    for place, together in _by_place(shown).items():
        right = place[0] > 0.85  # a label at the right edge goes to the left of its point
        ax.annotate(
            f"t={', '.join(level(f.t) for f in together)} (n={', '.join(str(f.graded) for f in together)})",
            place,
            textcoords="offset points",
            xytext=(-7, -15) if right else (7, 7),
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1},
            ha="right" if right else "left",
            alpha=0.6 if all(f.graded < FEW_ANSWERS for f in together) else 1.0,
        )
    silent = [level(f.t) for f in summary.figures if f not in shown]
    if silent:
        ax.text(
            0.5,
            0.03,
            f"no answer to grade at t={', '.join(silent)}",
            transform=ax.transAxes,
            ha="center",
            color="#555",
        )
    ax.set_xlim(-0.02, 1.08)
    ax.set_ylim(-0.03, 1.06)
    ax.set_xlabel("coverage: share of replies that are answers")
    ax.set_ylabel("accuracy of the answers (95 % Wilson interval)")
    # A model's name is text, not mathtext.
    ax.set_title(title.replace("$", r"\$")[:90], fontsize=11)
    if any(f.graded < FEW_ANSWERS for f in shown):
        ax.text(
            1.0,
            -0.16,
            f"faint: fewer than {FEW_ANSWERS} answers",
            transform=ax.transAxes,
            ha="right",
            fontsize=8,
        )


def _by_place(shown: list[Figures]) -> dict[tuple[float, float], list[Figures]]:
    """Points so close that their labels would cover each other share one."""
    found: dict[tuple[float, float], list[Figures]] = {}
    for f in shown:
        assert f.coverage is not None and f.accuracy is not None
        near = (p for p in found if abs(p[0] - f.coverage) < 0.15 and abs(p[1] - f.accuracy) < 0.035)
        found.setdefault(next(near, (f.coverage, f.accuracy)), []).append(f)
    return found
