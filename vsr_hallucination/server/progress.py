"""Loading takes seconds to minutes: a line for each model begun and loaded, in the log, and plainly on a terminal."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Tells that ``what`` is being loaded, and how long it took; a failure is told by whoever needs it."""
    started = time.monotonic()
    log.info("model_loading: %s", what)
    say(f"loading {what} …")
    yield
    seconds = time.monotonic() - started
    log.info("model_loaded: %s, %.1f s", what, seconds)
    say(f"loaded {what} in {seconds:.1f} s")


def say(line: str) -> None:
    """For people: only where standard output is a terminal (the log's JSON lines go to standard error)."""
    if sys.stdout is not None and sys.stdout.isatty():
        print(line, flush=True)
