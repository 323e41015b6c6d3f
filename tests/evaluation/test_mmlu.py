"""MMLU from the published layout on disk, and through ``datasets`` with a hub that is a folder."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from support.eval_runs import Ran
from support.model_server import IDK, Answer, Asked, running_models, says
from vsr_hallucination.cli import main
from vsr_hallucination.evaluation import mmlu
from vsr_hallucination.evaluation.items import DataError

SUBJECTS = {"astronomy": 30, "world_religions": 20}


def question(subject: str, n: int) -> list[str]:
    return [
        f"{subject} question {n}, with a comma?",
        *(f"{subject} option {n} {letter}" for letter in "ABCD"),
        "ABCD"[n % 4],
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mmlu" / "data" / "test"
    place.mkdir(parents=True)
    for subject, count in SUBJECTS.items():
        with (place / f"{subject}_test.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(question(subject, n) for n in range(count))
    return tmp_path / "mmlu"


def test_the_published_layout(folder: Path) -> None:
    for place in (folder, folder / "data", folder / "data" / "test"):
        found = mmlu.from_folder(place, "test", ["all"])
        assert Counter(q.subject for q in found) == SUBJECTS
    (first,) = mmlu.items(found[:1], "test")
    assert first.id == "astronomy-test-0"
    assert first.question == (
        "astronomy question 0, with a comma?\n\nA. astronomy option 0 A\nB. astronomy option 0 B\n"
        "C. astronomy option 0 C\nD. astronomy option 0 D\n\nAnswer with the letter of the right option."
    )
    assert (first.gold, first.unknown_ok, first.category) == ("A", False, "astronomy")


def test_subjects_are_chosen_by_name(folder: Path) -> None:
    found = mmlu.from_folder(folder, "test", ["World Religions"])
    assert {q.subject for q in found} == {"world_religions"}
    with pytest.raises(DataError, match="no subject astrology; it has 2, such as astronomy"):
        mmlu.from_folder(folder, "test", ["astrology"])


def test_sampling_is_reproducible_and_filtered_first(folder: Path) -> None:
    found = mmlu.from_folder(folder, "test", ["all"])
    one = mmlu.items(found, "test", limit=20, idk_frac=0.3, seed=7)
    assert one == mmlu.items(found, "test", limit=20, idk_frac=0.3, seed=7)
    assert one != mmlu.items(found, "test", limit=20, idk_frac=0.3, seed=8)
    assert len(one) == len({item.id for item in one}) == 20
    assert sum(item.unknown_ok for item in one) == 6
    assert len(mmlu.items(found, "test", limit=1000)) == 50


def test_an_unanswerable_item_has_no_right_option(folder: Path) -> None:
    found = mmlu.from_folder(folder, "test", ["all"])
    originals = {item.id: item for item in mmlu.items(found, "test")}
    changed = mmlu.items(found, "test", idk_frac=1.0)
    assert len(changed) == 50
    for item in changed:
        before = originals[item.id].question.splitlines()
        after = item.question.splitlines()
        differing = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
        assert len(differing) == 1
        right = before[differing[0]]
        assert right.startswith(originals[item.id].gold + ". ")
        text = after[differing[0]][3:]
        assert text in [line[3:] for n, line in enumerate(after) if n not in differing]
        assert right[3:] not in item.question
        assert (item.gold, item.unknown_ok) == ("", True)
        assert item.category == originals[item.id].category + "|unanswerable"


def test_an_option_that_is_there_twice_goes_twice() -> None:
    twice = mmlu.Question("s", 0, "q", ("x", "x", "y", "z"), 0)
    (item,) = mmlu.items([twice], "test", idk_frac=1.0)
    assert ". x" not in item.question
    (kept,) = mmlu.items([mmlu.Question("s", 0, "q", ("x", "x", "x", "x"), 0)], "test", idk_frac=1.0)
    assert not kept.unknown_ok


def test_what_is_wrong_and_where(folder: Path) -> None:
    with pytest.raises(DataError, match=r"holds no dev/<subject>_dev\.csv"):
        mmlu.from_folder(folder, "dev", ["all"])
    (folder / "data" / "test" / "bad_test.csv").write_text("q,a,b,c,d,E\n", "utf-8")
    with pytest.raises(DataError, match=r"bad_test\.csv:1: not six columns"):
        mmlu.from_folder(folder, "test", ["bad"])


def hub(tmp_path: Path, configurations: dict[str, list[dict[str, object]]]) -> str:
    """A data set repository as ``datasets`` reads it from a folder."""
    place = tmp_path / "hub"
    lines = ["---", "configs:"]
    for name, rows in configurations.items():
        (place / name).mkdir(parents=True)
        (place / name / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        lines += [
            f"- config_name: {name}",
            "  data_files:",
            "  - split: test",
            f"    path: {name}/test.jsonl",
        ]
    (place / "README.md").write_text("\n".join([*lines, "---", ""]), "utf-8")
    return str(place)


def row(subject: str | None, n: int) -> dict[str, object]:
    text, *options, letter = question(subject or "x", n)
    found: dict[str, object] = {"question": text, "choices": options, "answer": "ABCD".index(letter)}
    return found | ({"subject": subject} if subject else {})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def test_through_datasets_all_at_once(tmp_path: Path, cache: None) -> None:
    name = hub(
        tmp_path,
        {"all": [row("astronomy", 0), row("law", 0), row("astronomy", 1)], "astronomy": [], "law": []},
    )
    found = mmlu.from_hub("test", ["astronomy"], name)
    assert [(q.subject, q.number, q.right) for q in found] == [("astronomy", 0, 0), ("astronomy", 1, 1)]


def test_through_datasets_subject_by_subject(tmp_path: Path, cache: None) -> None:
    name = hub(tmp_path, {"law": [row(None, 0)], "astronomy": [row(None, 0), row(None, 1)]})
    found = mmlu.from_hub("test", ["all"], name)
    assert [(q.subject, q.number) for q in found] == [("astronomy", 0), ("astronomy", 1), ("law", 0)]


def test_no_hub_no_data(tmp_path: Path, cache: None) -> None:
    with pytest.raises(DataError, match="--data-dir"):
        mmlu.from_hub("test", ["all"], str(tmp_path / "nothing"))


def test_the_whole_command(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)

    def script(asked: Asked) -> Answer:
        number = int(asked.question.split()[2].rstrip(","))
        return says(f"**{'ABCD'[number % 4]}**") if asked.t == 0.5 else IDK

    with running_models(script) as server:
        words = [
            "eval",
            "mmlu",
            "--data-dir",
            str(folder),
            "--split",
            "test",
            "--subjects",
            "all",
            "--limit",
            "20",
        ]
        words += ["--idk-frac", "0.3", "--thresholds", "0.5", "0.9", "--model", "m", "--base-url", server.url]
        code = main([*words, "--async", "--concurrency", "4", "--out", str(tmp_path / "out")])
    ran = Ran(code, tmp_path / "out", *capsys.readouterr())
    assert ran.code == 0
    low, high = ran.metrics["thresholds"]
    assert (low["n"], low["accuracy_conditioned_on_answering"], low["coverage"]) == (20, 14 / 20, 1.0)
    assert (low["answerable"]["answered"], low["answerable"]["accuracy_conditioned_on_answering"]) == (
        14,
        1.0,
    )
    assert high["coverage"] == 0.0
    assert (
        sum(
            r["category"].endswith("|unanswerable")
            for r in ran.rows
            if r["t"] == "0.9" and r["correct"] == "1"
        )
        == 6
    )
