"""A text decoded out of another one, perhaps several times over, that knows where each of its code points came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from vsr_hallucination.apis import jsonnodes as nodes

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Level:
    """A text and where its code points stand in the original (``starts[i]`` at ``origins[i]``); None is identity."""

    __slots__ = ("origins", "starts", "text")

    def __init__(self, text: str, starts: list[int] | None = None, origins: list[int] | None = None) -> None:
        self.text = text
        self.starts = starts
        self.origins = origins

    def runs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """(origin, length) of each unbroken run of ``text[start:end]``."""
        if self.starts is None or self.origins is None:
            yield start, end - start
            return
        starts = self.starts
        at = bisect_right(starts, start) - 1
        while start < end:
            stop = starts[at + 1] if at + 1 < len(starts) else end
            if stop > end:
                stop = end
            yield self.origins[at] + start - starts[at], stop - start
            start = stop
            at += 1

    def inside(self, node: nodes.Text) -> Level:
        """The text of a JSON string of this level, mapped to the same original."""
        starts: list[int] = []
        origins: list[int] = []
        size = 0
        last = node.start
        for match in _ESCAPE.finditer(self.text, node.start, node.end):
            # The escaped character is read as the continuation of the run before it: it maps to the backslash.
            stop = match.start() + 1
            size = self._append(starts, origins, size, last, stop)
            last = match.end()
        if last < node.end or not starts:
            self._append(starts, origins, size, last, node.end)
        return Level(node.value, starts, origins)

    def _append(self, starts: list[int], origins: list[int], size: int, start: int, stop: int) -> int:
        if self.starts is None:
            starts.append(size)
            origins.append(start)
            return size + stop - start
        for origin, length in self.runs(start, stop):
            starts.append(size)
            origins.append(origin)
            size += length
        return size
