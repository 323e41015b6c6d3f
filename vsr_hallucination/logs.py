"""Logs as JSON lines: one object a line with ``timestamp``, ``level``, ``component``, ``event`` and its fields.

Standard logging is the way in for every module (``logging.getLogger(__name__).warning("event_name", extra={...})``);
structlog turns it, and what libraries log, into lines. No prompt, evidence or answer text gets out: exceptions are
told by type and place, their message only where their kind cannot quote a client, and fields that carry text or
secrets by name are withheld.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

import structlog

from vsr_hallucination.orders import Note

_ROOT = "vsr_hallucination"
LEVELS = ("debug", "info", "warning", "error")
_FRAMES = 8
_VALUE_CHARS = 500
_WITHHELD = frozenset(
    "prompt answer question text content body request_body response_body evidence passage premise hypothesis "
    "authorization token api_key apikey password secret cookie".split()
)
# An event may be told with a sentence behind it: "drain_started: waiting 3 s".
_NAMED = re.compile(r"([a-z][a-z0-9_]{2,60}): (.+)", re.DOTALL)
_PASSWORD_IN_URL = re.compile(r"(://[^\s/:@]*:)[^\s/@]+@")

Event = MutableMapping[str, Any]


def configure(level: str = "info", stream: TextIO | None = None) -> None:
    """Route all logging of this process through JSON lines on ``stream`` (default stderr). May be called again.

    ``level`` holds for our own modules; libraries speak from ``warning`` up, whatever it is.
    """
    if level not in LEVELS:
        raise ValueError(f"log level {level!r} is unknown; write one of {', '.join(LEVELS)}")
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.ExtraAdder()],
        processors=[
            _described,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _withheld,
            structlog.processors.JSONRenderer(serializer=_line),
        ],
    )
    structlog.configure(  # for whoever logs through structlog itself: the same way out
        processors=[structlog.stdlib.filter_by_level, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(_ROOT).setLevel(level.upper())
    logging.captureWarnings(True)


class NoteLog:
    """Writes ``Note`` orders: warnings as warnings, the rest at debug (metrics count them all).

    At most ``burst`` lines of one event in ``window`` seconds: hostile traffic must not fill a disk. What was left
    out is told with the next line of that event.
    """

    def __init__(self, burst: int = 20, window: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = logging.getLogger(f"{_ROOT}.exchange")
        self._burst = burst
        self._window = window
        self._clock = clock
        self._spent: dict[str, tuple[float, int, int]] = {}  # event: window's begin, lines in it, left out

    def write(self, note: Note) -> None:
        level = logging.WARNING if note.warning else logging.DEBUG
        if not self._log.isEnabledFor(level):
            return
        now = self._clock()
        began, lines, left_out = self._spent.get(note.event, (now, 0, 0))
        if now - began >= self._window:
            began, lines = now, 0
        if lines >= self._burst:
            self._spent[note.event] = (began, lines, left_out + 1)
            return
        self._spent[note.event] = (began, lines + 1, 0)
        fields = {f"field_{key}" if key in _TAKEN else key: value for key, value in note.fields.items()}
        self._log.log(level, note.event, extra={**fields, "left_out": left_out} if left_out else fields)


# Attributes a LogRecord has already: logging refuses extras of these names.
_TAKEN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def _described(_: object, __: str, event: Event) -> Event:
    """When, how bad, from whom, what; an exception by type and place."""
    record: logging.LogRecord = event["_record"]
    moment = datetime.fromtimestamp(record.created, UTC)
    event["timestamp"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    event["level"] = record.levelname.lower()
    event["component"] = record.name.removeprefix(f"{_ROOT}.")
    text = str(event.get("event", ""))
    ours = record.name == _ROOT or record.name.startswith(f"{_ROOT}.")
    named = _NAMED.fullmatch(text) if ours else None
    if named is not None:
        event["event"], event["detail"] = named.groups()
    else:
        event["event"] = text.split("\n", 1)[0]  # what follows may quote: asyncio appends a failed task's exception
    exc_info = event.pop("exc_info", None) or record.exc_info
    if exc_info is True:
        exc_info = sys.exc_info()
    error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
    if isinstance(error, BaseException):
        event["exception"] = _exception(error)
    event.pop("stack_info", None)
    return event


def _exception(error: BaseException) -> list[dict[str, Any]]:
    """The error and what caused it, outermost first."""
    told: list[dict[str, Any]] = []
    current: BaseException | None = error
    while current is not None and len(told) < 4:
        entry: dict[str, Any] = {"type": type(current).__qualname__, "frames": _frames(current.__traceback__)}
        if _quotes_nobody(current):
            entry["message"] = str(current)
        told.append(entry)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return told


def _quotes_nobody(error: BaseException) -> bool:
    """Kinds whose message cannot hold client text: the system's, and our own, which promise it."""
    return isinstance(error, OSError | ImportError) or type(error).__module__.startswith(f"{_ROOT}.")


def _frames(trace: TracebackType | None) -> list[str]:
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        place = code.co_filename.rpartition("/site-packages/")[2].rpartition(f"/{_ROOT}/")[2]
        frames.append(f"{place}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-_FRAMES:]


def _withheld(_: object, __: str, event: Event) -> Mapping[str, Any]:
    head = {key: event.pop(key, None) for key in ("timestamp", "level", "component", "event")}
    fields = {key: "[withheld]" if key.lower() in _WITHHELD else _safe(value) for key, value in event.items()}
    return {**{key: _safe(value) for key, value in head.items()}, **fields}


def _safe(value: Any, depth: int = 4) -> Any:
    """A value that JSON can hold, bounded, without a password in a URL."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth and isinstance(value, Mapping):
        return {str(key): _safe(item, depth - 1) for key, item in list(value.items())[:50]}
    if depth and isinstance(value, list | tuple | set | frozenset):
        return [_safe(item, depth - 1) for item in list(value)[:50]]
    text = _PASSWORD_IN_URL.sub(r"\1***@", str(value))
    return text if len(text) <= _VALUE_CHARS else text[:_VALUE_CHARS] + "…"


def _line(event: Any, **_: Any) -> str:
    return json.dumps(event, allow_nan=False, ensure_ascii=True, default=str)
