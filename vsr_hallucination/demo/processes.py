"""Children that die with us, and ports that are free. Linux: the kernel ends a child whose parent was killed."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_PR_SET_PDEATHSIG = 1  # prctl(2)
_GRACE = 8.0  # seconds between SIGTERM and SIGKILL; the filter drains in this time


class ChildFailed(Exception):
    """A child could not be started, or left before it was ready. Says which, and quotes the end of its log."""


class Children:
    """Starts programs in process groups of their own, logs to files, and ends all of them on exit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, asyncio.subprocess.Process] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.shield(self.end_all())

    def log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    async def start(self, name: str, *command: str) -> None:
        """Start ``command``; both its output streams go to ``log(name)``."""
        try:
            with self.log(name).open("wb") as sink:
                self._running[name] = await asyncio.create_subprocess_exec(
                    *command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=sink,
                    stderr=asyncio.subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_dies_with_parent(),
                )
        except OSError as error:
            raise ChildFailed(f"{name} did not start: {command[0]}: {error.strerror or error}") from error

    async def ready(self, name: str, probe: Callable[[], Awaitable[bool]], timeout: float) -> None:
        """Wait until ``probe`` says yes. Raises ChildFailed if the child ends or the time is over first."""
        process = self._running[name]
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while not await probe():
            if process.returncode is not None:
                raise ChildFailed(
                    f"{name} ended with status {process.returncode}; its last words:\n{self.tail(name)}"
                )
            if loop.time() > end:
                raise ChildFailed(
                    f"{name} was not ready after {timeout:.0f} s; its last words:\n{self.tail(name)}"
                )
            await asyncio.sleep(0.1)

    def pid(self, name: str) -> int:
        return self._running[name].pid

    def tail(self, name: str, lines: int = 12) -> str:
        with contextlib.suppress(OSError):
            text = self.log(name).read_text(encoding="utf-8", errors="replace")
            return "\n".join(f"  {line[:400]}" for line in text.splitlines()[-lines:])
        return "  (no log)"

    def gone(self) -> tuple[str, ...]:
        """Names of children that have ended by themselves."""
        return tuple(name for name, process in self._running.items() if process.returncode is not None)

    async def end(self, name: str) -> None:
        process = self._running.pop(name)
        if process.returncode is None:
            _signal_group(process.pid, signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), _GRACE)
            except TimeoutError:
                _signal_group(process.pid, signal.SIGKILL)
        await process.wait()
        _signal_group(process.pid, signal.SIGKILL)  # whatever it left behind in its group

    async def end_all(self) -> None:
        await asyncio.gather(*(self.end(name) for name in reversed(tuple(self._running))))


def choose_ports(wanted: Sequence[tuple[str, int]], fixed: dict[str, int]) -> dict[str, int]:
    """A port for each name: the fixed one, else the wanted one if free, else any free one. Loopback; 0 wants any."""
    chosen: dict[str, int] = {}
    for name, port in wanted:
        if name in fixed:
            chosen[name] = fixed[name]
            continue
        taken = {*chosen.values(), *fixed.values()}
        chosen[name] = port if port and port not in taken and _free(port) else _any_free(taken)
    return chosen


async def listening(port: int) -> bool:
    """True if something accepts connections on the loopback port."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _any_free(taken: set[int]) -> int:
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port not in taken:
            return port


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _dies_with_parent() -> Callable[[], object] | None:
    """What a child runs between fork and exec, found before the fork: nothing may be loaded in between."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
