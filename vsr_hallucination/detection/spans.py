"""From token probabilities to spans.

A token counts as unsupported at ``min_span_confidence`` or more. Neighbours merge where only white space or
punctuation lies between, not over a line end; borders are then grown to whole words and numbers and trimmed
(``text.tidy_span``). A span's confidence is the **highest** token probability in it, as LettuceDetect and upstream's
detector have it. A span survives with confidence ≥ ``threshold`` and ``min_span_length`` words, or if it is too telling
to be too short (a number, date, unit, identifier, name); the rest become candidates.

An answer's ``unsupported_score`` is the highest probability over its tokens that hold a letter or digit;
``clean_confidence`` is 1 minus that: the certainty of the least certain part, never a constant.

All this is the rule for a model directory without a sentence model. With one, spans come from ``sentence_spans``: their
confidence is the sentence's probability, and the answer's score is pooled from its sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vsr_hallucination.detection.text import always_survives, count_words, tidy_span
from vsr_hallucination.detection.types import Candidate, Span
from vsr_hallucination.detection.value_check import Flagged

MAX_SPANS = 1000  # of one answer; a report of more helps nobody
RULES = ("value_check", "relation_check")  # tiers that are no model
_TIGHT_WORDS = 4  # a model span of up to this many words around what a rule found is what it found


@dataclass(frozen=True, slots=True)
class SpanLimits:
    """The numbers that decide what a span is (``DetectorSettings``, filled in from the model's calibration)."""

    threshold: float
    min_span_confidence: float
    min_span_length: int


@dataclass(frozen=True, slots=True)
class Marked:
    """Spans and candidates of one answer, in text order, and its score before any threshold.

    ``worst_part``: see ``types.Detection``.
    """

    spans: tuple[Span, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    unsupported_score: float = 0.0
    worst_part: float | None = None


def mark(
    answer: str,
    starts: Sequence[int],
    ends: Sequence[int],
    probabilities: npt.NDArray[np.floating[Any]],
    limits: SpanLimits,
    doubts: npt.NDArray[np.floating[Any]] | None = None,
) -> Marked:
    """Spans of an answer. ``probabilities[i]`` is that of token i, whose text is ``answer[starts[i]:ends[i]]``.

    ``doubts`` (as ``probabilities``, nowhere less): what the score is made of, where windows were united.
    """
    doubts = probabilities if doubts is None else doubts
    stretches: list[tuple[int, int, float]] = []
    score = 0.0
    for start, end, value, doubt in zip(starts, ends, probabilities.tolist(), doubts.tolist(), strict=True):
        if any(char.isalnum() for char in answer[start:end]):
            score = max(score, doubt)
        if value < limits.min_span_confidence or end <= start:
            continue
        if stretches and _only_joints(answer, stretches[-1][1], start):
            first, last, best = stretches[-1]
            stretches[-1] = (first, max(last, end), max(best, value))
        else:
            stretches.append((start, end, value))
    tidied: list[tuple[int, int, float]] = []
    for start, end, value in stretches:
        span = tidy_span(answer, start, end)
        if span is None:
            continue
        if tidied and span[0] < tidied[-1][1]:
            first, last, best = tidied[-1]
            tidied[-1] = (first, max(last, span[1]), max(best, value))
        else:
            tidied.append((*span, value))
    # An answer of marks alone ("!!!") has no word to score.
    if score == 0.0 and len(doubts):
        score = float(doubts.max())
    return _sift(answer, tidied, score, limits, "model")


def _only_joints(answer: str, start: int, end: int) -> bool:
    gap = answer[start:end]
    return "\n" not in gap and not any(char.isalnum() for char in gap)


def sift(answer: str, stretches: Sequence[tuple[int, int, float]], limits: SpanLimits, tier: str) -> Marked:
    """Spans and candidates of stretches found elsewhere (an endpoint): the same rules of survival."""
    score = max((value for _, _, value in stretches), default=0.0)
    return _sift(answer, sorted(stretches), score, limits, tier)


def _sift(
    answer: str, stretches: Sequence[tuple[int, int, float]], score: float, limits: SpanLimits, tier: str
) -> Marked:
    spans: list[Span] = []
    candidates: list[Candidate] = []
    for start, end, confidence in stretches:
        text = answer[start:end]
        if confidence < limits.threshold:
            candidates.append(Candidate(start, end, confidence, "threshold"))
        elif count_words(text) < limits.min_span_length and not always_survives(text):
            candidates.append(Candidate(start, end, confidence, "min_span_length"))
        else:
            spans.append(Span(start, end, text, confidence, tier=tier))
    return Marked(tuple(spans[:MAX_SPANS]), tuple(candidates[:MAX_SPANS]), score)


def with_flagged(answer: str, marked: Marked, flagged: Sequence[Flagged], limits: SpanLimits) -> Marked:
    """Adds what a rule found.

    A model's span that is little more than it (up to four words) gives way; a longer one stays and takes the higher
    confidence; candidates on it are settled and go. Under a threshold above the rule's confidence its findings are
    candidates like any other.
    """
    spans = list(marked.spans)
    candidates = list(marked.candidates)
    highest = 0.0
    for found in flagged[:MAX_SPANS]:
        highest = max(highest, found.confidence)
        if limits.threshold > found.confidence:
            candidates.append(Candidate(found.start, found.end, found.confidence, "threshold"))
            continue
        candidates = [c for c in candidates if not (c.start < found.end and found.start < c.end)]
        over = [span for span in spans if span.start < found.end and found.start < span.end]
        wide = [s for s in over if s.tier != found.tier and (s.tier in RULES or count_words(s.text) > _TIGHT_WORDS)]
        if wide:
            at = spans.index(wide[0])
            spans[at] = replace(
                wide[0],
                confidence=max(wide[0].confidence, found.confidence),
                evidence=wide[0].evidence or found.evidence,
                explanation=wide[0].explanation or found.explanation,
            )
            continue
        # Only spans of the model give way: two flagged values in a row are two spans.
        spans = [span for span in spans if span not in over or span.tier in RULES]
        spans.append(
            Span(
                found.start,
                found.end,
                answer[found.start : found.end],
                max([found.confidence, *(span.confidence for span in over)]),
                evidence=found.evidence,
                explanation=found.explanation,
                tier=found.tier,
            )
        )
    spans.sort(key=lambda span: (span.start, span.end))
    return Marked(tuple(spans[:MAX_SPANS]), tuple(candidates[:MAX_SPANS]), *_at_least(marked, highest))


def _at_least(marked: Marked, confidence: float) -> tuple[float, float | None]:
    """(score, worst part) of an answer in which something of this confidence was found beside."""
    worst = marked.worst_part
    return max(marked.unsupported_score, confidence), None if worst is None else max(worst, confidence)
