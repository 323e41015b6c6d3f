"""A sentence of the answer beside the evidence lines that say the most of it, both cut into words with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from vsr_hallucination.detection.encoding import readings
from vsr_hallucination.detection.near import near_units
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.types import EvidencePointer

Kind = Literal[
    "negation", "modality", "comparison", "order", "roles", "attribution", "condition", "elsewhere",
]  # fmt: skip

MAX_WORDS = 120  # of a sentence or a line
MAX_LINES = 6
_LONGEST_WORD = 64
_WORD = re.compile(r"[^\W_]+(?:(?:['’]|(?<=\d)[.,](?=\d)|-(?=[^\W\d_]))[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Token:
    """A word at ``text[start:end]``. ``folded``: case folded, apostrophes straight; ``key``: its comparable form (lemma
    or number as ``encoding.readings`` has it)."""

    start: int
    end: int
    folded: str
    key: str
    capital: bool


@dataclass(frozen=True, slots=True)
class Line:
    """An evidence line; its tokens' offsets are relative to ``text``."""

    unit: Unit
    text: str
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer, its tokens' offsets relative to ``text``; ``lines``: the nearest, best first."""

    text: str
    tokens: tuple[Token, ...]
    lines: tuple[Line, ...]
    question: str
    index: EvidenceIndex


@dataclass(frozen=True, slots=True)
class Turned:
    """``text[start:end]`` of a sentence turns what ``evidence`` says. ``said`` and ``told``: the words of the answer
    and of the evidence that differ, at most 80 characters each."""

    start: int
    end: int
    kind: Kind
    said: str
    told: str
    evidence: EvidencePointer


def tokens_of(text: str) -> tuple[Token, ...]:
    """The first ``MAX_WORDS`` words of ``text``."""
    found = []
    for match in islice(_WORD.finditer(text), MAX_WORDS):
        word = match.group()
        folded = word.casefold().replace("’", "'")
        forms = readings(word) if len(word) <= _LONGEST_WORD else ()
        key = next((form for form in forms if form[:1].isdecimal()), forms[0] if forms else folded)
        found.append(Token(match.start(), match.end(), folded, key, word[0].isupper()))
    return tuple(found)


def read_sentence(index: EvidenceIndex, text: str, question: str, asked: Sequence[str]) -> Sentence:
    """``asked``: the question's terms in the index's form."""
    terms = index.terms(text)
    units = near_units(index, terms, asked)[:MAX_LINES] if terms else []
    return Sentence(text, tokens_of(text), tuple(_line(index, unit) for unit in units), question, index)


def weight_shared(sentence: Sentence, line: Line, without: Iterable[str] = ()) -> float:
    """Share (by inverse document frequency) of the sentence's content words that the line holds; 0 without any."""
    left_out = set(without)
    keys = {token.key for token in sentence.tokens} - left_out
    held = {token.key for token in line.tokens}
    weights = {key: sentence.index.weight(key) for key in keys}
    whole = sum(weights.values())
    return sum(weight for key, weight in weights.items() if key in held) / whole if whole else 0.0


def _line(index: EvidenceIndex, unit: Unit) -> Line:
    text = index.text(unit)
    return Line(unit, text, tokens_of(text))
