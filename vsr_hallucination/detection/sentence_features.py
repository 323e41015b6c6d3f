"""What is known about each sentence of an answer before it is judged: one row of numbers per sentence.

Three witnesses that err differently: the token probabilities of the model, what the sentence says that no evidence
says (novel words, numbers, names; how much of it one place of the evidence holds), and what kind of sentence it is (a
refusal, a greeting, a heading claim nothing). Pure and bounded: a sentence looks at its few nearest evidence lines.
Columns are named in ``FEATURES``; a model directory names the ones it uses, so more may be added at the end.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from vsr_hallucination.detection.alignment import align
from vsr_hallucination.detection.encoding import FUNCTION_WORDS, Word
from vsr_hallucination.detection.near import few, near_units
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.text import sentences, split_long

Floats = npt.NDArray[np.float64]

FEATURES = (
    "logit_max", "logit_second", "logit_mean", "prob_sum", "prob_share", "novel_prob",  # the model
    "novel_count", "novel_share", "novel_long", "novel_numbers", "novel_names", "novel_run",  # new words
    "value_flags",  # the exact value check
    "recall_line", "recall_near", "bigrams_near", "longest_run", "asked_share",  # how the evidence holds it
    "length", "position", "first", "last", "sentences",  # its place
    "about_sources", "refusal", "courtesy", "hedge", "heading",  # its kind
    "answer_novel_share", "answer_novel_count", "answer_prob", "others_logit",  # the rest of the answer
    "crossed", "misplaced", "inverted", "substituted", "reworded", "copied",  # how it lies on its nearest line
)  # fmt: skip

SENTENCE_CHARS = 600  # longer sentences are cut at white space
_LINES = 8  # nearest evidence lines looked at
_TERMS = 120  # terms of a sentence compared
_FLOOR = 1e-4  # probabilities are kept this far from 0 and 1 before the logit

# Kinds of sentences, by the words LLM answers in English use for them.
_ABOUT_SOURCES = re.compile(
    r"\b(?:based on|according to|as (?:stated|mentioned|described|noted) in|provided|given|the) "
    r"(?:the |these |those )?(?:provided |given |above |supplied )?"
    r"(?:passages?|contexts?|documents?|texts?|articles?|information|sources?|records?|tool results?)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:unable to (?:answer|determine|provide|find)|(?:can(?:not|'t|’t)|could(?: not|n't|n’t)) "
    r"(?:answer|determine|find|say|tell|confirm)|(?:do(?:es)?|did)(?: not|n't|n’t) "
    r"(?:say|mention|state|specify|provide|contain|cover|include|know|explicitly|give|discuss)|"
    r"not (?:mentioned|stated|specified|provided|covered|enough information|clear from)|"
    r"no (?:information|mention|details?)|I(?:'m|’m| am) sorry)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"^\W*(?:hello|hi|hey|sure|certainly|of course|thanks?|thank you|you(?:'|’)re welcome|great question|happy to|"
    r"here(?:'s| is| are) )|\b(?:hope (?:this|that) helps|let me know|feel free|any (?:other|more|further) questions|"
    r"anything else|consult (?:the|a|an|your)|would you like)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|likely|probably|appears?|seems?|suggests?|generally|typically|usually|"
    r"often|it is important|in general|overall|in summary|in conclusion)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s*(?:#{1,6} .*|[^.!?]{1,80}:\W*|[*_]{2}[^*_]{1,80}[*_]{2}:?)\s*$")


@dataclass(frozen=True, slots=True)
class TokenProbabilities:
    """``values[i]``: probability that token i, ``answer[starts[i]:ends[i]]``, is unsupported."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    values: Floats


@dataclass(frozen=True, slots=True)
class Described:
    """Sentences of an answer (code points, a partition of it) and their features, (sentences, len(FEATURES)).

    ``claims[i]`` is False for a sentence without letter or digit, or whose tokens were not read: it has no score.
    """

    spans: tuple[tuple[int, int], ...]
    matrix: Floats
    claims: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Content:
    """Content words of one sentence."""

    count: int
    novel: int
    long: int
    numbers: int
    names: int
    run: int


