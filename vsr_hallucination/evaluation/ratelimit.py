"""A client-side limit on requests: at most so many in any window of a minute, as the server counts them.

The server counts arrivals; we know when a request left and when its answer came; it arrived in between. So a request
counts from its departure until a minute after its answer, or after it was on the wire and ``LONGEST_WAY`` if the answer
takes longer: then the window holds whatever the network or a busy machine does to single requests, and the limit is
used to 60/65 at worst.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Awaitable, Callable

MINUTE = 60.0
LONGEST_WAY = 5.0  # seconds from here to the server


class SlidingWindow:
    """Hands out departures in order. ``limit`` None: no limit. One event loop at a time."""

    def __init__(
        self,
        limit: int | None,
        *,
        window: float = MINUTE,
        longest_way: float = LONGEST_WAY,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if limit is not None and limit < 1:
            raise ValueError(f"a limit of {limit} requests a minute lets nothing through")
        self._limit = limit
        self._window, self._longest_way = window, longest_way
        self._now, self._sleep = now, sleep
        self._under_way = 0
        self._arrived: list[float] = []  # a heap: the latest moment at which each may have arrived
        self._answered = asyncio.Event()
        self._lock = asyncio.Lock()  # first come, first served

    async def acquire(self) -> float:
        """Returns when one more request may leave: its departure, to be given to ``release``."""
        if self._limit is None:
            return self._now()
        async with self._lock:
            while True:
                now = self._now()
                while self._arrived and self._arrived[0] + self._window <= now:
                    heapq.heappop(self._arrived)
                if self._under_way + len(self._arrived) < self._limit:
                    self._under_way += 1
                    return now
                if self._arrived:
                    # Never so little that a clock could fail to move on by it.
                    await self._sleep(max(0.001, self._arrived[0] + self._window - now))
                else:
                    self._answered.clear()
                    await self._answered.wait()

    def release(self, departed: float) -> None:
        """The request that left at ``departed`` was answered, failed or was given up."""
        if self._limit is None:
            return
        self._under_way -= 1
        heapq.heappush(self._arrived, min(self._now(), departed + self._longest_way))
        self._answered.set()

    async def turn(self) -> Turn:
        """Waits as ``acquire`` does."""
        return Turn(self, await self.acquire(), self._now)


class Turn:
    """The right to send one request, from ``SlidingWindow.turn`` until ``release``."""

    def __init__(self, window: SlidingWindow, departed: float, now: Callable[[], float]) -> None:
        self._window, self._now = window, now
        self._departed: float | None = departed

    def sent(self) -> None:
        """The request is on the wire only now: it waited for a connection, or for this machine."""
        if self._departed is not None:
            self._departed = self._now()

    async def again(self) -> None:
        """The request was answered, and another goes in its place: it waits for a turn of its own."""
        self.release()
        self._departed = await self._window.acquire()

    def release(self) -> None:
        if self._departed is not None:
            self._window.release(self._departed)
            self._departed = None
