"""A progress bar on stderr: redrawn on a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from typing import TextIO

from vsr_hallucination.evaluation.scoring import Outcome, State

_WIDTH = 30
_REDRAW = 0.1
_LINE = 15.0


class Progress:
    """Counts outcomes; ``start`` of ``total`` are there already."""

    def __init__(self, stream: TextIO, start: int, total: int) -> None:
        self._stream, self._done, self._total = stream, start, total
        self._first, self._begun = start, time.monotonic()
        self._unknown = 0
        self._drawn = self._begun - _LINE
        self._every = _REDRAW if stream.isatty() else _LINE

    def __call__(self, outcome: Outcome) -> None:
        self._done += 1
        self._unknown += outcome.state in (State.UNAVAILABLE, State.JUDGE_FAILED)
        now = time.monotonic()
        if now - self._drawn >= self._every:
            self._drawn = now
            self._draw(now)

    def end(self) -> None:
        self._draw(time.monotonic())
        if self._stream.isatty():
            self._stream.write("\n")

    def _draw(self, now: float) -> None:
        filled = _WIDTH * self._done // max(1, self._total)
        rate = (self._done - self._first) / max(1e-9, now - self._begun)
        left = (
            f", {(self._total - self._done) / rate:.0f} s left" if rate and self._done < self._total else ""
        )
        unknown = f", {self._unknown} not known" if self._unknown else ""
        bar = "#" * filled + "." * (_WIDTH - filled)
        text = f"[{bar}] {self._done}/{self._total}{unknown}{left}"
        if self._stream.isatty():
            self._stream.write(f"\r{text}\x1b[K")
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
