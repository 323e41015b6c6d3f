"""What ``eval detector`` says about releasing answers unseen, and ``--compare``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from support.eval_runs import strict
from vsr_hallucination.cli import main
from vsr_hallucination.evaluation import detector_selection
from vsr_hallucination.evaluation.detector_metrics import Case


def cases(n: int = 400) -> list[Case]:
    dice = np.random.default_rng(1)
    scores = dice.random(n) ** 2
    faulty = dice.random(n) < scores * 0.6
    return [Case(bool(f), bool(s >= 0.8), float(s)) for s, f in zip(scores, faulty, strict=True)]


def test_the_block_counts_only_what_was_judged_and_labelled() -> None:
    extra = [Case(None, True, 0.5), Case(True, None, None)]
    found = detector_selection.figures([*cases(), *extra], risk=0.2, confidence=0.9)
    assert found["n"] == 400
    assert found["curve"][-1]["coverage"] == 1.0
    assert [p["name"] for p in found["operating_points"]] == ["drafting", "assistive", "self-serve", "high-stakes"]
    assert found["chosen"]["threshold"] is not None
    assert found["chosen"]["risk_upper_bound"] <= 0.2
    json.dumps(found, allow_nan=False)


def test_without_a_risk_nothing_is_chosen() -> None:
    found = detector_selection.figures(cases(), risk=None, confidence=0.95)
    assert found["chosen"] is None
    assert "threshold:" not in detector_selection.section(found, None)


def test_no_row_no_figure(tmp_path: Path) -> None:
    found = detector_selection.figures([], risk=0.1, confidence=0.95)
    assert (found["n"], found["aurc"], found["curve"]) == (0, None, [])
    assert "No threshold reaches this" in detector_selection.verdict(found["chosen"])
    assert detector_selection.draw([], tmp_path, None) is None
    detector_selection.section(found, None)


def test_the_section_and_its_picture(tmp_path: Path) -> None:
    found = detector_selection.figures(cases(), risk=0.2, confidence=0.9)
    picture = detector_selection.draw(cases(), tmp_path, found["chosen"])
    assert (tmp_path / str(picture)).stat().st_size > 5000
    text = detector_selection.section(found, picture)
    assert "**Threshold " in text and "min_span_confidence" in text and "![" in text


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Answers of known and of new words: what the word counter tells apart."""
    lines = []
    for n in range(60):
        faulty = n % 3 == 0
        said = f"Harbour {n} shipped zinc ore yesterday." if faulty else f"Depot {n} holds crates."
        labels = [{"start": 0, "end": len(said)}] if faulty else []
        context = f"Depot {n} holds crates."
        lines.append({"id": str(n), "context": context, "question": "?", "answer": said, "labels": labels})
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_the_command_chooses_writes_and_compares(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)
    words = ["eval", "detector", "--backend", "lexical", "--data", str(rows)]
    assert main([*words, "--out", str(tmp_path / "one"), "--risk", "0.3", "--confidence", "0.9"]) == 0
    assert "at most 30.0% unsupported among the released, with 90% confidence" in capsys.readouterr().out
    metrics = strict(tmp_path / "one" / "metrics.json")
    assert metrics["selection"]["n"] == 60
    assert (tmp_path / "one" / "threshold.yaml").read_text("utf-8") == metrics["selection"]["chosen"]["snippet"]
    assert "## Releasing answers unseen" in (tmp_path / "one" / "report.md").read_text("utf-8")

    compare = ["eval", "detector", "--data", str(rows), "--out", str(tmp_path / "both"), "--compare", "lexical"]
    assert main([*compare, str(tmp_path / "one")]) == 0
    value = strict(tmp_path / "both" / "comparison.json")
    assert (value["n"], value["left_out"]) == (60, 0)
    assert {d["figure"] for d in value["differences"]} >= {"auroc", "aurc", "f1_as_shipped"}
    assert all(d["difference"] in (0.0, None) and not d["beyond_noise"] for d in value["differences"])
    assert "beyond noise" in capsys.readouterr().out

    assert main([*words, "--limit", "30", "--out", str(tmp_path / "fewer")]) == 0
    assert main([*compare, str(tmp_path / "fewer")]) == 2
    assert "different rows" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["--risk 0", "--risk 1", "--risk x", "--confidence 1", "--compare one"])
def test_wrong_usage(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["eval", "detector", "--data", "x", "--out", "y", *words.split()])
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_predictions_that_are_none(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "predictions.jsonl").write_text('{"id": "1"}\n', "utf-8")
    words = ["eval", "detector", "--data", str(rows), "--out", str(tmp_path / "out"), "--compare"]
    assert main([*words, str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "predictions.jsonl:1: not a line" in capsys.readouterr().err
