"""``eval detector|explainer|fact-check`` from the command line, over real small models and the word counter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import tiny_models
from vsr_hallucination.cli import main
from vsr_hallucination.evaluation import detector_plots

CONTEXT = "In May depot K7 shipped 412 crates at a cost of 9,500 euros."
TABLE = '{"depot": "K7", "month": "May", "crates": 412}'
GOOD = "Depot K7 shipped 412 crates in May."
BAD = "Depot K7 shipped 479 crates in May."
QUESTION = "How many crates did depot K7 ship in May?"


def row(row_id: str, answer: str, **more: Any) -> dict[str, Any]:
    return {
        "id": row_id, "source": "made", "lang": "en", "task": "span", "context": CONTEXT, "question": QUESTION,
        "answer": answer, "labels": [],
    } | more  # fmt: skip


ROWS = [
    row("good", GOOD),
    row("bad", BAD, labels=[{"start": 17, "end": 20, "type": "number"}]),
    row("claim", BAD, task="claim", label="contradicted", labels=None, source="other"),
    row("table", GOOD, context=TABLE),
    row("no evidence", GOOD, context="  "),
    row("no label", BAD, task="claim", labels=None),
    row("prompt", "", task="prompt", label="needs_fact_check"),
]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    folder: Path
    stdout: str
    stderr: str

    @property
    def metrics(self) -> dict[str, Any]:
        return json.loads((self.folder / "metrics.json").read_text(), parse_constant=pytest.fail)

    @property
    def predictions(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "predictions.jsonl").read_text().splitlines()]

    @property
    def report(self) -> str:
        return (self.folder / "report.md").read_text()


Measure = Callable[..., Ran]


@pytest.fixture
def measure(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Measure:
    def run(what: str, rows: list[dict[str, Any]], *more: str, plot: bool = False) -> Ran:
        if not plot:
            monkeypatch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)
        data, out = tmp_path / "rows.jsonl", tmp_path / "out"
        data.write_text("\n".join(json.dumps(one) for one in rows), "utf-8")
        code = main(["eval", what, "--data", str(data), "--out", str(out), *more])
        return Ran(code, out, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def detector_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.novelty_detector(tmp_path_factory.mktemp("m") / "d", thresholds={"threshold": 0.7})


def test_a_model_directory_judges_and_the_word_counter_stands_beside_it(measure: Measure, detector_dir: Path) -> None:
    ran = measure("detector", ROWS, "--backend", str(detector_dir), plot=True)
    assert ran.code == 0
    states = {line["id"]: line["state"] for line in ran.predictions}
    assert list(states) == ["good", "bad", "claim", "table", "no evidence", "no label"]  # in the order of the rows
    assert (states["good"], states["bad"], states["claim"]) == ("not_detected", "detected", "detected")
    assert states["no evidence"] == "unavailable"
    bad = ran.predictions[1]
    assert [(span["start"], span["end"], span["text"]) for span in bad["spans"]] == [(17, 20, "479")]
    assert bad["spans"][0]["evidence"]["path"] == "$.context"
    assert 0.9 < bad["score"] <= 1
    found = ran.metrics
    assert (found["n"], found["faulty"], found["clean"], found["unlabelled"]) == (6, 2, 3, 1)
    assert found["unavailable"]["by_reason"] == {"hallucination_context_unavailable": 1}
    assert found["example"]["auroc"] == 1.0 and found["example"]["recall"] == 1.0
    assert found["span"]["recall"] == 1.0
    assert found["run"]["thresholds"]["threshold"] == 0.7  # of the directory
    assert found["run"]["notes"] == ["1 rows of other tasks were left out."]
    assert found["baselines"]["lexical_count"]["auroc"] is not None
    assert list(found["by_source"]) == ["made", "other"]
    assert "word counter" in ran.report and "answers were not checked" in ran.report
    for picture in (detector_plots.PRECISION_RECALL, detector_plots.RELIABILITY, detector_plots.SCORES):
        assert (ran.folder / picture).read_bytes().startswith(b"\x89PNG")
        assert f"({picture})" in ran.report
    assert "6/6" in ran.stderr  # the progress bar


def test_spans_are_those_of_check_json(
    measure: Measure, detector_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "global: {model_catalog: {modules: {hallucination_mitigation: {detector: {model_id: "
        f"{json.dumps(str(detector_dir))}, threshold: 0.9}}}}}}}}}}\n"
    )
    ran = measure("detector", ROWS[1:2], "--backend", str(config))
    (tmp_path / "evidence").write_text(CONTEXT)
    (tmp_path / "answer").write_text(BAD)
    files = ["--grounding", str(tmp_path / "evidence"), "--answer", str(tmp_path / "answer")]
    assert main(["check", *files, "--json", "--question", QUESTION, "--config", str(config)]) == 1
    said = json.loads(capsys.readouterr().out)
    for span in said["spans"]:
        span["evidence"]["path"] = "$.context"
    assert ran.predictions[0]["spans"] == said["spans"]
    assert (ran.predictions[0]["state"], ran.predictions[0]["score"]) == (said["state"], said["unsupported_score"])
    assert ran.metrics["run"]["thresholds"]["threshold"] == 0.9  # of the configuration


def test_the_word_counter_as_the_detector_is_the_bare_baseline(measure: Measure) -> None:
    ran = measure("detector", ROWS, "--backend", "lexical")
    found = ran.metrics
    assert found["run"]["value_check"] is False and found["run"]["backend"] == "lexical"
    assert found["baselines"]["lexical_count"]["auroc"] == found["example"]["auroc"]
    assert found["baselines"]["lexical_share"]["auroc"] is not None
    assert ran.predictions[1]["score"] == 1 / 4.5  # one new word: 479
    assert ran.predictions[3]["score"] == 1 / 4.5  # against the table: "shipped"
    assert "No plots" in ran.report
    assert "The detector under test is the word counter itself." in ran.report


def test_limit_pairs_and_a_warning_where_length_tells(measure: Measure) -> None:
    rows = []
    for n in range(6):
        long = BAD if n % 2 else BAD + " It was sold to a town far away in the north."
        rows.append(row(f"{n}-r", GOOD, question=f"q{n}"))
        rows.append(row(f"{n}-h", long, task="claim", label="unsupported", labels=None, question=f"q{n}"))
    ran = measure("detector", rows, "--backend", "lexical")
    assert "length alone reaches an AUROC of 0.750" in ran.report
    ran = measure("detector", rows, "--backend", "lexical", "--pairs-within", "0.2", "--limit", "4")
    assert [line["id"] for line in ran.predictions] == ["1-r", "1-h", "3-r", "3-h"]
    assert ran.metrics["baselines"]["answer_length"]["auroc"] == 0.5
    assert "6 of 12 rows form pairs" in ran.report and "Only the first 4 of 6 rows" in ran.report


def test_a_seed_draws_the_rows_of_limit_and_keeps_their_order(measure: Measure) -> None:
    rows = [row(f"{n:02}", GOOD if n < 20 else BAD) for n in range(40)]
    drawn = measure("detector", rows, "--backend", "lexical", "--limit", "10", "--seed", "3")
    names = [line["id"] for line in drawn.predictions]
    assert names == sorted(names) != [f"{n:02}" for n in range(10)] and len(names) == 10
    assert drawn.metrics["run"]["seed"] == 3 and "10 of 40 rows, drawn by seed 3." in drawn.report
    again = measure("detector", rows, "--backend", "lexical", "--limit", "10", "--seed", "3")
    assert [line["id"] for line in again.predictions] == names
    other = measure("detector", rows, "--backend", "lexical", "--limit", "10", "--seed", "4")
    assert [line["id"] for line in other.predictions] != names


def test_groups_show_the_word_counter_beside_the_detector(measure: Measure) -> None:
    ran = measure("detector", ROWS, "--backend", "lexical")
    for group in ran.metrics["by_source"].values():
        assert group["lexical_auroc"] == group["auroc"]
    assert "| word counter's |" in ran.report


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS[1:2], ROWS[4:5], ROWS[5:6]])
def test_e7_a_single_row_of_any_kind_gives_strict_json_and_a_report(measure: Measure, rows: Any) -> None:
    ran = measure("detector", rows, "--backend", "lexical", plot=True)
    assert ran.code == 0 and ran.metrics["n"] == 1
    assert ran.metrics["example"]["auroc"] is None
    assert ran.report.startswith("# lexical on rows.jsonl")


def test_e1_a_check_that_fails_is_counted_apart_and_shows_in_the_exit_code(measure: Measure) -> None:
    rows = [*ROWS[:2], row("endless", "word " * 200_000)]
    ran = measure("detector", rows, "--backend", "lexical", "--timeout", "0.02")
    assert ran.code == 3
    assert ran.predictions[2]["state"] == "unavailable" and ran.predictions[2]["score"] is None
    assert ran.metrics["unavailable"]["by_reason"].get("timeout", 0) >= 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--backend", "/nowhere/at/all"], "no such file or directory"),
        (["--recipe", "other"], "no recipe 'other'"),
        (["--backend", "lexical", "--pairs-within", "0.2"], "no rows with an answer"),
    ],
)
def test_usage_errors_name_the_remedy(measure: Measure, more: list[str], said: str) -> None:
    ran = measure("detector", ROWS[:1], *more)
    assert ran.code == 2
    assert said in ran.stderr and len(ran.stderr.splitlines()) == 1


def test_a_detector_that_does_not_answer_ends_the_run_before_it_begins(measure: Measure, tmp_path: Path) -> None:
    config = tmp_path / "endpoint.yaml"
    config.write_text(
        "global: {model_catalog: {modules: {hallucination_mitigation: {detector: "
        "{backend: endpoint, model_id: m, endpoint: 'http://127.0.0.1:9/v1'}}}}}\n"
    )
    ran = measure("detector", ROWS[:1], "--backend", str(config))
    assert ran.code == 2 and "does not answer a small check" in ran.stderr
    assert not ran.folder.joinpath("metrics.json").exists()


def test_the_explainer_is_measured_with_its_windows_and_rules(
    measure: Measure, tmp_path_factory: pytest.TempPathFactory
) -> None:
    labels = ["contradiction", "entailment", "neutral"]
    made = tiny_models.random_classifier(tmp_path_factory.mktemp("m") / "e", labels, "explainer")
    rows = [
        row(f"{n}", answer, task="nli", labels=None, label=label, source=f"s{n % 2}")
        for n, (answer, label) in enumerate(
            [(GOOD, "entailment"), (BAD, "contradiction"), ("The town is north.", "neutral")] * 2
        )
    ]
    ran = measure("explainer", [*rows, ROWS[0]], "--backend", str(made), plot=True)
    assert ran.code == 0
    said = [line["label"] for line in ran.predictions]
    assert len(said) == 6 and set(said) <= set(labels)
    found = ran.metrics
    right = sum(line["label"] == line["gold"] for line in ran.predictions)
    assert found["accuracy"] == right / 6
    assert sum(count for counts in found["confusion"].values() for count in counts.values()) == 6
    assert set(found["by_source"]) == {"s0", "s1"}
    assert "## Confusion" in ran.report and "1 rows without premise" in ran.report
    assert (ran.folder / detector_plots.RELIABILITY).exists()


def test_the_classifier_is_measured_without_noisy_rows(
    measure: Measure, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = tiny_models.word_gate(tmp_path_factory.mktemp("m") / "g", "how")
    prompts = [
        ("how", "needs_fact_check", {}),
        ("how many crates", "needs_fact_check", {}),  # scored above the rest, below the threshold
        ("boats", "no_fact_check", {}),
        ("weather", "no_fact_check", {"noisy": False}),
        ("how", "no_fact_check", {"noisy": True}),
    ]
    rows = [
        row(f"{n}", "", question=text, task="prompt", label=label, labels=None, meta=meta)
        for n, (text, label, meta) in enumerate(prompts)
    ]
    ran = measure("fact-check", [*rows, ROWS[0]], "--backend", str(made))
    assert ran.code == 0
    assert [line["needs_fact_check"] for line in ran.predictions] == [True, False, False, False]
    found = ran.metrics
    assert (found["sensitivity"], found["specificity"], found["balanced_accuracy"]) == (0.5, 1.0, 0.75)
    assert found["auroc"] == 1.0 and found["precision"] == 1.0
    assert "1 rows marked noisy were dropped" in ran.report


def test_the_word_counter_is_no_explainer_and_no_classifier(measure: Measure) -> None:
    for what in ("explainer", "fact-check"):
        ran = measure(what, ROWS, "--backend", "lexical")
        assert ran.code == 2 and "is a detector" in ran.stderr


def test_help_of_each_measurement_needs_nothing_heavy() -> None:
    code = (
        "import sys\nfrom vsr_hallucination.cli import main\n"
        "try:\n    main(['eval', sys.argv[1], '--help'])\nexcept SystemExit:\n    pass\n"
        "print('HEAVY', [n for n in ('torch', 'numpy', 'tqdm', 'yaml', 'httpx') if n in sys.modules])"
    )
    for what in ("detector", "explainer", "fact-check"):
        shown = subprocess.run(
            [sys.executable, "-c", code, what], capture_output=True, text=True, timeout=60, env=dict(os.environ)
        )
        assert shown.stdout.startswith(f"usage: vsr-hallucination eval {what}")
        assert shown.stdout.splitlines()[-1] == "HEAVY []"
