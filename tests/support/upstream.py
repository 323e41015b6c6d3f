"""A scriptable HTTP/1.1 upstream: each answer is a coroutine that writes the bytes itself, so nothing is hidden."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import h11

Headers = Sequence[tuple[str, str]]
JSON: Headers = (("content-type", "application/json"),)
SSE: Headers = (("content-type", "text/event-stream"),)


@dataclass(frozen=True)
class Request:
    """One request as the upstream received it."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


class Wire:
    """The connection, for an answer to write on. ``dropped``: the peer has closed its side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.close_after = False

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, headers: Headers = ()) -> None:
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers)]
        await self.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def chunk(self, data: bytes) -> None:
        await self.write(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self, trailers: Headers = ()) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in trailers)
        await self.write(b"0\r\n" + lines.encode("latin-1") + b"\r\n")

    def reset(self) -> None:
        """Ends the connection with an RST."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def closed(self) -> None:
        """Waits until the peer has gone."""
        while await self._reader.read(65536):
            pass


Answer = Callable[[Request, Wire], Awaitable[None]]


def plain(body: bytes, *, status: int = 200, headers: Headers = JSON, delay: float = 0.0) -> Answer:
    """A body with its content-length."""

    async def answer(request: Request, wire: Wire) -> None:
        await asyncio.sleep(delay)
        await wire.head(status, [*headers, ("content-length", str(len(body)))])
        await wire.write(b"" if request.method == "HEAD" else body)

    return answer


def chunked(
    chunks: Iterable[bytes], *, status: int = 200, headers: Headers = JSON, trailers: Headers = (), gap: float = 0.0
) -> Answer:
    """A chunked body, ``gap`` seconds between chunks, trailers at its end."""
    pieces = tuple(chunks)

    async def answer(request: Request, wire: Wire) -> None:
        named = [("trailer", ", ".join(name for name, _ in trailers))] if trailers else []
        await wire.head(status, [*headers, *named, ("transfer-encoding", "chunked")])
        for position, piece in enumerate(pieces):
            if position and gap:
                await asyncio.sleep(gap)
            await wire.chunk(piece)
        await wire.end(trailers)

    return answer


def sse(events: Iterable[bytes], *, gap: float = 0.0, headers: Headers = SSE) -> Answer:
    """An event stream: each of ``events`` is the bytes of one chunk."""
    return chunked(events, headers=headers, gap=gap)


def head_only(status: int, headers: Headers = ()) -> Answer:
    """204 and 304: a head and nothing else."""

    async def answer(request: Request, wire: Wire) -> None:
        await wire.head(status, headers)

    return answer


def cut(body: bytes, after: int, *, headers: Headers = JSON, reset: bool = True) -> Answer:
    """Promises ``body`` and breaks the connection after ``after`` bytes of it."""

    async def answer(request: Request, wire: Wire) -> None:
        await wire.head(200, [*headers, ("content-length", str(len(body)))])
        await wire.write(body[:after])
        await asyncio.sleep(0.05)
        if reset:
            wire.reset()
        wire.close_after = True

    return answer


@dataclass
class Upstream:
    """What the upstream answers next, and what it was asked. ``answer`` may be changed at any time."""

    answer: Answer
    requests: list[Request] = field(default_factory=list)
    port: int = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = Wire(reader, writer)
        try:
            while not wire.close_after:
                request = await _read_request(reader)
                if request is None:
                    break
                self.requests.append(request)
                await self.answer(request, wire)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            data = await reader.read(1 << 18)
            if not data and head is None:
                return None
            connection.receive_data(data)
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            assert head is not None
            fields = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in head.headers)
            return Request(head.method.decode(), head.target.decode("latin-1"), fields, bytes(body))
        else:
            return None


@asynccontextmanager
async def running_upstream(answer: Answer | None = None) -> AsyncIterator[Upstream]:
    upstream = Upstream(answer or plain(b"{}"))
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
