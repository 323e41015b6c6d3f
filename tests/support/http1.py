"""A raw HTTP/1.1 client: what came, byte for byte, and when."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import h11


@dataclass(frozen=True)
class Response:
    """One response. ``pieces``: (seconds since the request was sent, data) as the data came; ``complete``: its end
    was seen."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[tuple[float, bytes], ...]
    trailers: tuple[tuple[str, str], ...]
    complete: bool
    raw: bytes

    @property
    def body(self) -> bytes:
        return b"".join(data for _, data in self.pieces)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


def head(
    method: str, path: str, headers: Sequence[tuple[str, str]] = (), *, version: str = "1.1", length: int | None = None
) -> bytes:
    lines = [f"{method} {path} HTTP/{version}", "host: llm.test"]
    if length is not None:
        lines.append(f"content-length: {length}")
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def send(
    port: int,
    body: bytes = b"",
    *,
    method: str = "POST",
    path: str = "/v1/chat/completions",
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"),),
    version: str = "1.1",
    leave_after: int | None = None,
    timeout: float = 20.0,
) -> Response:
    """Sends one request on a new connection. ``leave_after``: closes after that many bytes of response body."""
    return await raw(
        port,
        head(method, path, headers, version=version, length=len(body)) + body,
        method=method,
        leave_after=leave_after,
        timeout=timeout,
    )


async def raw(
    port: int, data: bytes, *, method: str = "POST", leave_after: int | None = None, timeout: float = 20.0
) -> Response:
    """Sends ``data`` as it is, and reads one response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    try:
        return await asyncio.wait_for(_exchange(reader, writer, data, method, leave_after), timeout)
    finally:
        writer.close()


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes, method: str, leave_after: int | None
) -> Response:
    begun = time.monotonic()
    writer.write(data)
    sending = asyncio.ensure_future(writer.drain())
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
    connection.send(h11.Request(method=method, target="/", headers=[("host", "x"), ("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    status, headers, trailers, complete = 0, (), (), False
    pieces: list[tuple[float, bytes]] = []
    received = bytearray()
    try:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                try:
                    chunk = await reader.read(1 << 18)
                except ConnectionError:
                    chunk = b""
                received += chunk
                if not chunk and (not status or connection.their_state is not h11.SEND_BODY):
                    break
                connection.receive_data(chunk)
            elif isinstance(event, h11.Response):
                status, headers = event.status_code, _text(event.headers)
            elif isinstance(event, h11.Data):
                pieces.append((time.monotonic() - begun, bytes(event.data)))
                if leave_after is not None and sum(len(p) for _, p in pieces) >= leave_after:
                    break
            elif isinstance(event, h11.EndOfMessage):
                trailers, complete = _text(event.headers), True
                break
            elif not isinstance(event, h11.InformationalResponse):
                break
    except h11.RemoteProtocolError:
        pass  # cut off: complete stays False
    finally:
        sending.cancel()
    return Response(status, headers, tuple(pieces), trailers, complete, bytes(received))


def _text(headers: object) -> tuple[tuple[str, str], ...]:
    return tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in headers)  # type: ignore[attr-defined]
