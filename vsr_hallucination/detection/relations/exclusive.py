"""What the evidence keeps to some, given to all or taken from them; what it says of somebody's kin, said of himself.

Each is read in a copy alone: "anyone can delete it" for "only admins can delete it", "admins cannot delete it" for the
same, "Maria lives in Porto" for "Maria's sister lives in Porto".
"""

from __future__ import annotations

from collections.abc import Sequence

from vsr_hallucination.detection.relations.parts import is_name, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import Line, Sentence, Token, Turned, content, keys_of

_ONLY = frozenset("just only solely".split())
_ALL = frozenset("anybody anyone everybody everyone".split())
_NOT = frozenset("not never".split())
_WHOLE = {"cannot": "can", "can't": "can"}
# Whose deeds and whereabouts are not one's own.
_KIN = frozenset(
    "adviser advisor assistant aunt boss brother brother-in-law child children colleague colleagues competitor "
    "cousin daughter daughters deputy father friend friends grandfather grandmother husband lawyer manager mother "
    "nephew niece opponent parent parents partner predecessor rival rivals secretary sister sisters sister-in-law "
    "son sons spouse student students successor teacher uncle widow wife".split()
)
_FEWEST = 2  # content words of what is said
_MOST_WORDS = 4  # of those it is kept to


def unbounded(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    sentence = sentence.once(trimmed)
    return _given_to_all(sentence) or _taken_from_them(sentence) or _of_ones_kin(sentence)


def _given_to_all(sentence: Sentence) -> Turned | None:
    at = next((n for n, token in enumerate(sentence.tokens) if token.folded in _ALL), None)
    if at is None:
        return None
    before, after = sentence.keys[:at], sentence.keys[at + 1 :]
    named = content((*sentence.tokens[:at], *sentence.tokens[at + 1 :]))
    if len(named) < _FEWEST or any(_for_all(line, named) for line in sentence.lines):
        return None
    for line in sentence.whole:
        rest = _without_only(line)
        if rest is None or len(rest) > len(before) + _MOST_WORDS + len(after):
            continue
        keys = keys_of(rest)
        those = rest[len(before) : len(rest) - len(after)]
        if content(those) and keys[: len(before)] == before and keys[len(rest) - len(after) :] == after:
            return turned_words(sentence, line, "condition", at, at + 1, those)
    return None


def _for_all(line: Line, named: frozenset[str]) -> bool:
    return named <= line.content and any(token.folded in _ALL for token in line.tokens)


def _taken_from_them(sentence: Sentence) -> Turned | None:
    at = next((n for n, token in enumerate(sentence.tokens) if token.folded in _NOT or token.folded in _WHOLE), None)
    if at is None or len(sentence.content) < _FEWEST:
        return None
    plain = [_WHOLE.get(token.folded, token.folded) for token in sentence.tokens if token.folded not in _NOT]
    for line in sentence.whole:
        rest = _without_only(line)
        if rest is not None and [token.folded for token in rest] == plain:
            return turned_words(sentence, line, "negation", at, at + 1, rest)
    return None


def _without_only(line: Line) -> Sequence[Token] | None:
    """The words of a line that keeps something to some, without the one that does; None for others."""
    rest = [token for token in line.tokens if token.folded not in _ONLY]
    return rest if len(rest) + 1 == len(line.tokens) else None


def _of_ones_kin(sentence: Sentence) -> Turned | None:
    last = next((n for n, token in enumerate(sentence.tokens) if not is_name(token)), 0)
    rest = sentence.keys[last:]
    if not last or len(content(sentence.tokens[last:])) < _FEWEST:
        return None
    for line in sentence.whole:
        for at, token in enumerate(line.tokens[:-1]):
            if token.folded not in _KIN or line.keys[at + 1 : at + 1 + len(rest)] != rest:
                continue
            first = _whose(line, at)
            named = {one.key for one in line.tokens[first:at] if is_name(one)}
            if named and set(sentence.keys[:last]) <= named and not _alone(sentence, line):
                return turned_words(sentence, line, "attribution", 0, last, line.tokens[first : at + 1])
    return None


def _whose(line: Line, at: int) -> int:
    """Where the name begins whose kin stands at word ``at`` ("Maria Silva's elder sister"); ``at`` if there is none."""
    owner = next((n for n in range(at - 1, max(-1, at - 3), -1) if line.tokens[n].folded.endswith("'s")), None)
    if owner is None:
        return at
    while owner and is_name(line.tokens[owner - 1]):
        owner -= 1
    return owner


def _alone(sentence: Sentence, line: Line) -> bool:
    """Whether another line tells the same of whom the sentence names."""
    return any(other.unit != line.unit and sentence.content <= other.content for other in sentence.whole)
