"""A sentence of the answer beside the evidence lines that say the most of it, both cut into words with offsets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, Self, TypeVar

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.near import near_units
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.text import STOPS, lengthened
from vsr_hallucination.detection.types import EvidencePointer

Kind = Literal[
    "negation", "modality", "comparison", "order", "roles", "attribution", "condition", "elsewhere", "named",
]  # fmt: skip

MAX_WORDS = 120  # of a sentence or a line
MAX_LINES = 6
REACH = 480  # code points a line is lengthened by on either side, to the ends of its sentence
_SEPARATOR = "\x00"
_SHOWN = 80  # characters of what differs
_LABELS = frozenset("article context doc document passage source text".split())
_ENDS = ("\n", *(stop + after for stop in ".!?" for after in " \u00a0\"”"))  # a bare stop may be a decimal's
_REMEMBERED = 256  # lines kept as words: enough for the sentences of an answer that speak of the same
_BEGINNING = 4
_CODE = range(2, 5)
_WEIGHED = 8192  # words whose weight is kept
_SOUGHT = 256  # answers kept of where something stands
_WORD = re.compile(r"[^\W_]+(?:(?:['’]|(?<=\d)[.,](?=\d)|-(?=[^\W\d_]))[^\W_]+)*")
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Token:
    """A word at ``text[start:end]``. ``folded``: case folded, apostrophes straight; ``key``: its comparable form (lemma
    or number as ``encoding.readings`` has it)."""

    start: int
    end: int
    folded: str
    key: str
    capital: bool


@dataclass(frozen=True)
class Text:
    """A text cut into words; the offsets of ``tokens`` are relative to ``text``."""

    text: str
    tokens: tuple[Token, ...]
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(token.key for token in self.tokens)

    @cached_property
    def content(self) -> frozenset[str]:
        """Keys of the words that are no function words."""
        return content(self.tokens)

    @cached_property
    def joined(self) -> str:
        """Its keys as one string (``joined``)."""
        return joined(self.keys)

    @classmethod
    def of(cls, index: EvidenceIndex, text: str) -> Text:
        """Any other text, its words keyed as the evidence's are."""
        return Text(text, tokens_of(index, text))

    def once(self, make: Callable[[Self], _T]) -> _T:
        """What ``make`` makes of this text, made once however many sentences are held against it."""
        if make not in self._made:
            self._made[make] = make(self)
        found: _T = self._made[make]
        return found


@dataclass(frozen=True)
class Line(Text):
    """An evidence line."""

    unit: Unit
    evidence: Lines = field(repr=False, compare=False)

    @property
    def passage(self) -> str:
        """The text it stands in."""
        return self.evidence.index.grounding.passages[self.unit.passage].text


@dataclass(frozen=True)
class Sentence(Text):
    """A sentence of the answer; ``lines``: the nearest, best first; ``whole``: these, each lengthened to its sentence
    and without a label."""

    lines: tuple[Line, ...]
    question: str
    evidence: Lines
    whole: tuple[Line, ...] = ()

    @property
    def index(self) -> EvidenceIndex:
        return self.evidence.index


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


class Lines:
    """Lines of the evidence as words. For one check in one thread: a line near to several sentences is read once."""

    def __init__(self, index: EvidenceIndex) -> None:
        self.index = index
        self._read: dict[Unit, Line] = {}
        self._weights: dict[str, float] = {}
        self._made: dict[Any, Any] = {}
        self._sought: dict[tuple[frozenset[str], int], tuple[Line, ...]] = {}
        self._rarest = max(1.0, float((len(index.units) + 1) ** 0.5) / 4)

    def at(self, unit: Unit) -> Line:
        line = self._read.get(unit)
        if line is None:
            text = self.index.text(unit)
            line = Line(text, tokens_of(self.index, text), unit, self)
            if len(self._read) >= _REMEMBERED:
                self._read.clear()
            self._read[unit] = line
        return line

    def nearest(self, terms: Iterable[str], count: int) -> tuple[Line, ...]:
        """``EvidenceIndex.nearest`` as lines, remembered: clauses alike ask for the same, and looking up costs most."""
        sought = (frozenset(terms), count)
        found = self._sought.get(sought)
        if found is None:
            if len(self._sought) >= _SOUGHT:
                self._sought.clear()
            found = self._sought[sought] = tuple(self.at(unit) for unit in self.index.nearest(sought[0], count))
        return found

    def once(self, make: Callable[[Lines], _T]) -> _T:
        """What ``make`` makes of the evidence, made once for a check."""
        if make not in self._made:
            self._made[make] = make(self)
        found: _T = self._made[make]
        return found

    def begins(self, letters: str) -> bool:
        """Whether a word of the evidence begins so, letters' marks apart; four letters, or a whole shorter word."""
        return letters in self._beginnings

    def codes(self, letter: str) -> frozenset[str]:
        """Words of the evidence of two to four letters that begin with ``letter``: they may be a code."""
        return self._codes.get(letter, frozenset())

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(bare(word)[:_BEGINNING] for word in self.index.vocabulary)

    @cached_property
    def _codes(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for word in self.index.vocabulary:
            if len(word) in _CODE:
                found.setdefault(word[0], set()).add(word)
        return {letter: frozenset(words) for letter, words in found.items()}

    def weight(self, key: str) -> float:
        """``EvidenceIndex.weight``, where what the evidence does not know weighs as much as what is rare."""
        weight = self._weights.get(key)
        if weight is None:
            if len(self._weights) >= _WEIGHED:
                self._weights.clear()
            weight = self._weights[key] = self.index.weight(key) or self._rarest
        return weight


def bare(key: str) -> str:
    """A word without its letters' marks."""
    if key.isascii():
        return key
    plain = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c))
    return plain.translate(_LETTERS)


