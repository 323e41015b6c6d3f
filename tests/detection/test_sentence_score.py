"""The sentence block of a model directory: what it computes, and that a malformed one is named, never used."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from vsr_hallucination.detection.sentence_features import FEATURES, Described
from vsr_hallucination.detection.sentence_score import SentenceModel, pooled

BLOCK: dict[str, Any] = {
    "features": ["novel_count", "length"], "mean": [1.0, 2.0], "scale": [0.5, 2.0], "weights": [2.0, -1.0],
    "bias": 0.25, "answer": {"sharpness": 2.0}, "spans": {"novel_bonus": 0.2, "whole_share": 0.6, "gap_words": 3},
}  # fmt: skip


def rows(*values: tuple[float, float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    matrix = np.zeros((len(values), len(FEATURES)))
    matrix[:, [FEATURES.index("novel_count"), FEATURES.index("length")]] = values
    return matrix


def test_a_sentence_is_judged_by_its_standardised_features_within_six_deviations() -> None:
    found = SentenceModel.from_json(BLOCK).logits(rows((1.5, 4.0), (1000.0, 2.0)))
    assert found.tolist() == pytest.approx([2.0 * 1 - 1.0 * 1 + 0.25, 12.0])


def test_an_answer_is_never_below_its_worst_sentence_and_what_claims_nothing_scores_nothing() -> None:
    model = SentenceModel.from_json(BLOCK)
    described = Described(
        ((0, 5), (5, 9), (9, 12)), rows((1.5, 4.0), (9.0, 9.0), (1.0, 2.0)), np.array([1, 0, 1], bool)
    )
    scores = model.score(described)
    assert scores.sentence.tolist() == pytest.approx([1 / (1 + math.exp(-1.25)), 0, 1 / (1 + math.exp(-0.25))])
    odds = math.sqrt(math.exp(1.25) ** 2 + math.exp(0.25) ** 2)
    assert scores.answer == pytest.approx(odds / (1 + odds)) and scores.answer > scores.sentence.max()
    assert pooled(np.zeros(0), 2.0) == 0.0


ANSWER: dict[str, Any] = {
    "sharpness": 1.0, "features": ["pooled", "novel_count"], "mean": [0.0, 0.0], "scale": [1.0, 2.0],
    "weights": [0.5, 1.0], "bias": -1.5,
}  # fmt: skip


def test_the_answers_own_line_reads_pooled_odds_and_new_words() -> None:
    model = SentenceModel.from_json(BLOCK | {"answer": ANSWER})
    described = Described(((0, 5), (5, 9)), rows((1.5, 4.0), (0.0, 2.0)), np.array([1, 1], bool))
    scores = model.score(described)
    odds = math.exp(1.25) + math.exp(-3.75)
    line = 0.5 * math.log(odds) + math.log1p(math.expm1(1.5)) / 2 - 1.5
    assert scores.answer == pytest.approx(1 / (1 + math.exp(-line)))
    assert model.score(Described(((0, 3),), rows((0.0, 0.0)), np.array([0], bool))).answer == 0.0


@pytest.mark.parametrize(
    ("change", "named"),
    [({"features": ["pooled", "poetry"]}, "poetry"), ({"weights": [1.0]}, "answer.weights"),
     ({"scale": [0.0, 1.0]}, "answer.scale"), ({"bias": math.inf}, "answer.bias")],
)  # fmt: skip
def test_a_malformed_answer_line_is_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        SentenceModel.from_json(BLOCK | {"answer": ANSWER | change})


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("features", [], "features"), ("features", ["novel_count", "poetry"], "poetry"),
        ("features", "length", "features"),
        ("features", ["length", "length"], "twice"),
        ("mean", [1.0], "mean"), ("mean", [1.0, math.nan], "mean"), ("mean", [[1.0], [2.0]], "mean"),
        ("scale", [1.0, 0.0], "scale"), ("scale", [1.0, -1.0], "scale"), ("scale", [1.0, math.inf], "scale"),
        ("weights", [1.0, 2.0, 3.0], "weights"), ("weights", [1.0, True], "weights"),
        ("weights", [1.0, 10**400], "weights"),
        ("weights", {"a": 1}, "weights"), ("bias", math.nan, "bias"), ("bias", None, "bias"), ("bias", "0", "bias"),
        ("answer", {"sharpness": 0}, "sharpness"),
        ("answer", {"sharpness": math.nan}, "sharpness"), ("answer", [], "answer"),
        ("spans", {"novel_bonus": -math.inf}, "novel_bonus"), ("spans", {"whole_share": 5}, "whole_share"),
        ("spans", {"gap_words": 1e300}, "gap_words"), ("spans", 3, "spans"),
    ],
)  # fmt: skip
def test_a_malformed_block_is_an_error_that_names_the_key(key: str, value: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        SentenceModel.from_json({**BLOCK, key: value})


@pytest.mark.parametrize("key", ["features", "mean", "scale", "weights", "bias"])
def test_a_block_without_a_number_it_needs_is_an_error(key: str) -> None:
    with pytest.raises(ValueError, match=key):
        SentenceModel.from_json({name: value for name, value in BLOCK.items() if name != key})
