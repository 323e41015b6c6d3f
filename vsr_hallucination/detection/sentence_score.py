"""From sentence features to probabilities: a small calibrated model over what ``sentence_features`` saw.

A model directory's ``vsr.json`` may hold it under ``"sentence"`` (a directory without it is judged by its tokens)::

    {"features": [names of FEATURES], "mean": [...], "scale": [...],
     "weights": [...], "bias": b,
     "answer": {"sharpness": s, "features": [names of ANSWER_FEATURES], "mean": [...], "scale": [...],
                "weights": [...], "bias": b},
     "signs": [{"features": [...], "mean": [...], "scale": [...], "weights": [...], "bias": b, "from": p}],
     "spans": {"novel_bonus": x, "whole_share": x, "gap_words": n}}

Sentence: p = σ(weights · z + bias), z = (features − mean) / scale clipped to ±6. It says where and whether there is a
span, on a scale on which faulty and clean answers are equally common.
Signs: lines of the same kind over what seldom speaks and then clearly (a value of another record). One that gives
``from`` or more is the sentence's probability where it is the higher; below it says nothing, so that what it takes for
doubt in good paraphrase does not reach the score.
Pooled: odds = (Σ odds_i^s)^(1/s) over the sentences of an answer. With s = 1 doubts add up (for small p this is
1 − Π(1 − p)), with a large s the worst sentence decides alone.
Answer: as a sentence, over ``ANSWER_FEATURES``, on the scale of traffic, where few answers are faulty
(``training/sentence.py`` names the share it assumes); without those keys the pooled odds are the answer's.
What is said of an answer with a span is never below the span's confidence (``sentence_spans``). All are fitted together
(``training/sentence.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vsr_hallucination.detection.sentence_features import FEATURES, Described, Floats

# Of an answer: pooled odds and worst sentence's (log), new words (log of their number; share), content words (log),
# sentences (log), share of sentences that refuse, values the value check flagged (log).
ANSWER_FEATURES = ("pooled", "worst", "novel_count", "novel_share", "words", "sentences", "refusals", "value_flags")

_CLIP = 6.0  # standard deviations: an outlier of one feature cannot outvote the rest
_MAX_LOGIT = 12.0
_MOST_SIGNS = 8
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
class Line:
    """Log-odds linear in standardised columns of a matrix: (rows, columns) → (rows,)."""

    columns: tuple[int, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    bias: float

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], known: Sequence[str], where: str) -> Line:
        """Raises ValueError naming what is wrong: every number must be in its range and every length must fit."""
        names = [str(name) for name in _list(raw, "features", where)]
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise ValueError(f"{where}.features: {unknown[:5] or 'none'} not known to this version")
        if len(set(names)) != len(names):
            raise ValueError(f"{where}.features: one is named twice")
        size = len(names)
        return cls(
            columns=tuple(known.index(name) for name in names),
            scale=_numbers(raw, "scale", size, where, 1e-6),
            mean=_numbers(raw, "mean", size, where),
            weights=_numbers(raw, "weights", size, where),
            bias=_number(raw, "bias", where, None, -_LARGEST, _LARGEST),
        )

    def logits(self, matrix: Floats) -> Floats:
        z = np.clip((matrix[:, self.columns] - self.mean) / self.scale, -_CLIP, _CLIP)
        return np.asarray(np.clip(z @ self.weights + self.bias, -_MAX_LOGIT, _MAX_LOGIT), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Sign:
    """A line that counts only where it is sure: from probability ``least`` on."""

    line: Line
    least: float

    def chances(self, matrix: Floats) -> Floats:
        """(sentences,) its probabilities, 0 where it says nothing."""
        found = 1 / (1 + np.exp(-self.line.logits(matrix)))
        return np.asarray(np.where(found >= self.least, found, 0.0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """The ``"sentence"`` block of a model directory, checked. ``answer``: None = the pooled odds are the answer's."""

    line: Line
    signs: tuple[Sign, ...]
    sharpness: float
    answer: Line | None
    rule: SpanRule

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SentenceModel:
        """Raises ValueError naming what is wrong: every number must be in its range and every length must fit."""
        raw = _mapping(raw, "sentence")
        line = Line.from_json(raw, FEATURES, "sentence")
        answer = _mapping(raw.get("answer", {}), "sentence.answer")
        spans = _mapping(raw.get("spans", {}), "sentence.spans")
        default = SpanRule()
        signs = raw.get("signs", [])
        if not isinstance(signs, list) or len(signs) > _MOST_SIGNS:
            raise ValueError(f"sentence.signs: not a list of at most {_MOST_SIGNS}")
        return cls(
            line=line,
            signs=tuple(_sign(sign, f"sentence.signs[{n}]") for n, sign in enumerate(signs)),
            sharpness=_number(answer, "sharpness", "sentence.answer", 1.0, 0.2, 100),
            answer=Line.from_json(answer, ANSWER_FEATURES, "sentence.answer") if "features" in answer else None,
            rule=SpanRule(
                _number(spans, "novel_bonus", "sentence.spans", default.novel_bonus, 0, 1),
                _number(spans, "whole_share", "sentence.spans", default.whole_share, 0, 1),
                int(_number(spans, "gap_words", "sentence.spans", default.gap_words, 0, 100)),
            ),
        )

    def logits(self, matrix: Floats) -> Floats:
        """(sentences,) log-odds of rows of features, (sentences, len(FEATURES))."""
        return self.line.logits(matrix)

    def score(self, described: Described) -> SentenceScores:
        """Probabilities of the sentences and of the answer; an answer that claims nothing scores 0."""
        sentence = np.zeros(len(described.spans), dtype=np.float64)
        matrix = described.matrix[described.claims]
        found = self.logits(matrix)
        chances = 1 / (1 + np.exp(-found))
        for sign in self.signs:
            chances = np.maximum(chances, sign.chances(matrix))
        sentence[described.claims] = chances
        if self.answer is None or not len(found):
            return SentenceScores(sentence, pooled(found, self.sharpness))
        row = answer_features(described, found, self.sharpness)
        return SentenceScores(sentence, float(1 / (1 + np.exp(-self.answer.logits(row[None, :])[0]))))