def tokens_of(index: EvidenceIndex, text: str) -> tuple[Token, ...]:
    """The first ``MAX_WORDS`` words of ``text``."""
    found = []
    for match in islice(_WORD.finditer(text), MAX_WORDS):
        word = match.group()
        folded = word.casefold().replace("’", "'")
        found.append(Token(match.start(), match.end(), folded, index.key(word) or folded, word[0].isupper()))
    return tuple(found)


def read_sentence(evidence: Lines, text: str, question: str, asked: Set[str]) -> Sentence:
    """``asked``: the question's terms in the index's form."""
    terms = evidence.index.terms(text)
    units = near_units(evidence.index, terms, asked)[:MAX_LINES] if terms else ()
    lines = tuple(evidence.at(unit) for unit in units)
    wholes = {(line.unit.passage, line.unit.start): line for line in (line.once(whole) for line in lines)}
    unlabelled = tuple(line.once(_unlabelled) for line in wholes.values())
    return Sentence(text, tokens_of(evidence.index, text), lines, question, evidence, unlabelled)


def whole(line: Line) -> Line:
    """The line, lengthened to the ends of its sentence where it was too long for one."""
    text = line.passage
    start, end = lengthened(text, line.unit.start, line.unit.end, REACH, _ENDS, _ENDS)
    if end > line.unit.end and text[end : end + 1] in STOPS:
        end += 1
    while start < end and text[start] == " ":
        start += 1
    unit = Unit(line.unit.passage, start, end)
    return line if unit == line.unit else line.evidence.at(unit)


def following(line: Line) -> Line | None:
    """The sentence after ``line`` in its paragraph: it may go on about the same ("B financed the work.")."""
    text = line.passage
    start = line.unit.end
    if "\n" in text[max(line.unit.start, start - 2) : start] or start >= len(text) or text[start] == "\n":
        return None
    after = text[start : start + REACH]
    at = min((at + 1 for at in (after.find(mark) for mark in STOPS) if at > 0), default=len(after))
    return line.evidence.at(Unit(line.unit.passage, start, start + at))


def turned(sentence: Sentence, line: Line, kind: Kind, start: int, end: int, told: str) -> Turned:
    """A finding on ``text[start:end]`` of the sentence, against ``told`` of the line."""
    said = sentence.text[start:end]
    return Turned(start, end, kind, said[:_SHOWN], told[:_SHOWN], sentence.index.point(line.unit))


def weight_shared(sentence: Sentence, line: Line, without: Iterable[str] = ()) -> float:
    """Share (by inverse document frequency) of the sentence's content words that the line holds; 0 without any."""
    left_out = set(without)
    keys = set(sentence.keys) - left_out
    held = set(line.keys)
    weights = {key: sentence.index.weight(key) for key in keys}
    whole = sum(weights.values())
    return sum(weight for key, weight in weights.items() if key in held) / whole if whole else 0.0


def gap(text: str, tokens: Sequence[Token], at: int) -> str:
    """What stands between word ``at - 1`` and word ``at``; the text before the first and after the last likewise."""
    start = tokens[at - 1].end if at > 0 else 0
    return text[start : tokens[at].start] if at < len(tokens) else text[start:]


def joined(keys: Iterable[str]) -> str:
    """Keys as one string in which a stretch of keys is found by ``in``."""
    return _SEPARATOR + _SEPARATOR.join(keys) + _SEPARATOR


def place_of(stretch: Sequence[str], text: Text) -> int:
    """Index of the word of ``text`` where the keys ``stretch`` first stand, or -1."""
    at = text.joined.find(joined(stretch))
    return -1 if at < 0 or not stretch else text.joined[:at].count(_SEPARATOR)


def keys_of(tokens: Iterable[Token]) -> tuple[str, ...]:
    return tuple(token.key for token in tokens)


def content(tokens: Iterable[Token]) -> frozenset[str]:
    """Keys of the words that are no function words."""
    return frozenset(token.key for token in tokens if token.folded not in FUNCTION_WORDS)


def _unlabelled(line: Line) -> Line:
    """Without the words of a label of its passage ("Document 2:", "[3]")."""
    tokens = line.tokens
    if len(tokens) > 1 and tokens[0].key.isdecimal() and set(line.text[tokens[0].end : tokens[1].start]) & set(".)]:"):
        return replace(line, tokens=tokens[1:])
    labelled = len(tokens) > 2 and tokens[0].folded in _LABELS and tokens[1].key.isdecimal()
    return replace(line, tokens=tokens[2:]) if labelled and ":" in line.text[tokens[1].end : tokens[2].start] else line
