"""The filter as ``serve`` runs it, with a lag meter on its event loop. A process of its own."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from vsr_hallucination.bench.lag import LagMeter
from vsr_hallucination.server.app import run_on_loop, serve


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("lag_port", type=int)
    args = parser.parse_args()
    run_on_loop(_run(args.config, args.lag_port))


async def _run(config: str, lag_port: int) -> None:
    meter = asyncio.create_task(LagMeter().run(lag_port))
    try:
        await serve(config)
    finally:
        meter.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await meter


if __name__ == "__main__":
    main()
