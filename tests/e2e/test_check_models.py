"""``check`` with the embedded models: what a person sees without Envoy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vsr_hallucination.cli import main
from vsr_hallucination.demo.script import EVIDENCE, GROUNDED, INVENTED, POEM, QUESTION

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def evidence(tmp_path: Path) -> str:
    file = tmp_path / "evidence.json"
    file.write_text(EVIDENCE)
    return str(file)


def check(evidence: str, answer: str, tmp_path: Path, *options: str) -> int:
    file = tmp_path / "answer.txt"
    file.write_text(answer)
    return main(["check", "--grounding", evidence, "--answer", str(file), *options])


def test_a_byte_order_mark_moves_no_offset(evidence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(evidence, "\ufeff" + INVENTED, tmp_path, "--question", QUESTION, "--json")
    spans = json.loads(capsys.readouterr().out)["spans"]
    text = (tmp_path / "answer.txt").read_text(encoding="utf-8-sig")
    assert [text[span["start"] : span["end"]] for span in spans] == [span["text"] for span in spans] != []


def test_an_invented_number_is_exit_1_with_the_span_and_its_evidence(
    evidence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(evidence, INVENTED, tmp_path, "--question", QUESTION, "--json", "--explain") == 1
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert shown["state"] == "detected"
    span = next(span for span in shown["spans"] if span["start"] <= 17 and span["end"] >= 20)
    assert span["text"] == INVENTED[span["start"] : span["end"]]
    assert span["severity"] is not None
    assert span["explanation"]
    assert "412" in span["evidence"]["text"]
    assert span["evidence"]["path"] == evidence
    assert shown["coverage"] == {"answer": 1.0, "grounding": 1.0}
    assert len(shown["detector"]["weights_sha256"]) == 64


def test_a_grounded_answer_is_exit_0(
    evidence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(evidence, GROUNDED, tmp_path, "--question", QUESTION) == 0
    assert capsys.readouterr().out.startswith("not_detected, confidence ")


def test_a_creative_prompt_is_exit_4_and_only_with_the_gate(
    evidence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = ("--question", "Write a short poem about crates in the rain.")
    assert check(evidence, POEM, tmp_path, *question, "--gate", "--json") == 4
    assert json.loads(capsys.readouterr().out)["state"] == "not_applicable"
    assert check(evidence, POEM, tmp_path, *question) in (0, 1)


def test_standard_input_and_a_quiet_standard_error(evidence: str) -> None:
    command = [sys.executable, "-m", "vsr_hallucination", "check", "--grounding", evidence, "--answer", "-"]
    done = subprocess.run(command, input=INVENTED, capture_output=True, text=True, timeout=240)
    assert done.returncode == 1
    assert "[479]" in done.stdout
    assert done.stderr == ""
