"""Event streams of the two OpenAI APIs whose events carry ``choices``: chat completions and completions.

How such a stream ends: ``[DONE]`` is terminal at once; without it, the end of the bytes is, where every choice that
began has a finish reason. An error event is never terminal, and nothing after ``[DONE]`` counts.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field

from vsr_hallucination.apis.base import Answer, ResponseView
from vsr_hallucination.apis.content import Unreadable, is_error, joined, own_index
from vsr_hallucination.apis.jsontext import JsonError, decode, join_surrogates, loads
from vsr_hallucination.apis.sse import SseEvent, SseParser

# Cut by a limit or a filter: "model_length" is Mistral's word, "max_tokens" that of several gateways.
INCOMPLETE = frozenset(("length", "max_tokens", "model_length", "content_filter"))

_MAX_CHOICES = 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """What one event says of one choice. ``whole``: the full message, where an upstream answers a stream with one."""

    text: str
    whole: bool = False


@dataclass(slots=True)
class _Choice:
    path: str
    numbered: bool  # has an index of its own
    text: io.StringIO = field(default_factory=io.StringIO)
    reason: str | None = None


class ChoiceAssembler:
    """Fulfils ``StreamAssembler``. ``read`` gives the text of one choice object or raises ``Unreadable``.

    ``limit`` bounds the assembled text of all choices (code points) and one event (bytes).
    """

    def __init__(self, limit: int, read: Callable[[dict[object, object]], Piece], field_name: str) -> None:
        self._limit = limit
        self._read = read
        self._field = field_name
        self._sse = SseParser(max(limit, 1))
        self._choices: dict[int, _Choice] = {}
        self._size = 0
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
    def finished_choices(self) -> bool:
        """Every choice that began has its finish reason: what remains, if anything, is usage and ``[DONE]``."""
        return bool(self._choices) and all(choice.reason is not None for choice in self._choices.values())

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
        answers: tuple[Answer, ...] = tuple(
            joined(index, [(choice.path, join_surrogates(choice.text.getvalue()))])
            for index, choice in sorted(self._choices.items())
        )
        incomplete = any(choice.reason in INCOMPLETE for choice in self._choices.values())
        return ResponseView(answers, error=self._failed, incomplete=incomplete)

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
            elif event.name in ("", "message"):  # an event by another name is none of this API
                self._unreadable = True
            return
        if not isinstance(body, dict):
            self._unreadable = True
        elif is_error(body):
            self._failed = True
        else:
            self._object(body)

    def _object(self, body: dict[object, object]) -> None:
        choices = body.get("choices")
        if choices is None:
            return
        if not isinstance(choices, list):
            self._unreadable = True
            return
        for position, choice in enumerate(choices):
            if not isinstance(choice, dict):
                self._unreadable = True
            elif choice.get("error") or choice.get("finish_reason") == "error":
                self._failed = True
            else:
                self._one(position, choice)

    def _one(self, position: int, body: dict[object, object]) -> None:
        number = own_index(body.get("index"))
        index = position if number is None else number
        try:
            piece = self._read(body)
        except Unreadable:
            self._unreadable = True
            return
        choice = self._choices.get(index)
        if choice is None:
            if len(self._choices) >= _MAX_CHOICES:
                self._too_large = True
                return
            path = f"$.choices[?@.index=={index}].{self._field}"
            choice = self._choices[index] = _Choice(path, number is not None)
        reason = body.get("finish_reason")
        ends = isinstance(reason, str) and bool(reason)
        numbered = choice.numbered or number is not None
        if choice.reason is not None and not numbered and (piece.text or ends):
            self._unreadable = True  # choices without an index, one after the other: they cannot be told apart
        self._add(choice, piece)
        if ends:
            choice.reason = str(reason)

    def _add(self, choice: _Choice, piece: Piece) -> None:
        text = piece.text
        if piece.whole and choice.text.tell():
            # The whole message after its own deltas says nothing new; a different one cannot be read together.
            before = choice.text.getvalue()
            if not text.startswith(before):
                self._unreadable = self._unreadable or bool(text)
                return
            text = text[len(before) :]
        if not text:
            return
        self._size += len(text)
        if self._size > self._limit:
            self._too_large = True
        else:
            choice.text.write(text)

    def _read_unframed(self, data: bytes) -> None:
        """A JSON body where an event stream was announced: an error is one, anything else is not read as an answer."""
        try:
            body = loads(decode(data))
        except JsonError:
            self._unreadable = True
            return
        if isinstance(body, dict) and is_error(body):
            self._failed = True
        else:
            self._unreadable = self._unframed = True
