"""The words of a text with those that work together as one, and what the relation rules ask of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.reading import REACH, Line, Text, Token, whole
from vsr_hallucination.detection.text import STOPS

_LEANING = lexicon.PRONOUNS | {"then", "only"}


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

    def has(self, forms: list[str]) -> bool:
        """Whether these forms stand in it side by side."""
        own = [word.form for word in self.words]
        return any(own[at : at + len(forms)] == forms for at in range(len(own) - len(forms) + 1))

    def between(self, one: Word, two: Word) -> str:
        """What stands between two words."""
        return self.text[one.end : two.start]


def read(source: Text) -> Reading:
    """The words of a text, phrases as one."""
    text, tokens = source.text, source.tokens
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


def about_source(word: Word) -> bool:
    """Whether a word only says where the answer has it from."""
    return word.form in lexicon.OF_SOURCE


def read_whole(line: Line) -> Reading:
    """A line with what it was cut off from."""
    return line.once(whole).once(read)


def read_with_neighbour(line: Line) -> Reading:
    """A line together with the sentence it leans on, or the one that leans on it: one that begins with a pronoun or
    "then"."""
    told = line.once(read_whole)
    text, unit = line.passage, line.unit
    first = told.words[0].form if told.words else ""
    if first in _LEANING:
        before = text[max(0, unit.start - REACH) : unit.start].rstrip()
        cut = max(before.rfind(mark, 0, -1) + 1 for mark in STOPS) if before else 0
        return read(Text.of(line.evidence.index, before[cut:] + "\n" + told.text))
    after = text[unit.end : unit.end + REACH].lstrip()
    opening = re.match(r"\w+", after)
    if opening is None or opening.group().casefold() not in _LEANING:
        return told
    stops = [at + 1 for mark in (". ", "! ", "? ", ".\n", "\n") if (at := after.find(mark)) > 0]
    return read(Text.of(line.evidence.index, told.text + "\n" + after[: min(stops, default=len(after))]))
