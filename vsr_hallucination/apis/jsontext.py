"""JSON as it comes: read leniently, edited without touching any byte but the one place meant.

Bodies come from clients and model servers of every kind. Reading accepts a BOM, ``NaN`` and ``Infinity``, control
characters in strings and bytes that are no UTF-8; it refuses what is no JSON (RFC 8259) and what nests too deep. Of
duplicate keys the last wins. A lone surrogate is one code point, as is each byte that is no UTF-8 (PEP 383).

Editing never re-serialises: the text is decoded with ``surrogateescape``, which gives back every byte, the tokens
named by a path are found by stepping over the others with the C scanner, and the new text is put in as ASCII escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from json import JSONDecodeError, JSONDecoder

Path = tuple[str | int, ...]

_BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\n\r]*+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+\Z")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class JsonError(ValueError):
    """The text is no JSON, nests too deep, or has no such place. The message holds none of the text."""


def _whole(digits: str) -> int | Decimal:
    """An integer of any length: ``int`` refuses more than 4300 digits, since its parsing is quadratic."""
    return int(digits) if len(digits) < 4000 else Decimal(digits)


_READ = JSONDecoder(strict=False)
_READ_LONG = JSONDecoder(strict=False, parse_int=_whole)
# For stepping over values: numbers stay text, which costs less and cannot fail.
_STEP = JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


def decode(data: bytes) -> str:
    """Bytes to text such that ``encode`` gives back the same bytes; a BOM stays."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def loads(data: bytes | str) -> object:
    """Read one JSON text; raises ``JsonError`` and nothing else. The caller bounds the size."""
    text = decode(data) if isinstance(data, bytes) else data
    text = text.removeprefix(_BOM)
    try:
        return _READ.decode(text)
    except JSONDecodeError:
        raise JsonError("no JSON") from None
    except RecursionError:
        raise JsonError("nested too deep") from None
    except ValueError:  # an integer longer than int() reads
        pass
    try:
        return _READ_LONG.decode(text)
    except (ValueError, RecursionError):
        raise JsonError("no JSON") from None


def quote(text: str) -> str:
    """``text`` as the inside of a JSON string, ASCII only: right in any encoding a body may claim."""
    return json.dumps(text)[1:-1]


def join_surrogates(text: str) -> str:
    """Surrogate halves that came in two pieces (one event each) become the one code point that a client shows."""
    return _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def path_text(path: Path) -> str:
    """A path as JSONPath (RFC 9535): ``$.messages[2].content``."""
    steps = (
        f"[{step}]" if isinstance(step, int) else f".{step}" if _NAME.match(step) else f"[{json.dumps(step)}]"
        for step in path
    )
    return "$" + "".join(steps)


@dataclass(frozen=True, slots=True)
class Prefix:
    """Put ``text`` in front of the string at ``path``."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Put the JSON token ``token`` in place of the value at ``path``."""

    path: Path
    token: str


@dataclass(frozen=True, slots=True)
class Before:
    """Put the JSON value ``token`` into an array, in front of its element at ``path``."""

    path: Path
    token: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Put what ``change`` makes of the JSON token at ``path`` in its place; where nothing stands, nothing happens."""

    path: Path
    change: Callable[[str], str]


Edit = Prefix | Replace | Before | Rewrite


def edit(body: bytes, edits: Sequence[Edit]) -> bytes:
    """Carry out ``edits``, leaving every other byte as it is.

    Raises ``JsonError`` where the body is no JSON, or a path leads nowhere or to a value of the wrong type.
    Paths must be distinct; a path inside a replaced value is an error of the caller.
    """
    text = decode(body)
    found = locate(text, [one.path for one in edits])
    pieces: list[tuple[int, int, str]] = []
    for one in edits:
        span = found.get(one.path)
        if span is None:
            if isinstance(one, Rewrite):
                continue
            raise JsonError("no value at the path")
        start, end = span
        if isinstance(one, Replace | Rewrite):
            token = one.token if isinstance(one, Replace) else one.change(text[start:end])
            pieces.append((start, end, token))
            continue
        if isinstance(one, Before):
            if not one.path or not isinstance(one.path[-1], int):
                raise JsonError("the path is none of an array's element")
            pieces.append((start, start, one.token + ","))
            continue
        if text[start] != '"':
            raise JsonError("the value at the path is no string")
        pieces.append((start + 1, start + 1, quote(one.text)))
    out: list[str] = []
    last = 0
    for start, end, new in sorted(pieces):
        out += (text[last:start], new)
        last = end
    out.append(text[last:])
    return encode("".join(out))


def locate(text: str, paths: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """Where the values at ``paths`` stand in ``text``, as code-point ranges of their tokens; absent ones are left out.

    One pass, O(len(text)). Raises ``JsonError`` where ``text`` is no JSON.
    """
    root = _Wanted()
    for path in paths:
        node = root
        for step in path:
            node = node.children.setdefault(step, _Wanted())
        node.path = path
    found: dict[Path, tuple[int, int]] = {}
    start = _space(text, 1 if text.startswith(_BOM) else 0)
    try:
        end = _walk(text, start, root, found)
    except (ValueError, IndexError, RecursionError):
        raise JsonError("no JSON") from None
    if _space(text, end) != len(text):
        raise JsonError("no JSON")
    return found


@dataclass(slots=True)
class _Wanted:
    """A tree of the paths asked for."""

    path: Path | None = None
    children: dict[str | int, _Wanted] = field(default_factory=dict)

    def forget(self, found: dict[Path, tuple[int, int]]) -> None:
        if self.path is not None:
            found.pop(self.path, None)
        for child in self.children.values():
            child.forget(found)


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _walk(text: str, at: int, wanted: _Wanted, found: dict[Path, tuple[int, int]]) -> int:
    """Read the value at ``at``, note the wanted tokens inside it, return its end."""
    opening = text[at]
    if not wanted.children or opening not in "{[":
        end = _STEP.raw_decode(text, at)[1]
    elif opening == "{":
        end = _walk_object(text, at, wanted, found)
    else:
        end = _walk_array(text, at, wanted, found)
    if wanted.path is not None:
        found[wanted.path] = (at, end)
    return end


def _walk_object(text: str, at: int, wanted: _Wanted, found: dict[Path, tuple[int, int]]) -> int:
    at = _space(text, at + 1)
    if text[at] == "}":
        return at + 1
    while True:
        if text[at] != '"':
            raise JsonError("no JSON")
        key, at = _STEP.raw_decode(text, at)
        at = _space(text, at)
        if text[at] != ":":
            raise JsonError("no JSON")
        at = _space(text, at + 1)
        child = wanted.children.get(key)
        if child is None:
            at = _STEP.raw_decode(text, at)[1]
        else:
            child.forget(found)  # of duplicate keys the last wins
            at = _walk(text, at, child, found)
        at = _space(text, at)
        if text[at] == "}":
            return at + 1
        if text[at] != ",":
            raise JsonError("no JSON")
        at = _space(text, at + 1)


def _walk_array(text: str, at: int, wanted: _Wanted, found: dict[Path, tuple[int, int]]) -> int:
    at = _space(text, at + 1)
    if text[at] == "]":
        return at + 1
    index = 0
    while True:
        child = wanted.children.get(index)
        at = _STEP.raw_decode(text, at)[1] if child is None else _walk(text, at, child, found)
        index += 1
        at = _space(text, at)
        if text[at] == "]":
            return at + 1
        if text[at] != ",":
            raise JsonError("no JSON")
        at = _space(text, at + 1)
