"""Soak run of the reload: a thousand of them while exchanges run, each with a model of its own.

Not part of the test run: ``PYTHONPATH=tests python tests/soak/reload.py``. Fails unless no exchange is lost, every
model of a configuration that has gone is closed, and resident memory after the last hundred reloads is that after the
first hundred, within a tenth (and 8 MiB).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

from support.reloading import running_app, under_load
from support.tiny_models import novelty_detector

SLACK = 8.0  # MiB: what the allocator keeps varies by about this


async def soak(reloads: int, workers: int, model: bool) -> int:
    process, sizes, start = psutil.Process(), [], time.monotonic()

    def measure() -> None:
        sizes.append(process.memory_info().rss / 2**20)
        if len(sizes) % 100 == 0:
            print(f"{len(sizes)} reloads, {time.monotonic() - start:.0f} s, {sizes[-1]:.1f} MiB", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        directory = str(novelty_detector(Path(folder) / "detector")) if model else ""
        async with running_app(Path(folder), directory) as running:
            await under_load(running, reloads, workers, each=measure)
        made, closed = running.factory.made, running.factory.closed
    part = max(1, min(100, reloads // 4))
    # The first reloads fill caches and pools: they are not the level that memory must keep.
    first, last = statistics.median(sizes[part : 2 * part]), statistics.median(sizes[-part:])
    print(
        f"{sum(running.answered.values())} exchanges, {made} models made, {closed} closed; {first:.1f} → {last:.1f} MiB"
    )
    flat, released = last <= first * 1.1 + SLACK, made == closed == reloads + 1
    if not flat:
        print("memory grew", file=sys.stderr)
    if not released:
        print("models were kept", file=sys.stderr)
    return 0 if flat and released else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reloads", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--model", action="store_true", help="a small real model instead of the word counter")
    args = parser.parse_args()
    return asyncio.run(soak(args.reloads, args.workers, args.model))


if __name__ == "__main__":
    sys.exit(main())
