"""``check``: exit codes, keys and words. What needs no model runs here without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vsr_hallucination.cli import main
from vsr_hallucination.cli.checking import EXIT_CODES, to_json
from vsr_hallucination.cli.evidence import grounding_of
from vsr_hallucination.cli.parser import make_parser
from vsr_hallucination.detection.types import (
    Coverage,
    DetectorIdentity,
    EvidencePointer,
    GateResult,
    NliLabel,
    Severity,
    Span,
)
from vsr_hallucination.observation import ChoiceFacts, Finding, Observation, State, gate_row, observe

KEYS = ["state", "confidence", "unsupported_score", "gate_score", "spans", "coverage", "error", "reason", "detector"]
SPAN_KEYS = [
    "start",
    "end",
    "text",
    "confidence",
    "nli_label",
    "nli_confidence",
    "severity",
    "explanation",
    "evidence",
]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {"evidence": "crates: 412", "answer": "412 crates.", "blank": " \n", "json": '{"crates": 412}'}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    return {name: str(tmp_path / name) for name in (*texts, "latin", "absent")} | {"folder": str(tmp_path)}


def test_exit_codes() -> None:
    codes = {"not_detected": 0, "detected": 1, "unavailable": 3, "not_applicable": 4}
    assert {str(state): code for state, code in EXIT_CODES.items()} == codes


def test_json_keys_are_exactly_the_documented_ones() -> None:
    span = Span(
        8,
        11,
        "479",
        0.97,
        NliLabel.CONTRADICTION,
        0.9,
        Severity.HIGH,
        "412 is said",
        EvidencePointer("e", 8, 11, "412"),
    )
    finding = Finding(
        0, State.DETECTED, confidence=0.97, unsupported_score=0.98, spans=(span,), coverage=Coverage(1.0, 0.5)
    )
    seen = Observation(
        "check",
        State.DETECTED,
        confidence=0.97,
        unsupported_score=0.98,
        coverage=Coverage(1.0, 0.5),
        detector=DetectorIdentity("embedded", "token_classification", "ab", {"threshold": 0.8}),
        findings=(finding,),
    )
    shown = to_json(seen)
    assert list(shown) == KEYS
    assert [list(each) for each in shown["spans"]] == [SPAN_KEYS]
    assert shown["coverage"] == {"answer": 1.0, "grounding": 0.5}
    assert shown["spans"][0]["evidence"] == {"path": "e", "start": 8, "end": 11, "text": "412"}
    assert shown["spans"][0]["nli_label"] == "contradiction"
    assert shown["detector"]["weights_sha256"] == "ab"


def test_no_evidence_is_unavailable(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--grounding", files["blank"], "--answer", files["answer"], "--json"]) == 3
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == KEYS
    assert (shown["state"], shown["error"]) == ("unavailable", "hallucination_context_unavailable")
    assert shown["coverage"] == {"answer": None, "grounding": None}


def test_no_answer_is_unavailable(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--grounding", files["evidence"], "--answer", files["blank"], "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["reason"] == "no_text"


def test_a_model_that_is_not_there_is_unavailable_and_named(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "version: v0.3\n"
        "routing: {signals: {hallucination: [{name: claims}]}}\n"
        "global: {model_catalog: {modules: {hallucination_mitigation: {detector: {model_id: /nonexistent/d}}}}}\n"
    )
    arguments = [
        "check",
        "--grounding",
        files["evidence"],
        "--answer",
        files["answer"],
        "--config",
        str(config),
    ]
    assert main([*arguments, "--json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out)["reason"] == "not_provisioned"
    assert "/nonexistent/d" in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("grounding", "answer", "words"),
    [
        ("absent", "answer", "no such file"),
        ("evidence", "absent", "no such file"),
        ("folder", "answer", "is a directory"),
        ("latin", "answer", "not UTF-8"),
        ("evidence", "latin", "not UTF-8"),
    ],
)
def test_files_that_cannot_be_read_are_exit_2(
    files: dict[str, str], grounding: str, answer: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--grounding", files[grounding], "--answer", files[answer]]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("repeated", [False, True])
def test_evidence_may_be_several_files(files: dict[str, str], repeated: bool) -> None:
    """As an unquoted glob gives them, or each with an option of its own."""
    given = [files["evidence"], files["json"]]
    words = ["--grounding", given[0], "--grounding", given[1]] if repeated else ["--grounding", *given]
    args = make_parser().parse_args(["check", *words, "--answer", files["answer"]])
    assert args.grounding == given and args.answer == files["answer"]


def test_json_tells_the_gates_score() -> None:
    gate = GateResult(False, 0.125)
    settled = gate_row("check", gate)
    assert settled is not None and to_json(settled)["gate_score"] == 0.125
    asked = observe("check", use_nli=False, gate=GateResult(True, 0.75), grounded=False, choices=[ChoiceFacts(0, "a")])
    assert to_json(asked)["gate_score"] == 0.75


def test_warnings_of_a_configuration_are_told_beside_the_result(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("filters: {log_level: debug}\nglobal: {}\n")
    check = ["check", "--grounding", files["blank"], "--answer", files["answer"], "--json", "--config", str(config)]
    for words, code in ((check, 3), (["envoy-config", "--config", str(config)], 0)):
        assert main(words) == code
        captured = capsys.readouterr()
        assert f"warning: {config}:1:1: filters: unknown key `filters`; did you mean `filter`?" in captured.err
        assert "warning" not in captured.out
    config.write_text("filters: {}\nfilter: {nonsense: 1}\n")
    assert main(["envoy-config", "--config", str(config)]) == 2
    assert "did you mean `filter`?" in (shown := capsys.readouterr().err) and "nonsense" in shown


def test_standard_input_once_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--grounding", "-", "--answer", "-"]) == 2
    assert "only one '-'" in capsys.readouterr().err


def test_the_gate_needs_a_question(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--grounding", files["evidence"], "--answer", files["answer"], "--gate"]) == 2
    assert "--question" in capsys.readouterr().err


def test_an_unknown_recipe_names_those_there_are(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("version: v0.3\nrouting: {signals: {hallucination: [{name: claims}]}}\n")
    arguments = [
        "check",
        "--grounding",
        files["evidence"],
        "--answer",
        files["answer"],
        "--config",
        str(config),
    ]
    assert main([*arguments, "--recipe", "nope"]) == 2
    assert "there are: default" in capsys.readouterr().err


def test_evidence_is_read_as_a_tool_result_is() -> None:
    grounding = grounding_of([("a.txt", "crates: 412"), ("b.json", '{"cost_eur": 9500}'), ("c", "(no output)")])
    assert [passage.path for passage in grounding.passages] == ["a.txt", "b.json"]
    assert "cost_eur: 9500" in grounding.passages[1].text
