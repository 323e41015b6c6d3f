"""What can be typed after ``eval detector``, ``eval explainer`` and ``eval fact-check``. Only the standard library."""

from __future__ import annotations

import argparse
from typing import Any

from vsr_hallucination.cli.arguments import add_command, count, number, seconds, whole

_NOTES = """\
A row is a JSON object on a line: id, context, question, answer, and labels (spans) or label; task, source, lang and
meta where known. DIR gets predictions.jsonl, metrics.json and report.md (with plots where matplotlib is installed).
Thresholds are those of the model directory or the configuration; none is fitted on FILE.
exit status: 0 measured, 2 usage or no model, 3 measured, but some rows could not be judged (timeout, failure).
"""
_SHARE = number(0.0, 1.0, "a share between 0 and 1")
_OPEN_SHARE = number(1e-6, 1 - 1e-6, "a share between 0 and 1, both excluded")


def add(measures: Any) -> None:
    """Adds the measurements of our own models to ``eval``."""
    _detector(measures)
    _explainer(measures)
    _fact_check(measures)


def _detector(measures: Any) -> None:
    command = add_command(measures, "detector", "measure a detector on labelled answers, beside a word counter", _NOTES)
    _shared(command, "lexical (the word counter), embedded, a model directory, a hub id or a configuration file")
    command.add_argument(
        "--pairs-within",
        metavar="SHARE",
        type=_SHARE,
        help="only pairs of a clean and a faulty answer whose lengths differ by at most this share, such as 0.2",
    )
    command.add_argument(
        "--risk",
        metavar="SHARE",
        type=_OPEN_SHARE,
        help="choose the threshold at which at most this share of the released answers is unsupported, such as 0.05",
    )
    command.add_argument(
        "--confidence", metavar="SHARE", type=_OPEN_SHARE, default=0.95, help="with this confidence (default: 0.95)"
    )
    command.add_argument(
        "--compare",
        metavar=("A", "B"),
        nargs=2,
        help="two of what --backend takes, or folders of earlier measurements: which is better on these rows",
    )
    command.set_defaults(run=_run_detector)


def _explainer(measures: Any) -> None:
    command = add_command(
        measures, "explainer", "measure the explainer on labelled premises and hypotheses (NLI)", _NOTES
    )
    _shared(command, "embedded, a model directory, a hub id or a configuration file")
    command.set_defaults(run=_run_explainer)


def _fact_check(measures: Any) -> None:
    command = add_command(measures, "fact-check", "measure the fact-check classifier on labelled prompts", _NOTES)
    _shared(command, "embedded, a model directory, a hub id or a configuration file")
    command.set_defaults(run=_run_fact_check)


def _shared(command: argparse.ArgumentParser, backends: str) -> None:
    command.add_argument("--data", metavar="FILE", required=True, help="rows, JSON lines, plain or gzip")
    command.add_argument("--out", metavar="DIR", required=True, help="folder for what is found, made if it is missing")
    command.add_argument("--backend", metavar="WHAT", help=f"{backends} (default: what --config says, else embedded)")
    command.add_argument("--config", metavar="FILE", help="take models and thresholds from this configuration")
    command.add_argument("--recipe", metavar="NAME", help="and from this recipe in it (default: the first)")
    command.add_argument("--limit", metavar="N", type=count, help="only N rows: the first, or with --seed a sample")
    command.add_argument(
        "--seed", metavar="S", type=whole(0, 2**31 - 1), help="draw the rows of --limit by this number"
    )
    command.add_argument(
        "--concurrency", metavar="N", type=count, default=4, help="rows judged side by side (default: 4)"
    )
    command.add_argument("--timeout", metavar="SECONDS", type=seconds, default=120.0, help="of one row (default: 120)")


def _run_detector(args: argparse.Namespace) -> int:
    if args.compare is not None:
        from vsr_hallucination.cli.comparing import run

        return run(args)
    from vsr_hallucination.cli.measures import detector

    return detector(args)


def _run_explainer(args: argparse.Namespace) -> int:
    from vsr_hallucination.cli.measures import explainer

    return explainer(args)


def _run_fact_check(args: argparse.Namespace) -> int:
    from vsr_hallucination.cli.measures import fact_check

    return fact_check(args)
