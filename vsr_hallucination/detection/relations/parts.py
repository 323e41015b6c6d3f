"""Parts of a sentence that the rules compare: names, stretches of words, and what is said where.

Words are compared by ``Token.key``. All is linear in a sentence and its lines (``MAX_WORDS`` words each).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.reading import (
    Kind,
    Line,
    Lines,
    Sentence,
    Text,
    Token,
    Turned,
    bare,
    gap,
    turned,
)

_JOINTS = frozenset("of the de la von van der den & and".split())
_NOT_NAMED = FUNCTION_WORDS | frozenset(
    "a an document i mr mrs ms no overall passage source sure today yes".split()
)  # fmt: skip
_OPENS = frozenset(".!?:'\"“”‘’•\n")
_ALIASES = frozenset(
    "aka alias born called dubbed formerly is known meaning named nee nicknamed now née or was".split()
)
_KINDS_OF_NAME = frozenset("assumed birth brand code former given maiden other pen real ring stage trade true".split())
_NAMES_OF_ANOTHER = frozenset("alias moniker nickname pseudonym".split())
_OPENING = 14  # words that may only name the sources
_MOST_NAMES = 12
_SOURCES = lexicon.OF_SOURCE | frozenset(
    "above answering certainly conclusion described describes doc noted overall provides say short summary sure "
    "texts".split()
)


@dataclass(frozen=True, slots=True)
class Span:
    """Words ``first`` to ``last`` (exclusive) of a sentence or line."""

    first: int
    last: int


def names(source: Text) -> list[Span]:
    """Names: capitalised words in a row, also across one "of" or "the"; a first word alone counts only as it follows
    no full stop or stands before another. Longer and shorter readings of one stretch are both given."""
    text, tokens = source.text, source.tokens
    runs: list[Span] = []
    at = 0
    while at < len(tokens) and len(runs) < _MOST_NAMES:
        if not is_name(tokens[at]):
            at += 1
            continue
        last = at + 1
        while last < len(tokens) and (
            ((is_name(tokens[last]) or _numeral(tokens[last]) or _letter(tokens[last])) and _tight(text, tokens, last))
            or (tokens[last].key.isdecimal() and text[tokens[last - 1].end : tokens[last].start] in ("", "-"))
        ):
            last += 1
        runs.append(Span(at, last))
        at = last
    joined = [
        Span(one.first, two.last)
        for one, two in pairwise(runs)
        if two.first - one.last <= 2
        and all(t.folded in _JOINTS for t in tokens[one.last : two.first])
        and all(_tight(text, tokens, n) for n in range(one.last, two.first + 1))
    ]
    return runs + joined


def proper(key: str, *texts: Sentence | Line) -> bool:
    """Whether a word has a capital where no sentence begins, and never a small letter."""
    found = False
    for text in texts:
        for n, token in enumerate(text.tokens):
            if token.key == key:
                if not token.capital:
                    return False
                found = found or (n > 0 and not set(gap(text.text, text.tokens, n)) & _OPENS)
    return found


def aliased(one: Iterable[str], other: Iterable[str], lines: Sequence[Line]) -> bool:
    """Whether some line calls the same by both: in one name, in brackets, or with "known as", "or" between."""
    first, second = frozenset(one), frozenset(other)
    if renamed(first | second, lines):
        return True
    if {bare(key) for key in first} == {bare(key) for key in second}:
        return True
    for line in lines:
        tokens = line.tokens
        for at, token in enumerate(tokens):
            if token.key not in first | second:
                continue
            wanted = second if token.key in first else first
            for to in range(at + 1, min(len(tokens), at + 6)):
                if tokens[to].key not in wanted:
                    continue
                between = line.text[token.end : tokens[to].start]
                words = {t.folded for t in tokens[at + 1 : to]}
                run = all(is_name(t) for t in tokens[at + 1 : to]) and not set(between) & set(",;:.")
                if run or words & _ALIASES or "(" in between:
                    return True
    return False


def renamed(keys: frozenset[str], lines: Iterable[Line]) -> bool:
    """Whether some line says of one of these words that it is another's name."""
    return any(not line.once(_namings).isdisjoint(keys) for line in lines)


