"""Content codings (RFC 9110 §8.4.1), decoded within bounds: whole bodies, and streams as their bytes arrive.

gzip (RFC 1952, also several members), deflate (RFC 1950, and the raw RFC 1951 that some servers send), br (RFC 7932),
zstd (RFC 8878; window at most 8 MiB, RFC 9659), and stacks of them. Upstream is hostile: output is produced in small
pieces, and each coding stops at the limit or where it grows beyond any honest text.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli  # type: ignore[import-untyped]  # ships no stubs

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_PIECE = 1 << 16  # output is taken in pieces of this many bytes (brotli: at least)
_MAX_STACK = 4
_RATIO = 1100  # deflate cannot exceed 1032; more in br or zstd is a bomb
_RATIO_FREE = 1 << 20  # small outputs may have any ratio
_ZSTD_WINDOW_LOG = 23


class DecodeError(ValueError):
    """The body is not in the coding it claims, is cut off, or claims one that is unknown."""


class TooLarge(ValueError):
    """The decoded body is over the limit, or grows as only a decompression bomb does."""


def decode(body: bytes, content_encoding: str | None, limit: int) -> bytes:
    """The body without its content codings, at most ``limit`` bytes. Raises ``DecodeError`` or ``TooLarge``.

    An empty body is empty in every coding: a gzip header on zero bytes is seen in the wild.
    """
    decoder = Decoder(content_encoding, limit)
    return decoder.feed(body) + decoder.end()


class Decoder:
    """Decodes a stream: ``feed`` returns what the bytes so far give, at once where the encoder flushed.

    Constructing raises ``DecodeError`` for an unknown coding. After an error every call raises it again.
    """

    def __init__(self, content_encoding: str | None, limit: int) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        names = [name for name in names if name not in ("", "identity")]
        if len(names) > _MAX_STACK:
            raise DecodeError(f"more than {_MAX_STACK} content codings")
        self._stages = [_bounded(name, limit) for name in reversed(names)]
        self._plain = _Budget(limit)
        self._error: DecodeError | TooLarge | None = None

    def feed(self, data: bytes) -> bytes:
        if self._error is not None:
            raise self._error
        try:
            return b"".join(self._through(data, 0))
        except (DecodeError, TooLarge) as error:
            self._error = error
            raise

    def end(self) -> bytes:
        """The input has ended: what was held back, which is nothing. Raises ``DecodeError`` where it was cut off."""
        if self._error is not None:
            raise self._error
        if not all(stage.complete for stage in self._stages):
            self._error = DecodeError("compressed body is cut off")
            raise self._error
        return b""

    def _through(self, data: bytes, depth: int) -> Iterator[bytes]:
        if depth == len(self._stages):
            if not self._stages:
                self._plain.take(len(data), len(data))
            yield data
            return
        for piece in self._stages[depth].feed(data):
            yield from self._through(piece, depth + 1)


class _Budget:
    """Counts the output of one coding against the limit and against its input."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._out = 0
        self._in = 0

    def take(self, new_in: int, new_out: int) -> None:
        self._in += new_in
        self._out += new_out
        if self._out > self._limit:
            raise TooLarge(f"decoded body is over {self._limit} bytes")
        if self._out > _RATIO_FREE and self._out > _RATIO * self._in:
            raise TooLarge(f"decoded body is over {_RATIO} times its encoded size")


class _Engine(Protocol):
    """One coding: pieces of output, and whether the input so far is whole."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...

    @property
    def complete(self) -> bool: ...


class _Stage:
    """An engine within its budget; the libraries' errors become ours."""

    def __init__(self, engine: _Engine, limit: int) -> None:
        self._engine = engine
        self._budget = _Budget(limit)
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if not data:
            return
        self._started = True
        self._budget.take(len(data), 0)
        try:
            for piece in self._engine.feed(data):
                self._budget.take(0, len(piece))
                yield piece
        except (zlib.error, brotli.error, zstd.ZstdError, EOFError):
            raise DecodeError("body is not in the content coding it claims") from None

    @property
    def complete(self) -> bool:
        return not self._started or self._engine.complete


def _bounded(name: str, limit: int) -> _Stage:
    engine: _Engine
    if name in ("gzip", "x-gzip"):
        engine = _Zlib(gzip=True)
    elif name == "deflate":
        engine = _Zlib(gzip=False)
    elif name == "br":
        engine = _Brotli()
    elif name == "zstd":
        engine = _Zstd()
    else:
        raise DecodeError("unknown content coding")
    return _Stage(engine, limit)


class _Zlib:
    """gzip with any number of members (and the zero padding some writers add), or one deflate stream."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16) if gzip else None
        self._head = b""
        self._between = False  # a member has ended and no other has begun

    @property
    def complete(self) -> bool:
        return self._between

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._between:
                data = self._next_member(data)
                if not data:
                    return
            if self._stream is None:
                data = self._head + data
                if len(data) < 2:
                    self._head = data
                    return
                # RFC 1950: method 8 in the low bits, and the first two bytes are a multiple of 31.
                wrapped = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
                self._stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
            stream = self._stream
            while data and not stream.eof:
                piece = stream.decompress(data, _PIECE)
                data = stream.unconsumed_tail
                if piece:
                    yield piece
            while not stream.eof:  # output that is held back though all input is taken
                piece = stream.decompress(b"", _PIECE)
                if not piece:
                    break
                yield piece
            if stream.eof:
                data = stream.unused_data
                self._between = True

    def _next_member(self, data: bytes) -> bytes:
        if not self._gzip:
            raise DecodeError("bytes after the end of the compressed body")
        data = data.lstrip(b"\0")
        if data:
            self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
            self._between = False
        return data


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def complete(self) -> bool:
        return bool(self._stream.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream.is_finished():
            raise DecodeError("bytes after the end of the compressed body")
        piece = self._stream.process(data, output_buffer_limit=_PIECE)
        while piece:
            yield piece
            if self._stream.is_finished():
                return
            piece = self._stream.process(b"", output_buffer_limit=_PIECE)


class _Zstd:
    """Any number of frames."""

    def __init__(self) -> None:
        self._stream = self._new()
        self._whole = False

    @staticmethod
    def _new() -> zstd.ZstdDecompressor:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})

    @property
    def complete(self) -> bool:
        return self._whole

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._stream.eof:
                if not data:
                    return
                self._stream = self._new()
            self._whole = False
            piece = self._stream.decompress(data, _PIECE)
            data = b""
            if piece:
                yield piece
            if self._stream.eof:
                data = self._stream.unused_data
                self._whole = True
            elif self._stream.needs_input or not piece:
                return
