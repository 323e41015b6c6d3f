"""Threads that texts are worked on in, off the event loop: few, since only one at a time has the interpreter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.types import Reason

LARGE = 64 << 10  # characters: what takes longer (0.3 s) holds up only its like
_T = TypeVar("_T")


class TextThreads:
    """``threads`` for texts, and one more for those that are large.

    More only wrest the interpreter from one another, and from the event loop, which then waits for its turn in a row.
    """

    def __init__(self, name: str, threads: int = 1) -> None:
        self._texts = ThreadPoolExecutor(threads, thread_name_prefix=f"{name}-text")
        self._bulk = ThreadPoolExecutor(1, thread_name_prefix=f"{name}-bulk")

    def of(self, characters: int) -> ThreadPoolExecutor:
        """Where a text of that size is worked on."""
        return self._texts if characters <= LARGE else self._bulk

    def close(self) -> None:
        """Drops what waits; does not wait for what runs."""
        for pool in (self._texts, self._bulk):
            pool.shutdown(wait=False, cancel_futures=True)


async def in_thread(pool: ThreadPoolExecutor, job: Callable[[], _T], deadline: Deadline) -> _T:
    """Runs ``job`` in ``pool``, for no longer than the deadline has left; a job that overstays sees it pass."""
    try:
        async with asyncio.timeout(deadline.left):
            return await asyncio.get_running_loop().run_in_executor(pool, job)
    except TimeoutError:
        raise DetectionError(Reason.TIMEOUT, "the deadline passed while the texts were read") from None