def logit(values: Floats) -> Floats:
    """Log-odds, clipped to about ±9.2."""
    kept = np.clip(values, _FLOOR, 1 - _FLOOR)
    return np.asarray(np.log(kept / (1 - kept)), dtype=np.float64)


def describe(
    answer: str,
    question: str,
    index: EvidenceIndex,
    words: Sequence[Word],
    tokens: TokenProbabilities,
    flagged: Sequence[tuple[int, int]],
    alive: Callable[[], None] = lambda: None,
) -> Described:
    """Features of every sentence. ``words``: novelty of the answer's words; ``flagged``: what the value check found."""
    spans = sentence_spans(answer)
    matrix = np.zeros((len(spans), len(FEATURES)), dtype=np.float64)
    claims = np.zeros(len(spans), dtype=np.bool_)
    wordy = np.array([any(map(str.isalnum, answer[a:b])) for a, b in zip(tokens.starts, tokens.ends, strict=True)])
    asked = frozenset(index.terms(question))
    novel_at = np.array([word.start for word in words if word.novel], dtype=np.int64)
    for n, (start, end) in enumerate(spans):
        alive()
        low, high = np.searchsorted(tokens.starts, (start, end))
        kept = wordy[low:high].astype(np.bool_)
        values = tokens.values[low:high][kept]
        if not len(values) or not bool(np.isfinite(values).all()):
            continue
        claims[n] = True
        inside = _novel_tokens(tokens.starts[low:high][kept], tokens.ends[low:high][kept], novel_at)
        text = answer[start:end]
        content = _content(answer, start, end, words)
        units = _nearest(index, text, asked)
        row = {
            **_model(values, inside),
            **_novelty(content),
            "value_flags": float(sum(a < end and start < b for a, b in flagged)),
            **_held(index, text, asked, units),
            **_aligned(index, text, asked, units),
            "length": math.log1p(content.count),
            "position": n / max(1, len(spans) - 1),
            "first": float(n == 0),
            "last": float(n == len(spans) - 1),
            "sentences": math.log(len(spans)),
            **_kind(text),
        }
        matrix[n] = [row.get(name, 0.0) for name in FEATURES]
    _fill_context(matrix, claims)
    return Described(spans, matrix, claims)


