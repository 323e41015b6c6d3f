"""From sentence probabilities to spans: the sentence is judged, then the span is found inside it.

The highest token is a poor judge of prose but a good pointer. So a sentence at ``threshold`` or more is unsupported,
and the tokens only say which part of it: those at ``min_span_confidence`` or more, after a bonus for words that no
evidence has (``SpanRule``), and any value the value check flagged. If they make up most of the sentence, or none stands
out, the sentence is the span. A span's confidence is its **sentence's** probability, not its highest token's.

A sentence below the threshold becomes a candidate from ``CANDIDATE_FLOOR`` on. Where every part of an unsupported
sentence is too short to be a span of its own, the sentence is the span: the length rule must not turn its verdict
around.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vsr_hallucination.detection.encoding import Word
from vsr_hallucination.detection.sentence_features import Described, Floats, TokenProbabilities
from vsr_hallucination.detection.sentence_score import SentenceScores, SpanRule
from vsr_hallucination.detection.spans import MAX_SPANS, Marked, SpanLimits, sift
from vsr_hallucination.detection.text import count_words, tidy_span
from vsr_hallucination.detection.types import Candidate, Span

CANDIDATE_FLOOR = 0.1
_VALUE = 2.0  # heat of a token the value check flagged: above any probability with its bonus


def mark_sentences(
    answer: str,
    described: Described,
    scores: SentenceScores,
    tokens: TokenProbabilities,
    words: Sequence[Word],
    flagged: Sequence[tuple[int, int]],
    rule: SpanRule,
    limits: SpanLimits,
) -> Marked:
    """Spans and candidates of an answer, in text order; ``unsupported_score`` is the answer's, and never below the
    confidence of a span."""
    heat = token_heat(tokens, words, flagged, rule)
    spans: list[Span] = []
    candidates: list[Candidate] = []
    floor = min(CANDIDATE_FLOOR, limits.threshold)
    for (start, end), chance in zip(described.spans, scores.sentence.tolist(), strict=True):
        kept = spans if chance >= limits.threshold else candidates  # many doubts must not crowd a verdict out
        if chance < floor or len(kept) >= MAX_SPANS:
            continue
        parts = localise(answer, start, end, tokens, heat, rule, limits.min_span_confidence)
        found = sift(answer, [(a, b, chance) for a, b in parts], limits, "model")
        whole = tidy_span(answer, start, end)
        if chance >= limits.threshold and not found.spans and whole is not None:
            spans.append(Span(*whole, answer[whole[0] : whole[1]], chance))
            continue
        spans += found.spans
        candidates += found.candidates
    worst = max((span.confidence for span in spans), default=0.0)
    worst_part = float(scores.sentence.max(initial=0.0))
    return Marked(tuple(spans), tuple(candidates), max(scores.answer, worst), worst_part)


def token_heat(
    tokens: TokenProbabilities, words: Sequence[Word], flagged: Sequence[tuple[int, int]], rule: SpanRule
) -> Floats:
    """(tokens,) how much each token speaks for being the unsupported part of its sentence."""
    heat = tokens.values.copy()
    novel = [(word.start, word.end) for word in words if word.novel]
    heat[_inside(tokens, novel)] += min(rule.novel_bonus, 0.9)
    heat[_inside(tokens, flagged)] = _VALUE
    return heat


def _inside(tokens: TokenProbabilities, stretches: Sequence[tuple[int, int]]) -> Floats:
    """Mask of the tokens that overlap one of ``stretches`` (in text order, apart)."""
    if not stretches:
        return np.zeros(len(tokens.values), dtype=np.bool_)
    starts, ends = np.array(stretches, dtype=np.int64).T
    after = np.searchsorted(ends, tokens.starts, side="right")
    known = np.minimum(after, len(starts) - 1)
    return np.asarray((after < len(starts)) & (starts[known] < tokens.ends))


def localise(
    answer: str,
    start: int,
    end: int,
    tokens: TokenProbabilities,
    heat: Floats,
    rule: SpanRule,
    least: float,
) -> list[tuple[int, int]]:
    """The part(s) of the sentence [start, end) that carry its doubt, tidied; the sentence where none stands out."""
    low, high = np.searchsorted(tokens.starts, (start, end))
    pieces = [
        (int(a), min(int(b), end), float(h))
        for a, b, h in zip(tokens.starts[low:high], tokens.ends[low:high], heat[low:high], strict=True)
        if any(map(str.isalnum, answer[a:b]))
    ]
    # A flagged value explains itself: it is hot, but no sign that the rest of its sentence is unsupported too.
    rest = [value for _, _, value in pieces if value < _VALUE]
    hot = sum(value >= least for value in rest)
    whole = tidy_span(answer, start, end)
    if rest and hot >= rule.whole_share * len(rest):
        return [whole] if whole else []
    runs: list[tuple[int, int]] = []
    for first, last, value in pieces:
        if value < least:
            continue
        gap = answer[runs[-1][1] : first] if runs else ""
        if runs and "\n" not in gap and count_words(gap) <= rule.gap_words:
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
    tidied: list[tuple[int, int]] = []
    if not runs and whole is not None:
        return [whole]
    for first, last in runs:
        span = tidy_span(answer, first, last)
        if span is not None and tidied and span[0] < tidied[-1][1]:
            tidied[-1] = (tidied[-1][0], max(span[1], tidied[-1][1]))
        elif span is not None:
            tidied.append(span)
    return tidied
