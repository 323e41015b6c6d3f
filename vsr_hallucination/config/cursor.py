"""Typed reading of a node tree. A fault is noted at its place and the default taken, so reading goes on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeVar

from vsr_hallucination.config import hints, scalars, values, yamltext
from vsr_hallucination.config.problems import Problem, Severity, listed, nearest
from vsr_hallucination.config.values import Read
from vsr_hallucination.config.yamltext import Mark, Node, Scalar

D = TypeVar("D")
E = TypeVar("E")
T = TypeVar("T")

_MOST_GUESSES = 200  # unknown keys: guessing costs time, and whoever has more has another file in mind


class Book:
    """One load: the file's name, the environment it expands from, and the problems found so far.

    ``if_sound``: what is told only of a file without errors, since an error may be why it seems so.
    """

    def __init__(self, source: str, environment: Mapping[str, str]) -> None:
        self.source = source
        self.environment = environment
        self.problems: list[Problem] = []
        self.unknown = 0  # keys
        self.if_sound: list[Callable[[], None]] = []

    @property
    def sound(self) -> bool:
        """No error so far."""
        return all(problem.severity is not Severity.ERROR for problem in self.problems)

    def note(self, severity: Severity, mark: Mark, path: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(severity, self.source, mark.line, mark.column, path, message, remedy))


class Cursor:
    """A node, the path that led to it, and the book to note faults in."""

    __slots__ = ("book", "mark", "node", "path")

    def __init__(self, node: Node, path: str, book: Book, mark: Mark | None = None) -> None:
        self.node, self.path, self.book = node, path, book
        self.mark = mark or node.mark  # the place told to people: the key's, where there is one

    def error(self, message: str, remedy: str) -> None:
        self.book.note(Severity.ERROR, self.mark, self.path, message, remedy)

    def warn(self, message: str, remedy: str) -> None:
        self.book.note(Severity.WARNING, self.mark, self.path, message, remedy)

    @property
    def is_null(self) -> bool:
        node = self.node
        return isinstance(node, Scalar) and scalars.is_null(node)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yamltext.Mapping)

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yamltext.Sequence)

    def fields(self, known: Collection[str] | None, *, owned: bool = False) -> Fields:
        """The mapping's entries. Unknown keys: errors where the block is ours (``owned``), else warnings;
        ``known`` None tolerates all. What is no mapping is an error and reads as empty."""
        node, entries = self.node, dict[str, Cursor]()
        if not isinstance(node, yamltext.Mapping):
            if not self.is_null:
                self.error(f"is {describe(node)}, not a mapping", "write `key: value` lines below it")
            return Fields(self, entries)
        for key, (mark, child) in node.entries.items():
            path = f"{self.path}.{key[:60]}" if self.path else key[:60]
            cursor = Cursor(child, path, self.book, mark)
            if known is not None and key not in known:
                self._unknown(cursor, key, known, owned)
            elif not cursor.is_null:
                entries[key] = cursor
        return Fields(self, entries)

    def items(self) -> list[Cursor]:
        """The list's items. What is no list is an error and reads as empty."""
        if isinstance(self.node, yamltext.Sequence):
            return [Cursor(child, f"{self.path}[{index}]", self.book) for index, child in enumerate(self.node.items)]
        if not self.is_null:
            self.error(f"is {describe(self.node)}, not a list", "write `- ` items below it")
        return []

    def scalar(self, wanted: str) -> Read | None:
        """The scalar here, variables expanded; None, and an error noted, where that is not possible."""
        node = self.node
        if not isinstance(node, Scalar):
            self.error(f"is {describe(node)}, not {wanted}", f"write {wanted}")
            return None
        expansion = scalars.expand(node.text, self.book.environment)
        if expansion.fault is not None:
            self.error(*expansion.fault)
            return None
        value = scalars.resolve(node, expansion.text, expansion.touched)
        return Read(value, expansion.text, node.text[:60])

    def text(self) -> str | None:
        """The scalar's text as it stands, whatever YAML takes it for: ``on`` and ``911`` are words here."""
        read = self.scalar("text")
        if read is None:
            return None
        if not read.text.strip():
            self.error("is empty", "write a value, or remove the key")
            return None
        return read.text

    def _unknown(self, cursor: Cursor, key: str, known: Collection[str], owned: bool) -> None:
        self.book.unknown += 1
        if self.book.unknown <= _MOST_GUESSES:
            remedy = hints.remedy(key, cursor.path, known, owned=owned)
        else:
            remedy = "see the first ones"
        (cursor.error if owned else cursor.warn)(f"unknown key `{key[:60]}`", remedy)


