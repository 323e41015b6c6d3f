"""Accuracy, macro F1, confusion and balanced accuracy: by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as oracle

from vsr_hallucination.evaluation import explainer, fact_check
from vsr_hallucination.evaluation.explainer import LABELS, Labelled
from vsr_hallucination.evaluation.fact_check import Gated
from vsr_hallucination.evaluation.rows import Row


def row(label: str, source: str = "s", **meta: object) -> Row:
    return Row("i", "nli", "c", "q", "a", source, "en", label, None, meta)


def labelled(gold: str, said: str | None, confidence: float = 0.9) -> Labelled:
    return Labelled(row(gold), said, confidence if said else None, 0.1)


def test_a_confusion_by_hand() -> None:
    e, n, c = "entailment", "neutral", "contradiction"
    found = explainer.metrics(
        [labelled(e, e), labelled(e, e), labelled(e, n), labelled(n, n), labelled(c, n), labelled(c, None)],
        wall=1.0,
        concurrency=2,
    )
    assert (found["n"], found["judged"], found["unavailable"]) == (6, 5, 1)
    assert found["accuracy"] == 3 / 5
    # F1: entailment 2·2/(2+3), neutral 2·1/(3+1), contradiction 0.
    assert found["macro_f1"] == pytest.approx((0.8 + 0.5 + 0.0) / 3)
    assert found["confusion"][e] == {e: 2, n: 1, c: 0} and found["confusion"][c] == {e: 0, n: 1, c: 0}
    assert found["calibration_error"] == pytest.approx(0.9 - 3 / 5)  # one bin


def test_the_explainers_figures_agree_with_scikit_learn() -> None:
    generator = np.random.default_rng(2)
    gold = generator.choice(LABELS, 200).tolist()
    said = [label if generator.random() < 0.7 else str(generator.choice(LABELS[:2])) for label in gold]
    found = explainer.accuracy([labelled(one, two) for one, two in zip(gold, said, strict=True)])
    assert found["accuracy"] == pytest.approx(oracle.accuracy_score(gold, said))
    assert found["macro_f1"] == pytest.approx(oracle.f1_score(gold, said, average="macro"))
    scores = oracle.precision_recall_fscore_support(gold, said, labels=list(LABELS))
    for at, name in enumerate(LABELS):
        expected = [scores[n][at] for n in range(3)]
        assert [found["classes"][name][key] for key in ("precision", "recall", "f1")] == pytest.approx(expected)


def test_the_classifiers_figures_agree_with_scikit_learn() -> None:
    generator = np.random.default_rng(3)
    gold = generator.random(150) < 0.8
    scores = np.clip(generator.normal(0.5 + 0.1 * gold, 0.2), 0, 1)
    gated = [
        Gated(row("needs_fact_check" if g else "no_fact_check", f"s{n % 3}"), bool(s >= 0.6), float(s), None, 0.1)
        for n, (g, s) in enumerate(zip(gold, scores, strict=True))
    ]
    found = fact_check.metrics([*gated, Gated(row("no_fact_check"), False, None, "x", 0.1)], wall=1.0, concurrency=1)
    assert found["unavailable"] == 1
    assert found["balanced_accuracy"] == pytest.approx(oracle.balanced_accuracy_score(gold, scores >= 0.6))
    assert found["f1"] == pytest.approx(oracle.f1_score(gold, scores >= 0.6))
    assert found["auroc"] == pytest.approx(oracle.roc_auc_score(gold, scores))
    assert sum(group["judged"] for group in found["by_source"].values()) == 150


def test_figures_of_nothing_are_null() -> None:
    assert explainer.metrics([], wall=0.0, concurrency=1)["accuracy"] is None
    assert fact_check.metrics([], wall=0.0, concurrency=1)["balanced_accuracy"] is None
    one_kind = fact_check.figures([Gated(row("no_fact_check"), False, 0.1, None, 0.1)])
    assert one_kind["balanced_accuracy"] is None and one_kind["specificity"] == 1.0
