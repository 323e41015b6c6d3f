"""Rows to measure a detector, explainer or classifier with: JSON lines, plain or gzip.

One object a line: ``id``; ``context`` (evidence, or premise), ``question`` (or prompt), ``answer`` (or hypothesis);
``task`` span, claim, nli or prompt; ``labels`` (span rows: start, end, type, code points of ``answer``, none = clean)
or ``label``; ``source``, ``lang``, ``meta``. Rows without a label are judged all the same, and measured by nobody.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

MAX_LINE = 64 << 20  # bytes of one row
_CLEAN = frozenset({"supported", "entailment"})
_FAULTY = frozenset({"unsupported", "contradicted", "neutral", "contradiction"})
_ANSWERS = frozenset({"span", "claim", "nli", ""})


class RowError(Exception):
    """A file that cannot be read as rows: where, what, and what to do."""


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """A labelled stretch of an answer: ``answer[start:end]`` is not supported, in the way ``type`` names."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row. ``spans`` is None where it was not labelled by spans; ``faulty`` is None where it has no label."""

    id: str
    task: str
    context: str
    question: str
    answer: str
    source: str
    language: str
    label: str | None
    spans: tuple[GoldSpan, ...] | None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faulty(self) -> bool | None:
        """Whether the answer has an unsupported part: by its spans, else by its label."""
        if self.spans is not None:
            return bool(self.spans)
        if self.label in _CLEAN:
            return False
        return True if self.label in _FAULTY else None


def read_rows(path: Path) -> list[Row]:
    """All rows of ``path`` in order. Raises RowError."""
    return list(_rows(path))


def answers(rows: Iterable[Row]) -> tuple[list[Row], int]:
    """The rows a detector can judge (an answer beside evidence), and how many of another task were left out."""
    kept, left = [], 0
    for row in rows:
        if row.task in _ANSWERS:
            kept.append(row)
        else:
            left += 1
    return kept, left


def _rows(path: Path) -> Iterator[Row]:
    try:
        with _open(path) as file:
            number = 0
            while raw := file.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    limit = f"{MAX_LINE >> 20} MiB"
                    raise RowError(
                        f"{path}:{number}: the row is longer than {limit}; split it or leave it out"
                    )
                if raw.strip():
                    yield _row(_object(raw, f"{path}:{number}"), f"{path}:{number}")
    except (OSError, EOFError, zlib.error) as error:  # gzip's own error is an OSError
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise RowError(f"{path}: cannot be read: {why}") from error


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def _object(raw: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RowError(
            f"{where}: not JSON in UTF-8 ({type(error).__name__}); one object a line is needed"
        ) from error
    if not isinstance(found, dict):
        raise RowError(f"{where}: a JSON object is needed, not {type(found).__name__}")
    return found


def _row(found: dict[str, Any], where: str) -> Row:
    meta = found.get("meta")
    row_id = found.get("id")
    if not isinstance(row_id, str | int) or isinstance(row_id, bool) or row_id == "":
        raise RowError(f"{where}: `id` is missing; predictions are told apart by it")
    answer = _text(found, "answer", where)
    return Row(
        id=str(row_id),
        task=_text(found, "task", where),
        context=_context(found, where),
        question=_text(found, "question", where),
        answer=answer,
        source=_text(found, "source", where) or "unknown",
        language=_text(found, "lang", where) or "unknown",
        label=_text(found, "label", where) or None,
        spans=_spans(found, answer, where),
        meta=meta if isinstance(meta, dict) else {},
    )


def _text(found: dict[str, Any], key: str, where: str) -> str:
    value = found.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError(f"{where}: `{key}` is {type(value).__name__}, a string is needed")
    return value


def _context(found: dict[str, Any], where: str) -> str:
    value = found.get("context")
    # A table given as JSON itself is what a tool would have sent as text.
    return (
        json.dumps(value, ensure_ascii=False)
        if isinstance(value, dict | list)
        else _text(found, "context", where)
    )


def _spans(found: dict[str, Any], answer: str, where: str) -> tuple[GoldSpan, ...] | None:
    labels = found.get("labels")
    if labels is None or (found.get("task") not in (None, "span") and not labels):
        return None
    if not isinstance(labels, list):
        raise RowError(f"{where}: `labels` is {type(labels).__name__}, a list of spans is needed")
    return tuple(_span(label, answer, f"{where}: `labels[{n}]`") for n, label in enumerate(labels))


def _span(label: object, answer: str, where: str) -> GoldSpan:
    if not isinstance(label, dict):
        raise RowError(f"{where} is {type(label).__name__}, an object with start and end is needed")
    start, end = label.get("start"), label.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(answer):
        raise RowError(
            f"{where}: start and end are code points of the answer ({len(answer)} long), start before end"
        )
    return GoldSpan(start, end, str(label.get("type") or "unsupported"))


def pairs_within(rows: Sequence[Row], share: float) -> list[Row]:
    """The rows that pair up: a clean and a faulty answer to one question over one context, lengths alike.

    Lengths (code points) may differ by ``share`` of the longer one. Ids that end in -r and -h pair with their own
    twin; else the closest lengths pair first, ties in row order, each row once. Rows come back in their order.
    """
    groups: dict[tuple[str, str, str], tuple[list[int], list[int]]] = {}
    for at, row in enumerate(rows):
        if row.faulty is not None:
            stem = row.id[:-2] if row.id[-2:] in ("-r", "-h") else ""
            groups.setdefault((row.context, row.question, stem), ([], []))[row.faulty].append(at)
    kept: set[int] = set()
    for clean, faulty in groups.values():
        close = sorted(
            (abs(len(rows[a].answer) - len(rows[b].answer)), a, b)
            for a in clean
            for b in faulty
            if _alike(len(rows[a].answer), len(rows[b].answer), share)
        )
        for _, a, b in close:
            if a not in kept and b not in kept:
                kept |= {a, b}
    return [rows[at] for at in sorted(kept)]


def _alike(one: int, two: int, share: float) -> bool:
    return abs(one - two) <= share * max(one, two)
