from __future__ import annotations

import io
import json
import logging
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import structlog

from vsr_hallucination.logs import NoteLog, configure
from vsr_hallucination.orders import Note

SECRET_TEXT = "Depot K7 shipped 479 crates"


class Lines(io.StringIO):
    def read_all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]

    def last(self) -> dict[str, Any]:
        return self.read_all()[-1]


@pytest.fixture
def lines() -> Iterator[Lines]:
    root, ours = logging.getLogger(), logging.getLogger("vsr_hallucination")
    before = (list(root.handlers), root.level, ours.level)
    stream = Lines()
    configure("info", stream)
    yield stream
    for handler in list(root.handlers):
        root.removeHandler(handler)
    for handler in before[0]:
        root.addHandler(handler)
    root.setLevel(before[1])
    ours.setLevel(before[2])
    logging.captureWarnings(False)
    structlog.reset_defaults()


def test_a_line_says_when_how_bad_who_and_what(lines: Lines) -> None:
    logging.getLogger("vsr_hallucination.replay.writer").warning(
        "replay_store_unavailable", extra={"reason": "down", "count": 3}
    )
    line = lines.last()
    assert list(line)[:4] == ["timestamp", "level", "component", "event"]
    assert datetime.fromisoformat(line["timestamp"]).tzinfo is not None
    assert {k: v for k, v in line.items() if k != "timestamp"} == {
        "level": "warning",
        "component": "replay.writer",
        "event": "replay_store_unavailable",
        "reason": "down",
        "count": 3,
    }


def test_an_event_told_with_a_sentence_keeps_its_name(lines: Lines) -> None:
    logging.getLogger("vsr_hallucination.server").info("drain_started: waiting %g s", 3)
    assert (lines.last()["event"], lines.last()["detail"]) == ("drain_started", "waiting 3 s")


def test_libraries_are_heard_from_warning_up(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("uvicorn", "uvicorn.error", "httpx"):  # a server of another test may have set them its own way
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
        logging.getLogger(name).setLevel(logging.NOTSET)
    logging.getLogger("httpx").info("HTTP Request: POST http://u:p@h/")
    assert lines.getvalue() == ""
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    assert lines.last()["component"] == "uvicorn.error"


def test_structlog_goes_the_same_way(lines: Lines) -> None:
    structlog.get_logger("vsr_hallucination.cli").info("started", port=50051, token="t0ken")
    line = lines.last()
    assert (line["component"], line["event"], line["port"], line["token"]) == (
        "cli",
        "started",
        50051,
        "[withheld]",
    )


def test_exceptions_are_told_without_what_they_quote(lines: Lines) -> None:
    try:
        try:
            raise KeyError(SECRET_TEXT)
        except KeyError as error:
            raise ValueError(f"bad: {SECRET_TEXT}") from error
    except ValueError:
        logging.getLogger("vsr_hallucination.exchange").exception("exchange_failed")
    assert SECRET_TEXT not in lines.getvalue()
    told = lines.last()["exception"]
    assert [entry["type"] for entry in told] == ["ValueError", "KeyError"]
    assert "test_logs.py" in told[0]["frames"][-1]


def test_the_systems_own_errors_keep_their_message(lines: Lines) -> None:
    try:
        Path("/no/such/file").read_text()
    except OSError:
        logging.getLogger("vsr_hallucination.cli").exception("cannot_read")
    assert "No such file" in lines.last()["exception"][0]["message"]


def test_a_failed_task_does_not_quote_its_exception(lines: Lines) -> None:
    logging.getLogger("asyncio").error(
        f"Task exception was never retrieved\nfuture: <Task exception=X('{SECRET_TEXT}')>"
    )
    assert (
        lines.last()["event"] == "Task exception was never retrieved" and SECRET_TEXT not in lines.getvalue()
    )


def test_text_and_secrets_are_withheld_by_name(lines: Lines) -> None:
    extra = {
        "answer": SECRET_TEXT,
        "api_key": "sk-1",
        "url": "postgresql://u:pass@h/db",
        "score": float("nan"),
    }
    logging.getLogger("vsr_hallucination.x").warning("odd", extra=extra)
    assert (
        SECRET_TEXT not in lines.getvalue()
        and "sk-1" not in lines.getvalue()
        and "pass" not in lines.getvalue()
    )
    assert lines.last()["url"] == "postgresql://u:***@h/db" and lines.last()["score"] is None


def test_a12_hostile_values_stay_one_valid_line(lines: Lines) -> None:
    extra = {
        "path": '/\n\u2028{"level":"fake"}\ud800' + "x" * 9000,
        "inf": [float("inf")],
        "odd": object(),
        "b": b"\xff",
    }
    logging.getLogger("vsr_hallucination.x").warning("odd", extra=extra)
    assert len(lines.getvalue().splitlines()) == 1 and len(lines.getvalue()) < 2000
    assert lines.last()["level"] == "warning" and lines.last()["inf"] == [None]


def test_notes_are_logged_and_floods_thinned(lines: Lines) -> None:
    now = [0.0]
    log = NoteLog(burst=3, window=10.0, clock=lambda: now[0])
    for _ in range(50):
        log.write(
            Note("unknown_decision", {"exchange": "e1", "name": "taken", "source": "route"}, warning=True)
        )
    log.write(Note("too_large", {"size": 5}, warning=True))
    assert [line["event"] for line in lines.read_all()] == ["unknown_decision"] * 3 + ["too_large"]
    assert lines.read_all()[0]["field_name"] == "taken"
    now[0] = 11.0
    log.write(Note("unknown_decision", {}, warning=True))
    assert lines.last()["left_out"] == 47


def test_plain_notes_speak_only_at_debug(lines: Lines) -> None:
    NoteLog().write(Note("upstream_error", {"status": 503}))
    assert lines.getvalue() == ""
    configure("debug", lines)
    NoteLog().write(Note("upstream_error", {"status": 503}))
    assert (lines.last()["level"], lines.last()["status"]) == ("debug", 503)


def test_an_unknown_level_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="debug, info, warning, error"):
        configure("loud")


def test_sqlite_messages_are_not_trusted(lines: Lines) -> None:
    try:
        sqlite3.connect(":memory:").execute(
            f"SELECT '{SECRET_TEXT}' FROM nowhere_{SECRET_TEXT.replace(' ', '_')}"
        )
    except sqlite3.Error:
        logging.getLogger("vsr_hallucination.replay").exception("replay_failed")
    assert "K7" not in lines.getvalue()
