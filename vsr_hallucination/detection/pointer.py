"""Where in the evidence something stands: an inverted index over lines and sentences, built once per exchange.

Building is linear in the evidence; a query touches only the postings of its rarest words, so it is bounded too.
It serves evidence pointers, the choice of windows, the explainer's premises and the value check's nearest value.
Weights are inverse document frequencies over the lines (Spärck Jones 1972); numbers count double.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from heapq import nsmallest

from vsr_hallucination.detection.encoding import readings
from vsr_hallucination.detection.text import pieces_of, sentences, split_long, words
from vsr_hallucination.detection.types import EvidencePointer, Grounding, OffsetRun, Passage

MAX_POINTER_TEXT = 200  # code points of evidence quoted in a pointer
_UNIT = 240  # code points of one indexed line at most
_QUERY_WORDS = 16
_LONGEST_WORD = 64
_LOOKUPS = 1024  # sentences whose lines are remembered
_POSTINGS = 4096  # lines looked at for one word; a word in more of them says nothing about where

Words = tuple[frozenset[str], frozenset[str]]  # a sentence's own, and its question's


@dataclass(frozen=True, slots=True)
class Unit:
    """A line or sentence of a passage: ``grounding.passages[passage].text[start:end]``."""

    passage: int
    start: int
    end: int


@dataclass(slots=True)
class Terms:
    """Comparable forms of words, remembered per exchange (the same few thousand words come again and again)."""

    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, text: str) -> list[str]:
        """Terms of ``text`` in order; function words have none."""
        out: list[str] = []
        for word in words(text):
            out.extend(self.forms(word)[:2])
        return out

    def forms(self, word: str) -> tuple[str, ...]:
        """``encoding.readings`` of a word; of a longer one than people write, its beginning."""
        forms = self._known.get(word)
        if forms is None:
            forms = readings(word) if len(word) <= _LONGEST_WORD else (word[:_LONGEST_WORD],)
            if len(self._known) < 200_000:
                self._known[word] = forms
        return forms


@dataclass(slots=True)
class Remembered:
    """The lines found for words asked for before, at most ``_LOOKUPS`` of them. Threads may share it: each step is one
    operation on a dictionary, and what two find at once is the same."""

    _found: dict[Words, tuple[Unit, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._found)

    def get(self, words: Words) -> tuple[Unit, ...] | None:
        return self._found.get(words)

    def put(self, words: Words, units: tuple[Unit, ...]) -> None:
        if len(self._found) < _LOOKUPS:
            self._found[words] = units


@dataclass(frozen=True, slots=True)
class EvidenceIndex:
    """Lines of the grounding and who holds which word. Safe to share between threads once built."""

    grounding: Grounding
    units: tuple[Unit, ...]
    _postings: dict[str, array[int]]
    _terms: Terms
    remembered: Remembered = field(default_factory=Remembered, compare=False, repr=False)

    @classmethod
    def build(cls, grounding: Grounding, alive: Callable[[], None] = lambda: None) -> EvidenceIndex:
        """Indexes all passages. ``alive`` is called now and then and may raise to stop the work."""
        units: list[Unit] = []
        postings: dict[str, array[int]] = {}
        terms = Terms()
        for number, passage in enumerate(grounding.passages):
            for low, high in pieces_of(passage.text):
                alive()
                text = passage.text[low:high]
                for start, end in split_long(text, sentences(text), _UNIT):
                    unit = len(units)
                    if unit % 256 == 0:
                        alive()
                    units.append(Unit(number, low + start, low + end))
                    for term in set(terms.of(text[start:end])):
                        holders = postings.get(term)
                        if holders is None:
                            postings[term] = array("l", (unit,))
                        elif len(holders) <= _POSTINGS:
                            holders.append(unit)
        return cls(grounding, tuple(units), postings, terms)

    def terms(self, text: str) -> list[str]:
        """Terms of a text, in the index's own form."""
        return self._terms.of(text)

    def key(self, word: str) -> str:
        """The one key a word is compared by: its number, else its stem; empty for function words and what no person
        wrote as a word."""
        forms = self._terms.forms(word) if len(word) <= _LONGEST_WORD else ()
        return next((form for form in forms if form[:1].isdecimal()), forms[0] if forms else "")

    def knows(self, term: str) -> bool:
        """Whether any line of the evidence holds ``term``."""
        return term in self._postings

    @property
    def vocabulary(self) -> Collection[str]:
        """All its terms."""
        return self._postings.keys()

    def text(self, unit: Unit) -> str:
        return self.grounding.passages[unit.passage].text[unit.start : unit.end]

    def weight(self, term: str) -> float:
        """Inverse document frequency of ``term``; a number weighs double, an unknown word nothing."""
        holders = self._postings.get(term)
        if holders is None:
            return 0.0
        idf = math.log(1 + len(self.units) / len(holders))
        return 2 * idf if not term.isalpha() and any(char.isdigit() for char in term) else idf

    def scores(self, terms: Iterable[str], boosts: dict[str, float] | None = None) -> dict[int, float]:
        """Score of every unit that shares a word with ``terms`` (its rarest ones only)."""
        weighted = {term: self.weight(term) * (boosts or {}).get(term, 1.0) for term in set(terms)}
        chosen = sorted((term for term in weighted if weighted[term] > 0), key=lambda t: (-weighted[t], t))
        found: dict[int, float] = {}
        for term in chosen[:_QUERY_WORDS]:
            for unit in self._postings[term]:
                found[unit] = found.get(unit, 0.0) + weighted[term]
        return found

    def nearest(self, terms: Iterable[str], count: int = 1, boosts: dict[str, float] | None = None) -> list[Unit]:
        """The units that share most with ``terms``, best first, ties in text order."""
        found = self.scores(terms, boosts)
        # Not sorted: a sort of all that share a word is one call that holds the interpreter.
        return [self.units[i] for i in nsmallest(count, found, key=lambda i: (-found[i], i))]

    def point(self, unit: Unit, start: int | None = None, end: int | None = None) -> EvidencePointer:
        """Pointer to ``unit`` (or to part [start, end) of its passage), without outer space, cut to 200 characters."""
        passage = self.grounding.passages[unit.passage]
        low, high = (unit.start, unit.end) if start is None or end is None else (start, end)
        while low < high and passage.text[low].isspace():
            low += 1
        while high > low and passage.text[high - 1].isspace():
            high -= 1
        high = min(high, low + MAX_POINTER_TEXT)
        first, last = to_source(passage, low, high)
        return EvidencePointer(passage.path, first, last, passage.text[low:high])

    def point_for(self, answer_part: str, context: str = "") -> EvidencePointer | None:
        """The nearest evidence for a span of an answer; its sentence (``context``) helps and counts half."""
        own = self.terms(answer_part)
        around = self.terms(context)
        boosts = dict.fromkeys(around, 0.5) | dict.fromkeys(own, 1.0)
        found = self.nearest([*own, *around], 1, boosts)
        return self.point(found[0]) if found else None


def to_source(passage: Passage, start: int, end: int) -> tuple[int, int]:
    """Offsets in the source string of ``passage.text[start:end]``.

    Runs of ``origin`` map exactly; a border between runs (a label the flattening made) goes to the nearest run inside
    the stretch, else to the run before it.
    """
    if not passage.origin:
        return start, end
    inside = _overlapping(passage, start, end)
    if not inside:
        before = bisect_right(passage.origin, start, key=lambda run: run.start)
        run = passage.origin[max(0, before - 1)]
        at = run.origin + (run.length if before else 0)
        return at, at
    first, last = inside[0], inside[-1]
    low = first.origin + max(0, start - first.start)
    high = last.origin + min(last.length, end - last.start)
    return (low, high) if low <= high else (high, low)


def _overlapping(passage: Passage, start: int, end: int) -> list[OffsetRun]:
    runs = passage.origin
    at = max(0, bisect_right(runs, start, key=lambda run: run.start) - 1)
    found = []
    while at < len(runs) and runs[at].start < end:
        if start < runs[at].start + runs[at].length:
            found.append(runs[at])
        at += 1
    return found
