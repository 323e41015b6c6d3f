"""A word put in the place of its opposite."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.assertions import contradicted, overstated, reconditioned
from vsr_hallucination.detection.relations.comparing import miscompared, misplaced_extreme, mistrended
from vsr_hallucination.detection.relations.copies import Edit, edits
from vsr_hallucination.detection.relations.phrases import (
    Reading,
    about_source,
    read,
    read_whole,
    read_with_neighbour,
)
from vsr_hallucination.detection.relations.reading import Kind, Line, Sentence, Text, Turned, turned, weight_shared
from vsr_hallucination.detection.relations.sequence import misordered, moved_back

_FEWEST = 3
_ALIKE = 0.25  # of what the sentence names that a line must have to be read
_LINES = 4
_QUOTED = 12  # words of a quotation
# With the sentence that a line leans on, or without it.
_WIDE = (contradicted, misordered, moved_back)
_PLAIN = (overstated, reconditioned, miscompared, mistrended, misplaced_extreme)
_GRANTED = 0.5  # share of what the sentence names that a question must name to say the same
_AS_MUCH = 0.75  # of the sentence's weight on a line that another must hold to support it


def reworded(sentence: Sentence) -> Turned | None:
    """The first word, negation, modal, comparison or order of a sentence that turns what its nearest line says."""
    said = sentence.once(read)
    if len(said.words) < _FEWEST or sentence.text.rstrip()[-1:] == "?":
        return None
    names = {word.key for word in said.words if word.content and not about_source(word)}
    # A question states nothing.
    near = [line for line in sentence.lines if line.text.rstrip()[-1:] != "?" and _held(names, line) >= _ALIKE]
    if not near:
        return None
    lines = [(line, line.once(read_whole)) for line in near[:_LINES]]
    if any(_quoted(said, told) for _, told in lines):
        return None
    return _copied(sentence, said, lines) or _in_other_words(sentence, said, lines)


def _quoted(said: Reading, told: Reading) -> bool:
    """Whether the sentence stands in the line word for word."""
    return len(said.words) >= _QUOTED and told.has([word.form for word in said.words])


def _held(names: set[str], line: Line) -> float:
    """Share of ``names`` that a line has."""
    return len(names & set(line.keys)) / len(names) if names else 0.0


def _in_other_words(sentence: Sentence, said: Reading, lines: list[tuple[Line, Reading]]) -> Turned | None:
    wide = [line.once(read_with_neighbour) for line, _ in lines]
    plain = [told for _, told in lines]
    for found in chain((rule(said, wide) for rule in _WIDE), (rule(said, plain) for rule in _PLAIN)):
        if found is not None and not _taken_for_granted(sentence, said, found.first, found.end):
            line = lines[found.line][0]
            return _turned(sentence, line, said, found.first, found.end, found.kind, found.told)
    return None


def _copied(sentence: Sentence, said: Reading, lines: list[tuple[Line, Reading]]) -> Turned | None:
    if any(told.keys >= said.keys and told.text.strip() == said.text.strip() for _, told in lines):
        return None
    for line, told in lines:
        for edit in edits(told, said):
            if _supported(sentence, said, line, told, edit, lines):
                continue
            if not _taken_for_granted(sentence, said, edit.c, edit.d):
                return _turned(sentence, line, said, edit.c, edit.d, edit.kind, _words(told, edit.a, edit.b))
    return None


def _turned(sentence: Sentence, line: Line, said: Reading, first: int, end: int, kind: Kind, told: str) -> Turned:
    """The words [first, end) of the sentence as a fault; where they are none, the words beside the gap."""
    first, end = _beside(first, end, said)
    return turned(sentence, line, kind, said.words[first].start, said.words[end - 1].end, told)


def _words(reading: Reading, first: int, end: int) -> str:
    first, end = _beside(first, end, reading)
    return reading.text[reading.words[first].start : reading.words[end - 1].end]


def _beside(first: int, end: int, reading: Reading) -> tuple[int, int]:
    return (first, end) if first < end else (max(0, first - 1), min(len(reading.words), end + 1))


def _supported(
    sentence: Sentence, said: Reading, line: Line, told: Reading, edit: Edit, lines: Iterable[tuple[Line, Reading]]
) -> bool:
    """Whether another line, or what the question takes for granted, has the sentence as it is said."""
    new = {w.form for w in said.words[edit.c : edit.d]} - {w.form for w in told.words[edit.a : edit.b]}
    denies = any(lexicon.negates(form) for form in new)
    keys = {w.key for w in said.words[edit.c : edit.d]}
    held = weight_shared(sentence, line, keys)
    for other, reading in lines:
        if other is line or weight_shared(sentence, other, keys) < _AS_MUCH * held:
            continue
        negated = any(lexicon.negates(w.form) for w in reading.words)
        if edit.kind == "negation" and (denies or not new) and negated == denies:
            return True
        if new and new <= reading.forms:
            return True
    return False


def _taken_for_granted(sentence: Sentence, said: Reading, first: int, end: int) -> bool:
    """Whether the question itself says so: a why-question, or an instruction that tells what is the case."""
    question = sentence.question[:2000].strip()
    if question.endswith("?") and question[:3].casefold() != "why":
        return False
    asked = read(Text.of(sentence.index, question))
    names = {word.key for word in said.words if word.content and not about_source(word)}
    new = {word.form for word in said.words[first:end]}
    return new <= asked.forms and len(names & asked.keys) >= _GRANTED * len(names)
