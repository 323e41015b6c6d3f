"""JSON evidence as a model reads it well: ``key: value`` lines, with a map back to the string they come from.

A tool result is most often JSON in a string, and often JSON in a string inside that (MCP results wrapped once or
twice). Detectors are trained on prose and tables; to them ``\\"code\\": \\"77-KD-9\\"`` is noise. So:

- an object is one line per member, ``rows.name: Ana`` (keys joined by dots); a small object inside a list is one line,
  ``rows: name: Ana; crates: 4``, which keeps together what belongs together when the text is cut into windows;
- list items carry no index: an index is a number that the evidence does not hold, and would support one;
- numbers keep their spelling, escapes are resolved, wrappers of content parts are taken off;
- every run of the text maps to the code points of the original string it stands for. Dots, colons and separators are
  ours and map to nothing. An escape sequence maps to its first character.

Text that only looks like JSON is not touched. Work and output are O(input).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from vsr_hallucination.apis import jsonnodes as nodes
from vsr_hallucination.apis.jsonshapes import (
    PART_TYPES,
    are_parts,
    is_error_result,
    is_part,
    is_record,
    is_short,
    plain,
)
from vsr_hallucination.apis.originmap import Level
from vsr_hallucination.detection.types import OffsetRun

MAX_NESTING = 4  # strings of JSON inside strings of JSON
_MAX_NODES = 100_000  # about half a second; what has more stays as it is, and is evidence all the same
_KEY_CHARS = 64  # of each key in a path
_PATH_KEYS = 6
_MAPPED_ITEMS = 1024  # longer lists of numbers or words map to where they begin
_SEPARATORS = re.compile(r"[ \t\n\r]*+,[ \t\n\r]*+")


@dataclass(frozen=True, slots=True)
class Flattened:
    """``text`` empty: the JSON holds no evidence. ``unread``: kinds of what it holds beside text (errors, images)."""

    text: str
    origin: tuple[OffsetRun, ...]
    unread: tuple[str, ...] = ()


def looks_like_json(text: str) -> bool:
    """Whether the text begins as a JSON object, array or string does."""
    return text[:64].lstrip(" \t\n\r\ufeff")[:1] in ("{", "[", '"')


def flatten(source: str) -> Flattened | None:
    """The readable form of a JSON object, array or encoded string; None where ``source`` is anything else."""
    if not looks_like_json(source) or sum(map(source.count, "[{,")) > _MAX_NODES:
        return None
    level = Level(source)
    node = nodes.parse(source)
    if isinstance(node, nodes.Text):  # the whole result was encoded once more
        if not node.escaped and node.value.lstrip()[:1] not in ("{", "["):
            return None
        inner = _nested(level, node)
        level, node = inner if inner is not None else (level, node)
    if node is None:
        return None
    writer = _Writer(3 * len(source) + 4096)
    try:
        writer.root(level, node, MAX_NESTING)
    except (_TooLong, RecursionError):
        return None
    if not writer.informative:
        return Flattened("", (), tuple(writer.unread))
    text, origin = writer.result()
    return Flattened(text, origin, tuple(writer.unread))


class _TooLong(Exception):
    """Repeated keys made the readable form much longer than its source."""


def _nested(level: Level, text: nodes.Text) -> tuple[Level, nodes.Node] | None:
    """The JSON container inside a string, if it is one."""
    if text.value.lstrip(" \t\n\r\ufeff")[:1] not in ("{", "["):
        return None
    node = nodes.parse(text.value)
    if node is None or isinstance(node, nodes.Text | nodes.Bare):
        return None
    return level.inside(text), node


@dataclass(slots=True)
class _Writer:
    budget: int
    informative: bool = False
    unread: list[str] = field(default_factory=list)
    _out: list[str] = field(default_factory=list)
    _size: int = 0
    _runs: list[tuple[int, int, int]] = field(default_factory=list)

    def result(self) -> tuple[str, tuple[OffsetRun, ...]]:
        text = "".join(self._out)
        mapped = self._runs[-1][0] + self._runs[-1][2] if self._runs else 0
        text = text[: max(mapped, len(text.rstrip("\n")))]  # our own last line ends, none of the source's
        return text, tuple(OffsetRun(*run) for run in self._runs)

    # Pieces: ``own`` is ours and maps to nothing, the others come from the source.

    def own(self, text: str) -> None:
        self._out.append(text)
        self._size += len(text)
        if self._size > self.budget:
            raise _TooLong

    def copy(self, level: Level, start: int, end: int) -> None:
        if level.starts is None:
            self._run(self._size, start, end - start)
        else:
            size = self._size
            for origin, length in level.runs(start, end):
                self._run(size, origin, length)
                size += length
        self.own(level.text[start:end])

    def _run(self, start: int, origin: int, length: int) -> None:
        if not length:
            return
        if self._runs:
            before, at, size = self._runs[-1]
            if before + size == start and at + size == origin:
                self._runs[-1] = (before, at, size + length)
                return
        self._runs.append((start, origin, length))

    def scalar(self, level: Level, node: nodes.Text | nodes.Bare) -> None:
        if isinstance(node, nodes.Bare):
            self.informative = self.informative or level.text[node.start : node.end] != "null"
            self.copy(level, node.start, node.end)
            return
        self.informative = self.informative or bool(node.value.strip())
        if node.escaped:
            inner = level.inside(node)
            self.copy(inner, 0, len(inner.text))
        else:
            self.copy(level, node.start, node.end)

    def head(self, path: tuple[str, ...], level: Level, key: nodes.Text | None) -> None:
        """``a.b.key: ``; only the last key maps to the source."""
        shown = path[-_PATH_KEYS:]
        if shown and key is not None:
            self.own("".join(step + "." for step in shown[:-1]))
            if key.escaped or len(key.value) > _KEY_CHARS:
                self.own(shown[-1])
            else:
                self.copy(level, key.start, key.end)
            self.own(": ")
        elif shown:
            self.own(".".join(shown) + ": ")

    # Structure

    def root(self, level: Level, node: nodes.Node, nesting: int) -> None:
        """A whole result: an error, content parts, or data."""
        if isinstance(node, nodes.Object):
            if is_error_result(level, node):
                self.unread.append("error")
                return
            if is_part(node):
                self.part(level, node, nesting)
                return
            content = node.members.get("content")
            if content is not None and are_parts(content[1]):
                for key, (name, value) in node.members.items():
                    if key == "content":
                        self.parts(level, value, nesting)
                    elif key not in ("isError", "_meta"):
                        self.member((_clip(key),), level, name, value, nesting)
                return
        elif are_parts(node):
            self.parts(level, node, nesting)
            return
        self.value((), level, None, node, nesting)

    def parts(self, level: Level, node: nodes.Node, nesting: int) -> None:
        if isinstance(node, nodes.Array):
            for item in node.items:
                if isinstance(item, nodes.Object):
                    self.part(level, item, nesting)

    def part(self, level: Level, part: nodes.Object, nesting: int) -> None:
        """One content part: its text as a result of its own, anything else noted as unread."""
        kind = part.text("type")
        holder = part
        resource = part.members.get("resource")
        if resource is not None and isinstance(resource[1], nodes.Object):
            holder = resource[1]
        text = holder.members.get("text")
        if text is None or not isinstance(text[1], nodes.Text):
            self.unread.append(kind if kind in PART_TYPES else "unknown")
            return
        inner = _nested(level, text[1]) if nesting else None
        if inner is not None:
            self.root(inner[0], inner[1], nesting - 1)
        elif text[1].value.strip():
            self.scalar(level, text[1])
            self.own("\n")

    def member(
        self, path: tuple[str, ...], level: Level, key: nodes.Text | None, node: nodes.Node, nesting: int
    ) -> None:
        if isinstance(node, nodes.Text):
            inner = _nested(level, node) if nesting else None
            if inner is not None:
                self.value(path, inner[0], None, inner[1], nesting - 1)
                return
        self.value(path, level, key, node, nesting)

    def value(
        self, path: tuple[str, ...], level: Level, key: nodes.Text | None, node: nodes.Node, nesting: int
    ) -> None:
        if isinstance(node, nodes.Text | nodes.Bare):
            self.head(path, level, key)
            self.scalar(level, node)
            self.own("\n")
        elif isinstance(node, nodes.Object):
            if not node.members and path:
                self.head(path, level, key)
                self.own("{}\n")
            for name, (at, value) in node.members.items():
                self.member((*path, _clip(name)), level, at, value, nesting)
        elif isinstance(node, nodes.Numbers):
            self.informative = True
            self.head(path, level, key)
            self.numbers(level, node)
            self.own("\n")
        else:
            self.array(path, level, key, node, nesting)

    def array(
        self, path: tuple[str, ...], level: Level, key: nodes.Text | None, node: nodes.Array, nesting: int
    ) -> None:
        if not node.items and path:
            self.head(path, level, key)
            self.own("[]\n")
        elif all(is_short(item) for item in node.items):
            self.head(path, level, key)
            for at, item in enumerate(node.items):
                if at:
                    self.own(", ")
                if at < _MAPPED_ITEMS:
                    self.scalar(level, item)  # type: ignore[arg-type]  # is_short: Text or Bare
                else:
                    self.own(plain(level, item))
            self.own("\n")
        else:
            for item in node.items:
                if isinstance(item, nodes.Object) and is_record(item):
                    self.head(path, level, key)
                    self.record(level, item)
                    continue
                self.member(path, level, key, item, nesting)
                if isinstance(item, nodes.Object):
                    self.own("\n")  # a blank line between items of several lines

    def record(self, level: Level, item: nodes.Object) -> None:
        for at, (name, (key, value)) in enumerate(item.members.items()):
            if at:
                self.own("; ")
            self.head((_clip(name),), level, key)
            self.scalar(level, value)  # type: ignore[arg-type]  # is_record: Text or Bare
        self.own("\n")

    def numbers(self, level: Level, node: nodes.Numbers) -> None:
        """``1, 2, 3``: the space keeps ``[9,500]`` from reading as one number."""
        start = node.start
        for at, match in enumerate(_SEPARATORS.finditer(level.text, node.start, node.end)):
            if at == _MAPPED_ITEMS:
                self.own(_SEPARATORS.sub(", ", level.text[start : node.end]))
                return
            self.copy(level, start, match.start())
            self.own(", ")
            start = match.end()
        self.copy(level, start, node.end)


def _clip(key: str) -> str:
    return key if len(key) <= _KEY_CHARS else key[: _KEY_CHARS - 1] + "…"
