"""The log of a run: JSON lines, appended as outcomes come, so that a killed run loses nothing it was told.

The first line holds the settings that the outcomes depend on; each further line is one outcome, or an answer that
still waits for its judge. Per (row, threshold) the last line stands. A line cut in half by a crash is cut off.
"""

from __future__ import annotations

import fcntl
import json
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vsr_hallucination.evaluation.scoring import Item, Kind, Outcome, State

FILE = "run.jsonl"
_VERSION = 1
_PENDING = "pending"  # answered, not judged yet: the answer is not asked for again


class RunLogError(Exception):
    """The log cannot be used as asked; one line: what, where, what to do."""


class RunLog:
    """Outcomes on disk, found again by (row, threshold). What is kept in memory is a file offset for each."""

    def __init__(self, folder: Path, items: Sequence[Item], thresholds: Sequence[float]) -> None:
        self.path = folder / FILE
        self._items, self._thresholds = items, thresholds
        self._offsets = array("q", [-1]) * (len(items) * len(thresholds))
        self._settled = bytearray(len(self._offsets))

    def open(self, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
        """Starts a log, or goes on with one. Raises RunLogError if a run is there and neither is wanted, if another
        process writes it, or if its settings are not ``settings``."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and not resume and not overwrite:
            raise RunLogError(
                f"{self.path} holds a run already: --resume goes on with it, --overwrite starts it anew, or give "
                "another --out"
            )
        self._file = open(self.path, "a+b")  # noqa: SIM115 - closed by close()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise RunLogError(
                f"{self.path} is being written by another run: wait for it, or give another --out"
            ) from error
        try:
            if overwrite and not resume:
                self._file.truncate(0)
            self._repair()
            if self._size() == 0:
                self._append({"log": _VERSION, "settings": dict(settings)})
            else:
                self._load(settings)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        os.fsync(self._file.fileno())
        self._file.close()

    def settled(self, row: int, at: int) -> bool:
        return bool(self._settled[self._place(row, at)])

    def waiting(self, row: int, at: int) -> Outcome | None:
        """An answer that still waits for its judge."""
        place = self._place(row, at)
        if self._settled[place] or self._offsets[place] < 0:
            return None
        return self._read(self._offsets[place])

    def reopen(self, row: int, at: int, *, keep_answer: bool) -> None:
        """The outcome is to be had again, wholly or only its judgement. Its line stays; the next one stands."""
        place = self._place(row, at)
        self._settled[place] = 0
        if not keep_answer:
            self._offsets[place] = -1

    def put(self, outcome: Outcome, *, pending: bool = False) -> None:
        """Writes one line. ``pending``: its judge has yet to say whether it is right."""
        item = self._items[outcome.row]
        line: dict[str, Any] = {"row": outcome.row, "t": self._thresholds[outcome.at], "id": item.id}
        line |= {key: value for key, value in asdict(outcome).items() if key not in {"row", "at"} and value}
        if pending:
            line["state"] = _PENDING
        self._offsets[self._place(outcome.row, outcome.at)] = self._append(line)
        self._settled[self._place(outcome.row, outcome.at)] = not pending

    def outcomes(self) -> Iterator[tuple[Item, Outcome]]:
        """All settled outcomes, in the order of the data and of rising threshold, read from disk one at a time."""
        for item in self._items:
            for at in range(len(self._thresholds)):
                if self.settled(item.row, at):
                    yield item, self._read(self._offsets[self._place(item.row, at)])

    @property
    def done(self) -> int:
        return sum(self._settled)

    @property
    def total(self) -> int:
        return len(self._settled)

    def _place(self, row: int, at: int) -> int:
        return row * len(self._thresholds) + at

    def _size(self) -> int:
        return self._file.seek(0, os.SEEK_END)

    def _append(self, line: Mapping[str, Any]) -> int:
        # Escaped to ASCII: a lone surrogate in an answer must not end a run.
        data = json.dumps(line, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        at = self._size()
        self._file.write(data)
        self._file.flush()
        return at

    def _repair(self) -> None:
        """Cuts off a last line without its end, as a killed process leaves it."""
        size = self._size()
        at = size
        while at > 0:
            low = max(0, at - 65536)
            self._file.seek(low)
            end = self._file.read(at - low).rfind(b"\n")
            if end >= 0:
                at = low + end + 1
                break
            at = low
        if at < size:
            self._file.truncate(at)

    def _load(self, settings: Mapping[str, Any]) -> None:
        self._file.seek(0)
        head = self._parsed(self._file.readline(), 1)
        recorded = head.get("settings")
        if head.get("log") != _VERSION or not isinstance(recorded, dict):
            raise RunLogError(f"{self.path} is no log of this version: give another --out, or --overwrite")
        changed = _differences(recorded, settings)
        if changed:
            raise RunLogError(
                f"{self.path} was made with other settings ({'; '.join(changed)}): repeat those to resume it, give "
                "another --out, or --overwrite"
            )
        known = {t: at for at, t in enumerate(self._thresholds)}
        number, offset = 1, self._file.tell()
        while line := self._file.readline():
            number += 1
            value = self._parsed(line, number)
            row, at = value.get("row"), known.get(value.get("t", -1.0))
            if not isinstance(row, int) or at is None or not 0 <= row < len(self._items):
                raise RunLogError(
                    f"{self.path}:{number}: an outcome of no item: --overwrite, or another --out"
                )
            place = self._place(row, at)
            self._offsets[place] = offset
            self._settled[place] = value.get("state") != _PENDING
            offset = self._file.tell()

    def _read(self, offset: int) -> Outcome:
        self._file.seek(offset)
        value = self._parsed(self._file.readline(), None)
        state = value["state"]
        kind = value.get("kind")
        return Outcome(
            row=value["row"],
            at=self._thresholds.index(value["t"]),
            state=State.JUDGE_FAILED if state == _PENDING else State(state),
            pred=value.get("pred", ""),
            kind=Kind(kind) if kind else None,
            detail=value.get("detail", ""),
            judged_by=value.get("judged_by", ""),
            attempts=value.get("attempts", 0),
            seconds=value.get("seconds", 0.0),
            warnings=value.get("warnings", ""),
        )

    def _parsed(self, line: bytes, number: int | None) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            where = f"{self.path}:{number}" if number else str(self.path)
            raise RunLogError(f"{where}: not a line of a run's log: give another --out, or --overwrite")
        return value


def _differences(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    names = sorted(recorded.keys() | wanted.keys())
    # Through JSON and back, so that a tuple equals the list it was written as.
    now = json.loads(json.dumps(dict(wanted)))
    return [
        f"{name} was {_short(recorded.get(name))}, is now {_short(now.get(name))}"
        for name in names
        if recorded.get(name) != now.get(name)
    ]


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"
