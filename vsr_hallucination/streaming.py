"""A tap on an event stream: the bytes go to the client untouched while the text is assembled beside them."""

from __future__ import annotations

from vsr_hallucination.apis.base import Api
from vsr_hallucination.apis.encoding import DecodeError, Decoder, TooLarge
from vsr_hallucination.detection.types import Reason
from vsr_hallucination.reading import UPSTREAM_ERROR, Reading


class Tap:
    """Decodes and assembles one stream. Never raises: what it cannot read makes the reading unavailable."""

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
        """The byte stream is over."""
        if self._decoder is not None and self._reason is None:
            try:
                self._assembler.feed(self._decoder.end())
            except (DecodeError, TooLarge):
                self._reason = Reason.RESPONSE_UNREADABLE
        self._assembler.end()

    @property
    def failed(self) -> bool:
        return self._assembler.failed

    @property
    def done(self) -> bool:
        """Nothing more has to be waited for: a terminal event or an error event was seen."""
        return self._assembler.terminal or self._assembler.failed

    @property
    def judgeable(self) -> bool:
        """At the end of the bytes: there is something to say. A stream that could not be read is not "cut off"."""
        return self._assembler.terminal or self._unreadable is not None

    @property
    def _unreadable(self) -> Reason | None:
        if self._reason is not None:
            return self._reason
        if self._assembler.too_large:
            return Reason.TOO_LARGE
        return Reason.RESPONSE_UNREADABLE if self._assembler.unreadable else None

    def reading(self) -> Reading:
        """What was assembled, that upstream failed, or why it cannot be used."""
        if self.failed:
            return UPSTREAM_ERROR
        reason = self._unreadable
        return Reading(reason=reason) if reason is not None else Reading(view=self._assembler.view())
