from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from vsr_hallucination.cli import comparing
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.cli.files import read_text
from vsr_hallucination.config.loading import load
from vsr_hallucination.evaluation import items, rows


def test_text_comes_exactly_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("zwei\r\nZeilen 🧪\n".encode())
    assert read_text(str(file)) == "zwei\r\nZeilen 🧪\n"


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbf479")
    assert read_text(str(file)) == "479"


def test_offsets_are_those_of_the_text_as_python_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffK7 \U0001f9ea\r\nshipped \ufeff479\rcrates".encode())
    with file.open(encoding="utf-8-sig", newline="") as opened:
        assert read_text(str(file)) == opened.read()
    assert read_text(str(file))[15:18] == "479"


def test_standard_input_is_read_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    class Piped:
        buffer = io.BytesIO(b"\xef\xbb\xbf479\r\n")

    monkeypatch.setattr("sys.stdin", Piped)
    assert read_text("-") == "479\r\n"


PREDICTION = json.dumps({"id": "a", "faulty": True, "score": 0.5, "state": "detected"})
ROW = json.dumps({"id": "a", "task": "qa", "context": "c", "answer": "b", "spans": [], "question": "q"})


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda path: read_text(str(path)), "crates: 479"),
        (comparing.read, PREDICTION),
        (rows.read_rows, ROW),
        (items.load_csv, "id,question,gold,unknown_ok\n1,Where?,Here,0\n"),
        (lambda path: load(path).config.replay, "version: v0.3\nrouting: {signals: {hallucination: [{name: a}]}}\n"),
    ],
)
def test_a_byte_order_mark_changes_nothing_for_any_reader(
    read: Callable[[Path], object], text: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text(text, encoding="utf-8")
    without = read(file)
    file.write_text(text, encoding="utf-8-sig")
    assert read(file) == without


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: None, "no such file"),
        (lambda p: p.mkdir(), "is a directory"),
        (lambda p: p.write_bytes(b"caf\xe9"), "not UTF-8 text (byte 3)"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(tmp_path: Path, make: object, words: str) -> None:
    file = tmp_path / "x"
    make(file)  # type: ignore[operator]
    with pytest.raises(Failure) as caught:
        read_text(str(file))
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert caught.value.code == 2


def test_a_name_with_a_zero_byte_is_said_in_words() -> None:
    with pytest.raises(Failure, match="cannot be read"):
        read_text("a\0b")
