"""What can be typed after ``vsr-hallucination eval``. The rooms that do the work are imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from vsr_hallucination.cli import measuring, rejudging
from vsr_hallucination.cli.arguments import add_command, number, whole

_NOTES = """\
exit status: 0 complete, 2 usage, 3 some outcomes are not known (never counted as IDK), 130 interrupted: what was
settled is written, and --resume goes on. Keys come from the environment: OPENAI_API_KEY; GOOGLE_API_KEY, or
GOOGLE_GENAI_USE_VERTEXAI with GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION.
"""


def add(group: Any) -> None:
    """Adds ``eval`` and what follows it."""
    command: argparse.ArgumentParser = group.add_parser(
        "eval",
        help="measure when a model, or the detector, should have said that it does not know",
        description="Measure when a model, or the detector, should have said that it does not know.",
    )
    measures = command.add_subparsers(dest="measure", metavar="WHAT", required=True)
    _model(measures)
    _mmlu(measures)
    measuring.add(measures)
    rejudging.add(measures)


def _model(measures: Any) -> None:
    command = add_command(
        measures, "model", "ask a model the questions of a CSV file, answers only above a confidence", _NOTES
    )
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", metavar="FILE", help="CSV with the columns id, question, gold, unknown_ok")
    source.add_argument(
        "--demo",
        action="store_true",
        help="three questions that ship, put to a scripted model: no key, no network",
    )
    _shared(command)
    command.set_defaults(run=_run_model)


def _mmlu(measures: Any) -> None:
    command = add_command(measures, "mmlu", "ask a model MMLU, some of it without a right option", _NOTES)
    command.add_argument("--data-dir", metavar="DIR", help="the published CSV files (else a hub is asked)")
    command.add_argument("--dataset", metavar="NAME", default="cais/mmlu", help="on the hub (default: cais/mmlu)")
    command.add_argument("--split", metavar="NAME", default="test", help="test, val or dev (default: test)")
    command.add_argument("--subjects", metavar="NAME", nargs="+", default=["all"], help="subjects, or 'all' (default)")
    command.add_argument("--limit", metavar="N", type=whole(1, 10**7), help="this many, drawn by --seed")
    command.add_argument(
        "--idk-frac",
        metavar="SHARE",
        type=number(0, 1),
        default=0.0,
        help="share of them whose right option is taken away, 0 to 1 (default: 0)",
    )
    _shared(command)
    command.set_defaults(run=_run_mmlu)


def _shared(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--thresholds",
        metavar="T",
        nargs="+",
        type=float,
        default=[],
        help="confidences, such as 0.5 0.75 0.9",
    )
    command.add_argument("--model", metavar="NAME", help="default for gemini: gemini-2.5-flash")
    command.add_argument(
        "--provider",
        choices=("openai", "gemini"),
        help="default: gemini for a model of that name without --base-url",
    )
    command.add_argument(
        "--base-url", metavar="URL", help="server, up to /v1 (default: OPENAI_BASE_URL, else OpenAI's own)"
    )
    command.add_argument("--api-key-env", metavar="NAME", default="OPENAI_API_KEY", help="variable that holds the key")
    command.add_argument("--temperature", metavar="X", type=number(0, 2), default=0.0, help="default: 0")
    command.add_argument(
        "--thinking-budget",
        metavar="N",
        type=whole(-1, 10**6),
        default=0,
        help="gemini: tokens of thought, default: 0",
    )
    command.add_argument("--seed", metavar="N", type=whole(0, 2**31 - 1), default=1234, help="default: 1234")
    command.add_argument(
        "--max-tokens", metavar="N", type=whole(1, 10**6), default=128, help="of a reply (default: 128)"
    )
    command.add_argument("--judge", choices=("exact", "llm"), default="exact", help="default: exact")
    command.add_argument("--judge-model", metavar="NAME", help="default: the model itself; gemini-2.5-flash-lite")
    command.add_argument("--judge-provider", choices=("openai", "gemini"))
    command.add_argument("--judge-base-url", metavar="URL", help="default: the model's")
    command.add_argument("--judge-api-key-env", metavar="NAME", help="default: that of --api-key-env")
    command.add_argument(
        "--judge-max-tokens", metavar="N", type=whole(1, 10**6), default=4, help="of a verdict (default: 4)"
    )
    command.add_argument(
        "--async", dest="asynchronous", action="store_true", help="accepted: requests always run side by side"
    )
    command.add_argument("--concurrency", metavar="N", type=whole(1, 1024), default=8, help="default: 8")
    command.add_argument("--rpm-limit", metavar="N", type=whole(1, 10**7), help="requests a minute, at most")
    command.add_argument(
        "--max-retries", metavar="N", type=whole(0, 100), default=6, help="of 429, 5xx, timeouts (default: 6)"
    )
    command.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=number(0.01, 86400),
        default=60.0,
        help="of a request (default: 60)",
    )
    command.add_argument("--progress", action="store_true", help="show a progress bar")
    command.add_argument("--out", metavar="DIR", default="outputs", help="default: outputs")
    kept = command.add_mutually_exclusive_group()
    kept.add_argument("--resume", action="store_true", help="go on with the run in --out; nothing is asked twice")
    kept.add_argument("--overwrite", action="store_true", help="start the run in --out anew")
    command.add_argument(
        "--retry-unavailable", action="store_true", help="with --resume: ask again for what failed on the way"
    )


def _run_model(args: argparse.Namespace) -> int:
    from vsr_hallucination.evaluation.command import run_model

    return run_model(args)


def _run_mmlu(args: argparse.Namespace) -> int:
    from vsr_hallucination.evaluation.command import run_mmlu

    return run_mmlu(args)
