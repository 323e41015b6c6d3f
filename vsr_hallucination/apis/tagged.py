"""Sections of a text between tags: ``<context>…</context>``, as prompt-stuffed retrieval marks its evidence.

Tag names are compared without case; attributes are passed over. Of sections inside one another the outermost counts,
so that nothing is lost or told twice; a tag that is never closed opens no section. Work is O(text).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """``text[start:end]`` is what stands between the tags, white space at its ends left out."""

    tag: str
    start: int
    end: int


def pattern_of(tags: Sequence[str]) -> re.Pattern[str] | None:
    """What finds these tags; None where there are none."""
    if not tags:
        return None
    names = "|".join(re.escape(tag) for tag in tags)
    return re.compile(rf"<(/?)({names})(?:\s[^<>]{{0,512}})?>", re.IGNORECASE)


def sections(text: str, pattern: re.Pattern[str]) -> tuple[list[Section], bool]:
    """The sections in order, and whether a tag was left open outside of them."""
    open_: list[tuple[str, int, int]] = []  # tag, where it begins, where its text begins
    waiting: dict[str, int] = {}
    found: list[tuple[int, Section]] = []  # where its tag begins
    for mark in pattern.finditer(text):
        tag = mark[2].lower()
        if mark[0].endswith("/>"):
            continue
        if not mark[1]:
            open_.append((tag, mark.start(), mark.end()))
            waiting[tag] = waiting.get(tag, 0) + 1
            continue
        if not waiting.get(tag):
            continue
        while True:
            name, begin, start = open_.pop()
            waiting[name] -= 1
            if name == tag:
                break
        while found and found[-1][0] > begin:
            found.pop()
        found.append((begin, _trimmed(text, tag, start, mark.start())))
    return [section for _, section in found], bool(open_)  # what a section encloses was popped with it


def _trimmed(text: str, tag: str, start: int, end: int) -> Section:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return Section(tag, start, max(start, end - (len(inner) - len(inner.rstrip()))))
