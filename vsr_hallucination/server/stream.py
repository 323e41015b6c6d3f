"""One ext_proc stream: reads its messages, feeds its exchange, carries out the exchange's orders.

The exchange has no I/O; everything here has nothing else. One lock a stream keeps what is fed and what is sent in
order, whoever brings it: the reader, the fact-check task, the check task.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import grpc.aio

from vsr_hallucination.detection.types import CheckResult, GateResult, Reason
from vsr_hallucination.orders import Check, Classify, Note, Order, Resume, Save, Send
from vsr_hallucination.server import work
from vsr_hallucination.server.runtime import Lease
from vsr_hallucination.wire import codec
from vsr_hallucination.wire.messages import Continue, Immediate, Message, Reply

if TYPE_CHECKING:
    from vsr_hallucination.server.service import Service

log = logging.getLogger(__name__)

# Above this, reading, parsing or rewriting a body would hold the event loop (and every SSE stream) for too long.
LARGE = 4 << 10
# A check that nobody waits for begins when its stream has closed, or after this long: the last bytes come first.
SETTLE = 0.5
LAST = 0.5  # so long a thread that has the exchange is waited for when the process ends

T = TypeVar("T")
Step = Callable[[T, float], Sequence[Order]]


class Machine(Protocol):
    """What the service drives: ``vsr_hallucination.exchange.Exchange``."""

    @property
    def finished(self) -> bool: ...

    @property
    def weight(self) -> int: ...

    @property
    def holding(self) -> bool: ...

    def receive(self, message: Message, at: float) -> Sequence[Order]: ...

    def resumed(self, at: float) -> Sequence[Order]: ...

    def gated(self, result: GateResult, at: float) -> Sequence[Order]: ...

    def checked(self, results: tuple[CheckResult, ...], at: float) -> Sequence[Order]: ...

    def closed(self, at: float) -> Sequence[Order]: ...

    def given_up(self, at: float) -> Sequence[Order]: ...


class Stream:
    """One exchange and what it has running."""

    __slots__ = (
        "_broken", "_bytes", "_context", "_ended", "_exchange", "_held", "_id", "_lease", "_lock", "_open", "_reader",
        "_released", "_serialize", "_service", "_tasks",
    )  # fmt: skip

    def __init__(
        self,
        service: Service,
        context: grpc.aio.ServicerContext[bytes, bytes],
        lease: Lease,
        exchange: Machine,
        exchange_id: str,
    ) -> None:
        self._service = service
        self._context = context
        self._lease = lease
        self._exchange = exchange
        self._id = exchange_id
        self._serialize = codec.Serializer(exchange_id)
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._held: set[asyncio.Task[None]] = set()
        self._reader: asyncio.Task[Any] | None = asyncio.current_task()
        self._bytes = 0
        self._ended = asyncio.Event()
        self._open = True
        self._broken = False
        self._released = False

    async def run(self) -> None:
        context = self._context
        try:
            while not self._broken:
                data: object = await context.read()
                if not isinstance(data, bytes):  # grpc.aio.EOF
                    break
                self._bytes += len(data)
                weight = max(len(data), self._exchange.weight)
                if weight > LARGE:
                    thread = self._service.thread_for(weight if self._exchange.holding else len(data))
                    # In a task of its own: should the RPC be cancelled, a thread may still have the exchange.
                    await asyncio.shield(self._spawn(self._feed(self._read, data, thread)))
                else:
                    await self._feed(self._read, data)
        except asyncio.CancelledError:
            if not self._broken:  # otherwise it is our own: it woke the reader up
                raise
        finally:
            self._open = False
            self._reader = None
            self._ended.set()
            if self._tasks or self._lock.locked():  # a task may have a message yet to bring
                self._spawn(self._end_later())
            else:
                self._service.close_soon(self)

    def _read(self, data: bytes, at: float) -> Sequence[Order]:
        return self._exchange.receive(codec.decode(codec.parse(data)), at)

    def _resumed(self, _: None, at: float) -> Sequence[Order]:
        return self._exchange.resumed(at)

    async def _feed(self, step: Step[T], value: T, thread: ThreadPoolExecutor | None = None) -> None:
        async with self._lock:
            if not self._broken:
                await self._step(step, value, thread)

    async def _step(self, step: Step[T], value: T, thread: ThreadPoolExecutor | None) -> None:
        try:
            orders = await self._in_thread(step, value, thread) if thread is not None else step(value, time.time())
        except Exception as problem:
            self._break(problem)
            return
        for position, order in enumerate(orders):
            if isinstance(order, Resume):
                await self._step(self._resumed, None, thread or self._service.thread_for(self._exchange.weight))
            elif not isinstance(order, Send):
                self._start(order)
            elif self._open:
                try:
                    await self._send(order.reply)
                except asyncio.CancelledError:
                    self._open = False
                    for rest in orders[position + 1 :]:  # a record is not lost with the client
                        self._start(rest)
                    raise
                except Exception as problem:  # the RPC is gone; the reader will see it too
                    self._open = False
                    log.debug("reply_not_sent: %s", type(problem).__name__)

    async def _in_thread(self, step: Step[T], value: T, thread: ThreadPoolExecutor) -> Sequence[Order]:
        job = thread.submit(step, value, time.time())
        waiting = asyncio.wrap_future(job)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if not job.cancel():  # it has the exchange, and may have ordered its record
                for order in await waiting:
                    if isinstance(order, (Save, Note)):
                        self._start(order)
            raise

    async def _send(self, reply: Reply) -> None:
        body = reply.body if isinstance(reply, (Continue, Immediate)) else None
        thread = self._service.thread_for(len(body)) if body is not None else None
        if thread is not None:
            data = await asyncio.get_running_loop().run_in_executor(thread, self._serialize, reply)
        else:
            data = self._serialize(reply)
        await self._context.write(data)

    def _start(self, order: Order) -> None:
        if isinstance(order, Classify) and self._service.ending:
            self._spawn(self._feed(self._exchange.gated, work.gate_failure(Reason.TIMEOUT, "shutting down")))
        elif isinstance(order, Classify):
            self._spawn(self._classify(order))
        elif isinstance(order, Check):
            self._start_check(order)
        elif isinstance(order, Save):
            self._service.records.put(order.record)
        elif isinstance(order, Note):
            self._service.notes(order)

    def _start_check(self, order: Check) -> None:
        if order.held:
            if self._open:
                task = self._spawn(self._check(order))
                self._held.add(task)
                task.add_done_callback(self._held.discard)
            return
        service = self._service
        if service.ending or service.unheld >= service.background:
            what = "shutting down" if service.ending else f"{service.unheld} checks of streams are running"
            failures = work.check_failures(self._lease.runtime, order, Reason.OVERLOADED, what)
            self._spawn(self._feed(self._exchange.checked, failures))
            return
        service.unheld += 1
        self._spawn(self._check(order)).add_done_callback(self._unheld_done)

    def _unheld_done(self, _task: asyncio.Task[None]) -> None:
        self._service.unheld -= 1

    async def _classify(self, order: Classify) -> None:
        try:
            if not order.held:
                await self._settled()
            result = await work.classify(self._lease.runtime, order)
        except asyncio.CancelledError:
            if not self._service.ending:
                raise
            result = work.gate_failure(Reason.TIMEOUT, "shutting down")
        await self._feed(self._exchange.gated, result, self._heavy())

    async def _check(self, order: Check) -> None:
        try:
            if not order.held:
                await self._settled()
            results = await work.check(self._lease.runtime, order)
        except asyncio.CancelledError:
            if order.held or not self._service.ending:
                raise
            results = work.check_failures(self._lease.runtime, order, Reason.TIMEOUT, "shutting down")
        await self._feed(self._exchange.checked, results, self._heavy())

    def _heavy(self) -> ThreadPoolExecutor | None:
        return self._service.thread_for(max(self._bytes, self._exchange.weight))

    async def _settled(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE):
                await self._ended.wait()

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._service.spawn(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)
        return task

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._release()

    def _break(self, problem: Exception) -> None:
        """The exchange raised: from here on it is left alone, and the RPC ends normally."""
        self._broken = True
        if isinstance(problem, codec.UnknownMessage):
            note = Note("message_unknown", {"exchange": self._id, "error": str(problem)}, warning=True)
            self._service.notes(note)
        else:
            self._service.failed(self._id, problem)
        reader = self._reader
        if reader is not None and reader is not asyncio.current_task():
            reader.cancel()

    async def _end_later(self) -> None:
        try:
            async with self._lock:
                self.close(time.time())
        except asyncio.CancelledError:
            # A thread has the exchange still, but the process ends: better a record closed early than none.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST):
                    await self._lock.acquire()
            self.close(time.time())
            raise

    def close(self, at: float) -> None:
        """The RPC has ended: tells the exchange once, and leaves running only what it still waits for."""
        try:
            for order in self._exchange.closed(at):
                self._start(order)
            if self._broken:
                for order in self._exchange.given_up(at):
                    self._start(order)
            over = self._broken or self._exchange.finished
        except Exception as problem:
            over = True
            if not self._broken:
                self._broken = True
                self._service.failed(self._id, problem)
        current = asyncio.current_task()
        for task in tuple(self._tasks if over else self._held):
            if task is not current:
                task.cancel()
        self._release()

    def _release(self) -> None:
        if self._reader is None and not self._tasks and not self._released:
            self._released = True
            self._service.slot.give_back(self._lease)
