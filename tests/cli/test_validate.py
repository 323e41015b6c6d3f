from __future__ import annotations

import json
from pathlib import Path

import pytest

from vsr_hallucination.cli import main
from vsr_hallucination.detection.loading import ModelError, locate

PLUGIN = "{type: hallucination, configuration: {enabled: true}}"
RULE = "signals: {hallucination: [{name: claims}]}"
GOOD = f"version: v0.3\nrouting: {{{RULE}, decisions: [{{name: all, plugins: [{PLUGIN}]}}]}}\n"


def run(tmp_path: Path, text: str, *options: str) -> int:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    return main(["validate", str(file), *options])


def test_a_good_file_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, GOOD, "--strict") == 0
    assert capsys.readouterr().out.endswith("config.yaml: valid\n")


def test_warnings_count_only_where_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD + "routng: {}\n"
    assert run(tmp_path, text) == 0
    assert run(tmp_path, text, "--strict") == 1
    assert "routng" in capsys.readouterr().out


@pytest.mark.parametrize("slip", [("decisions:", "decision:", 1), ("configuration:", "config:", 2)])
def test_a_slip_that_leaves_nothing_enforced_is_said(
    tmp_path: Path, slip: tuple[str, str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong, code = slip
    assert run(tmp_path, GOOD.replace(right, wrong), "--strict") == code
    shown = capsys.readouterr().out
    assert f"unknown key `{wrong[:-1]}`; did you mean `{right[:-1]}`?" in shown
    assert code == 2 or "rule `claims` only observes" in shown


def test_errors_are_all_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "routing: {signals: {hallucination: [{name: a}, {name: a, use: 1}]}}\n") == 2
    shown = capsys.readouterr().out
    assert shown.count("error: ") >= 2
    assert "not usable" in shown


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "filter: {nonsense: 1}\n", "--json") == 2
    shown = json.loads(capsys.readouterr().out)
    assert shown["valid"] is False
    problem = next(each for each in shown["problems"] if each["severity"] == "error")
    assert set(problem) == {"severity", "file", "line", "column", "path", "message", "remedy"}
    assert (problem["line"], problem["path"]) == (1, "filter.nonsense")


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(tmp_path / "absent.yaml")]) == 2
    assert "absent.yaml" in capsys.readouterr().out


def test_serve_refuses_a_bad_file_before_it_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("filter: {nonsense: 1}\n")
    assert main(["serve", "--config", str(file)]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_envoy_config_prints_a_bootstrap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(GOOD + "filter: {envoy: {upstream: 'llm.example:8000'}}\n")
    assert main(["envoy-config", "--config", str(file)]) == 0
    assert "llm.example" in capsys.readouterr().out


def test_a_model_directory_that_is_not_here_is_noted_and_no_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    models = (
        f"hallucination_model: {{model_id: /nowhere/detector}}, fact_check_model: {{model_id: {here}}}, "
        "nli_model: {model_id: someone/on-a-hub}"
    )
    text = (
        f"version: v0.3\nrouting: {{signals: {{hallucination: [{{name: claims, use_nli: true}}]}}, "
        f"decisions: [{{name: all, plugins: [{PLUGIN}]}}]}}\n"
        f"global: {{model_catalog: {{modules: {{hallucination_mitigation: {{{models}}}}}}}}}\n"
    )
    assert run(tmp_path, text, "--strict") == 0
    shown = capsys.readouterr().out
    assert "note: detector /nowhere/detector: no such directory here" in shown
    assert shown.count("note: ") == 1
    assert run(tmp_path, text, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["models_not_here"] == [{"kind": "detector", "model": "/nowhere/detector"}]


@pytest.mark.parametrize("model", ["~nobody-by-this-name/model", "/" + "a" * 300, "./" + "b/" * 4000])
def test_a_model_directory_that_cannot_be_looked_at_is_not_here(
    tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    detector = f"{{detector: {{model_id: {model}}}}}"
    text = GOOD + f"global: {{model_catalog: {{modules: {{hallucination_mitigation: {detector}}}}}}}\n"
    assert run(tmp_path, text) == 0
    assert f"note: detector {model}: no such directory here" in capsys.readouterr().out
    with pytest.raises(ModelError, match="no such directory"):
        locate(model, "detector")
