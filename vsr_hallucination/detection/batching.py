"""Micro-batching over concurrent checks: one owner thread holds the deque, everyone else sends it commands.

After text-embeddings-inference's queue: ``append`` an entry, ask for the ``next`` batch. A batch is cut by its padded
cost (longest row × rows ≤ ``batch_tokens``), takes rows from the waiting entries in turn so that one long check does
not starve short ones, and never holds a row whose caller has left or whose deadline has passed. Nothing waits for a
batch to fill: a free worker takes what is there. Results go back with ``loop.call_soon_threadsafe``, so callers may sit
on different event loops. A model that raises fails the entries of its batch; one that hangs keeps its worker, while the
callers' deadlines answer for it and the full queue refuses the rest.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.types import Reason

Floats = npt.NDArray[np.float32]
_PADDING_GRAIN = 8  # rows within this many tokens of each other count as equally long


@dataclass(frozen=True, slots=True)
class Row:
    """One model input, unpadded: token ids and token types, int64, the same length."""

    ids: npt.NDArray[np.int64]
    types: npt.NDArray[np.int64]


# Takes rows, gives one float32 array a row: (tokens, labels) for token models, (labels,) for sequence models.
Model = Callable[[Sequence[Row]], Sequence[Floats]]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Callbacks for metrics, called from worker threads with a model's name; quick ones. What they raise is lost."""

    queue_size: Callable[[str, int], None] = lambda name, size: None
    batch: Callable[[str, int, int], None] = lambda name, rows, padded_tokens: None
    wait: Callable[[str, float], None] = lambda name, seconds: None
    dropped: Callable[[str, str], None] = lambda name, why: None


NO_HOOKS = Hooks()


@dataclass(eq=False, slots=True)
class _Entry:
    """One caller's rows. Only the owner thread touches ``cut``; ``results`` and ``missing`` only under the lock."""

    rows: tuple[Row, ...]
    order: list[int]  # row numbers, longest last, so that rows of like length go together
    deadline: Deadline
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[list[Floats]]
    results: list[Floats | None]
    missing: int
    queued: float
    done: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class _Batch:
    items: tuple[tuple[_Entry, int], ...]
    padded: int


