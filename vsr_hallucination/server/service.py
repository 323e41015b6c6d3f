"""The ext_proc service: opens a ``Stream`` for each RPC, lends it threads, closes what has ended, drains."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import grpc.aio

from vsr_hallucination.config.schema import Config
from vsr_hallucination.orders import Note
from vsr_hallucination.replay.record import Record
from vsr_hallucination.server import work
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.stream import LARGE, Machine, Stream

log = logging.getLogger(__name__)

SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor"
HUGE = 256 << 10  # bytes; what is larger is worked on apart, so that it holds up only its like
# Exchanges that end while others run are closed together: one after the other they cost a third of what each costs by
# itself, between the messages of others. So many in one go, so long after the first (seconds).
TOGETHER = 64
TOGETHER_AFTER = 0.02
ENDING = 1.0  # seconds, at the end of a drain, for what was cut off to be recorded

class NewExchange(Protocol):
    def __call__(self, config: Config, *, id: str, metadata: Mapping[str, str]) -> Machine: ...


class Records(Protocol):
    """Where records go: the write-behind writer of the replay store. ``put`` never blocks."""

    def put(self, record: Record) -> None: ...


class Service:
    """The ext_proc service. ``background``: how many checks of streams may run at once beside the streams."""

    def __init__(
        self,
        slot: RuntimeSlot,
        new_exchange: NewExchange,
        records: Records,
        notes: Callable[[Note], None],
        *,
        background: int = 256,
    ) -> None:
        self.slot = slot
        self.new_exchange = new_exchange
        self.records = records
        self.notes = notes
        # One thread each: two at once only wrest the interpreter from one another, and from the event loop.
        self._texts = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exchange")
        self._bulk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exchange-bulk")
        self.background = background
        self.unheld = 0
        self.ending = False
        self._streams: set[asyncio.Task[Any]] = set()
        self._work: set[asyncio.Task[None]] = set()
        self._over: deque[tuple[Stream, float]] = deque()

    @property
    def open_exchanges(self) -> int:
        """Exchanges whose ext_proc stream is open now."""
        return len(self._streams)

    def handler(self) -> grpc.GenericRpcHandler:
        """What a ``grpc.aio.server`` registers. Messages stay bytes: a large one is parsed off the event loop."""
        process: Any = grpc.stream_stream_rpc_method_handler(self.process)
        return grpc.method_handlers_generic_handler(SERVICE, {"Process": process})

    async def process(self, _requests: Any, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        """One ext_proc stream, from its first message to its end. It ends normally, so that Envoy fails open."""
        lease = self.slot.take()
        try:
            exchange_id = secrets.token_hex(16)
            pairs = context.invocation_metadata() or ()
            metadata = {key: value for key, value in pairs if isinstance(value, str)}
            exchange = self.new_exchange(lease.runtime.config, id=exchange_id, metadata=metadata)
        except Exception as problem:
            self.slot.give_back(lease)
            self.failed("-", problem)
            return
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        try:
            await Stream(self, context, lease, exchange, exchange_id).run()
        finally:
            self._streams.discard(task)

    def thread_for(self, size: int) -> ThreadPoolExecutor | None:
        """Where ``size`` bytes are worked on: None for the event loop itself. What is huge holds up only its like."""
        if size <= LARGE:
            return None
        return self._texts if size <= HUGE else self._bulk

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._work.add(task)
        task.add_done_callback(self._done)
        return task

    def failed(self, exchange_id: str, problem: BaseException) -> None:
        """An exchange broke: says where, never what it held."""
        kind, place = type(problem).__name__, work.where(problem)
        self.notes(Note("exchange_failed", {"exchange": exchange_id, "error": kind, "where": place}, warning=True))

    def close_soon(self, stream: Stream) -> None:
        """Closes the exchange of an RPC that has ended: now where no other runs, else together with others."""
        at = time.time()
        if len(self._streams) <= 1 or self.ending:
            stream.close(at)
            return
        self._over.append((stream, at))
        if len(self._over) == 1:
            asyncio.get_running_loop().call_later(TOGETHER_AFTER, self._close_some)

    def _close_some(self) -> None:
        try:
            self.close_waiting(TOGETHER)
        finally:  # one that cannot be closed must not keep the others open for good
            if self._over:
                asyncio.get_running_loop().call_soon(self._close_some)

    def close_waiting(self, most: int | None = None) -> None:
        """Closes what waits to be closed together, the oldest first; ``most``: so many at once, None: all."""
        for _ in range(len(self._over) if most is None else min(most, len(self._over))):
            stream, at = self._over.popleft()
            stream.close(at)

    async def drain(self, timeout: float) -> None:
        """Lets checks of ended streams finish for ``timeout`` seconds; the rest is recorded as not checked."""
        if self._streams:  # gRPC cancels them, but does not wait for each
            await asyncio.wait(set(self._streams), timeout=ENDING)
        self.close_waiting()
        if self._work:
            await asyncio.wait(set(self._work), timeout=timeout)
        self.ending = True
        for task in tuple(self._work):
            task.cancel()
        await self._finish(ENDING)
        self._texts.shutdown(wait=False)
        self._bulk.shutdown(wait=False)

    async def _finish(self, timeout: float) -> None:
        """Waits for what runs, and for what that begins as it ends: the last of an exchange is its record."""
        give_up = time.monotonic() + timeout
        self.close_waiting()
        while self._work and (left := give_up - time.monotonic()) > 0:
            await asyncio.wait(set(self._work), timeout=left)
            self.close_waiting()

    def _done(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.error("stream_task_failed: %s at %s", type(problem).__name__, work.where(problem))
