"""``eval model`` and ``eval mmlu``: one run from arguments to artifacts and an exit code.

0: complete; 3: some outcomes are not known (``unavailable``, ``judge_failed``); 130 / 143: interrupted or terminated,
what was settled is written and can be resumed; 2: nothing could be asked.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vsr_hallucination import __version__
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.evaluation import artifacts, plots, scripted, setup
from vsr_hallucination.evaluation.items import DataError
from vsr_hallucination.evaluation.judge import ExactJudge
from vsr_hallucination.evaluation.metrics import Summary
from vsr_hallucination.evaluation.progress import Progress
from vsr_hallucination.evaluation.providers.base import Provider, ProviderSetupError
from vsr_hallucination.evaluation.ratelimit import SlidingWindow
from vsr_hallucination.evaluation.report import RunFacts, headline
from vsr_hallucination.evaluation.retry import Retries
from vsr_hallucination.evaluation.run import Runner, SetupFailure, Work, reopen
from vsr_hallucination.evaluation.runlog import RunLog, RunLogError
from vsr_hallucination.evaluation.scoring import Item, Outcome, ThresholdError, thresholds

INCOMPLETE = 3
INTERRUPTED = 130
TERMINATED = 143
_DEMO_THRESHOLDS = (0.5, 0.75, 0.9)


def run_model(args: argparse.Namespace) -> int:
    """``eval model``."""
    return _guarded(args, scripted.toy_items if args.demo else lambda: setup.csv_items(args))


def run_mmlu(args: argparse.Namespace) -> int:
    """``eval mmlu``."""
    args.demo = False
    return _guarded(args, lambda: setup.mmlu_items(args))


def _guarded(args: argparse.Namespace, load: Any) -> int:
    try:
        levels = thresholds(args.thresholds or (_DEMO_THRESHOLDS if args.demo else ()))
        return _evaluate(args, load(), levels)
    except (ThresholdError, DataError, ProviderSetupError, RunLogError, SetupFailure) as error:
        raise Failure(str(error)) from error


def _evaluate(args: argparse.Namespace, items: tuple[Item, ...], levels: tuple[float, ...]) -> int:
    if args.demo:
        args.judge = "exact"
        at = setup.Endpoint("openai", scripted.MODEL, scripted.BASE_URL, None)
    else:
        at = setup.endpoint(args)
    settings = setup.log_settings(args, at, items, levels)
    log = RunLog(Path(args.out), items, levels)
    log.open(settings, resume=args.resume, overwrite=args.overwrite or args.demo)
    try:
        if args.resume and args.retry_unavailable:
            reopen(log)
        notes = setup.notes_before(args, at, items)
        ended = 0
        if log.done < log.total:
            ended = _run(args, at, log, items, levels, notes)
        facts = _facts(args, at, settings, notes, log, partial=bool(ended))
        summary = artifacts.write_all(Path(args.out), log, items, levels, facts)
    finally:
        log.close()
    _say(args, summary, notes)
    return ended or (0 if summary.complete else INCOMPLETE)


def _run(
    args: argparse.Namespace,
    at: setup.Endpoint,
    log: RunLog,
    items: tuple[Item, ...],
    levels: tuple[float, ...],
    notes: list[str],
) -> int:
    """Asks what is left to ask; 0, or the exit code of the signal that ended it."""
    progress = Progress(sys.stderr, log.done, log.total) if args.progress else None
    ended: list[int] = []

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        _on_signal(signal.SIGTERM, task, ended, TERMINATED)
        _on_signal(signal.SIGINT, task, ended, INTERRUPTED)
        await _ask_all(args, at, log, items, levels, notes, progress)

    try:
        asyncio.run(main())
    except (asyncio.CancelledError, KeyboardInterrupt):
        return ended[0] if ended else INTERRUPTED
    finally:
        if progress is not None:
            progress.end()
    return 0


def _on_signal(number: signal.Signals, task: asyncio.Task[None], ended: list[int], code: int) -> None:
    def stop() -> None:
        ended.append(code)
        task.cancel()

    try:
        asyncio.get_running_loop().add_signal_handler(number, stop)
    except (
        RuntimeError,
        ValueError,
        NotImplementedError,
    ):  # not in the main thread: the embedder handles signals
        return


async def _ask_all(
    args: argparse.Namespace,
    at: setup.Endpoint,
    log: RunLog,
    items: tuple[Item, ...],
    levels: tuple[float, ...],
    notes: list[str],
    progress: Progress | None,
) -> None:
    window = SlidingWindow(args.rpm_limit)
    retries = Retries(args.max_retries)
    opened: list[Provider] = []
    try:
        if args.demo:
            model, judge = _scripted(args, at), setup.Judging(ExactJudge())
        else:
            model = setup.provider(at, args, temperature=args.temperature)
            opened.append(model)
            judge = setup.judging(args, at, window, retries)
        opened += [p for p in (model, judge.provider) if p is not None and p not in opened]
        work = Work(items, levels, model, judge.judge, window, retries, args.concurrency, args.max_tokens)
        await Runner(work, log, progress or _nothing).run()
    except SetupFailure as failure:
        raise SetupFailure(_remedy(at, str(failure))) from failure
    finally:
        for provider in opened:
            notes += [note for note in provider.notes if note not in notes]
            await provider.aclose()


def _scripted(args: argparse.Namespace, at: setup.Endpoint) -> Provider:
    from vsr_hallucination.evaluation.providers.openai import OpenAIProvider, OpenAISettings

    return OpenAIProvider(OpenAISettings(at.model, scripted.BASE_URL, None), transport=scripted.transport())


def _nothing(_: Outcome) -> None:
    return None


def _remedy(at: setup.Endpoint, detail: str) -> str:
    where = at.base_url or "Google"
    if "401" in detail or "403" in detail:
        key = at.key_variable or "GOOGLE_API_KEY, or for Vertex AI Google's application default credentials"
        return f"{where} refused the key ({detail}): check {key}"
    if "404" in detail:
        return f"{where} knows no such model or path ({detail}): check --model {at.model} and --base-url (ends in /v1)"
    return f"{where} refused to answer ({detail})"


def _facts(
    args: argparse.Namespace,
    at: setup.Endpoint,
    settings: Mapping[str, Any],
    notes: list[str],
    log: RunLog,
    *,
    partial: bool,
) -> RunFacts:
    shown = {
        **settings,
        "base_url": at.base_url or "Google's own",
        "concurrency": args.concurrency,
        "rpm_limit": args.rpm_limit,
        "max_retries": args.max_retries,
        "version": __version__,
    }
    failed: dict[str, list[str]] = {}
    for item, outcome in log.outcomes():
        if outcome.kind is not None:
            failed.setdefault(str(outcome.kind), []).append(item.id)
    ids = {kind: tuple(dict.fromkeys(found)) for kind, found in sorted(failed.items())}
    return RunFacts(f"When does {at.model} say it does not know?", shown, tuple(notes), partial, ids)


def _say(args: argparse.Namespace, summary: Summary, notes: list[str]) -> None:
    for line in headline(summary):
        print(line)
    print(f"report: {Path(args.out) / artifacts.REPORT}")
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    if not plots.available():
        print("note: no picture: pip install 'vsr-hallucination[eval]'", file=sys.stderr)
    if summary.settled < summary.total:
        print(
            f"PARTIAL: {summary.settled} of {summary.total} outcomes are settled; the same command with --resume "
            "goes on",
            file=sys.stderr,
        )
    if summary.unknown:
        print(
            f"INCOMPLETE: {summary.unknown} of {summary.settled} outcomes are not known (no answer came, or no judge "
            "judged it): they count as neither right, wrong nor IDK. --resume --retry-unavailable asks again",
            file=sys.stderr,
        )
