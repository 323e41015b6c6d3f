"""Releasing answers unseen: curves by hand, and a guarantee that is checked by drawing a thousand calibration sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from vsr_hallucination.config import load
from vsr_hallucination.detection.spans import SpanLimits, mark
from vsr_hallucination.evaluation import selection
from vsr_hallucination.evaluation.statistics import wilson

SCORES = [0.05, 0.1, 0.1, 0.4, 0.6, 0.9]
FAULTY = [0, 0, 1, 0, 1, 1]


def test_release_by_hand() -> None:
    rows = selection.Releases(SCORES, FAULTY)
    found = [rows.at(t) for t in (0.05, 0.1, 0.2, 0.5, 0.9, 1.0)]
    assert [(r.released, r.faulty) for r in found] == [(0, 0), (1, 0), (3, 1), (4, 1), (5, 2), (6, 3)]
    assert (found[3].coverage, found[3].clean, found[3].risk) == (4 / 6, 3 / 4, 1 / 4)
    shown = found[3].to_json()
    assert shown["clean_interval"] == list(wilson(3, 4) or ())
    assert shown["coverage_interval"] == list(wilson(4, 6) or ())
    assert found[0].to_json()["clean_among_released"] is None


def test_the_curve_runs_to_full_coverage() -> None:
    points = selection.curve(SCORES, FAULTY)
    assert [point.released for point in points] == [1, 3, 4, 5, 6]
    assert points[-1].coverage == 1.0
    assert selection.curve([], []) == ()
    many = np.linspace(0, 1, 5000)
    assert len(selection.curve(many, many > 0.5)) <= 401


def test_aurc_by_hand() -> None:
    # released in order: 1 clean, then 2 (one faulty), clean, faulty, faulty: risks 0, 1/3, 1/3, 1/4, 2/5, 3/6
    wanted = (0 + 1 / 3 + 1 / 3 + 1 / 4 + 2 / 5 + 3 / 6) / 6
    assert selection.release_aurc(SCORES, FAULTY) == pytest.approx(wanted)


def test_operating_points_carry_the_names() -> None:
    points = selection.operating_points(SCORES, FAULTY)
    assert [(p.name, p.t, p.release.threshold) for p in points] == [
        ("drafting", 0.5, 0.5),
        ("assistive", 0.75, 0.25),
        ("self-serve", 0.9, 0.1),
        ("high-stakes", 0.95, 0.05),
    ]
    assert [p.release.released for p in points] == [4, 3, 1, 0]


@pytest.mark.parametrize(
    ("scores", "faulty"), [([1.1], [0]), ([-0.1], [0]), ([float("nan")], [0]), ([0.5], [2]), ([0.5], [0, 1])]
)
def test_what_is_no_score_is_refused(scores: list[float], faulty: list[int]) -> None:
    with pytest.raises(ValueError):
        selection.select(scores, faulty)


def test_the_grid_is_fixed_and_fine() -> None:
    grid = selection.grid()
    assert grid == selection.grid()
    assert list(grid) == sorted(set(grid))
    assert grid[0] < 0.001 and grid[-1] > 0.999 and len(grid) > 150


def drawn(dice: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores with density 3(1−s)²; an answer of score s is faulty with probability s/2: risk below λ is known."""
    scores = 1 - dice.random(n) ** (1 / 3)
    return scores, (dice.random(n) < scores / 2).astype(int)


def true_risk(threshold: float) -> float:
    s = np.linspace(0, threshold, 20_001)
    density = 3 * (1 - s) ** 2
    return float(np.trapezoid(density * s / 2, s) / np.trapezoid(density, s))


DRAWS = 1000
CONFIDENCE = 0.9  # one in ten may fail: a figure that 1,000 draws can tell from two in ten


def test_the_guarantee_holds_over_a_thousand_draws() -> None:
    dice = np.random.default_rng(20)
    risks = {t: true_risk(t) for t in selection.grid()}
    broken, chosen = 0, 0
    for _ in range(DRAWS):
        scores, faulty = drawn(dice, 600)
        found = selection.select(scores, faulty, risk=0.1, confidence=CONFIDENCE)
        chosen += found.threshold is not None
        broken += found.threshold is not None and risks[found.threshold] > 0.1
    # Were the true rate 10 %, more than this would be seen once in a thousand times.
    assert broken <= stats.binom.ppf(0.999, DRAWS, 1 - CONFIDENCE)
    assert chosen > 0.9 * DRAWS, "a guarantee by never choosing is none"


