"""JSON read as a tree that knows where each value stands: the input of ``flatten``.

Strings and other scalars are read by the C scanner; only the structure is walked here. Depth is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecoder

MAX_DEPTH = 64

# Numbers stay text: what counts is where they stand, and their spelling.
_DECODER = JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
_BLANKS = " \t\n\r"
_SPACE = re.compile(r"[ \t\n\r]*+")
_NUMBER = r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+"
_NUMBERS = re.compile(rf"\[[ \t\n\r]*+({_NUMBER}(?:[ \t\n\r]*+,[ \t\n\r]*+{_NUMBER})++)[ \t\n\r]*+\]")


@dataclass(slots=True)
class Text:
    """A string: ``start`` and ``end`` are those of its inside. ``escaped``: the source spells it with escapes."""

    start: int
    end: int
    value: str

    @property
    def escaped(self) -> bool:
        return len(self.value) != self.end - self.start


@dataclass(slots=True)
class Bare:
    """A number, true, false, null, NaN or Infinity, as spelled."""

    start: int
    end: int


@dataclass(slots=True)
class Numbers:
    """An array of two or more numbers, kept as one stretch: from the first number to the last."""

    start: int
    end: int


@dataclass(slots=True)
class Array:
    start: int
    end: int
    items: list[Node]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(slots=True)
class Object:
    """Members by decoded key; of duplicate keys the last wins."""

    start: int
    end: int
    members: dict[str, tuple[Text, Node]]

    def __len__(self) -> int:
        return len(self.members)

    def text(self, key: str) -> str | None:
        """The string at ``key``, None where there is none."""
        member = self.members.get(key)
        return member[1].value if member is not None and isinstance(member[1], Text) else None


Node = Text | Bare | Numbers | Array | Object


class _Refused(Exception):
    """No JSON, or too deep."""


def parse(text: str) -> Node | None:
    """The tree of one JSON text (a BOM and spaces around it allowed); None where it is no JSON or nests too deep."""
    start = _space(text, 1 if text.startswith("\ufeff") else 0)
    try:
        node, end = _value(text, start, MAX_DEPTH)
    except (_Refused, ValueError, IndexError, RecursionError):
        return None
    return node if _space(text, end) == len(text) else None


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _string(text: str, at: int) -> Text:
    value, end = _DECODER.raw_decode(text, at)
    return Text(at + 1, end - 1, value)


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
    opening = text[at]
    if opening == '"':
        node = _string(text, at)
        return node, node.end + 1
    if opening not in "{[":
        end = _DECODER.raw_decode(text, at)[1]
        return Bare(at, end), end
    if not depth:
        raise _Refused
    if opening == "{":
        return _object(text, at, depth - 1)
    numbers = _NUMBERS.match(text, at)
    if numbers is not None:
        return Numbers(numbers.start(1), numbers.end(1)), numbers.end()
    return _array(text, at, depth - 1)


def _object(text: str, start: int, depth: int) -> tuple[Object, int]:
    members: dict[str, tuple[Text, Node]] = {}
    at = _space(text, start + 1)
    if text[at] == "}":
        return Object(start, at + 1, members), at + 1
    while True:
        if text[at] != '"':
            raise _Refused
        key = _string(text, at)
        at = key.end + 1
        if text[at] in _BLANKS:
            at = _space(text, at)
        if text[at] != ":":
            raise _Refused
        at += 1
        if text[at] in _BLANKS:
            at = _space(text, at)
        value, at = _value(text, at, depth)
        members[key.value] = (key, value)
        if text[at] in _BLANKS:
            at = _space(text, at)
        if text[at] == "}":
            return Object(start, at + 1, members), at + 1
        if text[at] != ",":
            raise _Refused
        at += 1
        if text[at] in _BLANKS:
            at = _space(text, at)


def _array(text: str, start: int, depth: int) -> tuple[Array, int]:
    items: list[Node] = []
    at = _space(text, start + 1)
    if text[at] == "]":
        return Array(start, at + 1, items), at + 1
    while True:
        value, at = _value(text, at, depth)
        items.append(value)
        if text[at] in _BLANKS:
            at = _space(text, at)
        if text[at] == "]":
            return Array(start, at + 1, items), at + 1
        if text[at] != ",":
            raise _Refused
        at += 1
        if text[at] in _BLANKS:
            at = _space(text, at)