class Batcher:
    """Runs a model for many callers. ``run`` is the door; ``close`` ends it. Threads are daemons."""

    def __init__(
        self,
        model: Model,
        *,
        name: str,
        queue_limit: int,
        batch_tokens: int,
        threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self.name = name
        self._model = model
        self._limit = queue_limit
        self._batch_tokens = batch_tokens
        self._hooks = hooks
        self._size = 0  # entries admitted and not yet answered
        self._size_lock = threading.Lock()
        self._commands: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._closed = False
        self._threads = [threading.Thread(target=self._own, name=f"{name}-queue", daemon=True)]
        for n in range(max(1, threads)):
            self._threads.append(threading.Thread(target=self._work, name=f"{name}-{n}", daemon=True))
        for thread in self._threads:
            thread.start()

    async def run(self, rows: Sequence[Row], deadline: Deadline) -> list[Floats]:
        """The model's output for each row. Raises DetectionError: OVERLOADED, TIMEOUT or DETECTOR_FAILED."""
        if not rows:
            return []
        if self._closed:
            raise DetectionError(Reason.NOT_PROVISIONED, f"{self.name} is closed")
        self._admit()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Floats]] = loop.create_future()
        order = sorted(range(len(rows)), key=lambda n: len(rows[n].ids))
        entry = _Entry(tuple(rows), order, deadline, loop, future, [None] * len(rows), len(rows), time.monotonic())
        try:
            self._commands.put(("append", entry))
            async with asyncio.timeout(deadline.left):
                return await future
        except TimeoutError:
            raise DetectionError(Reason.TIMEOUT, f"{self.name} did not answer within the deadline") from None
        finally:
            # Departed or answered: the owner drops what is left of it at the next batch.
            entry.done = True
            with self._size_lock:
                self._size -= 1
                size = self._size
            tell(self._hooks.queue_size, self.name, size)

    @property
    def size(self) -> int:
        """Checks waiting or running."""
        return self._size

    def close(self, timeout: float = 2.0) -> None:
        """Ends the threads. Waits for a running batch, but not for one that hangs."""
        self._closed = True
        self._commands.put(("stop", None))
        until = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _admit(self) -> None:
        with self._size_lock:
            if self._size >= self._limit:
                size = None
            else:
                self._size += 1
                size = self._size
        if size is None:
            tell(self._hooks.dropped, self.name, "overloaded")
            raise DetectionError(Reason.OVERLOADED, f"{self._limit} checks are waiting for {self.name} already")
        tell(self._hooks.queue_size, self.name, size)

    # The owner thread.

    def _own(self) -> None:
        entries: deque[_Entry] = deque()
        idle: deque[queue.SimpleQueue[_Batch | None]] = deque()
        while True:
            command, value = self._commands.get()
            if command == "stop":
                for waiting in idle:
                    waiting.put(None)
                for entry in entries:
                    self._fail(entry, DetectionError(Reason.NOT_PROVISIONED, f"{self.name} was closed"))
                self._answer_the_late(len(self._threads) - 1 - len(idle))
                return
            if command == "append":
                entries.append(value)
                if not idle and len(entries) > self._limit:
                    # Every worker is busy (or hangs): those who gave up must not pile up behind it.
                    entries = deque(entry for entry in entries if not entry.done)
            else:
                idle.append(value)
            while idle and (batch := self._cut(entries)) is not None:
                idle.popleft().put(batch)

    def _answer_the_late(self, busy: int) -> None:
        """After ``stop``: the ``busy`` workers ask once more, callers racing with ``close`` are told."""
        while busy:
            try:
                command, value = self._commands.get(timeout=0.5)
            except queue.Empty:
                return
            if command == "next":
                value.put(None)
                busy -= 1
            elif command == "append":
                self._fail(value, DetectionError(Reason.NOT_PROVISIONED, f"{self.name} was closed"))

    def _cut(self, entries: deque[_Entry]) -> _Batch | None:
        items: list[tuple[_Entry, int]] = []
        longest = 0
        for _ in range(len(entries)):
            entry = entries[0]
            if entry.done or entry.deadline.passed or not entry.order:
                entries.popleft()
                if entry.order:
                    tell(self._hooks.dropped, self.name, "departed" if entry.done else "late")
                continue
            full = False
            # An equal share for each waiting entry, whole batch for a lone one.
            share = max(1, self._batch_tokens // max(1, len(entries)))
            taken = 0
            while entry.order and taken < share:
                length = len(entry.rows[entry.order[-1]].ids)
                grown = max(longest, -(-length // _PADDING_GRAIN) * _PADDING_GRAIN)
                if items and grown * (len(items) + 1) > self._batch_tokens:
                    full = True
                    break
                if len(entry.order) == len(entry.rows):
                    tell(self._hooks.wait, self.name, time.monotonic() - entry.queued)
                items.append((entry, entry.order.pop()))
                longest, taken = grown, taken + grown
            if full:
                break
            entries.rotate(-1)
        return _Batch(tuple(items), longest * len(items)) if items else None

    # The workers.

    def _work(self) -> None:
        mine: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        while True:
            self._commands.put(("next", mine))
            batch = mine.get()
            if batch is None:
                return
            tell(self._hooks.batch, self.name, len(batch.items), batch.padded)
            self._run_batch(batch)

    def _run_batch(self, batch: _Batch) -> None:
        rows = [entry.rows[n] for entry, n in batch.items]
        try:
            outputs = self._model(rows)
            if len(outputs) != len(rows):
                raise DetectionError(
                    Reason.DETECTOR_FAILED, f"{self.name} gave {len(outputs)} results for {len(rows)} rows"
                )
        # Whatever a model raises is one fact here: these rows have no result.
        except Exception as error:
            failure = error if isinstance(error, DetectionError) else DetectionError(
                Reason.DETECTOR_FAILED, f"{self.name} raised {type(error).__name__}"
            )  # fmt: skip
            for entry in {id(entry): entry for entry, _ in batch.items}.values():
                self._fail(entry, failure)
            return
        for (entry, n), output in zip(batch.items, outputs, strict=True):
            with entry.lock:
                if entry.results[n] is None:
                    entry.results[n] = output
                    entry.missing -= 1
                complete = entry.missing == 0
            if complete:
                self._deliver(entry, partial(_set_result, entry))

    def _fail(self, entry: _Entry, error: DetectionError) -> None:
        entry.done = True
        self._deliver(entry, partial(entry.future.set_exception, error))

    @staticmethod
    def _deliver(entry: _Entry, act: Callable[[], None]) -> None:
        def on_loop() -> None:
            if not entry.future.done():
                act()

        try:
            entry.loop.call_soon_threadsafe(on_loop)
        except RuntimeError:
            return  # the caller's loop is closed: nobody is left to tell


def tell(hook: Callable[..., None], *facts: object) -> None:
    """Calls a hook."""
    try:
        hook(*facts)
    except Exception:
        return  # a metric that fails must not end the thread that serves every check


def _set_result(entry: _Entry) -> None:
    entry.future.set_result([result for result in entry.results if result is not None])