def test_the_guarantee_holds_in_the_worst_case() -> None:
    """The risk is just above what is allowed at every threshold: any choice at all breaks the promise."""
    dice = np.random.default_rng(21)
    chosen = 0
    for _ in range(DRAWS):
        scores, faulty = dice.random(400), (dice.random(400) < 0.1001).astype(int)
        chosen += selection.select(scores, faulty, risk=0.1, confidence=CONFIDENCE).threshold is not None
    assert chosen <= stats.binom.ppf(0.999, DRAWS, 1 - CONFIDENCE)


def test_a_choice_is_made_where_it_can_be() -> None:
    dice = np.random.default_rng(5)
    scores, faulty = drawn(dice, 20_000)
    found = selection.select(scores, faulty, risk=0.05, confidence=0.95)
    assert found.threshold is not None and found.release is not None
    assert true_risk(found.threshold) <= 0.05
    assert true_risk(found.threshold) > 0.04, "with many rows little is given away"
    assert (found.bound or 1) <= 0.05


@pytest.mark.parametrize("low", [0.17, 0.24, 0.35, 0.6])
def test_a_detector_that_tells_all_apart_gets_a_threshold_wherever_its_scores_lie(low: float) -> None:
    scores, faulty = [low] * 300 + [low + 0.06] * 100, [0] * 300 + [1] * 100
    found = selection.select(scores, faulty, risk=0.1, confidence=0.9)
    assert found.threshold is not None and low < found.threshold


@pytest.mark.parametrize(
    ("scores", "faulty"),
    [([], []), ([0.1] * 50, [0] * 50), ([0.2] * 500, [1] * 500), (np.linspace(0, 1, 500), np.arange(500) % 2)],
)
def test_no_threshold_reaches_it(scores: list[float], faulty: list[int]) -> None:
    found = selection.select(scores, faulty, risk=0.05, confidence=0.95)
    assert found.threshold is None
    assert selection.snippet(found).startswith("# no threshold reaches")
    assert found.needed == 125  # 0.95^125 < 0.05/30
    assert found.to_json()["threshold"] is None


def test_the_snippet_is_a_configuration_that_flags_what_it_says(tmp_path: Path) -> None:
    scores, faulty = drawn(np.random.default_rng(5), 5000)
    found = selection.select(scores, faulty, risk=0.05, confidence=0.95)
    text = selection.snippet(found)
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    detector = load(str(tmp_path / "config.yaml")).config.recipes[0].detector
    assert detector.threshold == detector.min_span_confidence == found.threshold
    limits = SpanLimits(detector.threshold or 0, detector.min_span_confidence or 0, detector.min_span_length or 0)
    for score in (detector.threshold or 0, 0.9):
        marked = mark("so it", [0, 3], [2, 5], np.array([score, 0.0]), limits)
        assert marked.spans, "at or above the threshold nothing is released"
    assert not mark("so it", [0, 3], [2, 5], np.array([(detector.threshold or 0) - 1e-6, 0.0]), limits).spans


def test_comparing_two_detectors_on_the_same_rows() -> None:
    dice = np.random.default_rng(3)
    labels = (dice.random(300) < 0.4).astype(int)
    good = np.clip(0.3 + 0.4 * labels + dice.normal(0, 0.15, 300), 0, 1)
    poor = np.clip(0.3 + 0.4 * labels + dice.normal(0, 0.5, 300), 0, 1)
    found = {d.figure: d for d in selection.compare(good, poor, labels, draws=200)}
    assert found["auroc"].apart and (found["auroc"].interval or (0, 0))[0] > 0
    assert found["aurc"].apart and (found["aurc"].interval or (0, 0))[1] < 0
    same = selection.compare(good, good, labels, draws=50)
    assert not any(d.apart for d in same)
    one_class = selection.compare([0.1, 0.2], [0.2, 0.1], [0, 0], draws=20)
    assert {d.figure: d.to_json()["difference"] for d in one_class}["auroc"] is None
