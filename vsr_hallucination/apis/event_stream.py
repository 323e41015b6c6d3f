"""What the event streams of all client APIs share: framing, errors, ends, limits.

``[DONE]`` is terminal at once, an error event never is, and nothing after either counts. What else is terminal is the
API's word. A last event that the end of the bytes cut in two is no end. A JSON body where an event stream was announced
is an error if it says so; anything else in it is not read as an answer. An event that brings text is read for it, with
or without an error beside.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod

from vsr_hallucination.apis.base import Answer, ResponseView
from vsr_hallucination.apis.content import is_error
from vsr_hallucination.apis.jsontext import JsonError, join_surrogates, loads
from vsr_hallucination.apis.sse import SseEvent, SseParser

Json = dict[object, object]

_ANSWER_KEYS = ("choices", "output", "output_text", "content")  # where the APIs' bodies keep their answers
_COMPARISONS = 16  # full texts told beside their pieces, in multiples of the limit


class TextBuffer:
    """Text that grows by small pieces, at its own size in memory."""

    def __init__(self) -> None:
        self._text = io.StringIO()

    def __len__(self) -> int:
        return self._text.tell()

    def add(self, text: str) -> None:
        self._text.write(text)

    def text(self) -> str:
        return join_surrogates(self._text.getvalue())

    def raw(self) -> str:
        return self._text.getvalue()


class EventAssembler(ABC):
    """Fulfils ``StreamAssembler``; an API says what its events mean.

    ``limit`` bounds the assembled text of all answers (code points) and the size of one event (bytes).
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sse = SseParser(max(limit, 1))
        self._size = 0
        self._compared = 0
        self._done = False
        self._ended = False
        self._cut = False
        self._failed = False
        self._too_large = False
        self._unreadable = False
        self._unframed = False

    def feed(self, data: bytes) -> None:
        if self._ended or self._done or self._failed:
            return
        for event in self._sse.feed(data):
            self._event(event)

    def end(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._done or self._failed:
            return
        for event in self._sse.end():
            self._event(event)
        if self._sse.unframed:
            self._read_unframed(self._sse.unframed)

    @property
    def terminal(self) -> bool:
        if self._failed:
            return False
        return self._done or (self._ended and not self._cut and (self.finished_choices or self._unframed))

    @property
    def failed(self) -> bool:
        return self._failed

    @property
    def too_large(self) -> bool:
        return self._too_large or self._sse.overflow

    @property
    def unreadable(self) -> bool:
        return self._unreadable

    def view(self) -> ResponseView:
        return ResponseView(self._answers(), error=self._failed, incomplete=self._incomplete())

    @property
    @abstractmethod
    def finished_choices(self) -> bool:
        """Every answer that began is finished: what remains, if anything, is usage and the terminal event."""

    @abstractmethod
    def _answers(self) -> tuple[Answer, ...]: ...

    @abstractmethod
    def _incomplete(self) -> bool: ...

    @abstractmethod
    def _read(self, name: str, body: Json) -> None:
        """One event that is a JSON object and no error."""

    def _write(self, buffer: TextBuffer, text: str) -> None:
        """Add text within the limit; past it, nothing."""
        if not text:
            return
        self._size += len(text)
        if self._size > self._limit:
            self._too_large = True
        else:
            buffer.add(text)

    def _merge(self, buffer: TextBuffer, whole: str) -> None:
        """A full text that follows its own pieces says nothing new; a different one cannot be read together."""
        before = buffer.raw()
        self._compared += len(before)
        if self._compared > _COMPARISONS * self._limit:  # the same text told again and again costs time, not memory
            self._too_large = True
            return
        if whole.startswith(before):
            self._write(buffer, whole[len(before) :])
        elif not before.startswith(whole):
            self._unreadable = True

    def _event(self, event: SseEvent) -> None:
        if self._done or self._failed:
            return
        if event.name == "error":
            self._failed = True
            return
        data = event.data.strip()
        if data == b"[DONE]":
            self._done = True
            return
        if not data:
            return
        try:
            body = loads(data)
        except JsonError:
            if event.cut:
                self._cut = True
            elif self._owns(event.name):
                self._unreadable = True
            return
        if not isinstance(body, dict):
            self._unreadable = True
        elif is_error(body) and not self._carries(event.name, body):
            self._failed = True
        else:
            self._read(event.name, body)

    def _owns(self, name: str) -> bool:
        """Whether an event by this name must be one of this API: one by another name may hold anything."""
        return name in ("", "message")

    def _carries(self, name: str, body: Json) -> bool:
        """Whether an event with an error in it brings text all the same: that is read, and the error passed over."""
        return False

    def _read_unframed(self, data: bytes) -> None:
        try:
            body = loads(data)
        except JsonError:
            self._unreadable = True
            return
        if isinstance(body, dict) and is_error(body) and not any(body.get(key) for key in _ANSWER_KEYS):
            self._failed = True
        else:
            self._unreadable = self._unframed = True
