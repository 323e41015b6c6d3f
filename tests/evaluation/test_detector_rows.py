"""Rows: what is read, what is refused with its place, which answers pair up."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from vsr_hallucination.evaluation.rows import Row, RowError, answers, pairs_within, read_rows


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def row(row_id: str, answer: str, **more: Any) -> dict[str, Any]:
    return {"id": row_id, "task": "claim", "context": "c", "question": "q", "answer": answer} | more


def read_one(tmp_path: Path, **more: Any) -> Row:
    return read_rows(written(tmp_path / "rows.jsonl", row("a", "one two", **more)))[0]


@pytest.mark.parametrize(
    ("more", "faulty"),
    [
        ({"label": "supported"}, False),
        ({"label": "entailment", "task": "nli"}, False),
        ({"label": "neutral", "task": "nli"}, True),
        ({"label": "contradiction"}, True),
        ({"label": "contradicted"}, True),
        ({"label": "unsupported"}, True),
        ({"label": "supported", "labels": []}, False),
        ({"label": "unsupported", "task": "span", "labels": []}, False),
        ({"label": "supported", "task": "span", "labels": [{"start": 0, "end": 3, "type": "number"}]}, True),
        ({}, None),
        ({"label": "whatever"}, None),
    ],
)
def test_spans_decide_where_there_are_spans_else_the_label(tmp_path: Path, more: Any, faulty: bool | None) -> None:
    assert read_one(tmp_path, **more).faulty is faulty


def test_gzip_blank_lines_and_a_table_as_context(tmp_path: Path) -> None:
    path = tmp_path / "rows.bin"  # told by its first bytes, not by its name
    lines = [json.dumps(row("a", "x", context={"crates": 412})), "", json.dumps(row("b", "y", id=7))]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    first, second = read_rows(path)
    assert (first.context, second.id) == ('{"crates": 412}', "7")
    assert first.source == first.language == "unknown"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[1]", "a JSON object is needed, not list"),
        ('{"answer": "x"}', "`id` is missing"),
        ('{"id": "a", "answer": 3}', "`answer` is int"),
        ('{"id": "a", "answer": "x", "labels": 3}', "`labels` is int"),
        ('{"id": "a", "answer": "x", "labels": [3]}', "`labels[0]` is int"),
        ('{"id": "a", "answer": "xy", "labels": [{"start": 1, "end": 3}]}', "(2 long)"),
        ('{"id": "a", "answer": "xy", "labels": [{"start": 1, "end": 1}]}', "start before end"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_row_is_refused_at_its_line(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path / "rows.jsonl", row("a", "x"), line)
    with pytest.raises(RowError) as caught:
        read_rows(path)
    assert said in str(caught.value) and ":2" in str(caught.value)


def test_a_cut_gzip_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row("a", "x")).encode() * 1000)[:-9])
    for bad in (path, tmp_path / "none", tmp_path):
        with pytest.raises(RowError, match="cannot be read"):
            read_rows(bad)


def test_prompts_are_no_answers(tmp_path: Path) -> None:
    rows = read_rows(written(tmp_path / "r", row("a", "x"), row("b", "", task="prompt"), row("c", "z", task="span")))
    kept, left = answers(rows)
    assert ([one.id for one in kept], left) == (["a", "c"], 1)


def claims(tmp_path: Path, *given: tuple[str, int, str]) -> list[Row]:
    return read_rows(written(tmp_path / "p", *(row(name, "x" * size, label=label) for name, size, label in given)))


def test_twins_pair_where_lengths_differ_by_a_fifth_of_the_longer(tmp_path: Path) -> None:
    good, bad = "supported", "unsupported"
    rows = claims(
        tmp_path, ("1-r", 80, good), ("1-h", 100, bad), ("2-r", 79, good), ("2-h", 100, bad), ("3-h", 79, bad)
    )
    assert [one.id for one in pairs_within(rows, 0.2)] == ["1-r", "1-h"]


def test_without_twins_the_closest_lengths_pair_and_each_row_once(tmp_path: Path) -> None:
    rows = claims(
        tmp_path,
        ("a", 100, "supported"),
        ("b", 95, "unsupported"),
        ("c", 101, "unsupported"),
        ("d", 99, "supported"),
        ("e", 100, "no label"),
    )
    # a–c and d–c both differ by 1 or 2; a–c goes first, b is left for d.
    assert [one.id for one in pairs_within(rows, 0.2)] == ["a", "b", "c", "d"]
    assert [one.id for one in pairs_within(rows, 0.02)] == ["a", "c"]


def test_another_question_is_another_pair(tmp_path: Path) -> None:
    path = written(
        tmp_path / "p",
        row("a", "x", label="supported"),
        row("b", "x", label="unsupported", question="another"),
        row("c", "x", label="unsupported", context="another"),
    )
    assert pairs_within(read_rows(path), 1.0) == []
