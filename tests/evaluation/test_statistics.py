"""Every figure against hand-worked numbers and an independent library (scipy, scikit-learn)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as oracle

from vsr_hallucination.evaluation import statistics as own

COUNTS = [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (2, 4), (47, 1000), (999, 1000), (1234, 20000)]


@pytest.mark.parametrize(("k", "n"), COUNTS)
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_intervals_against_scipy(k: int, n: int, confidence: float) -> None:
    test = stats.binomtest(k, n)
    for found, method in (
        (own.wilson(k, n, confidence), "wilson"),
        (own.clopper_pearson(k, n, confidence), "exact"),
    ):
        wanted = test.proportion_ci(confidence, method)
        assert found == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert own.upper_bound(k, n, confidence) == pytest.approx(
        1.0 if k == n else stats.beta.ppf(confidence, k + 1, n - k), abs=1e-9
    )
    assert own.lower_bound(k, n, confidence) == pytest.approx(
        0.0 if k == 0 else stats.beta.ppf(1 - confidence, k, n - k + 1), abs=1e-9
    )


def test_wilson_by_hand() -> None:
    # 8 of 10, z = 1.96: centre (0.8 + 0.19208)/1.38416, half 1.96·sqrt(0.016 + 0.009604)/1.38416
    low, high = own.wilson(8, 10) or (0.0, 0.0)
    assert (low, high) == pytest.approx((0.49016, 0.94331), abs=1e-4)


def test_no_trials_has_no_interval() -> None:
    assert own.wilson(0, 0) is None
    assert own.clopper_pearson(0, 0) is None
    assert own.newcombe((0, 0), (1, 2)) is None
    assert own.upper_bound(0, 0) == 1.0
    assert own.lower_bound(0, 0) == 0.0


@pytest.mark.parametrize(
    ("k", "n", "p"), [(3, 10, 0.2), (0, 5, 0.5), (4, 5, 0.5), (470, 1000, 0.5), (9990, 10000, 0.999)]
)
def test_binomial_cdf_against_scipy(k: int, n: int, p: float) -> None:
    assert own.binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9)


def test_binomial_cdf_at_its_ends() -> None:
    assert own.binomial_cdf(-1, 5, 0.5) == 0.0
    assert own.binomial_cdf(5, 5, 0.9) == 1.0
    assert own.binomial_cdf(1, 5, 0.0) == 1.0
    assert own.binomial_cdf(1, 5, 1.0) == 0.0


def test_newcombe_published_example() -> None:
    # Newcombe 1998, table II, example (a): 56/70 − 48/80, method 10: 0.0524 to 0.3339
    assert own.newcombe((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_sign_test_against_scipy() -> None:
    for more, fewer in ((0, 0), (1, 0), (5, 1), (8, 2), (3, 9)):
        wanted = stats.binomtest(more, more + fewer, alternative="greater").pvalue if more + fewer else 1.0
        assert own.sign_test(more, fewer) == pytest.approx(wanted)


def scored(n: int, ties: bool, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    dice = np.random.default_rng(seed)
    labels = (dice.random(n) < 0.3).astype(int)
    scores = np.clip(dice.normal(0.4 + 0.2 * labels, 0.2), 0, 1)
    return (np.round(scores, 1) if ties else scores), labels


@pytest.mark.parametrize("ties", [False, True])
def test_ranking_against_scikit_learn(ties: bool) -> None:
    scores, labels = scored(500, ties)
    assert own.auroc(scores, labels) == pytest.approx(oracle.roc_auc_score(labels, scores))
    assert own.average_precision(scores, labels) == pytest.approx(
        oracle.average_precision_score(labels, scores)
    )
    precision, recall, _ = oracle.precision_recall_curve(labels, scores)
    assert own.auprc(scores, labels) == pytest.approx(oracle.auc(recall, precision))


def test_ranking_by_hand() -> None:
    # positives 0.9 and 0.4, negatives 0.8 and 0.1: three of four pairs in order; AP = 1/2·1 + 1/2·2/3
    scores, labels = [0.9, 0.8, 0.4, 0.1], [1, 0, 1, 0]
    assert own.auroc(scores, labels) == 0.75
    assert own.average_precision(scores, labels) == pytest.approx(5 / 6)


def test_one_class_is_undefined_not_nan() -> None:
    assert own.auroc([0.1, 0.2], [0, 0]) is None
    assert own.auroc([], []) is None
    assert own.average_precision([0.1], [0]) is None
    assert own.auprc([0.1], [0]) is None
    assert own.calibration_error([], []) is None
    assert own.brier([], []) is None
    assert own.aurc([], []) is None
    assert own.bootstrap([], [], own.auroc) is None
    assert own.bootstrap([0.1, 0.2], [0, 0], own.auroc, draws=50) is None


def test_calibration_by_hand() -> None:
    # two bins: (0, 0.5] holds 0.2, 0.4 with one positive: |0.3 − 0.5|; (0.5, 1] holds 0.9, 0.7: |0.8 − 1|
    assert own.calibration_error([0.2, 0.4, 0.9, 0.7], [1, 0, 1, 1], bins=2) == pytest.approx(0.2)
    assert own.calibration_error([0.0, 1.0], [0, 1]) == 0.0
    scores, labels = scored(300, False)
    assert own.brier(scores, labels) == pytest.approx(oracle.brier_score_loss(labels, scores))


def test_risk_coverage_by_hand() -> None:
    # kept in order 0.9 (right), 0.8 (wrong), 0.7 and 0.7 (right, wrong)
    curve = own.risk_coverage([0.7, 0.9, 0.7, 0.8], [0, 0, 1, 1])
    assert curve.confidences == (0.9, 0.8, 0.7)
    assert curve.coverage == (0.25, 0.5, 1.0)
    assert curve.risk == (0.0, 0.5, 0.5)
    assert own.aurc([0.7, 0.9, 0.7, 0.8], [0, 0, 1, 1]) == pytest.approx(0.25 * 0 + 0.25 * 0.5 + 0.5 * 0.5)


def test_bootstrap_covers_what_it_should() -> None:
    scores, labels = scored(400, False)
    low, high = own.bootstrap(scores, labels, own.auroc, draws=300) or (0, 0)
    assert low < (own.auroc(scores, labels) or 0) < high
    assert own.bootstrap(scores, labels, own.auroc, draws=50) == own.bootstrap(
        scores, labels, own.auroc, draws=50
    )


def test_paired_bootstrap_sees_what_unpaired_cannot() -> None:
    scores, labels = scored(400, False)
    worse = np.where(np.arange(400) % 3 == 0, 1 - scores, scores)
    low, high = own.paired_bootstrap(scores, worse, labels, own.auroc, draws=300) or (0, 0)
    assert 0 < low < high
    same = own.paired_bootstrap(scores, scores, labels, own.auroc, draws=50)
    assert same == (0.0, 0.0)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [([math.nan], [1]), ([math.inf], [0]), ([0.1], [2]), ([0.1, 0.2], [1]), ([[0.1]], [[1]])],
)
def test_what_is_no_score_is_refused(scores: list[float], labels: list[int]) -> None:
    with pytest.raises(ValueError):
        own.auroc(scores, labels)


def test_what_is_no_share_is_refused() -> None:
    for wrong in (0.0, 1.0, -1.0):
        with pytest.raises(ValueError):
            own.wilson(1, 2, wrong)
    with pytest.raises(ValueError):
        own.wilson(3, 2)
    with pytest.raises(ValueError):
        own.reliability([1.2], [1])
