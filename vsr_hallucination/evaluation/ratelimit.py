"""A client-side limit on requests: at most so many in any window of a minute, as quotas are counted."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

MINUTE = 60.0
# The server counts arrivals, we count departures: this much the window is wider than a minute.
MARGIN = 0.25


class SlidingWindow:
    """Hands out departures in order. ``limit`` None: no limit. One event loop at a time."""

    def __init__(
        self,
        limit: int | None,
        *,
        window: float = MINUTE,
        margin: float = MARGIN,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if limit is not None and limit < 1:
            raise ValueError(f"a limit of {limit} requests a minute lets nothing through")
        self._limit = limit
        self._window = window + margin
        self._now, self._sleep = now, sleep
        self._departures: deque[float] = deque()
        self._lock = asyncio.Lock()  # first come, first served

    async def acquire(self) -> None:
        """Returns when one more request may leave."""
        if self._limit is None:
            return
        async with self._lock:
            while True:
                now = self._now()
                while self._departures and self._departures[0] <= now - self._window:
                    self._departures.popleft()
                if len(self._departures) < self._limit:
                    self._departures.append(now)
                    return
                # Never so little that a clock could fail to move on by it.
                await self._sleep(max(0.001, self._departures[0] + self._window - now))
