"""Questions from a CSV file: columns id, question, gold, unknown_ok, and category if there is one."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

from vsr_hallucination.evaluation.scoring import Item

COLUMNS = ("id", "question", "gold", "unknown_ok")
_TRUE = frozenset(("1", "true", "yes", "y", "t", "1.0"))
_FALSE = frozenset(("", "0", "false", "no", "n", "f", "0.0"))
_LARGEST = 512 << 20
_CELL = 1 << 24


class DataError(Exception):
    """The data cannot be used; one line: where, what, what to do."""


def load_csv(path: Path) -> tuple[Item, ...]:
    """All rows of ``path``: UTF-8 with or without BOM, separated by comma, semicolon or tab. Raises DataError."""
    try:
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path} is larger than {_LARGEST >> 20} MiB: split it")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 (byte {error.start}): save it as CSV UTF-8") from error
    return read_csv(text, str(path))


def read_csv(text: str, name: str) -> tuple[Item, ...]:
    """The rows of a CSV text; ``name`` is for error messages."""
    csv.field_size_limit(_CELL)
    text = text.removeprefix("\ufeff").replace("\x00", "\ufffd")
    first = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next((row for row in reader if any(cell.strip() for cell in row)), None)
        if header is None:
            raise DataError(f"{name} is empty: it needs the columns {', '.join(COLUMNS)}")
        places = _places(header, name)
        items: list[Item] = []
        for row in reader:
            if any(cell.strip() for cell in row):
                items.append(_item(row, places, len(items), f"{name}:{reader.line_num}"))
    except csv.Error as error:
        raise DataError(f"{name}:{reader.line_num}: {error}: is a quote missing?") from error
    if not items:
        raise DataError(f"{name} has a header and no rows")
    return tuple(items)


def digest(items: Sequence[Item]) -> str:
    """Of all that is asked: changes with any question, answer, order or number of items."""
    sha = hashlib.sha256()
    for item in items:
        for part in (item.id, item.question, item.gold, str(item.unknown_ok), item.category):
            data = part.encode("utf-8", "surrogatepass")
            sha.update(b"%d:" % len(data) + data)
    return sha.hexdigest()[:16]


def repeated_ids(items: Sequence[Item]) -> tuple[str, ...]:
    """Ids that more than one row has; rows are told apart by their number."""
    seen: set[str] = set()
    again: dict[str, None] = {}
    for item in items:
        if item.id in seen:
            again[item.id] = None
        seen.add(item.id)
    return tuple(again)


def _places(header: Sequence[str], name: str) -> dict[str, int]:
    """Where each column is. A name may wear what spreadsheets and exports put before it (+id, 'id, =id)."""
    found: dict[str, int] = {}
    for exact in (True, False):
        for at, cell in enumerate(header):
            plain = cell.strip().strip("\ufeff\u200b").casefold()
            key = plain if exact else plain.lstrip("'=+-@ \t")
            found.setdefault(key, at)
    lacking = [column for column in COLUMNS if column not in found]
    if lacking:
        raise DataError(
            f"{name} has no column {', '.join(lacking)} (it has: {', '.join(c.strip() for c in header)[:200]}); needed "
            f"are {', '.join(COLUMNS)}"
        )
    return {column: found[column] for column in (*COLUMNS, "category") if column in found}


def _item(row: Sequence[str], places: dict[str, int], number: int, where: str) -> Item:
    def cell(column: str) -> str:
        at = places.get(column, len(row))
        return row[at] if at < len(row) else ""

    word = cell("unknown_ok").strip().casefold()
    if word not in _TRUE and word not in _FALSE:
        raise DataError(f"{where}: unknown_ok is {word[:40]!r}: it is 1 or 0 (true or false)")
    unknown_ok = word in _TRUE
    if not cell("question").strip():
        raise DataError(f"{where}: no question")
    if not unknown_ok and not cell("gold").strip():
        raise DataError(
            f"{where}: no gold answer, yet unknown_ok is not 1: give the answer, or set unknown_ok to 1"
        )
    return Item(
        number,
        cell("id").strip() or str(number + 1),
        cell("question"),
        cell("gold"),
        unknown_ok,
        cell("category"),
    )
