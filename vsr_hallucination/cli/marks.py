"""Answers for the eye: unsupported spans in colour on a terminal, in brackets elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TextIO

_RED = "\x1b[1;31m"
_DIM = "\x1b[2m"
_GREEN = "\x1b[32m"
_BOLD = "\x1b[1m"
_RESET = "\x1b[0m"


def wants_color(stream: TextIO) -> bool:
    """True on a terminal, unless NO_COLOR (no-color.org) or TERM=dumb says otherwise."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def visible(text: str) -> str:
    """Text that cannot steer the terminal: control characters but newline and tab become U+FFFD, surrogates too."""
    return "".join(
        c if c in "\n\t" or c.isprintable() or (c.isspace() and c >= "\xa0") else "\ufffd" for c in text
    )


def mark(text: str, spans: Iterable[tuple[int, int]], *, color: bool) -> str:
    """``text`` with each span (code points, half-open) marked. Overlapping spans become one."""
    opening, closing = (_RED, _RESET) if color else ("[", "]")
    parts: list[str] = []
    at = 0
    for start, end in _merged(spans, len(text)):
        parts += [visible(text[at:start]), opening, visible(text[start:end]), closing]
        at = end
    parts.append(visible(text[at:]))
    return "".join(parts)


def dim(text: str, *, color: bool) -> str:
    return f"{_DIM}{text}{_RESET}" if color else text


def bold(text: str, *, color: bool) -> str:
    return f"{_BOLD}{text}{_RESET}" if color else text


def verdict(text: str, *, good: bool, color: bool) -> str:
    return f"{_GREEN if good else _RED}{text}{_RESET}" if color else text


def _merged(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
