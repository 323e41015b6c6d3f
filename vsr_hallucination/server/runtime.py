"""What an exchange runs with: the configuration and the models provisioned for it, swapped as one on reload."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from vsr_hallucination.config.schema import Config
from vsr_hallucination.detection.types import Checker, Gate

log = logging.getLogger(__name__)


class Runtime(Protocol):
    """One configuration with its models. ``None``: not provisioned (not wanted, or its model did not load)."""

    @property
    def config(self) -> Config: ...

    def gate(self, recipe: str) -> Gate | None: ...

    def checker(self, recipe: str) -> Checker | None: ...

    async def aclose(self) -> None: ...


class Lease:
    """One exchange's hold on the runtime it began with. Given back exactly once, by ``RuntimeSlot.give_back``."""

    __slots__ = ("retired", "runtime", "users")

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.users = 0
        self.retired = False


class RuntimeSlot:
    """Holds the runtime in force. After ``swap`` new exchanges get the new one; the old one is closed when the
    last exchange that began with it has ended. Lives on one event loop; needs no lock there."""

    def __init__(self, runtime: Runtime) -> None:
        self._lease = Lease(runtime)
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def current(self) -> Runtime:
        return self._lease.runtime

    def take(self) -> Lease:
        lease = self._lease
        lease.users += 1
        return lease

    def give_back(self, lease: Lease) -> None:
        lease.users -= 1
        if lease.retired and lease.users == 0:
            self._close(lease)

    def swap(self, runtime: Runtime) -> None:
        old, self._lease = self._lease, Lease(runtime)
        old.retired = True
        if old.users == 0:
            self._close(old)

    async def aclose(self) -> None:
        """Closes the runtime in force, and waits for retired ones that are closing. Exchanges must have ended."""
        if self._closing:
            await asyncio.wait(self._closing)
        await self._lease.runtime.aclose()

    def _close(self, lease: Lease) -> None:
        task = asyncio.get_running_loop().create_task(lease.runtime.aclose(), name="close-runtime")
        self._closing.add(task)
        task.add_done_callback(self._closed)

    def _closed(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.warning("runtime_close_failed: %s", type(problem).__name__)
