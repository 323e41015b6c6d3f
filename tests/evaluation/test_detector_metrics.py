"""Every figure of ``eval detector`` against a table worked by hand, and against scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import metrics as oracle

from vsr_hallucination.evaluation.detector_metrics import (
    ANSWER_LENGTHS,
    Case,
    by_kind,
    cut_for_false_alarms,
    example,
    latency,
    length_bin,
    metrics,
    recall_at_false_alarms,
    span_figures,
)

# score, faulty, flagged
TABLE = [(0.9, True, True), (0.8, False, True), (0.7, True, True), (0.6, True, False), (0.2, False, False)]
CASES = [Case(gold, flagged, score) for score, gold, flagged in TABLE]


def test_a_table_worked_by_hand() -> None:
    found = example(CASES)
    assert (found["n"], found["faulty"], found["clean"]) == (5, 3, 2)
    counts = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    assert [found[key] for key in counts] == [2, 1, 1, 1]
    assert found["precision"] == found["recall"] == found["f1"] == pytest.approx(2 / 3)
    assert found["false_alarm_rate"] == 0.5
    # Pairs of a faulty and a clean score: 0.9 beats both, 0.7 and 0.6 beat 0.2 only: 4 of 6.
    assert found["auroc"] == pytest.approx(4 / 6)
    # Precision at each recall step: 1/1, 2/3, 3/4.
    assert found["average_precision"] == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    # One row a bin: |score − label|.
    assert found["calibration_error"] == pytest.approx((0.1 + 0.8 + 0.3 + 0.4 + 0.2) / 5)
    assert found["brier"] == pytest.approx((0.01 + 0.64 + 0.09 + 0.16 + 0.04) / 5)


def test_recall_at_a_share_of_false_alarms_by_hand() -> None:
    scores, gold = [0.9, 0.8, 0.7, 0.6, 0.2], [1, 0, 1, 1, 0]
    assert recall_at_false_alarms(scores, gold, 0.10) == pytest.approx(1 / 3)  # only the cut at 0.9
    assert recall_at_false_alarms(scores, gold, 0.50) == 1.0  # the cut at 0.6 flags one clean answer of two
    assert cut_for_false_alarms(scores, gold, 0.50) == 0.6
    # Ties cannot be cut apart: a clean answer shares the highest score.
    assert recall_at_false_alarms([0.9, 0.9, 0.1], [1, 0, 0], 0.10) == 0.0
    assert recall_at_false_alarms([0.9, 0.1], [1, 1], 0.10) is None
    assert recall_at_false_alarms([0.9, 0.1], [0, 0], 0.10) is None
    assert recall_at_false_alarms([], [], 0.10) is None


def test_figures_agree_with_scikit_learn() -> None:
    generator = np.random.default_rng(7)
    gold = generator.random(300) < 0.3
    scores = np.round(np.clip(generator.normal(0.4 + 0.2 * gold, 0.2), 0, 1), 2)  # with ties
    flagged = scores >= 0.55
    found = example([Case(bool(g), bool(f), float(s)) for g, f, s in zip(gold, flagged, scores, strict=True)])
    assert found["precision"] == pytest.approx(oracle.precision_score(gold, flagged))
    assert found["recall"] == pytest.approx(oracle.recall_score(gold, flagged))
    assert found["f1"] == pytest.approx(oracle.f1_score(gold, flagged))
    assert found["auroc"] == pytest.approx(oracle.roc_auc_score(gold, scores))
    assert found["average_precision"] == pytest.approx(oracle.average_precision_score(gold, scores))
    assert found["brier"] == pytest.approx(oracle.brier_score_loss(gold, scores))
    false_alarms, recall, _ = oracle.roc_curve(gold, scores, drop_intermediate=False)
    for limit, value in found["recall_at_false_alarms"].items():
        assert value == pytest.approx(recall[false_alarms <= float(limit)].max())


def test_span_figures_by_hand_and_against_scikit_learn() -> None:
    cases = [
        # 6 characters reported, 5 labelled, 3 common.
        Case(True, True, 0.9, spans=((2, 6), (4, 8)), gold_spans=((5, 10),), answer_length=12),
        Case(False, True, 0.8, spans=((0, 4),), gold_spans=(), answer_length=5),
        Case(True, False, 0.1, spans=(), gold_spans=((0, 2), (1, 3)), answer_length=4),  # labels overlap: 3 characters
        Case(True, True, 0.9, spans=((0, 9),), gold_spans=None, answer_length=9),  # not labelled by spans
    ]
    found = span_figures(cases)
    assert [found[f"{key}_characters"] for key in ("reported", "labelled", "common")] == [10, 8, 3]
    assert (found["rows"], found["precision"], found["recall"]) == (3, 0.3, 3 / 8)
    assert found["f1"] == pytest.approx(6 / 18)
    said, gold = [], []
    for case in cases[:3]:
        said += [any(a <= n < b for a, b in case.spans) for n in range(case.answer_length)]
        gold += [any(a <= n < b for a, b in case.gold_spans or ()) for n in range(case.answer_length)]
    assert found["f1"] == pytest.approx(oracle.f1_score(gold, said))


def test_unavailable_answers_are_in_no_figure_but_their_own() -> None:
    lost = [Case(True, None, None, reason="timeout"), Case(False, None, 0.9, reason="answer_not_read")]
    lost.append(Case(None, None, None, reason="timeout"))
    with_them = metrics(CASES + lost, lexical_threshold=0.8, wall=1.0, concurrency=1)
    without = metrics(CASES, lexical_threshold=0.8, wall=1.0, concurrency=1)
    assert with_them["unavailable"] == {
        "n": 3, "faulty": 1, "clean": 1, "by_reason": {"answer_not_read": 1, "timeout": 2}
    }  # fmt: skip
    assert with_them["example"] == without["example"]
    assert (with_them["n"], with_them["faulty"], with_them["clean"], with_them["unlabelled"]) == (8, 4, 3, 1)
    assert with_them["by_source"]["unknown"]["unavailable"] == 2


@pytest.mark.parametrize("cases", [[], CASES[:1], CASES[1:2], [Case(None, True, 0.5)], [Case(True, None, None)]])
def test_undefined_figures_are_null_and_the_rest_is_strict_json(cases: list[Case]) -> None:
    found = json.loads(json.dumps(metrics(cases, lexical_threshold=0.8, wall=0.0, concurrency=4), allow_nan=False))
    assert found["example"]["auroc"] is None
    assert found["example"]["intervals"]["auroc"] is None
    assert found["latency"]["p50_seconds"] is None and found["latency"]["answers_per_second"] is None


def test_groups_and_their_order() -> None:
    cases = [
        Case(True, True, 0.9, source="b", language="zh", answer_length=100, evidence_length=20_000),
        Case(False, False, 0.1, source="b", language="en", answer_length=101, evidence_length=1000),
        Case(True, False, 0.3, source="a", language="en", answer_length=1001, evidence_length=1001),
    ]
    found = metrics(cases, lexical_threshold=0.8, wall=1.0, concurrency=1)
    assert list(found["by_source"]) == ["a", "b"] and list(found["by_language"]) == ["en", "zh"]
    assert list(found["by_answer_length"]) == ["0-100", "101-300", "1001+"]
    assert list(found["by_evidence_length"]) == ["0-1000", "1001-4000", "16001+"]
    assert found["by_source"]["b"]["recall"] == 1.0 and found["by_source"]["a"]["recall"] == 0.0
    assert [length_bin(n, ANSWER_LENGTHS) for n in (0, 300, 301, 5000)] == ["0-100", "101-300", "301-1000", "1001+"]


def test_kinds_by_hand() -> None:
    cases = [
        Case(True, True, 0.9, spans=((0, 3),), kinds=(("number", (2, 5)), ("number", (7, 9)), ("name", (3, 5)))),
        Case(True, False, 0.4, kinds=(("number", (0, 2)),)),
        *(Case(False, False, 0.5) for _ in range(20)),
        Case(False, True, 0.95),  # one clean answer of 21 is under 5 %: the cut is 0.9
    ]
    found = by_kind(cases)
    assert list(found) == ["name", "number"]
    assert found["number"] == {
        "answers": 2, "recall": 0.5, "recall_at_5_percent": 0.5, "spans": 3, "spans_touched": pytest.approx(1 / 3)
    }  # fmt: skip
    assert found["name"]["spans_touched"] == 0.0  # [0, 3) ends where the name begins
    assert by_kind(cases[:2])["number"]["recall_at_5_percent"] is None  # no clean answer


def test_baselines_stand_beside_and_the_gain_has_an_interval() -> None:
    generator = np.random.default_rng(1)
    cases = [
        Case(
            bool(n % 2),
            None if n == 5 else n % 2 == 1,
            0.5 + 0.4 * (n % 2) - 0.01 * (n % 7),
            answer_length=100 + n % 2,
            new_share=0.5,
            lexical_score=float(generator.random()),
        )
        for n in range(200)
    ]
    base = metrics(cases, lexical_threshold=0.8, wall=1.0, concurrency=1)["baselines"]
    assert base["lexical_count"]["n"] == 199  # the same answers as the detector's figures
    assert base["lexical_share"]["auroc"] == 0.5 and base["answer_length"]["auroc"] == 1.0
    low, high = base["auroc_minus_lexical_count_interval"]
    assert 0 < low < base["auroc_minus_lexical_count"] < high
    flagged = [case.lexical_score >= 0.8 for case in cases if case.flagged is not None]
    assert base["lexical_count"]["true_positives"] + base["lexical_count"]["false_positives"] == sum(flagged)


def test_latency_by_hand() -> None:
    found = latency([0.1, 0.2, 0.3, 0.4, 0.5], wall=2.0, concurrency=3)
    assert (found["p50_seconds"], found["answers_per_second"], found["concurrency"]) == (0.3, 2.5, 3)
    assert found["p99_seconds"] == pytest.approx(0.496)
