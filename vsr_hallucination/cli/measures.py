"""``eval detector|explainer|fact-check``: from arguments to artifacts and an exit code."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from vsr_hallucination import __version__
from vsr_hallucination.cli.checking import to_json
from vsr_hallucination.cli.commands import load_config
from vsr_hallucination.cli.evidence import grounding_of
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.config.schema import Config, DetectionSettings, Recipe
from vsr_hallucination.detection.deadline import DetectionError
from vsr_hallucination.detection.factory import ModelError, make_checker, make_explainer, make_gate
from vsr_hallucination.detection.thresholds import DETECTOR_THRESHOLD
from vsr_hallucination.detection.types import Checker, DetectorIdentity, Grounding, Reason
from vsr_hallucination.evaluation import (
    artifacts,
    detector_metrics,
    detector_plots,
    detector_report,
    detector_selection,
    plots,
)
from vsr_hallucination.evaluation import explainer as nli
from vsr_hallucination.evaluation import fact_check as gates
from vsr_hallucination.evaluation import rows as rows_of
from vsr_hallucination.evaluation.detector import CONTEXT_PATH, PREDICTIONS, Options, in_order, judge_all
from vsr_hallucination.evaluation.rows import Row, RowError

INCOMPLETE = 3
METRICS, REPORT = "metrics.json", "report.md"
# Reasons that say something about this run rather than about the answer.
_BROKEN = {Reason.DETECTOR_FAILED, Reason.TIMEOUT, Reason.OVERLOADED, Reason.NOT_PROVISIONED, Reason.FACT_CHECK_FAILED}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Setup:
    """What judges: a recipe with the chosen backend put in, and how checks run."""

    config: Config
    recipe: Recipe
    detection: DetectionSettings
    model: str | None  # a directory, a hub id or "embedded" from --backend; None: what the recipe says


def detector(args: argparse.Namespace) -> int:
    """``eval detector``."""
    setup = _setup(args, lexical=True)
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
    out = _folder(args)

    async def run() -> tuple[DetectorIdentity, list[detector_metrics.Case], float]:
        checker = await _made(lambda: make_checker(settings, None, setup.detection))
        try:
            await _probed(checker)
            options = Options(_grounded, to_json, args.timeout, args.concurrency)
            with _progress(len(rows), "answer") as bar:
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
        "pairs_within": args.pairs_within,
    }
    found = {"run": _run(args, setup, facts, notes), **found}
    found["selection"] = detector_selection.figures(cases, risk=args.risk, confidence=args.confidence)
    chosen = found["selection"]["chosen"]
    pictures = detector_plots.draw(cases, out, identity.name)
    curve = detector_selection.draw(cases, out, chosen)
    report = detector_report.report(found, pictures) + "\n" + detector_selection.section(found["selection"], curve)
    _finish(out, found, report, detector_report.headline(found))
    if chosen is not None:
        artifacts.write_text(out / detector_selection.SNIPPET, chosen["snippet"])
        print(detector_selection.verdict(chosen))
    return INCOMPLETE if _BROKEN & found["unavailable"]["by_reason"].keys() else 0


def explainer(args: argparse.Namespace) -> int:
    """``eval explainer``."""
    setup = _setup(args)
    settings = setup.recipe.explainer if setup.model is None else replace(setup.recipe.explainer, model=setup.model)
    given = _read(args)
    rows = nli.nli_rows(given)
    left = len(given) - len(rows)
    notes = [f"{left} rows without premise, hypothesis or NLI label were left out."] if left else []
    unfiltered = replace(setup.recipe.detector, enable_nli_filtering=False)
    pool = ThreadPoolExecutor(2, thread_name_prefix="eval-text")

    def measured(
        labelled: Sequence[nli.Labelled], wall: float
    ) -> tuple[dict[str, Any], list[float], list[int]]:
        sure = [one for one in labelled if one.confidence is not None]
        figures = nli.metrics(labelled, wall=wall, concurrency=args.concurrency)
        return figures, [one.confidence or 0.0 for one in sure], [int(one.said == one.row.label) for one in sure]

    try:
        return _labelled(
            args,
            setup,
            _limited(args, rows, "rows with a premise, a hypothesis and an NLI label", notes),
            notes,
            _Measure(
                facts={"explainer": settings.model},
                unit="row",
                make=lambda: make_explainer(unfiltered, settings, setup.detection),
                judge=lambda made, row: nli.label(made, row, _grounded, pool, args.timeout),
                measured=measured,
                axes=("confidence", "share of right labels"),
                report=nli.report,
                headline=nli.headline,
            ),
        )
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def fact_check(args: argparse.Namespace) -> int:
    """``eval fact-check``."""
    setup = _setup(args)
    settings = setup.recipe.fact_check if setup.model is None else replace(setup.recipe.fact_check, model=setup.model)
    rows, noisy = gates.prompt_rows(_read(args))
    notes = [f"{noisy} rows marked noisy were dropped."] if noisy else []

    def measured(gated: Sequence[gates.Gated], wall: float) -> tuple[dict[str, Any], list[float], list[int]]:
        judged = [one for one in gated if one.score is not None]
        figures = gates.metrics(gated, wall=wall, concurrency=args.concurrency)
        return figures, [one.score or 0.0 for one in judged], [int(one.gold) for one in judged]

    return _labelled(
        args,
        setup,
        _limited(args, rows, "labelled prompts (task `prompt`)", notes),
        notes,
        _Measure(
            facts={"fact_check": settings.model},
            unit="prompt",
            make=lambda: make_gate(settings, setup.detection),
            judge=lambda gate, row: gates.gate_one(gate, row, args.timeout),
            measured=measured,
            axes=("score", "share of prompts that need a fact check"),
            report=gates.report,
            headline=gates.headline,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    """What tells one classifier's measurement from another's. ``measured``: figures; values and labels to plot."""

    facts: dict[str, Any]
    unit: str
    make: Callable[[], Any]
    judge: Callable[[Any, Row], Awaitable[Any]]
    measured: Callable[[list[Any], float], tuple[dict[str, Any], list[float], list[int]]]
    axes: tuple[str, str]
    report: Callable[[dict[str, Any], str | None], str]
    headline: Callable[[dict[str, Any]], str]


def _labelled(
    args: argparse.Namespace, setup: Setup, rows: Sequence[Row], notes: list[str], measure: _Measure
) -> int:
    """Makes the model, judges every row with it, and writes what was found."""
    out = _folder(args)

    async def run() -> tuple[list[Any], float]:
        made = await _made(measure.make)
        try:
            started = time.monotonic()
            found = await _each(args, rows, lambda row: measure.judge(made, row), out, measure.unit)
            return found, time.monotonic() - started
        finally:
            await made.aclose()

    judged, wall = asyncio.run(run())
    figures, values, labels = measure.measured(judged, wall)
    found = {"run": _run(args, setup, measure.facts, notes), **figures}
    picture = _reliability(out, values, labels, measure.axes)
    _finish(out, found, measure.report(found, picture), measure.headline(found))
    return INCOMPLETE if found["unavailable"] else 0


def _setup(args: argparse.Namespace, *, lexical: bool = False) -> Setup:
    backend: str | None = args.backend
    from_file = backend is not None and Path(backend).is_file()
    if from_file and args.config is not None:
        raise Failure("--backend names a configuration file, and so does --config: keep one of the two")
    config = load_config(backend if from_file else args.config)
    recipe = config.recipes[0] if args.recipe is None else config.recipe(args.recipe)
    if recipe is None:
        known = ", ".join(found.name for found in config.recipes)
        raise Failure(f"no recipe {args.recipe!r} in {config.source}; there are: {known}")
    detection = replace(
        config.filter.detection,
        deadline=max(config.filter.detection.deadline, args.timeout),
        queue=max(config.filter.detection.queue, 2 * args.concurrency),
    )
    if backend is None or from_file:
        return Setup(config, recipe, detection, None)
    if backend == "lexical":
        if not lexical:
            raise Failure("--backend lexical is a detector: this measures another model")
        # The counter alone is the baseline: the value check would lift scores of its own.
        bare = replace(recipe.detector, backend="lexical", endpoint=None)
        return Setup(config, replace(recipe, detector=bare), replace(detection, value_check=False), None)
    if backend != "embedded" and not Path(backend).is_dir() and (backend[:1] in "./~" or backend.count("/") != 1):
        raise Failure(f"--backend {backend}: no such file or directory, and no hub id (owner/name)")
    chosen = replace(recipe.detector, backend="token_classification", model=backend, endpoint=None)
    return Setup(config, replace(recipe, detector=chosen), detection, backend)


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


def _folder(args: argparse.Namespace) -> Path:
    out = Path(args.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        # Of an earlier run: figures never stand beside other predictions.
        for name in (METRICS, REPORT, PREDICTIONS, detector_selection.SNIPPET):
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise Failure(f"--out {out}: {error.strerror or error}") from error
    return out


async def _made(make: Callable[[], _T]) -> _T:
    try:
        return await asyncio.to_thread(make)
    except ModelError as error:
        raise Failure(str(error)) from error


async def _probed(checker: Checker) -> None:
    try:
        await checker.probe()
    except DetectionError as error:
        raise Failure(f"the detector does not answer a small check ({error.reason}): {error}") from error


async def _each(
    args: argparse.Namespace, rows: Sequence[Row], work: Callable[[Row], Awaitable[Any]], out: Path, unit: str
) -> list[Any]:
    """All rows through ``work``; each result's line is written as it comes."""
    found: list[Any] = []
    with _progress(len(rows), unit) as bar, (out / PREDICTIONS).open("w", encoding="utf-8") as file:
        async for one in in_order(work, rows, args.concurrency):
            file.write(json.dumps(one.to_json(), allow_nan=False) + "\n")
            found.append(one)
            bar.update()
    return found


def _grounded(context: str) -> Grounding:
    return grounding_of([(CONTEXT_PATH, context)])


def _progress(total: int, unit: str) -> AbstractContextManager[Any]:
    from tqdm import tqdm

    # Redrawn on a terminal; a line now and then in a log.
    quiet = 0.2 if sys.stderr.isatty() else 15.0
    bar: AbstractContextManager[Any] = tqdm(total=total, unit=unit, file=sys.stderr, mininterval=quiet)
    return bar


def _run(args: argparse.Namespace, setup: Setup, facts: dict[str, Any], notes: list[str]) -> dict[str, Any]:
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


def _reliability(out: Path, values: list[float], labels: list[int], words: tuple[str, str]) -> str | None:
    picture = detector_plots.RELIABILITY
    (out / picture).unlink(missing_ok=True)
    if not plots.available() or not values:
        return None
    detector_plots.reliability(values, labels, out / picture, "Reliability", *words)
    return picture


def _finish(out: Path, found: dict[str, Any], report: str, headline: str) -> None:
    artifacts.write_json(out / METRICS, found)
    artifacts.write_text(out / REPORT, report)
    print(headline)
    print(f"{out / REPORT}")
