"""``python -m vsr_hallucination.bench`` (``make bench``): runs every measure, prints the table, writes it as JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx

from vsr_hallucination import __version__
from vsr_hallucination.bench import measures
from vsr_hallucination.bench.bodies import bodies
from vsr_hallucination.bench.check_speed import check_speed
from vsr_hallucination.bench.client import BenchError
from vsr_hallucination.bench.measures import QUICK, Row, Size, Stage
from vsr_hallucination.bench.stage import start
from vsr_hallucination.demo.processes import ChildFailed, Children
from vsr_hallucination.demo.setup import EnvoyMissing, envoy_command

Measure = Callable[[Stage, Size], Awaitable[list[Row]]]
MEASURES: Mapping[str, Measure] = {
    "no_policy": measures.no_policy,
    "not_applicable": measures.not_applicable,
    "streams": measures.streams,
    "held_loop": measures.held_loop,
    "batching": measures.batching,
    "bodies": bodies,
    "memory": measures.memory,
    "check_speed": check_speed,
}
_WITHOUT_STAGE = {"check_speed"}


def main() -> int:
    """0 if every figure was had, whether reached or not: a benchmark informs, it does not judge a noisy machine."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--out", type=Path, default=Path("bench-out"), help="folder for bench.json")
    parser.add_argument(
        "--quick", action="store_true", help="a fraction of the work: does it run, not what it costs"
    )
    parser.add_argument("--only", nargs="+", choices=tuple(MEASURES), default=list(MEASURES))
    args = parser.parse_args()
    try:
        rows = asyncio.run(_run(args.only, QUICK if args.quick else Size()))
    except (BenchError, ChildFailed, EnvoyMissing) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    args.out.mkdir(parents=True, exist_ok=True)
    target = args.out / "bench.json"
    target.write_text(json.dumps(_report(rows, quick=args.quick), indent=2) + "\n", encoding="utf-8")
    print(f"\n{machine()}\nwritten to {target}")
    return 0


async def _run(wanted: list[str], size: Size) -> list[Row]:
    if set(wanted) <= _WITHOUT_STAGE:
        return await _measured(wanted, {}, size, lambda: None)
    command = await envoy_command(None)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vsr-bench-")))
        children = await stack.enter_async_context(Children(folder))
        client = await stack.enter_async_context(httpx.AsyncClient(trust_env=False))
        print("starting two filters, two no-op servers and five Envoys …", flush=True)
        stage = await start(folder, children, command, client)

        def alive() -> None:
            if gone := children.gone():
                raise ChildFailed(f"{gone[0]} ended; its last words:\n{children.tail(gone[0])}")

        return await _measured(wanted, stage, size, alive)


async def _measured(wanted: list[str], stage: Stage, size: Size, alive: Callable[[], None]) -> list[Row]:
    rows: list[Row] = []
    for name in wanted:
        began = time.monotonic()
        found = await MEASURES[name](stage, size)
        rows += found
        for row in found:
            print(line(row), flush=True)
        print(f"    ({name}: {time.monotonic() - began:.0f} s)", flush=True)
        alive()
    return rows


def line(row: Row) -> str:
    """One row of the table."""
    goal = f"{'≤' if row.at_most else '≥'} {row.limit:.2f}"
    facts = ", ".join(f"{name} {value:.3g}" for name, value in row.facts.items())
    return f"{'reached' if row.reached else 'MISSED ':7}  {row.value:6.3f}  {goal:7}  {row.name}   [{facts}]"


def machine() -> str:
    model = ""
    for entry in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if entry.startswith("model name"):
            model = entry.split(":", 1)[1].strip()
            break
    cores = len(os.sched_getaffinity(0))
    return f"{model or platform.machine()}, {cores} cores, Python {platform.python_version()}, {platform.system()}"


def _report(rows: list[Row], *, quick: bool) -> dict[str, Any]:
    return {
        "version": __version__,
        "machine": machine(),
        "quick": quick,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "rows": [{**asdict(row), "reached": row.reached} for row in rows],
    }


if __name__ == "__main__":
    sys.exit(main())
