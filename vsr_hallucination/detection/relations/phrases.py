"""The words of a text with those that work together as one, and what the relation rules ask of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.reading import Line, Token, tokens_of

_WHOLE = 700  # code points of a line and what it was cut off from
_STOPS = (".", "!", "?", "\n")
# Words that no other language written in Latin letters has among its commonest.
_ENGLISH = (
    frozenset(
        "about and are because been between but can cannot could does doesn't did didn't each every first from has his "
        "isn't it its may might more most must not now of only should since some such than that the their then there "
        "these they this those through until wasn't were what when where which while who whose will with within "
        "without would you your".split()
    )
    | lexicon.OFTEN
    | lexicon.ALWAYS
    | lexicon.CERTAIN
    | opposites.RISES
    | opposites.FALLS
    | lexicon.LEAVING
    | lexicon.MOVING
)
_COMMON = frozenset("a after all as at before by for had have he in is no on or she to was we".split())
# What an answer says of its source, which the source does not say itself.
_OF_SOURCE = frozenset(
    "according answer article based context document documents evidence following given here information mentioned "
    "passage passages provided question report reports says source sources state states stated text".split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word or phrase at ``text[start:end]``. ``form``: case folded, or what the phrase stands for; ``key``: its
    comparable form; ``content``: whether it names something."""

    start: int
    end: int
    form: str
    key: str
    content: bool
    capital: bool


@dataclass(frozen=True)
class Reading:
    """A text and its words."""

    text: str
    words: tuple[Word, ...]

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words)

    @cached_property
    def forms(self) -> frozenset[str]:
        return frozenset(word.form for word in self.words)

    def between(self, one: Word, two: Word) -> str:
        """What stands between two words."""
        return self.text[one.end : two.start]


def read(text: str, tokens: Sequence[Token] | None = None) -> Reading:
    """``text`` cut into words, phrases as one."""
    tokens = tokens_of(text) if tokens is None else tokens
    found: list[Word] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        size, form = _phrase(text, tokens, at)
        if size > 1:
            found.append(Word(token.start, tokens[at + size - 1].end, form, form, False, False))
        else:
            form = "neednt" if token.folded == "needn't" else token.folded
            content = form not in FUNCTION_WORDS | {"neednt"} and not lexicon.negates(form)
            key = _ungrouped(token) if content else form
            lettered = token.folded == "a" and token.capital and found and found[-1].content
            if lettered and _beside(text, found[-1], token):
                content, key = True, "A"  # "Team A"
            found.append(Word(token.start, token.end, form, key, content, token.capital))
        at += size
    return Reading(text, tuple(found))


def _beside(text: str, word: Word, token: Token) -> bool:
    return text[word.end : token.start] == " "


def _ungrouped(token: Token) -> str:
    """The key of a word; a number with thousands set apart is the same without."""
    parts = token.folded.split(",")
    grouped = len(parts) > 1 and len(parts[0]) <= 3 and all(len(part) == 3 and part.isdecimal() for part in parts[1:])
    return "".join(parts) if grouped and parts[0].isdecimal() else token.key


def _phrase(text: str, tokens: Sequence[Token], at: int) -> tuple[int, str]:
    """(words, what they stand for) of the longest phrase that begins here; words of a phrase stand side by side."""
    if tokens[at].folded not in lexicon.PHRASE_OPENINGS:
        return 1, ""
    for size in range(min(lexicon.LONGEST_PHRASE, len(tokens) - at), 1, -1):
        form = lexicon.PHRASES.get(tuple(token.folded for token in tokens[at : at + size]))
        if form == "finally" and at + size < len(tokens) and tokens[at + size].folded == "of":
            continue  # "at the end of April"
        if form is not None and text[tokens[at].start : tokens[at + size - 1].end].count(" ") == size - 1:
            return size, form
    return 1, ""


def whole(index: EvidenceIndex, line: Line) -> Reading:
    """A line with what it was cut off from where it was too long for one."""
    unit = line.unit
    passage = index.grounding.passages[unit.passage].text
    start, end = unit.start, unit.end
    before = passage[max(0, start - _WHOLE) : start].rstrip(" ")
    if before and before[-1] not in _STOPS:
        start -= len(passage[max(0, start - _WHOLE) : start]) - max(before.rfind(mark) + 1 for mark in _STOPS)
    if line.text.rstrip(" ")[-1:] not in _STOPS:
        after = passage[end : end + _WHOLE]
        ends = [at for mark in (". ", "! ", "? ", "\n", ".\n") if (at := after.find(mark)) >= 0]
        end += min(ends, default=len(after))
    if (start, end) == (unit.start, unit.end):
        return read(line.text, line.tokens)
    return read(passage[start:end])


def english(reading: Reading, lines: Iterable[Line]) -> bool:
    """Whether a text and the lines it is held against read like English: the rules read no other language."""
    common = sum(word.form in _ENGLISH or word.form in _COMMON for word in reading.words)
    if 8 * common < len(reading.words):
        return False
    lined = any(token.folded in _ENGLISH for line in lines for token in line.tokens)
    return lined or any(word.form in _ENGLISH for word in reading.words)


def about_source(word: Word) -> bool:
    """Whether a word only says where the answer has it from."""
    return word.form in _OF_SOURCE


def with_neighbours(index: EvidenceIndex, line: Line, told: Reading, openings: frozenset[str]) -> Reading:
    """A line together with the sentence it leans on, or the one that leans on it: one that begins with a word of
    ``openings`` (a pronoun, "then")."""
    passage = index.grounding.passages[line.unit.passage].text
    start, end = line.unit.start, line.unit.end
    first = told.words[0].form if told.words else ""
    if first in openings:
        before = passage[max(0, start - _WHOLE) : start].rstrip()
        cut = max(before.rfind(mark, 0, -1) + 1 for mark in _STOPS) if before else 0
        return read(before[cut:] + "\n" + told.text)
    after = passage[end : end + _WHOLE].lstrip()
    opening = re.match(r"\w+", after)
    if opening is None or opening.group().casefold() not in openings:
        return told
    stops = [at + 1 for mark in (". ", "! ", "? ", ".\n", "\n") if (at := after.find(mark)) > 0]
    return read(told.text + "\n" + after[: min(stops, default=len(after))])
