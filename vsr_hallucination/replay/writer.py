"""Write-behind in front of a store: an answer never waits for the audit record, and never fails because of it.

``put`` only files the record in a backlog, by id: a later record with the same id replaces one still waiting. One
task takes what has gathered and writes it in one transaction (group commit), on a thread of its own. A store that is
down is tried again with growing pauses; what cannot be kept is counted and logged, never silently gone.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from vsr_hallucination.replay.record import Record
from vsr_hallucination.replay.store import (
    Page,
    Query,
    RecordRejected,
    Store,
    StoreError,
    StoreUnavailable,
    detail_chars,
)

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Reader(Protocol):
    """What the replay API reads through. May raise ``StoreError``."""

    async def get(self, record_id: str) -> Record | None: ...

    async def query(self, query: Query) -> Page: ...


class Hooks(Protocol):
    """Where the writer reports to; ``telemetry.Telemetry`` fits."""

    def replay_backlog(self, size: int) -> None: ...

    def replay_written(self, count: int, seconds: float) -> None: ...

    def replay_lost(self, count: int, why: str) -> None:
        """``why``: overflow, unavailable, rejected, closed, or details (kept without bodies and evidence)."""

    def replay_pruned(self, count: int) -> None: ...


class NoHooks:
    """Reports to nobody."""

    def replay_backlog(self, size: int) -> None: ...

    def replay_written(self, count: int, seconds: float) -> None: ...

    def replay_lost(self, count: int, why: str) -> None: ...

    def replay_pruned(self, count: int) -> None: ...


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """Bounds of the write-behind. Durations are seconds."""

    queue: int = 10_000  # records waiting; beyond it new ones are lost
    queue_chars: int = 64 << 20  # of details waiting; beyond it records are kept without bodies and evidence
    batch: int = 500
    linger: float = 0.05  # wait for company: in_progress and completed of a quick exchange become one row
    first_pause: float = 0.1
    longest_pause: float = 5.0
    give_up_after: float = 120.0  # of failed tries, then the batch is lost
    max_records: int = 10_000
    max_age: float | None = 30 * 86400.0
    prune_every: float = 60.0
    read_timeout: float = 15.0


class ReplayWriter:
    """Owns a store. ``put`` belongs to the event loop that called ``start``; so do all other methods."""

    def __init__(
        self, store: Store, settings: WriterSettings | None = None, hooks: Hooks | None = None
    ) -> None:
        self._store = store
        self._settings = settings or WriterSettings()
        self._hooks: Hooks = hooks or NoHooks()
        self._waiting: dict[str, Record] = {}
        self._writing: dict[str, Record] = {}
        self._chars = 0
        self._lost_since_log: dict[str, int] = {}
        self._logged_at: dict[str, float] = {}
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="replay-write")
        self._readers = ThreadPoolExecutor(4, thread_name_prefix="replay-read")

    def start(self) -> None:
        """Begin to write, on the running loop."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="replay-writer")

    def put(self, record: Record) -> None:
        """File a record for writing. Never blocks, never raises; one with the same id that still waits is replaced."""
        if self._closing:
            self._lose(1, "closed")
            return
        previous = self._waiting.get(record.id)
        if previous is None and len(self._waiting) >= self._settings.queue:
            self._lose(1, "overflow")
            return
        taken = self._chars - (detail_chars(previous) if previous is not None else 0)
        size = detail_chars(record)
        if taken + size > self._settings.queue_chars:
            record = replace(record, request_body=None, response_body=None, evidence=(), unread_evidence=())
            size = detail_chars(record)
            if taken + size > self._settings.queue_chars:
                self._lose(1, "overflow")
                return
            self._lose(1, "details")
        self._chars = taken + size
        self._waiting[record.id] = record
        if not self._work.is_set():
            self._idle.clear()
            self._work.set()

    @property
    def backlog(self) -> int:
        """Records not yet in the store."""
        return len(self._waiting) + len(self._writing)

    async def get(self, record_id: str) -> Record | None:
        """The newest version of a record, whether or not it has been written yet."""
        waiting = self._waiting.get(record_id) or self._writing.get(record_id)
        return waiting if waiting is not None else await self._read(lambda: self._store.get(record_id))

    async def query(self, query: Query) -> Page:
        """A page of what is in the store: a record shows up within about ``linger`` of its ``put``."""
        return await self._read(lambda: self._store.query(query))

    async def flush(self, timeout: float) -> bool:
        """Wait until everything filed so far is written (or lost); False if that took longer."""
        try:
            async with asyncio.timeout(timeout):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def aclose(self, timeout: float = 10.0) -> None:
        """Take nothing more, write what waits for at most ``timeout`` seconds, count the rest as lost, close."""
        if self._closing:
            return
        self._closing = True
        self._work.set()
        if self._task is not None:
            await self.flush(timeout)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self.backlog:
            self._lose(self.backlog, "closed")
            self._waiting.clear()
            self._writing.clear()
        self._log_losses(force=True)
        self._thread.submit(self._store.close)
        self._thread.shutdown(wait=False)
        self._readers.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        next_prune = time.monotonic()
        while True:
            if time.monotonic() >= next_prune:
                await self._prune()
                next_prune = time.monotonic() + self._settings.prune_every
            try:
                async with asyncio.timeout(max(0.0, next_prune - time.monotonic())):
                    await self._work.wait()
            except TimeoutError:
                self._log_losses()
                continue
            if not self._closing:
                await asyncio.sleep(self._settings.linger)
            # Told once a batch: nobody looks between two of them, and a record costs no call of its own.
            self._hooks.replay_backlog(self.backlog)
            self._take()
            if self._writing:
                await self._write(tuple(self._writing.values()))
                self._writing.clear()
            if not self._waiting:
                self._work.clear()
                self._idle.set()
            self._hooks.replay_backlog(self.backlog)
            self._log_losses()

    def _take(self) -> None:
        for record_id in list(self._waiting)[: self._settings.batch]:
            record = self._waiting.pop(record_id)
            self._chars -= detail_chars(record)
            self._writing[record_id] = record

    async def _write(self, batch: tuple[Record, ...]) -> None:
        started, pause = time.monotonic(), self._settings.first_pause
        while True:
            try:
                await self._in_thread(lambda: self._store.put(batch))
            except RecordRejected as error:
                await self._write_apart(batch, error)
                return
            except Exception as error:  # whatever a driver raises: the writer must outlive it
                if time.monotonic() - started >= self._settings.give_up_after:
                    self._lose(len(batch), "unavailable")
                    _log.error("replay_gave_up", extra={"count": len(batch), "reason": _describe(error)})
                    return
                if pause == self._settings.first_pause:
                    _log.warning("replay_store_unavailable", extra={"reason": _describe(error)})
                self._hooks.replay_backlog(self.backlog)
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(pause * 2, self._settings.longest_pause)
            else:
                self._hooks.replay_written(len(batch), time.monotonic() - started)
                return

    async def _write_apart(self, batch: tuple[Record, ...], error: RecordRejected) -> None:
        """One record cannot be stored: halve the batch until it stands alone, so that only it is lost."""
        if len(batch) == 1:
            self._lose(1, "rejected")
            _log.error(
                "replay_record_rejected", extra={"replay_id": batch[0].id[:64], "reason": str(error)[:300]}
            )
            return
        middle = len(batch) // 2
        await self._write(batch[:middle])
        await self._write(batch[middle:])

    async def _prune(self) -> None:
        settings = self._settings
        try:
            count = await self._in_thread(
                lambda: self._store.prune(
                    max_records=settings.max_records, max_age=settings.max_age, now=time.time()
                )
            )
        except Exception as error:  # the next round tries again
            _log.warning("replay_prune_failed", extra={"reason": _describe(error)})
        else:
            self._hooks.replay_pruned(count)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def _read(self, call: Callable[[], T]) -> T:
        if self._closing:
            raise StoreUnavailable("the replay store is closing")
        try:
            async with asyncio.timeout(self._settings.read_timeout):
                return await asyncio.get_running_loop().run_in_executor(self._readers, call)
        except TimeoutError:
            raise StoreUnavailable("the replay store did not answer in time") from None

    def _lose(self, count: int, why: str) -> None:
        self._hooks.replay_lost(count, why)
        self._lost_since_log[why] = self._lost_since_log.get(why, 0) + count
        self._log_losses()

    def _log_losses(self, *, force: bool = False) -> None:
        """One line a reason, at most every ten seconds: a flood of records must not become a flood of lines."""
        now = time.monotonic()
        for why, count in list(self._lost_since_log.items()):
            if force or now - self._logged_at.get(why, float("-inf")) >= 10.0:
                del self._lost_since_log[why]
                self._logged_at[why] = now
                event = "replay_details_dropped" if why == "details" else "replay_records_lost"
                _log.error(event, extra={"count": count, "reason": why})


def _describe(error: BaseException) -> str:
    """What may be logged of an error: ours say no content; of others only the kind."""
    return str(error)[:300] if isinstance(error, StoreError) else type(error).__name__