def _namings(line: Line) -> frozenset[str]:
    """The words of a line that says what somebody is called ("Twain was his pen name")."""
    folded = [token.folded for token in line.tokens]
    named = any(word == "name" and before in _KINDS_OF_NAME for before, word in pairwise(folded))
    return frozenset(line.keys) if named or not _NAMES_OF_ANOTHER.isdisjoint(folded) else frozenset()


def is_name(token: Token) -> bool:
    return token.capital and token.folded not in _NOT_NAMED and not token.key[:1].isdecimal()


def _numeral(token: Token) -> bool:
    """"Three" in "BBC Three"."""
    return token.capital and token.key[:1].isdecimal() and token.folded[:1].isalpha()


def _letter(token: Token) -> bool:
    """"A" in "Service A"."""
    return token.capital and token.folded == "a"


def _tight(text: str, tokens: Sequence[Token], at: int) -> bool:
    """Whether nothing but space (or an ampersand, an initial's stop) stands before this word."""
    gap = text[tokens[at - 1].end : tokens[at].start]
    initial = tokens[at - 1].end - tokens[at - 1].start == 1
    return gap.replace("&", "").strip() == "" or (gap.strip() == "." and initial)


def common(one: Sequence[str], at: int, two: Sequence[str], to: int, step: int) -> int:
    """How many words are the same from ``one[at]`` and ``two[to]`` onwards (``step`` 1) or backwards (-1)."""
    size = 0
    while 0 <= at < len(one) and 0 <= to < len(two) and one[at] == two[to]:
        size, at, to = size + 1, at + step, to + step
    return size


def stretches(text: Text, marks: Set[str], joints: Set[str], going_on: Set[str] = frozenset()) -> Iterator[Span]:
    """Between marks, and words that join clauses, which are left out; a comma before ``going_on`` words ends none."""
    tokens, first = text.tokens, 0
    for at in range(1, len(tokens) + 1):
        before = set(gap(text.text, tokens, at)) & marks
        if at < len(tokens) and tokens[at].folded in going_on:
            before -= {","}
        joint = at < len(tokens) and tokens[at].folded in joints
        if at == len(tokens) or joint or before:
            if at > first:
                yield Span(first, at)
            first = at + 1 if joint else at


def held(evidence: Lines, keys: frozenset[str], by: frozenset[str]) -> float:
    """Share of ``keys`` (by rarity) that ``by`` has."""
    total = have = 0.0
    for key in keys:
        weight = evidence.weight(key)
        total += weight
        have += weight if key in by else 0.0
    return have / total if total else 0.0


def turned_words(
    sentence: Sentence, line: Line, kind: Kind, first: int, last: int, told: Sequence[Token]
) -> Turned:
    """A finding on words ``first`` to ``last`` (exclusive) of the sentence, against words ``told`` of the line."""
    start, end = sentence.tokens[first].start, sentence.tokens[last - 1].end
    return turned(sentence, line, kind, start, end, line.text[told[0].start : told[-1].end] if told else "")


def trimmed(sentence: Sentence) -> Sentence:
    """The sentence without a list mark and without an opening that only names the sources ("Based on the text,")."""
    tokens = sentence.tokens
    first = 1 if len(tokens) > 1 and tokens[0].key.isdecimal() and _marks(gap(sentence.text, tokens, 1)) else 0
    for at in range(first, min(len(tokens), first + _OPENING)):
        token = tokens[at]
        if token.folded not in _SOURCES and token.folded not in FUNCTION_WORDS:
            break
        after = gap(sentence.text, tokens, at + 1)
        if at + 1 < len(tokens) and at > first - 1 and (set(after) & set(",:") or token.folded == "that"):
            if any(t.folded in _SOURCES for t in tokens[first : at + 1]):
                first = at + 1
            break
    return replace(sentence, tokens=tokens[first:]) if first else sentence


def _marks(text: str) -> bool:
    return text[:1] in (".", ")") and text[1:].strip(" *_") == ""
