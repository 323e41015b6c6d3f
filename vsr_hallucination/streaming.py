"""Taps: the bytes go to the client untouched while what they say is put together beside them."""

from __future__ import annotations

from typing import Protocol

from vsr_hallucination.apis.base import Api
from vsr_hallucination.apis.encoding import DecodeError, Decoder, TooLarge
from vsr_hallucination.detection.types import Reason
from vsr_hallucination.reading import MAX_ANSWERS, UPSTREAM_ERROR, Reading, read_body


class Tap(Protocol):
    """What a passing body is told to. Never raises: what it cannot read makes the reading unavailable."""

    def feed(self, data: bytes) -> None: ...

    def end(self) -> None:
        """The byte stream is over."""

    def cut(self) -> None:
        """No more bytes come; whether they were all is not known."""

    @property
    def size(self) -> int:
        """Bytes that are kept to be read at the end."""

    @property
    def failed(self) -> bool:
        """An error event was seen."""

    @property
    def done(self) -> bool:
        """Nothing more has to be waited for."""

    @property
    def judgeable(self) -> bool:
        """At the end of the bytes: there is something to say. What could not be read is not "cut off"."""

    def reading(self) -> Reading:
        """What was put together, that upstream failed, or why it cannot be used."""


class WholeTap:
    """Of a body that nobody waits for: kept up to ``limit`` bytes, and read when it has ended."""

    def __init__(self, api: Api | None, encoding: str | None, limit: int) -> None:
        self._api = api
        self._encoding = encoding
        self._limit = limit
        self._body = bytearray()
        self._whole = False

    def feed(self, data: bytes) -> None:
        self._body += data[: self._limit + 1 - len(self._body)]  # one byte more tells that it is too large

    def end(self) -> None:
        self._whole = True

    def cut(self) -> None:
        return None

    @property
    def size(self) -> int:
        return len(self._body)

    @property
    def failed(self) -> bool:
        return False

    @property
    def done(self) -> bool:
        return self._whole

    @property
    def judgeable(self) -> bool:
        return self._whole

    def reading(self) -> Reading:
        return read_body(self._api, bytes(self._body), self._encoding, self._limit)


class StreamTap:
    """Decodes and assembles one event stream."""

    def __init__(self, api: Api, encoding: str | None, limit: int) -> None:
        self._assembler = api.assembler(limit)
        self._reason: Reason | None = None
        self._decoder: Decoder | None = None
        try:
            self._decoder = Decoder(encoding, limit) if encoding is not None else None
        except DecodeError:  # a coding nobody knows
            self._reason = Reason.RESPONSE_UNREADABLE

    def feed(self, data: bytes) -> None:
        if self._reason is not None or not data:
            return
        try:
            self._assembler.feed(self._decoder.feed(data) if self._decoder is not None else data)
        except TooLarge:
            self._reason = Reason.TOO_LARGE
        except DecodeError:
            self._reason = Reason.RESPONSE_UNREADABLE

    def end(self) -> None:
        if self._decoder is not None and self._reason is None:
            try:
                self._assembler.feed(self._decoder.end())
            except (DecodeError, TooLarge):
                self._reason = Reason.RESPONSE_UNREADABLE
        self._assembler.end()

    def cut(self) -> None:
        self.end()  # a stream tells itself whether it was whole

    @property
    def size(self) -> int:
        return 0  # each chunk is read as it comes

    @property
    def failed(self) -> bool:
        return self._assembler.failed

    @property
    def done(self) -> bool:
        return self._assembler.terminal or self._assembler.failed

    @property
    def judgeable(self) -> bool:
        return self._assembler.terminal or self._unreadable is not None

    @property
    def _unreadable(self) -> Reason | None:
        if self._reason is not None:
            return self._reason
        if self._assembler.too_large:
            return Reason.TOO_LARGE
        return Reason.RESPONSE_UNREADABLE if self._assembler.unreadable else None

    def reading(self) -> Reading:
        if self.failed:
            return UPSTREAM_ERROR
        reason = self._unreadable
        if reason is not None:
            return Reading(reason=reason)
        view = self._assembler.view()
        return Reading(view=view) if len(view.answers) <= MAX_ANSWERS else Reading(reason=Reason.TOO_LARGE)
