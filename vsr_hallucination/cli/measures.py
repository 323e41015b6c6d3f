"""``eval detector|explainer|fact-check``: from arguments to artifacts and an exit code."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vsr_hallucination.cli.backend import Setup, made, probed, set_up
from vsr_hallucination.cli.checking import to_json
from vsr_hallucination.cli.evidence import grounding_of
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.cli.folder import finish, made_folder, progress, reliability, run_facts
from vsr_hallucination.detection.factory import make_checker, make_explainer, make_gate
from vsr_hallucination.detection.thresholds import DETECTOR_THRESHOLD
from vsr_hallucination.detection.types import DetectorIdentity, Grounding, Reason
from vsr_hallucination.evaluation import (
    artifacts,
    detector_metrics,
    detector_plots,
    detector_report,
    detector_selection,
)
from vsr_hallucination.evaluation import explainer as nli
from vsr_hallucination.evaluation import fact_check as gates
from vsr_hallucination.evaluation import rows as rows_of
from vsr_hallucination.evaluation.detector import CONTEXT_PATH, PREDICTIONS, Options, in_order, judge_all
from vsr_hallucination.evaluation.rows import Row, RowError

INCOMPLETE = 3
# Reasons that say something about this run rather than about the answer.
_BROKEN = {Reason.DETECTOR_FAILED, Reason.TIMEOUT, Reason.OVERLOADED, Reason.NOT_PROVISIONED, Reason.FACT_CHECK_FAILED}


def detector(args: argparse.Namespace) -> int:
    """``eval detector``."""
    setup = set_up(args, lexical=True)
    settings = setup.recipe.detector
    rows, left = rows_of.answers(_read(args))
    notes = [f"{left} rows of other tasks were left out."] if left else []
    if args.pairs_within is not None:
        all_rows, rows = len(rows), rows_of.pairs_within(rows, args.pairs_within)
        notes.append(
            f"{len(rows)} of {all_rows} rows form pairs of a clean and a faulty answer whose lengths differ by at most "
            f"{args.pairs_within:.0%}; the others were left out."
        )
    rows = _limited(args, rows, "rows with an answer to judge", notes)
    out = made_folder(args)

    async def run() -> tuple[DetectorIdentity, list[detector_metrics.Case], float]:
        checker = await made(lambda: make_checker(settings, None, setup.detection))
        try:
            await probed(checker)
            options = Options(_grounded, to_json, args.timeout, args.concurrency)
            with progress(len(rows), "answer") as bar:
                started = time.monotonic()
                cases = await judge_all(checker, rows, options, out, bar.update)
                return checker.identity, cases, time.monotonic() - started
        finally:
            await checker.aclose()

    identity, cases, wall = asyncio.run(run())
    threshold = settings.threshold if settings.backend == "lexical" and settings.threshold else DETECTOR_THRESHOLD
    found = detector_metrics.metrics(cases, lexical_threshold=threshold, wall=wall, concurrency=args.concurrency)
    facts = {
        "detector": identity.name,
        "backend": identity.backend,
        "weights_sha256": identity.weights_sha256,
        "thresholds": dict(sorted(identity.thresholds.items())),
        "value_check": setup.detection.value_check,
        "relation_check": setup.detection.relation_check,
        "pairs_within": args.pairs_within,
    }
    found = {"run": run_facts(args, setup, facts, notes), **found}
    found["selection"] = detector_selection.figures(cases, risk=args.risk, confidence=args.confidence)
    chosen = found["selection"]["chosen"]
    pictures = detector_plots.draw(cases, out, identity.name)
    curve = detector_selection.draw(cases, out, chosen)
    report = detector_report.report(found, pictures) + "\n" + detector_selection.section(found["selection"], curve)
    finish(out, found, report, detector_report.headline(found))
    if chosen is not None:
        artifacts.write_text(out / detector_selection.SNIPPET, chosen["snippet"])
        print(detector_selection.verdict(chosen))
    return INCOMPLETE if _BROKEN & found["unavailable"]["by_reason"].keys() else 0


def explainer(args: argparse.Namespace) -> int:
    """``eval explainer``."""
    setup = set_up(args)
    settings = setup.recipe.explainer if setup.model is None else replace(setup.recipe.explainer, model=setup.model)
    given = _read(args)
    rows = nli.nli_rows(given)
    left = len(given) - len(rows)
    notes = [f"{left} rows without premise, hypothesis or NLI label were left out."] if left else []
    unfiltered = replace(setup.recipe.detector, enable_nli_filtering=False)
    pool = ThreadPoolExecutor(2, thread_name_prefix="eval-text")

    def measured(labelled: Sequence[nli.Labelled], wall: float) -> tuple[dict[str, Any], list[float], list[int]]:
        sure = [one for one in labelled if one.confidence is not None]
        figures = nli.metrics(labelled, wall=wall, concurrency=args.concurrency)
        return figures, [one.confidence or 0.0 for one in sure], [int(one.said == one.row.label) for one in sure]

    measure = _Measure(
        what="rows with a premise, a hypothesis and an NLI label",
        facts={"explainer": settings.model},
        unit="row",
        make=lambda: make_explainer(unfiltered, settings, setup.detection),
        judge=lambda model, row: nli.label(model, row, _grounded, pool, args.timeout),
        measured=measured,
        axes=("confidence", "share of right labels"),
        report=nli.report,
        headline=nli.headline,
    )
    try:
        return _labelled(args, setup, rows, notes, measure)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def fact_check(args: argparse.Namespace) -> int:
    """``eval fact-check``."""
    setup = set_up(args)
    settings = setup.recipe.fact_check if setup.model is None else replace(setup.recipe.fact_check, model=setup.model)
    rows, noisy = gates.prompt_rows(_read(args))
    notes = [f"{noisy} rows marked noisy were dropped."] if noisy else []

    def measured(gated: Sequence[gates.Gated], wall: float) -> tuple[dict[str, Any], list[float], list[int]]:
        judged = [one for one in gated if one.score is not None]
        figures = gates.metrics(gated, wall=wall, concurrency=args.concurrency)
        return figures, [one.score or 0.0 for one in judged], [int(one.gold) for one in judged]

    measure = _Measure(
        what="labelled prompts (task `prompt`)",
        facts={"fact_check": settings.model},
        unit="prompt",
        make=lambda: make_gate(settings, setup.detection),
        judge=lambda gate, row: gates.gate_one(gate, row, args.timeout),
        measured=measured,
        axes=("score", "share of prompts that need a fact check"),
        report=gates.report,
        headline=gates.headline,
    )
    return _labelled(args, setup, rows, notes, measure)


@dataclass(frozen=True, slots=True)
class _Measure:
    """What tells one classifier's measurement from another's.

    ``what``: the rows it takes. ``measured``: figures; values and labels to plot.
    """

    what: str
    facts: dict[str, Any]
    unit: str
    make: Callable[[], Any]
    judge: Callable[[Any, Row], Awaitable[Any]]
    measured: Callable[[list[Any], float], tuple[dict[str, Any], list[float], list[int]]]
    axes: tuple[str, str]
    report: Callable[[dict[str, Any], str | None], str]
    headline: Callable[[dict[str, Any]], str]


def _labelled(args: argparse.Namespace, setup: Setup, rows: list[Row], notes: list[str], measure: _Measure) -> int:
    """Makes the model, judges every row with it, and writes what was found."""
    rows = _limited(args, rows, measure.what, notes)
    out = made_folder(args)

    async def run() -> tuple[list[Any], float]:
        model = await made(measure.make)
        try:
            started = time.monotonic()
            found = await _each(args, rows, lambda row: measure.judge(model, row), out, measure.unit)
            return found, time.monotonic() - started
        finally:
            await model.aclose()

    judged, wall = asyncio.run(run())
    figures, values, labels = measure.measured(judged, wall)
    found = {"run": run_facts(args, setup, measure.facts, notes), **figures}
    picture = reliability(out, values, labels, measure.axes)
    finish(out, found, measure.report(found, picture), measure.headline(found))
    return INCOMPLETE if found["unavailable"] else 0


def _read(args: argparse.Namespace) -> list[Row]:
    try:
        return rows_of.read_rows(Path(args.data))
    except RowError as error:
        raise Failure(str(error)) from error


def _limited(args: argparse.Namespace, rows: list[Row], what: str, notes: list[str]) -> list[Row]:
    if not rows:
        raise Failure(f"{args.data}: there are no {what}")
    if args.seed is not None and args.limit is None:
        raise Failure("--seed draws the rows of --limit: give both")
    if args.limit is None or args.limit >= len(rows):
        return rows
    if args.seed is None:
        notes.append(f"Only the first {args.limit} of {len(rows)} rows: misleading if the file is sorted by class.")
        return rows[: args.limit]
    notes.append(f"{args.limit} of {len(rows)} rows, drawn by seed {args.seed}.")
    # In the order of the file, whatever was drawn first.
    return [rows[n] for n in sorted(random.Random(args.seed).sample(range(len(rows)), args.limit))]


async def _each(
    args: argparse.Namespace, rows: Sequence[Row], work: Callable[[Row], Awaitable[Any]], out: Path, unit: str
) -> list[Any]:
    """All rows through ``work``; each result's line is written as it comes."""
    found: list[Any] = []
    with progress(len(rows), unit) as bar, (out / PREDICTIONS).open("w", encoding="utf-8") as file:
        async for one in in_order(work, rows, args.concurrency):
            file.write(json.dumps(one.to_json(), allow_nan=False) + "\n")
            found.append(one)
            bar.update()
    return found


def _grounded(context: str) -> Grounding:
    return grounding_of([(CONTEXT_PATH, context)])
