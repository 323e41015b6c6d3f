"""Parts of a sentence that the rules compare: whole lines, names, stretches of words, and what is said where.

Words are compared by ``Token.key``. All is linear in a sentence and its lines (``MAX_WORDS`` words each).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.relations.reading import (
    REACH,
    STOPS,
    Kind,
    Line,
    Sentence,
    Token,
    Turned,
    tokens_of,
)

_SEPARATOR = "\x00"
_JOINTS = frozenset("of the de la von van der den & and".split())
_NOT_NAMED = FUNCTION_WORDS | frozenset(
    "a an document i mr mrs ms no overall passage source sure today yes".split()
)  # fmt: skip
_ENGLISH = frozenset(
    "a an and are as at be been but by can for from had has have he her his if in into is it its must not of on or "
    "said she than that the their they this to was were when which while who will with".split()
)
_FOREIGN = frozenset(
    "al aan che con da das dans de dei del della den der des det di die du een ein eine el en est et ist het i il la "
    "las le les lo los met mit na niet och os par para pour que sich sie sont sur una und une van voor von w y za zijn "
    "zu".split()
)
_OPENS = frozenset(".!?:'\"“”‘’•\n")
_ALIASES = frozenset(
    "aka alias born called dubbed formerly is known meaning named nee nicknamed now née or was".split()
)
_OPENING = 14
_SOURCES = frozenset(
    "above according answer answering article based certainly conclusion context described describes doc document "
    "documents following given here information mentioned noted overall passage passages provided provides "
    "question say says short source sources state stated states summary sure text texts".split()
)
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})
_TOLD = 80  # characters of a difference that are shown


@dataclass(frozen=True, slots=True)
class Span:
    """Words ``first`` to ``last`` (exclusive) of a sentence or line."""

    first: int
    last: int


def is_english(tokens: Sequence[Token]) -> bool:
    """Whether the words look like English: its small words, and more of them than of its neighbours'."""
    english = sum(token.folded in _ENGLISH for token in tokens)
    return english > 0 and english > sum(token.folded in _FOREIGN and not token.capital for token in tokens)


def following(index: EvidenceIndex, line: Line) -> Line | None:
    """The sentence after ``line`` in its paragraph: it may go on about the same ("B financed the work.")."""
    text = index.grounding.passages[line.unit.passage].text
    start = line.unit.end
    if "\n" in text[max(line.unit.start, start - 2) : start] or start >= len(text) or text[start] == "\n":
        return None
    after = text[start : start + REACH]
    at = min((at + 1 for at in (after.find(mark) for mark in STOPS) if at > 0), default=len(after))
    return Line(Unit(line.unit.passage, start, start + at), after[:at], tokens_of(after[:at]))


def names(text: str, tokens: Sequence[Token], most: int = 12) -> list[Span]:
    """Names: capitalised words in a row, also across one "of" or "the"; a first word alone counts only as it follows
    no full stop or stands before another. Longer and shorter readings of one stretch are both given."""
    runs: list[Span] = []
    at = 0
    while at < len(tokens) and len(runs) < most:
        if not is_name(tokens[at]):
            at += 1
            continue
        last = at + 1
        while last < len(tokens) and (
            ((is_name(tokens[last]) or _numeral(tokens[last])) and _tight(text, tokens, last))
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


def aliased(one: Iterable[str], other: Iterable[str], lines: Iterable[Line]) -> bool:
    """Whether some line calls the same by both: in one name, in brackets, or with "known as", "or" between."""
    first, second = frozenset(one), frozenset(other)
    if {_bare(key) for key in first} == {_bare(key) for key in second}:
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


def _bare(key: str) -> str:
    """A word without its letters' marks."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c))
    return plain.translate(_LETTERS)


def is_name(token: Token) -> bool:
    return token.capital and token.folded not in _NOT_NAMED and not token.key[:1].isdecimal()


def _numeral(token: Token) -> bool:
    """"Three" in "BBC Three"."""
    return token.capital and token.key[:1].isdecimal() and token.folded[:1].isalpha()


def _tight(text: str, tokens: Sequence[Token], at: int) -> bool:
    """Whether nothing but space (or an ampersand, an initial's stop) stands before this word."""
    gap = text[tokens[at - 1].end : tokens[at].start]
    initial = tokens[at - 1].end - tokens[at - 1].start == 1
    return gap.replace("&", "").strip() == "" or (gap.strip() == "." and initial)


def gap(text: str, tokens: Sequence[Token], at: int) -> str:
    """What stands between word ``at - 1`` and word ``at``; the text before the first and after the last likewise."""
    start = tokens[at - 1].end if at > 0 else 0
    return text[start : tokens[at].start] if at < len(tokens) else text[start:]


def joined(keys: Iterable[str]) -> str:
    """Keys as one string in which a stretch of keys is found by ``in``."""
    return _SEPARATOR + _SEPARATOR.join(keys) + _SEPARATOR


def keys_of(tokens: Iterable[Token]) -> tuple[str, ...]:
    return tuple(token.key for token in tokens)


def place_of(stretch: Sequence[str], keys: Sequence[str]) -> int:
    """Index in ``keys`` where ``stretch`` first stands, or -1."""
    at = joined(keys).find(joined(stretch))
    return -1 if at < 0 or not stretch else joined(keys)[:at].count(_SEPARATOR)


def content(tokens: Iterable[Token]) -> frozenset[str]:
    """Keys of the words that are no function words."""
    return frozenset(token.key for token in tokens if token.folded not in FUNCTION_WORDS)


def held(index: EvidenceIndex, keys: Iterable[str], by: Iterable[str]) -> float:
    """Share of ``keys`` (by rarity; what the evidence does not know weighs as much as what is rare) that ``by`` has."""
    known = frozenset(by)
    total = have = 0.0
    for key in frozenset(keys):
        weight = index.weight(key) or _rarest(index)
        total += weight
        have += weight if key in known else 0.0
    return have / total if total else 0.0


def _rarest(index: EvidenceIndex) -> float:
    return max(1.0, float((len(index.units) + 1) ** 0.5) / 4)


def turned(
    sentence: Sentence, line: Line, kind: Kind, first: int, last: int, told: Sequence[Token]
) -> Turned:
    """A finding on words ``first`` to ``last`` (exclusive) of the sentence, against words ``told`` of the line."""
    start, end = sentence.tokens[first].start, sentence.tokens[last - 1].end
    words = line.text[told[0].start : told[-1].end] if told else ""
    return Turned(
        start, end, kind, sentence.text[start:end][:_TOLD], words[:_TOLD], sentence.index.point(line.unit)
    )


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