def _novel_tokens(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], at: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which tokens hold the beginning of a novel word."""
    return np.asarray(np.searchsorted(at, ends) > np.searchsorted(at, starts), dtype=np.bool_)


def _model(values: Floats, novel: npt.NDArray[np.bool_]) -> dict[str, float]:
    odds = np.sort(logit(values))[::-1]
    return {
        "logit_max": float(odds[0]),
        "logit_second": float(odds[min(len(odds) - 1, 2)]),
        "logit_mean": float(odds.mean()),
        "prob_sum": math.log1p(float(values.sum())),
        "prob_share": float((values >= 0.5).mean()),
        "novel_prob": float(values[novel].max()) if bool(novel.any()) else 0.0,
    }


def _content(answer: str, start: int, end: int, words: Sequence[Word]) -> _Content:
    count = novel = long = numbers = names = run = best = 0
    begun = False
    low, high = _range(words, start, end)
    for word in words[low:high]:
        text = answer[word.start : word.end]
        digit = any(map(str.isdigit, text))
        first, begun = not begun, True
        if text.lower() in FUNCTION_WORDS or (len(text) < 3 and not digit and text.isascii()):
            continue
        count += 1
        if not word.novel:
            run = 0
            continue
        run += 1
        best = max(best, run)
        novel += 1
        long += len(text) >= 7
        numbers += digit
        names += text[0].isupper() and not first and not digit
    return _Content(count, novel, long, numbers, names, best)


def _range(words: Sequence[Word], start: int, end: int) -> tuple[int, int]:
    """Index range of the words that begin within [start, end)."""
    return bisect_left(words, start, key=lambda w: w.start), bisect_left(words, end, key=lambda w: w.start)


def _novelty(content: _Content) -> dict[str, float]:
    return {
        "novel_count": math.log1p(content.novel),
        "novel_share": content.novel / max(1, content.count),
        "novel_long": math.log1p(content.long),
        "novel_numbers": math.log1p(content.numbers),
        "novel_names": math.log1p(content.names),
        "novel_run": math.log1p(content.run),
    }


def sentence_spans(answer: str) -> tuple[tuple[int, int], ...]:
    """The sentences that are judged, code points, a partition of the answer."""
    return tuple(split_long(answer, sentences(answer), SENTENCE_CHARS))


def _nearest(index: EvidenceIndex, text: str, asked: frozenset[str]) -> Sequence[Unit]:
    terms = index.terms(text)
    return near_units(index, terms, asked) if terms else ()


def _aligned(index: EvidenceIndex, text: str, asked: frozenset[str], units: Sequence[Unit]) -> dict[str, float]:
    found = align(index, text, units, asked)
    return {
        "crossed": math.log1p(found.crossed),
        "misplaced": math.log1p(found.misplaced),
        "inverted": math.log1p(found.inverted),
        "substituted": math.log1p(found.substituted),
        "reworded": math.log1p(found.reworded),
        "copied": found.copied,
    }


def _held(index: EvidenceIndex, text: str, asked: frozenset[str], lines_near: Sequence[Unit]) -> dict[str, float]:
    """How much of a sentence its nearest evidence lines hold, weighted by rarity (an unknown word is the rarest). The
    lines of a short sentence are looked up by its own words alone: ``lines_near`` heeds the question's too."""
    terms = index.terms(text)[:_TERMS]
    if not terms:
        return {"recall_line": 1.0, "recall_near": 1.0, "bigrams_near": 1.0, "longest_run": 1.0, "asked_share": 0.0}
    rarest = math.log(2 + len(index.units))
    weights = {term: index.weight(term) or rarest for term in terms}
    total = sum(weights.values())
    units = index.nearest(terms, _LINES) if few(terms) else lines_near[:_LINES]
    lines = [index.terms(index.text(unit)) for unit in units]
    sets = [set(line) for line in lines]
    near = set().union(*sets[:3]) if sets else set()
    pairs = set(pairwise(terms))
    held = {pair for line in lines for pair in pairwise(line)}
    longest = run = 0
    for pair in pairwise(terms):
        run = run + 1 if pair in held else 0
        longest = max(longest, run)
    return {
        "recall_line": max((sum(weights[t] for t in weights if t in line) for line in sets), default=0.0) / total,
        "recall_near": sum(weights[t] for t in weights if t in near) / total,
        "bigrams_near": len(pairs & held) / len(pairs) if pairs else float(terms[0] in near),
        "longest_run": longest / len(pairs) if pairs else 0.0,
        "asked_share": sum(term in asked for term in weights) / len(weights),
    }


def refuses(text: str) -> bool:
    """Whether a sentence says that something is not known or not said."""
    return _REFUSAL.search(text) is not None


def _kind(text: str) -> dict[str, float]:
    part = text.strip()
    return {
        "about_sources": float(_ABOUT_SOURCES.search(part) is not None),
        "refusal": float(refuses(part)),
        "courtesy": float(_COURTESY.search(part) is not None),
        "hedge": float(_HEDGE.search(part) is not None),
        "heading": float(_HEADING.match(part) is not None),
    }


def _fill_context(matrix: Floats, claims: npt.NDArray[np.bool_]) -> None:
    """What the whole answer is like: a stray doubt weighs less in an answer that otherwise says nothing new."""
    at = {name: n for n, name in enumerate(FEATURES)}
    read = np.flatnonzero(claims)
    if not len(read):
        return
    count = np.expm1(matrix[read, at["length"]])
    novel = np.expm1(matrix[read, at["novel_count"]])
    matrix[read, at["answer_novel_share"]] = novel.sum() / max(1.0, count.sum())
    matrix[read, at["answer_novel_count"]] = math.log1p(float(novel.sum()))
    matrix[read, at["answer_prob"]] = math.log1p(float(np.expm1(matrix[read, at["prob_sum"]]).sum()))
    best = matrix[read, at["logit_max"]]
    order = np.argsort(-best)
    top = best[order[0]]
    second = best[order[1]] if len(order) > 1 else min(float(top), 0.0)
    others = np.full(len(read), top)
    others[order[0]] = second
    matrix[read, at["others_logit"]] = others
