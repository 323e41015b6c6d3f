"""A sentence of the answer beside the evidence lines that say the most of it, both cut into words with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
STOPS = (".", "!", "?", "\n")
REACH = 480  # code points a line is lengthened by on either side, to the ends of its sentence
_LABELS = frozenset("article context doc document passage source text".split())
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
    whole: tuple[Line, ...] = ()  # the lines, each lengthened to its sentence and without a label


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
    lines = tuple(_line(index, unit) for unit in units)
    return Sentence(text, tokens_of(text), lines, question, index, _wholes(index, lines))


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


def whole(index: EvidenceIndex, line: Line) -> Line:
    """The line, lengthened to the ends of its sentence where it was too long for one."""
    text = index.grounding.passages[line.unit.passage].text
    start, end = line.unit.start, line.unit.end
    before = text[max(0, start - REACH) : start]
    if before.rstrip(" ")[-1:] not in ("", *STOPS):
        start -= len(before) - max(before.rfind(mark) + 1 for mark in (". ", "! ", "? ", "\n"))
    after = text[end : end + REACH]
    if text[start:end].rstrip(" ")[-1:] not in STOPS:
        end += min((at + 1 for at in (after.find(mark) for mark in STOPS) if at >= 0), default=len(after))
    while start < end and text[start] == " ":
        start += 1
    if (start, end) == (line.unit.start, line.unit.end):
        return line
    unit = Unit(line.unit.passage, start, end)
    return Line(unit, text[start:end], tokens_of(text[start:end]))


def _wholes(index: EvidenceIndex, lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines as whole sentences, each once."""
    found = {(line.unit.passage, line.unit.start): line for line in (whole(index, line) for line in lines)}
    return tuple(_unlabelled(line) for line in found.values())


def _unlabelled(line: Line) -> Line:
    """Without the words of a label of its passage ("Document 2:", "[3]")."""
    tokens = line.tokens
    if len(tokens) > 1 and tokens[0].key.isdecimal() and set(line.text[tokens[0].end : tokens[1].start]) & set(".)]:"):
        return replace(line, tokens=tokens[1:])
    labelled = len(tokens) > 2 and tokens[0].folded in _LABELS and tokens[1].key.isdecimal()
    return replace(line, tokens=tokens[2:]) if labelled and ":" in line.text[tokens[1].end : tokens[2].start] else line
