"""Event streams of the two OpenAI APIs whose events carry ``choices``: chat completions and completions.

Without ``[DONE]`` such a stream is whole where, at the end of the bytes, every choice that began has a finish reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vsr_hallucination.apis.base import Answer
from vsr_hallucination.apis.content import INCOMPLETE, Unreadable, joined, own_index
from vsr_hallucination.apis.event_stream import EventAssembler, Json, TextBuffer

_MAX_CHOICES = 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """What one event says of one choice. ``whole``: the full message, where an upstream answers a stream with one."""

    text: str
    whole: bool = False
    refused: bool = False


@dataclass(slots=True)
class _Choice:
    path: str
    numbered: bool  # has an index of its own
    text: TextBuffer = field(default_factory=TextBuffer)
    reason: str | None = None
    refused: bool = False


class ChoiceAssembler(EventAssembler):
    """``read`` gives the text of one choice object, or raises ``Unreadable``; ``field_name`` is where it stands."""

    def __init__(self, limit: int, read: Callable[[Json], Piece], field_name: str) -> None:
        super().__init__(limit)
        self._piece = read
        self._field = field_name
        self._choices: dict[int, _Choice] = {}

    @property
    def finished_choices(self) -> bool:
        return bool(self._choices) and all(choice.reason is not None for choice in self._choices.values())

    @property
    def unreadable(self) -> bool:
        return super().unreadable or any(one.refused and len(one.text) for one in self._choices.values())

    def _carries(self, name: str, body: Json) -> bool:
        choices = body.get("choices")
        return isinstance(choices, list) and any(isinstance(one, dict) and self._speaks(one) for one in choices)

    def _speaks(self, choice: Json) -> bool:
        try:
            return bool(self._piece(choice).text)
        except Unreadable:
            return True

    def _answers(self) -> tuple[Answer, ...]:
        return tuple(
            joined(index, [(choice.path, choice.text.text())]) for index, choice in sorted(self._choices.items())
        )

    def _incomplete(self) -> bool:
        return any(choice.reason in INCOMPLETE or choice.reason == "error" for choice in self._choices.values())

    def _read(self, name: str, body: Json) -> None:
        choices = body.get("choices")
        if choices is None:
            return
        if not isinstance(choices, list):
            self._unreadable = True
            return
        for position, choice in enumerate(choices):
            if not isinstance(choice, dict):
                self._unreadable = True
            elif (choice.get("error") or choice.get("finish_reason") == "error") and not self._speaks(choice):
                self._failed = True
            else:
                self._one(position, choice)

    def _one(self, position: int, body: Json) -> None:
        number = own_index(body.get("index"))
        index = position if number is None else number
        try:
            piece = self._piece(body)
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
        choice.refused = choice.refused or piece.refused
        reason = body.get("finish_reason")
        ends = isinstance(reason, str) and bool(reason)
        numbered = choice.numbered or number is not None
        if choice.reason is not None and not numbered and (piece.text or ends):
            self._unreadable = True  # choices without an index, one after the other: they cannot be told apart
        if piece.whole and len(choice.text):
            if piece.text:
                self._merge(choice.text, piece.text)
        else:
            self._write(choice.text, piece.text)
        if ends:
            choice.reason = str(reason)
