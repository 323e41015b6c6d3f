"""Reading the training rows (gzip JSON lines) and splitting them without leaking a context."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def read(directory: Path, name: str) -> list[Row]:
    """All rows of ``directory/name.jsonl.gz``."""
    with gzip.open(directory / f"{name}.jsonl.gz", "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def held_out(text: str, share: float, salt: str = "held-out-1") -> bool:
    """Whether rows keyed by ``text`` (their context, or prompt) belong to the held-out split.

    By hash of the text, so that all rows over one context fall on the same side.
    """
    digest = hashlib.sha256(f"{salt}\x00{text}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32


def split(rows: list[Row], share: float, key: Callable[[Row], str]) -> tuple[list[Row], list[Row]]:
    """(train, held out) by ``held_out`` of each row's key."""
    train = [row for row in rows if not held_out(key(row), share)]
    return train, [row for row in rows if held_out(key(row), share)]
