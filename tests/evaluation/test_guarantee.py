"""The guarantee over what the shipped detector really says: the threshold that is chosen does as it promised in the
gateway's own rule, and over a thousand calibration sets drawn from real predictions the promise is kept."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from support.eval_runs import strict
from vsr_hallucination.cli import main
from vsr_hallucination.evaluation import selection
from vsr_hallucination.evaluation.detector_metrics import Case
from vsr_hallucination.evaluation.detector_selection import arrays

GOODS = ("crates", "lamps", "engines", "carpets", "barrels")
MONTHS = ("March", "April", "May", "June", "July")
PLACES = ("Porva", "Lask", "Rhen", "Gol", "Tarn")
FAULTS = 4  # every fourth answer
DRAWS, RISK, CONFIDENCE = 1000, 0.1, 0.9


def row(n: int) -> dict[str, Any]:
    """An answer in three sentences; every fourth says one thing of the first that its evidence does not."""
    goods, month, place = GOODS[n % 5], MONTHS[n // 5 % 5], PLACES[n // 25 % 5]
    count, cost = 112 + 37 * n, 3 + n % 60
    context = (
        f"Depot K{n} in {place} shipped {count} {goods} in {month}. The freight cost {cost} thousand euros. "
        f"Its manager is Ida Berg, who came from the harbour office. It is closed on Sundays."
    )
    wrong = [f"{count + 61} {goods}", f"{count} {GOODS[(n + 1) % 5]}", f"{count} {goods} to Hamburg"][n // FAULTS % 3]
    said = wrong if n % FAULTS == 0 else f"{count} {goods}"
    answer = f"In {month}, depot K{n} shipped {said}. Freight was {cost} thousand euros. Ida Berg runs the depot."
    start = answer.index(said)
    labels = [{"start": start, "end": start + len(said)}] if n % FAULTS == 0 else []
    question = f"What did depot K{n} ship in {month}, and who runs it?"
    return {"id": str(n), "context": context, "question": question, "answer": answer, "labels": labels}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guarantee")


def measured(folder: Path, name: str, *words: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Metrics and predictions of one run over the rows."""
    data = folder / "rows.jsonl"
    if not data.exists():
        data.write_text("".join(json.dumps(row(n)) + "\n" for n in range(100)), "utf-8")
    out = folder / name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)
        assert main(["eval", "detector", "--data", str(data), "--out", str(out), *words]) == 0
    lines = (out / "predictions.jsonl").read_text("utf-8").splitlines()
    return strict(out / "metrics.json"), [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def shipped(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return measured(folder, "shipped", "--risk", "0.2", "--confidence", "0.8")


def test_the_chosen_threshold_releases_in_the_gateway_what_was_counted(
    shipped: tuple[dict[str, Any], list[dict[str, Any]]], folder: Path
) -> None:
    chosen = shipped[0]["selection"]["chosen"]
    assert chosen["threshold"] is not None, chosen
    _, again = measured(folder, "in force", "--config", str(folder / "shipped" / "threshold.yaml"))
    released = [one for one in again if one["state"] == "not_detected"]
    assert len(released) == chosen["release"]["released"]
    assert sum(one["faulty"] for one in released) == chosen["release"]["faulty_released"]
    assert {one["state"] for one in again} <= {"detected", "not_detected"}


def test_at_a_threshold_in_the_middle_the_state_is_what_the_deciding_part_says(
    shipped: tuple[dict[str, Any], list[dict[str, Any]]], folder: Path
) -> None:
    levels = sorted({one["deciding"] for one in shipped[1]})
    # In the widest gap of the middle: under load the same weights may run in another precision.
    middle = levels[len(levels) // 4 : -len(levels) // 4]
    low, high = max(pairwise(middle), key=lambda pair: pair[1] - pair[0])
    threshold = round((low + high) / 2, 6)
    choice = selection.Selected(0.5, 0.5, threshold, selection.Release(threshold, 1, 1, 0), 0.5, 1)
    (folder / "any.yaml").write_text(selection.snippet(choice), "utf-8")
    _, found = measured(folder, "any", "--config", str(folder / "any.yaml"))
    for before, one in zip(shipped[1], found, strict=True):
        assert (one["state"] == "detected") is (before["deciding"] >= threshold), one["id"]


def test_too_few_rows_and_it_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--risk", "0.05", "--confidence", "0.95", "--limit", "60")
    metrics, _ = measured(folder, "few", *words)
    assert metrics["selection"]["chosen"]["threshold"] is None
    assert "No threshold reaches this (at most 5.0% unsupported among the released, with 95% confidence)" in (
        capsys.readouterr().out
    )
    assert (folder / "few" / "threshold.yaml").read_text("utf-8").startswith("# no threshold reaches")


def test_over_a_thousand_draws_of_real_predictions_the_promise_is_kept(
    shipped: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    """The rows are the whole of the traffic; each calibration set is drawn from it, and its risk is then known."""
    scores = np.array([one["deciding"] for one in shipped[1]])
    faulty = np.array([int(one["faulty"]) for one in shipped[1]])
    traffic = selection.Releases(scores, faulty)
    dice = np.random.default_rng(7)
    broken = chosen = 0
    for _ in range(DRAWS):
        drawn = dice.integers(0, len(scores), 400)
        found = selection.select(scores[drawn], faulty[drawn], risk=RISK, confidence=CONFIDENCE)
        if found.threshold is not None:
            chosen += 1
            broken += (traffic.at(found.threshold).risk or 0.0) > RISK
    assert broken <= stats.binom.ppf(0.999, DRAWS, 1 - CONFIDENCE)
    assert chosen > DRAWS // 2, "a guarantee by never choosing is none"


def test_slight_doubts_that_add_up_decide_nothing() -> None:
    cases = [Case(True, False, 0.9, deciding=0.3), Case(False, False, 0.4), Case(None, False, 0.2, deciding=0.1)]
    assert arrays(cases) == ([0.3, 0.4], [1, 0])