def answer_features(described: Described, logits: Floats, sharpness: float) -> Floats:
    """(len(ANSWER_FEATURES),) of an answer whose sentences with a claim have these log-odds."""
    claims = described.matrix[described.claims]
    words = float(np.expm1(claims[:, FEATURES.index("length")]).sum())
    novel = float(np.expm1(claims[:, FEATURES.index("novel_count")]).sum())
    flags = float(claims[:, FEATURES.index("value_flags")].sum())
    chance = min(max(pooled(logits, sharpness), 1e-5), 1 - 1e-5)
    return np.array([
        math.log(chance / (1 - chance)), float(logits.max()), math.log1p(novel), novel / max(1.0, words),
        math.log1p(words), math.log(len(logits)), float(claims[:, FEATURES.index("refusal")].mean()), math.log1p(flags),
    ])  # fmt: skip


def pooled(logits: Floats, sharpness: float) -> float:
    """The answer's probability from its sentences' log-odds: their odds' ``sharpness``-norm, as a probability."""
    if not len(logits):
        return 0.0
    top = float(logits.max())
    total = top + float(np.log(np.exp(sharpness * (logits - top)).sum())) / sharpness
    return float(1 / (1 + np.exp(-total)))


def _sign(raw: object, where: str) -> Sign:
    sign = _mapping(raw, where)
    return Sign(Line.from_json(sign, FEATURES, where), _number(sign, "from", where, None, 0, 1))


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: not an object")
    return value


def _list(raw: Mapping[str, Any], name: str, where: str) -> Sequence[Any]:
    value = raw.get(name)
    if not isinstance(value, list):
        raise ValueError(f"{where}.{name}: not a list")
    return value


def number_in(value: object, name: str, least: float, most: float) -> float:
    """``value`` as a float. Raises ValueError naming it where it is no finite number in [least, most]."""
    # Compared before it is converted: NaN fails both comparisons, and a whole number may be too long for a float.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise ValueError(f"{name}: {value!r:.40} is not a number in {least:g}..{most:g}")
    return float(value)


def _number(raw: Mapping[str, Any], name: str, where: str, default: float | None, least: float, most: float) -> float:
    return number_in(raw.get(name, default), f"{where}.{name}", least, most)


def _numbers(raw: Mapping[str, Any], name: str, size: int, where: str, least: float = -_LARGEST) -> Floats:
    values = [number_in(value, f"{where}.{name}", least, _LARGEST) for value in _list(raw, name, where)]
    if len(values) != size:
        raise ValueError(f"{where}.{name}: {len(values)} numbers for {size} features")
    return np.array(values, dtype=np.float64)
