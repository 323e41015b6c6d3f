"""Server-sent events out of bytes in any chunking (WHATWG HTML §9.2.5, "Parsing an event stream").

Unlike a browser, ``end`` also gives the event that the final blank line is missing from, marked as such; and a body
that never becomes an event stream (a JSON error sent as ``text/event-stream``) is kept, within bounds, as ``unframed``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"[\r\n]")
_BOM = b"\xef\xbb\xbf"
_FIELDS = frozenset((b"data", b"event", b"id", b"retry", b""))


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: ``name`` is its ``event`` field, ``data`` its data lines joined by LF, undecoded.

    ``cut``: the stream ended before the blank line that ends the event.
    """

    name: str
    data: bytes
    cut: bool = False


class SseParser:
    """Incremental, O(bytes fed), never raises. An event over ``limit`` bytes sets ``overflow`` and is dropped."""

    def __init__(self, limit: int) -> None:
        self.overflow = False
        self._limit = limit
        self._line = bytearray()
        self._begun = False
        self._head = b""  # what may yet become a BOM
        self._after_cr = False
        self._name = b""
        self._data: list[bytes] = []
        self._size = 0
        self._line_size = 0
        self._dropping = False  # the event at hand is over the limit: skip to the next blank line
        self._seen_data = False
        self._unframed: list[bytes] = []
        self._unframed_size = 0

    @property
    def unframed(self) -> bytes:
        """What stood before any data field and is no field at all; empty once an event was seen."""
        return b"" if self._seen_data else b"\n".join(self._unframed)

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that these bytes complete."""
        if not self._begun:
            data = self._head + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._head = data
                return []
            data = data.removeprefix(_BOM)
            self._begun = True
        if not data:
            return []
        events: list[SseEvent] = []
        at = 0
        if self._after_cr and data.startswith(b"\n"):
            at = 1
        self._after_cr = False
        while (match := _LINE_END.search(data, at)) is not None:
            end = match.start()
            self._keep(data[at:end])
            at = end + 1
            if data[end] == 0x0D:
                if data.startswith(b"\n", at):
                    at += 1
                elif at == len(data):
                    self._after_cr = True
            self._line_done(events)
        self._keep(data[at:])
        return events

    def end(self) -> list[SseEvent]:
        """The event, if any, that the end of the bytes left open."""
        events: list[SseEvent] = []
        if not self._begun:
            self._begun = True
            events += self.feed(self._head)
        if self._line_size:
            self._line_done(events)
        if not self._dropping:
            self._dispatch(events, cut=True)
        return events

    def _keep(self, piece: bytes) -> None:
        self._line_size += len(piece)
        if self._dropping:
            return
        if self._line_size + self._size > self._limit:
            self.overflow = self._dropping = True
            self._line.clear()
            self._data.clear()
            self._size = 0
        else:
            self._line += piece

    def _line_done(self, events: list[SseEvent]) -> None:
        line = bytes(self._line)
        blank = not self._line_size
        self._line.clear()
        self._line_size = 0
        if self._dropping:
            self._dropping = not blank
            return
        if blank:
            self._dispatch(events)
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._seen_data = True
            value = value.removeprefix(b" ")
            self._data.append(value)
            self._size += len(value) + 1
        elif name == b"event":
            self._name = value.removeprefix(b" ")
        elif name not in _FIELDS and not self._seen_data:
            self._keep_unframed(line)

    def _keep_unframed(self, line: bytes) -> None:
        self._unframed_size += len(line) + 1
        if self._unframed_size > self._limit:
            self.overflow = True
        else:
            self._unframed.append(line)

    def _dispatch(self, events: list[SseEvent], *, cut: bool = False) -> None:
        data = b"\n".join(self._data)
        # A browser drops an event without data; an error that says no more than that is still an error.
        if data or self._name == b"error":
            events.append(SseEvent(self._name.decode("utf-8", "replace"), data, cut))
        self._name = b""
        self._data.clear()
        self._size = 0
