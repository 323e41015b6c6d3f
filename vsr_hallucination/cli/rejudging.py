"""``eval replay``: recorded observations under another threshold. Heavy rooms are imported when it runs."""

from __future__ import annotations

import argparse
import os
import re
import time
from typing import Any

from vsr_hallucination.cli.arguments import add_command, count, number
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.replay.moments import unix_seconds

_NOTES = """\
Answers whose record does not settle the question (a candidate that may be too short, a stretch below
min_span_confidence) make a range: the truth lies in it. Nothing is checked again and no text is read.
"""
_DEFAULT = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_AGO = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def add(measures: Any) -> None:
    """Adds ``replay`` to ``eval``."""
    command = add_command(
        measures, "replay", "what recorded traffic would have looked like at other thresholds", _NOTES
    )
    command.add_argument("--url", required=True, help="the filter's admin address, such as http://127.0.0.1:9090")
    command.add_argument(
        "--since", metavar="WHEN", type=moment, help="24h, 7d, an ISO 8601 time or UNIX seconds (default: all)"
    )
    command.add_argument(
        "--thresholds",
        metavar="T",
        nargs="+",
        type=number(0, 1, "between 0 and 1"),
        default=list(_DEFAULT),
        help="0 to 1 each",
    )
    command.add_argument("--recipe", metavar="NAME", help="only this recipe")
    command.add_argument("--rule", metavar="NAME", help="only this hallucination rule")
    command.add_argument("--limit", metavar="N", type=count, default=10_000, help="newest records (default: 10000)")
    command.add_argument(
        "--token-env", metavar="NAME", default="VSR_ADMIN_TOKEN", help="variable that holds the admin token"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0, also where nothing was recorded (which is said)."""
    from vsr_hallucination.evaluation.rejudging import tally
    from vsr_hallucination.evaluation.replay_client import ReplayError, records

    token = os.environ.get(args.token_env, "").strip() or None
    thresholds = tuple(sorted(set(args.thresholds)))
    try:
        read = records(args.url, since=args.since, token=token, limit=args.limit)
        found = {key: one.to_json() for key, one in tally(read, thresholds, recipe=args.recipe, rule=args.rule).items()}
    except ReplayError as error:
        raise Failure(str(error)) from error
    if args.json:
        import json

        rows = [{"recipe": recipe, "rule": rule, **value} for (recipe, rule), value in found.items()]
        print(json.dumps({"rules": rows}, ensure_ascii=False, indent=2, allow_nan=False))
    elif not found:
        print("no recorded outcome of a hallucination rule in that time")
    else:
        for (recipe, rule), value in found.items():
            _show(recipe, rule, value)
    return 0


def _show(recipe: str, rule: str, value: dict[str, Any]) -> None:
    from vsr_hallucination.cli.marks import visible

    judged, flagged = value["judged"], value["flagged"]
    kept = ", ".join(f"{t} ({n})" for t, n in value["recorded_thresholds"].items()) or "unknown"
    print(f"{visible(recipe)}/{visible(rule)}: {flagged} of {judged} judged answers were flagged, at threshold {kept}")
    if value["not_judged"]:
        print("  not judged: " + ", ".join(f"{n} {visible(v)}" for v, n in value["not_judged"].items()))
    for at in value["at"]:
        low, high = at["flagged"]
        count = str(low) if low == high else f"{low} to {high}"
        if at["change"] is None:
            continue
        change = " to ".join(f"{100 * x:+.1f}" for x in dict.fromkeys(at["change"]))
        rate = " to ".join(f"{x:.1%}" for x in dict.fromkeys(at["rate"]))
        print(f"  {at['threshold']:<6g} flagged {count:>12}   {rate:>16}   {change} points")


def moment(text: str) -> float:
    """UNIX seconds of ``24h`` (ago), an ISO 8601 time (UTC where it names no zone) or UNIX seconds."""
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        return time.time() - float(ago.group(1)) * _SECONDS[ago.group(2)]
    seconds = unix_seconds(text)
    if seconds is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: for example 24h, 7d, 2026-01-31T12:00:00Z")
    return seconds
