"""How long an event loop was held: a coroutine that wants to run every 2 ms, and notes how late it came to run."""

from __future__ import annotations

import asyncio
import json
import time

_PERIOD = 0.002


class LagMeter:
    """Runs on the loop it measures. A connection to its port is told the longest hold since the last, in seconds."""

    def __init__(self) -> None:
        self._longest = 0.0

    async def run(self, port: int) -> None:
        server = await asyncio.start_server(self._tell, "127.0.0.1", port)
        async with server:
            while True:
                wanted = time.perf_counter() + _PERIOD  # uvloop's own clock counts whole milliseconds
                await asyncio.sleep(_PERIOD)
                self._longest = max(self._longest, time.perf_counter() - wanted)

    async def _tell(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        longest, self._longest = self._longest, 0.0
        writer.write(json.dumps(longest).encode())
        await writer.drain()
        writer.close()


async def longest_hold(port: int) -> float:
    """The longest hold, in seconds, since this was last asked."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return float(json.loads(await reader.read()))
    finally:
        writer.close()
