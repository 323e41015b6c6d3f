"""A value of one half of a line with the words of the other: "58 in the north and 11 in the south"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vsr_hallucination.detection.encoding import FUNCTION_WORDS, MONTHS
from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.lexicon import SAYING
from vsr_hallucination.detection.relations.parts import Span, aliased, names, proper, turned_words
from vsr_hallucination.detection.relations.reading import (
    Line,
    Sentence,
    Text,
    Token,
    Turned,
    content,
    following,
    gap,
    keys_of,
)

_DATES = frozenset(MONTHS) | frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_ORDINALS = frozenset("first second third fourth fifth once twice".split())
_LEANING = frozenset("after as before by for from including like when where which who with without".split())
_MOST = 12  # halves of a line, values of a half
_FEWEST = 2  # content words that hold a value to its half


@dataclass(frozen=True, slots=True)
class _Half:
    """A stretch of a line: what it names, and its values with the sort of each."""

    line: Line
    first: int
    content: frozenset[str]
    values: tuple[tuple[str, Sequence[Token]], ...]
    bracketed: bool  # in part


def across(sentence: Sentence, lines: Sequence[Line]) -> Turned | None:
    """The first value of the sentence that stands in one half of a line while all the rest stands in the other half,
    which has exactly one other value of its sort that the sentence lacks."""
    parts = _between_marks(sentence)
    if len(parts) > _MOST:
        return None
    found = [hit for part in parts if (hit := _crossed(sentence, part, lines)) is not None]
    sure = next((hit for hit, rest in found if rest >= _FEWEST), None)
    if sure is None and len(found) == len(parts) == 2:
        sure = found[0][0]  # "11 in the north, 58 in the south"
    return sure


def _crossed(sentence: Sentence, part: Span, lines: Sequence[Line]) -> tuple[Turned, int] | None:
    """(finding, number of words that hold the value to its half)"""
    said = content(sentence.tokens[part.first : part.last])
    values = [(span, tokens, content(tokens)) for span, tokens in _with_words(sentence, _values(sentence, part))]
    if not values or any(said <= half.content for line in lines for half in line.once(_halves)):
        return None
    for line in lines:
        if 2 * len(said & line.content) < len(said):
            continue
        after = line.once(following)
        halves = line.once(_halves) + (after.once(_halves)[:1] if after is not None else ())
        for one, two in pairwise(halves):
            for home, away in ((one, two), (two, one)):
                found = _taken(said, values, home, away)
                if found is not None and not aliased(keys_of(found[1]), keys_of(found[2]), lines):
                    span, own, told = found
                    first, last = span.first, span.last
                    if _sort(own) == "name":  # which of two names is in the wrong place, none can say
                        others = [v for v, tokens, _ in values if _sort(tokens) == "name"]
                        first, last = min(v.first for v in others), max(v.last for v in others)
                    plain = {t.key: t for t in _plain(sentence, part) if t.key not in content(own)}
                    rest = len(plain) * any(not t.capital for t in plain.values())
                    return turned_words(sentence, home.line, "elsewhere", first, last, told), rest
    return None


def _plain(sentence: Sentence, part: Span) -> list[Token]:
    tokens = sentence.tokens[part.first : part.last]
    return [t for t in tokens if t.folded not in SAYING and t.folded not in FUNCTION_WORDS]


def _taken(
    said: frozenset[str], values: Sequence[tuple[Span, Sequence[Token], frozenset[str]]], home: _Half, away: _Half
) -> tuple[Span, Sequence[Token], Sequence[Token]] | None:
    if home.line.tokens[home.first].folded in _LEANING or home.bracketed or away.bracketed:
        return None  # "As chairman of C, A …" speaks of what follows
    for value, tokens, own in values:
        if not own < away.content or own & home.content:
            continue
        rest = said - own
        if not rest <= home.content or not rest - away.content:
            continue
        sort = _sort(tokens)
        mine = [t for of, t in home.values if of == sort]
        theirs = [t for of, t in away.values if of == sort]
        missing = [t for t in mine if not content(t) & said]
        if home.line is not away.line and not _alike(home, away):
            continue
        if len(mine) == len(theirs) and len(missing) == 1 and own in [content(t) for t in theirs]:
            return value, tokens, missing[0]
    return None


def _alike(home: _Half, away: _Half) -> bool:
    """Whether two sentences are built alike: as many values of each sort, two at least."""
    sorts = [sorted(sort for sort, _ in half.values) for half in (home, away)]
    return sorts[0] == sorts[1] and len(sorts[0]) > 1


def _halves(line: Line) -> tuple[_Half, ...]:
    """Stretches between commas, semicolons, and words like "and", "but", "while"."""
    found = []
    for part in _stretches(line, lexicon.HALVING)[:_MOST]:
        tokens = line.tokens[part.first : part.last]
        values = tuple((_sort(words), words) for _, words in _with_words(line, _values(line, part)))
        bracketed = "(" in line.text[tokens[0].start : tokens[-1].end]
        found.append(_Half(line, part.first, content(tokens), values, bracketed))
    return tuple(found)


def _sort(tokens: Sequence[Token]) -> str:
    """"year", "number", "date" or "name": only values of one sort stand for each other."""
    key = tokens[0].key
    if key[:1].isdecimal():
        return "year" if len(key) == 4 and key[0] in "12" and "." not in key else "number"
    return "date" if tokens[0].folded in _DATES else "name"


def _values(text: Sentence | Line, part: Span) -> list[Span]:
    tokens = text.tokens
    runs = [span for span in text.once(names) if part.first <= span.first and span.last <= part.last]
    shortest = [
        span for span in runs if not any(o != span and span.first <= o.first and o.last <= span.last for o in runs)
    ]
    shortest = [span for span in shortest if span != Span(0, 1) or proper(tokens[0].key, text)]
    numbers = [
        n for n in range(part.first, part.last) if tokens[n].key[:1].isdecimal() and tokens[n].folded not in _ORDINALS
    ]
    return (shortest + [Span(n, n + 1) for n in numbers if not _day(tokens, n)])[:_MOST]


def _with_words(text: Text, spans: Sequence[Span]) -> list[tuple[Span, Sequence[Token]]]:
    return [(span, text.tokens[span.first : span.last]) for span in spans]


def _day(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number is the day of a month."""
    return any(token.folded in _DATES for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]))


def _between_marks(text: Text) -> list[Span]:
    return _stretches(text, frozenset())


def _stretches(text: Text, breaks: frozenset[str]) -> list[Span]:
    tokens = text.tokens
    found, first = [], 0
    for at in range(1, len(tokens) + 1):
        ends = at == len(tokens) or bool(set(gap(text.text, tokens, at)) & set(",;")) or tokens[at].folded in breaks
        if ends and at > first:
            found.append(Span(first, at))
            first = at
    return found
