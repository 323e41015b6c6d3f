"""From sentence features to probabilities: a small calibrated model over what ``sentence_features`` saw.

A model directory's ``vsr.json`` may hold it under ``"sentence"`` (a directory without it is judged by its tokens)::

    {"features": [names of FEATURES], "mean": [...], "scale": [...],
     "weights": [...], "bias": b,
     "answer": {"sharpness": s}, "spans": {"novel_bonus": x, "whole_share": x, "gap_words": n}}

Sentence: p = σ(weights · z + bias), z = (features − mean) / scale clipped to ±6.
Answer: odds = (Σ odds_i^s)^(1/s) over its sentences. With s = 1 doubts add up (for small p this is 1 − Π(1 − p)), with
a large s the worst sentence decides alone. It is monotone in every sentence and never below the worst one, so the
score of an answer cannot contradict the confidence of its spans. Both are fitted together (``training/sentence.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vsr_hallucination.detection.sentence_features import FEATURES, Described, Floats

_CLIP = 6.0  # standard deviations: an outlier of one feature cannot outvote the rest
_MAX_LOGIT = 12.0
_LARGEST = 1e6  # of any stored number: what is beyond was not fitted to anything


@dataclass(frozen=True, slots=True)
class SpanRule:
    """How a span is found inside a sentence that is judged unsupported (``spans.mark_sentences``).

    ``novel_bonus`` is added to the probability of tokens of novel words; where tokens that then reach
    ``min_span_confidence`` make up ``whole_share`` or more of the sentence, all of it is the span; else their runs,
    joined over gaps of up to ``gap_words`` words.
    """

    novel_bonus: float = 0.3
    whole_share: float = 0.5
    gap_words: int = 2


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """``sentence[i]``: probability that sentence i says something unsupported, 0 where it claims nothing."""

    sentence: Floats
    answer: float


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """The ``"sentence"`` block of a model directory, checked."""

    columns: tuple[int, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    bias: float
    sharpness: float
    rule: SpanRule

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SentenceModel:
        """Raises ValueError naming what is wrong: every number must be in its range and every length must fit."""
        raw = _mapping(raw, "sentence")
        names = [str(name) for name in _list(raw, "features")]
        unknown = [name for name in names if name not in FEATURES]
        if unknown or not names:
            raise ValueError(f"sentence.features: {unknown[:5] or 'none'} not known to this version")
        if len(set(names)) != len(names):
            raise ValueError("sentence.features: one is named twice")
        size = len(names)
        scale = _numbers(raw, "scale", size, 1e-6)
        answer, spans = (
            _mapping(raw.get("answer", {}), "sentence.answer"),
            _mapping(raw.get("spans", {}), "sentence.spans"),
        )
        sharpness = _number(answer, "answer.sharpness", 1.0, 0.2, 100)
        default = SpanRule()
        return cls(
            columns=tuple(FEATURES.index(name) for name in names),
            mean=_numbers(raw, "mean", size),
            scale=scale,
            weights=_numbers(raw, "weights", size),
            bias=_number(raw, "bias", None, -_LARGEST, _LARGEST),
            sharpness=sharpness,
            rule=SpanRule(
                _number(spans, "spans.novel_bonus", default.novel_bonus, 0, 1),
                _number(spans, "spans.whole_share", default.whole_share, 0, 1),
                int(_number(spans, "spans.gap_words", default.gap_words, 0, 100)),
            ),
        )

    def logits(self, matrix: Floats) -> Floats:
        """(sentences,) log-odds of rows of features, (sentences, len(FEATURES))."""
        z = np.clip((matrix[:, self.columns] - self.mean) / self.scale, -_CLIP, _CLIP)
        return np.asarray(np.clip(z @ self.weights + self.bias, -_MAX_LOGIT, _MAX_LOGIT), dtype=np.float64)

    def score(self, described: Described) -> SentenceScores:
        """Probabilities of the sentences and of the answer; an answer that claims nothing scores 0."""
        sentence = np.zeros(len(described.spans), dtype=np.float64)
        found = self.logits(described.matrix[described.claims])
        sentence[described.claims] = 1 / (1 + np.exp(-found))
        return SentenceScores(sentence, pooled(found, self.sharpness))


def pooled(logits: Floats, sharpness: float) -> float:
    """The answer's probability from its sentences' log-odds: their odds' ``sharpness``-norm, as a probability."""
    if not len(logits):
        return 0.0
    top = float(logits.max())
    total = top + float(np.log(np.exp(sharpness * (logits - top)).sum())) / sharpness
    return float(1 / (1 + np.exp(-total)))


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: not an object")
    return value


def _list(raw: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = raw.get(name)
    if not isinstance(value, list):
        raise ValueError(f"sentence.{name}: not a list")
    return value


def number_in(value: object, name: str, least: float, most: float) -> float:
    """``value`` as a float. Raises ValueError naming it where it is no finite number in [least, most]."""
    # Compared before it is converted: NaN fails both comparisons, and a whole number may be too long for a float.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise ValueError(f"{name}: {value!r:.40} is not a number in {least:g}..{most:g}")
    return float(value)


def _number(raw: Mapping[str, Any], name: str, default: float | None, least: float, most: float) -> float:
    return number_in(raw.get(name.rpartition(".")[2], default), f"sentence.{name}", least, most)


def _numbers(raw: Mapping[str, Any], name: str, size: int, least: float = -_LARGEST) -> Floats:
    values = [number_in(value, f"sentence.{name}", least, _LARGEST) for value in _list(raw, name)]
    if len(values) != size:
        raise ValueError(f"sentence.{name}: {len(values)} numbers for {size} features")
    return np.array(values, dtype=np.float64)
