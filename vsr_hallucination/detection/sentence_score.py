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
import numpy.typing as npt

from vsr_hallucination.detection.sentence_features import FEATURES, Described, Floats

_CLIP = 6.0  # standard deviations: an outlier of one feature cannot outvote the rest
_MAX_LOGIT = 12.0


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
        """Raises ValueError naming what is wrong; every number must be finite and every length must fit."""
        names = [str(name) for name in _list(raw, "features")]
        unknown = [name for name in names if name not in FEATURES]
        if unknown or not names:
            raise ValueError(f"sentence.features: {unknown or 'none'} not known to this version")
        size = len(names)
        scale = _numbers(raw, "scale", size)
        if not bool((scale > 0).all()):
            raise ValueError("sentence.scale: must be positive")
        answer, spans = _mapping(raw.get("answer", {}), "sentence.answer"), _mapping(raw.get("spans", {}), "spans")
        sharpness = _number(answer, "sharpness", 1.0)
        if not 0.2 <= sharpness <= 100:
            raise ValueError(f"sentence.answer.sharpness: {sharpness} is not in 0.2..100")
        default = SpanRule()
        return cls(
            columns=tuple(FEATURES.index(name) for name in names),
            mean=_numbers(raw, "mean", size),
            scale=scale,
            weights=_numbers(raw, "weights", size),
            bias=_number(raw, "bias", None),
            sharpness=sharpness,
            rule=SpanRule(
                _number(spans, "novel_bonus", default.novel_bonus),
                _number(spans, "whole_share", default.whole_share),
                int(_number(spans, "gap_words", default.gap_words)),
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


def _number(raw: Mapping[str, Any], name: str, default: float | None) -> float:
    value = raw.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise ValueError(f"sentence.{name}: {value!r} is not a number")
    return float(value)


def _numbers(raw: Mapping[str, Any], name: str, size: int) -> Floats:
    values: npt.NDArray[np.float64] = np.array([_number({name: v}, name, None) for v in _list(raw, name)])
    if len(values) != size:
        raise ValueError(f"sentence.{name}: {len(values)} numbers for {size} features")
    return values
