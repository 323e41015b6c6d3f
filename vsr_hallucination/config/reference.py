"""The form of the declarative table of all keys: what a key takes, in which range, and where its default comes from.

``reference_routing``, ``reference_models`` and ``reference_filter`` hold the rows; ``json_schema`` and
``reference_page`` are generated from them. The tests watch the loader read and hold every row (kind, range, words) to
what it asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import Any

from vsr_hallucination.config.schema import Strategy

UNSET: Any = object()


class Kind(StrEnum):
    TEXT = "text"
    TEXTS = "list of texts"
    FLAG = "true or false"
    NUMBER = "number"
    INTEGER = "whole number"
    DURATION = "duration"  # seconds, or 8s, 500ms, 30d
    SIZE = "size"  # bytes, or 16MiB
    CHOICE = "choice"
    WORD = "choice in any case"
    BLOCK = "block"
    BLOCKS = "list of blocks"
    TEXT_OR_BLOCK = "text or block"
    MAP = "map of texts"
    ANY = "anything"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a block. ``block``: the name of the block below. ``field``: of the dataclass, if named otherwise."""

    name: str
    kind: Kind
    line: str
    low: float | None = None
    high: float | None = None
    words: tuple[str, ...] = ()
    block: str = ""
    unit: str = ""
    field: str = ""
    default: Any = UNSET
    required: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """The keys of one mapping. ``owned``: unknown keys are errors. ``made``: the dataclass its defaults come from.

    ``tolerated``: keys of Semantic Router's that are accepted there and not read.
    """

    name: str
    line: str
    keys: tuple[Key, ...]
    owned: bool = False
    made: type | None = None
    tolerated: frozenset[str] = frozenset()
    open: bool = False  # any further key is fine: not all of the router's are known here

    def default(self, key: Key) -> Any:
        """The key's default as the loader fills it in; UNSET where there is none (a block, a required key)."""
        if key.default is not UNSET or self.made is None:
            return key.default
        for each in fields(self.made):
            if each.name == (key.field or key.name):
                if each.default is not MISSING:
                    return each.default
                return each.default_factory() if each.default_factory is not MISSING else UNSET
        return UNSET


@dataclass(frozen=True, slots=True)
class Reference:
    """All blocks by name; ``root`` is the file."""

    blocks: Mapping[str, Block]
    root: str = "file"

    def walk(self) -> Iterator[tuple[str, Block]]:
        """(path, block) of every block, depth first in the order of the table, each block once."""
        seen: set[str] = set()

        def below(path: str, name: str) -> Iterator[tuple[str, Block]]:
            if name in seen:
                return
            seen.add(name)
            block = self.blocks[name]
            yield path, block
            for key in block.keys:
                if key.block:
                    mark = "[]" if key.kind is Kind.BLOCKS else ""
                    yield from below(f"{path}.{key.name}{mark}" if path else f"{key.name}{mark}", key.block)

        yield from below("", self.root)

    def at(self, path: tuple[str, ...]) -> Block | None:
        """The block at a path of keys (list positions left out); None where the table has none there."""
        block = self.blocks[self.root]
        for step in path:
            key = next((key for key in block.keys if key.name == step), None)
            if key is None or not key.block:
                return None
            block = self.blocks[key.block]
        return block


def reference() -> Reference:
    """The whole table."""
    from vsr_hallucination.config.reference_filter import FILTER_BLOCKS
    from vsr_hallucination.config.reference_models import MODEL_BLOCKS
    from vsr_hallucination.config.reference_routing import ROUTING_BLOCKS

    return Reference({block.name: block for block in (*ROUTING_BLOCKS, *MODEL_BLOCKS, *FILTER_BLOCKS)})


def router(name: str, line: str, known: frozenset[str], keys: tuple[Key, ...], made: type | None = None) -> Block:
    """A block of the router's: what is known of it and not read is tolerated, what is unknown is warned about."""
    return Block(name, line, keys, made=made, tolerated=known - {key.name for key in keys})


def flag(name: str, line: str, **more: Any) -> Key:
    return Key(name, Kind.FLAG, line, **more)


def text(name: str, line: str, **more: Any) -> Key:
    return Key(name, Kind.TEXT, line, **more)


def texts(name: str, line: str, **more: Any) -> Key:
    return Key(name, Kind.TEXTS, line, **more)


def number(name: str, line: str, low: float, high: float, **more: Any) -> Key:
    return Key(name, Kind.NUMBER, line, low, high, **more)


def probability(name: str, line: str, **more: Any) -> Key:
    return number(name, line, 0, 1, unit="probability", **more)


def integer(name: str, line: str, low: int, high: int, **more: Any) -> Key:
    return Key(name, Kind.INTEGER, line, low, high, **more)


def duration(name: str, line: str, low: float, high: float, **more: Any) -> Key:
    return Key(name, Kind.DURATION, line, low, high, unit="seconds, or 500ms, 8s, 2m, 1h, 30d", **more)


def size(name: str, line: str, low: int, high: int, **more: Any) -> Key:
    return Key(name, Kind.SIZE, line, low, high, unit="bytes, or 64KiB, 16MiB", **more)


def choice(name: str, line: str, words: tuple[str, ...], **more: Any) -> Key:
    return Key(name, Kind.CHOICE, line, words=words, **more)


def block(name: str, line: str, below: str, **more: Any) -> Key:
    return Key(name, Kind.BLOCK, line, block=below, **more)


def blocks(name: str, line: str, below: str, **more: Any) -> Key:
    return Key(name, Kind.BLOCKS, line, block=below, **more)


def strategy(line: str) -> Key:
    return choice("strategy", line, tuple(each.value for each in Strategy), default="priority")


# Of both replay blocks, the router's and ours.
RECORDED = flag("enabled", "Whether exchanges are recorded.")
MAX_RECORDS = integer("max_records", "The oldest beyond this many are removed.", 1, 1_000_000_000, unit="records")
