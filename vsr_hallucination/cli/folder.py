"""The folder that ``eval detector|explainer|fact-check`` writes: predictions as they come, figures, report, picture."""

from __future__ import annotations

import argparse
import hashlib
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from vsr_hallucination import __version__
from vsr_hallucination.cli.backend import Setup
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.evaluation import artifacts, detector_plots, detector_selection, plots
from vsr_hallucination.evaluation.detector import PREDICTIONS

METRICS, REPORT = "metrics.json", "report.md"


def made_folder(args: argparse.Namespace) -> Path:
    """``--out``, empty of an earlier run's files."""
    out = Path(args.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        # Of an earlier run: figures never stand beside other predictions.
        for name in (METRICS, REPORT, PREDICTIONS, detector_selection.SNIPPET):
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise Failure(f"--out {out}: {error.strerror or error}") from error
    return out


def progress(total: int, unit: str) -> AbstractContextManager[Any]:
    """A bar on stderr."""
    from tqdm import tqdm

    # Redrawn on a terminal; a line now and then in a log.
    quiet = 0.2 if sys.stderr.isatty() else 15.0
    bar: AbstractContextManager[Any] = tqdm(total=total, unit=unit, file=sys.stderr, mininterval=quiet)
    return bar


def run_facts(args: argparse.Namespace, setup: Setup, facts: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """What ``metrics.json`` says of the run itself."""
    with Path(args.data).open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "version": __version__,
        "data": Path(args.data).name,
        "data_sha256": sha256,
        **facts,
        "config": Path(setup.config.source).name,
        "recipe": setup.recipe.name,
        "limit": args.limit,
        "seed": args.seed,
        "timeout": args.timeout,
        "notes": notes,
    }


def reliability(out: Path, values: list[float], labels: list[int], words: tuple[str, str]) -> str | None:
    """The picture's name, None where there is none to draw."""
    picture = detector_plots.RELIABILITY
    (out / picture).unlink(missing_ok=True)
    if not plots.available() or not values:
        return None
    detector_plots.reliability(values, labels, out / picture, "Reliability", *words)
    return picture


def finish(out: Path, found: dict[str, Any], report: str, headline: str) -> None:
    """Writes figures and report, and says where they are."""
    artifacts.write_json(out / METRICS, found)
    artifacts.write_text(out / REPORT, report)
    print(headline)
    print(f"{out / REPORT}")
