"""A lean HTTP/1.1 client: it shares two cores with what it measures, so it does little else than read the clock."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import Self

_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Call:
    """One request, ready to be written. ``script`` tells the upstream what to do (``bench.upstream``).

    ``checked``: the answer must say that it was checked, or a failing model would look like a fast one.
    """

    body: bytes
    script: str
    checked: bool = False

    @property
    def wire(self) -> bytes:
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n"
            f"x-bench: {self.script}\r\ncontent-length: {len(self.body)}\r\n"
        )
        debug = "x-vsr-debug: true\r\n" if self.checked else ""
        return f"{head}{debug}\r\n".encode() + self.body


@dataclass(frozen=True, slots=True)
class Streamed:
    """One event stream, in seconds: request to first body byte, gaps between chunks, request to the end."""

    first: float
    gaps: tuple[float, ...]
    end: float


class BenchError(Exception):
    """A figure could not be had: an answer was wrong, or none came."""


class Connection:
    """One keep-alive connection to a loopback port."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 20))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    async def call(self, call: Call) -> float:
        """Seconds from writing the request to the last byte of the answer. Raises BenchError if it is not a 200."""
        begin = time.perf_counter()
        chunked, length = await self._head(call)
        if chunked:
            while await self._chunk():
                pass
        else:
            await self._reader.readexactly(length)
        return time.perf_counter() - begin

    async def stream(self, call: Call) -> Streamed:
        begin = time.perf_counter()
        chunked, _ = await self._head(call)
        if not chunked:
            raise BenchError("the stream did not come in chunks")
        arrivals: list[float] = []
        while await self._chunk():
            arrivals.append(time.perf_counter())
        end = time.perf_counter()
        gaps = tuple(after - before for before, after in pairwise(arrivals))
        return Streamed(arrivals[0] - begin, gaps, end - begin)

    async def _head(self, call: Call) -> tuple[bool, int]:
        self._writer.write(call.wire)
        head = (await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), _TIMEOUT)).lower()
        if not head.startswith(b"http/1.1 200"):
            raise BenchError(f"the answer was {head.splitlines()[0].decode(errors='replace')}")
        if call.checked and not re.search(rb"\r\nx-vsr-hallucination: [^\r]*state=(not_)?detected", head):
            raise BenchError(
                "an answer was not checked: " + head.decode(errors="replace").replace("\r\n", "; ")
            )
        if b"transfer-encoding: chunked" in head:
            return True, 0
        at = head.find(b"content-length:")
        return False, int(head[at + 15 : head.index(b"\r\n", at)]) if at >= 0 else 0

    async def _chunk(self) -> int:
        size = int(await self._reader.readline(), 16)
        await self._reader.readexactly(size + 2)
        return size


async def latencies(port: int, call: Call, count: int) -> list[float]:
    """``count`` requests one after another on one connection."""
    async with await Connection.open(port) as connection:
        return [await connection.call(call) for _ in range(count)]


async def rate(port: int, call: Call, clients: int, count: int) -> float:
    """Answers a second while ``clients`` connections share ``count`` requests."""
    left = iter(range(count))

    async def work() -> None:
        async with await Connection.open(port) as connection:
            for _ in left:
                await connection.call(call)

    begin = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    return count / (time.perf_counter() - begin)


async def in_turns(
    alternatives: Sequence[str], rounds: int, measure: Callable[[str], Awaitable[float]]
) -> dict[str, list[float]]:
    """``measure`` each alternative once a round, in an order that turns: drift of the machine hits all alike."""
    found: dict[str, list[float]] = {name: [] for name in alternatives}
    for number in range(rounds):
        turn = number % len(alternatives)
        for name in (*alternatives[turn:], *alternatives[:turn]):
            found[name].append(await measure(name))
    return found
