"""Small pieces of Markdown that reports share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

UNDEFINED = "–"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def plain(text: object) -> str:
    """One line of text that opens no markup of its own."""
    line = " ".join(str(text).split())[:200]
    return line.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[").replace("`", "'")


def decimal(value: float | None, digits: int = 3) -> str:
    return UNDEFINED if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.1%}"


def milliseconds(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value * 1000:.1f} ms"


def between(interval: Sequence[float] | None, show: Any = decimal) -> str:
    return UNDEFINED if interval is None else f"{show(interval[0])} to {show(interval[1])}"


def settings(found: Mapping[str, Any]) -> str:
    """What was run, one line each."""
    shown = {key: value for key, value in found.items() if value is not None and key != "notes"}
    return "\n".join(f"- {plain(key)}: `{_code(value)}`" for key, value in shown.items())


def _code(value: object) -> str:
    return " ".join(str(value).split())[:300].replace("`", "'")