class Fields:
    """A mapping's known, non-null entries, and typed readers over them."""

    __slots__ = ("at", "entries")

    def __init__(self, at: Cursor, entries: dict[str, Cursor]) -> None:
        self.at, self.entries = at, entries

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def get(self, key: str) -> Cursor | None:
        return self.entries.get(key)

    def place(self, key: str) -> Cursor:
        """The entry's cursor, or, where it is missing, the place it should stand in."""
        found = self.entries.get(key)
        if found is not None:
            return found
        path = f"{self.at.path}.{key}" if self.at.path else key
        return Cursor(self.at.node, path, self.at.book, self.at.mark)

    def sub(self, key: str, known: Collection[str] | None, *, owned: bool = False) -> Fields:
        """The entry's mapping; empty where the entry is missing."""
        found = self.entries.get(key)
        return Fields(self.place(key), {}) if found is None else found.fields(known, owned=owned)

    def warn_of_slips(self, *read: str) -> None:
        """For a block of which only these keys are read: others are fine, unless they are one of them misspelt."""
        for key, place in self.entries.items():
            if key not in read and (meant := nearest(key, read)) is not None:
                place.warn(f"unknown key `{key[:60]}`", f"did you mean `{meant}`?")

    def each(self, key: str) -> Iterator[Cursor]:
        found = self.entries.get(key)
        return iter(()) if found is None else iter(found.items())

    def text(self, key: str, default: D) -> str | D:
        found = self.entries.get(key)
        text = found.text() if found is not None else None
        return default if text is None else text

    def secret(self, key: str) -> str | None:
        """Text that may be left out: empty (``${VAR:-}``) counts as missing. Never echoed."""
        found = self.entries.get(key)
        read = found.scalar("text") if found is not None else None
        return (read.text.strip() or None) if read is not None else None

    def prose(self, key: str) -> str:
        """Text for people: may be empty, and is not expanded."""
        found = self.entries.get(key)
        return found.node.text if found is not None and isinstance(found.node, Scalar) else ""

    def placed_texts(self, key: str) -> list[tuple[str, Cursor]]:
        """A list of texts, each with its place; one text alone counts as a list of one."""
        found = self.entries.get(key)
        if found is None:
            return []
        cursors = [found] if isinstance(found.node, Scalar) else found.items()
        texts = [(cursor.text(), cursor) for cursor in cursors]
        return [(text, cursor) for text, cursor in texts if text is not None]

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        return tuple(text for text, _ in self.placed_texts(key)) if key in self.entries else default

    def flag(self, key: str, default: D) -> bool | D:
        return self._read(key, default, "true or false", values.flag)

    def number(self, key: str, default: D, low: float, high: float) -> float | D:
        return self._read(
            key, default, f"a number from {low:g} to {high:g}", lambda at, r: values.number(at, r, low, high)
        )

    def integer(self, key: str, default: D, low: int, high: int) -> int | D:
        wanted = f"a whole number from {low} to {high}"
        return self._read(key, default, wanted, lambda at, r: values.integer(at, r, low, high))

    def duration(self, key: str, default: D, low: float, high: float) -> float | D:
        wanted = f"a duration from {values.seconds(low)} to {values.seconds(high)}, such as 8s, 500ms or 30d"

        def take(at: Cursor, read: Read) -> float | None:
            return values.measured(at, read, scalars.duration, low, high, wanted, "seconds")

        return self._read(key, default, wanted, take)

    def size(self, key: str, default: D, low: int, high: int) -> int | D:
        wanted = f"a size from {values.bytes(low)} to {values.bytes(high)}, such as 16MiB"

        def take(at: Cursor, read: Read) -> int | None:
            return values.measured(at, read, scalars.size, low, high, wanted, "bytes")

        return self._read(key, default, wanted, take)

    def choice(self, key: str, default: D, allowed: Mapping[str, E], *, any_case: bool = False) -> E | D:
        """One of ``allowed``'s words; ``any_case``: these are upper-case, and any case is taken."""

        def take(at: Cursor, read: Read) -> E | None:
            return values.choice(at, read, allowed, any_case=any_case)

        return self._read(key, default, listed(list(allowed)), take)

    def _read(self, key: str, default: D, wanted: str, take: Callable[[Cursor, Read], T | None]) -> T | D:
        found = self.entries.get(key)
        read = found.scalar(wanted) if found is not None else None
        if found is None or read is None:
            return default
        value = take(found, read)
        return default if value is None else value


def describe(node: Node) -> str:
    """What a node is, for messages."""
    if isinstance(node, Scalar):
        return f"`{node.text[:40]}`" if node.text else "empty"
    return "a list" if isinstance(node, yamltext.Sequence) else "a mapping"
