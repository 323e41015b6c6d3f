"""From sentence probabilities to spans: what decides an answer's state, and what must not."""

from __future__ import annotations

import numpy as np

from vsr_hallucination.detection.sentence_features import FEATURES, Described, TokenProbabilities
from vsr_hallucination.detection.sentence_score import SentenceScores, SpanRule
from vsr_hallucination.detection.sentence_spans import mark_sentences
from vsr_hallucination.detection.spans import MAX_SPANS, Marked, SpanLimits

LIMITS = SpanLimits(threshold=0.6, min_span_confidence=0.5, min_span_length=2)
SENTENCE = "It holds crates. "


def marked(chances: list[float], score: float = 0.95) -> Marked:
    """An answer of as many equal sentences as there are chances, whose doubts add up to ``score``."""
    answer = SENTENCE * len(chances)
    spans = tuple((n * len(SENTENCE), (n + 1) * len(SENTENCE) - 1) for n in range(len(chances)))
    matrix = np.zeros((len(chances), len(FEATURES)))
    described = Described(spans, matrix, np.ones(len(chances), dtype=np.bool_))
    starts = np.array([start for start, _ in spans], dtype=np.int64)
    tokens = TokenProbabilities(starts, starts + 2, np.zeros(len(chances)))
    scores = SentenceScores(np.array(chances), score)
    return mark_sentences(answer, described, scores, tokens, (), (), SpanRule(), LIMITS)


def test_slight_doubts_add_up_in_the_score_and_decide_nothing() -> None:
    found = marked([0.3] * 6)
    assert found.unsupported_score > LIMITS.threshold
    assert not found.spans
    assert found.worst_part == 0.3


def test_the_worst_part_is_that_of_the_spans() -> None:
    found = marked([0.05, 0.7, 0.2])
    assert [span.confidence for span in found.spans] == [0.7]
    assert found.worst_part == 0.7 <= found.unsupported_score


def test_a_thousand_doubtful_sentences_crowd_no_verdict_out() -> None:
    found = marked([0.4] * (MAX_SPANS + 5) + [0.9])
    assert [span.confidence for span in found.spans] == [0.9]
    assert len(found.candidates) == MAX_SPANS
