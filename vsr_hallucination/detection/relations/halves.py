"""A value of one half of a line with the words of the other: "58 in the north and 11 in the south"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
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

_ORDINALS = frozenset("first second third fourth fifth once twice".split())
_LEANING = frozenset("after as before by for from including like when where which who with without".split())
_OF_NATIONS = ("an", "ch", "ese", "ish")
_MOST = 12  # halves of a line, values of a half
_FEWEST = 2  # content words that hold a value to its half


@dataclass(frozen=True, slots=True)
class _Half:
    """A stretch of a line: what it names, and its values with the sort of each."""

    line: Line
    first: int
    tokens: Sequence[Token]
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
                found = _taken(sentence, said, values, home, away)
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
    sentence: Sentence,
    said: frozenset[str],
    values: Sequence[tuple[Span, Sequence[Token], frozenset[str]]],
    home: _Half,
    away: _Half,
) -> tuple[Span, Sequence[Token], Sequence[Token]] | None:
    if home.tokens[0].folded in _LEANING or home.bracketed or away.bracketed:
        return None  # "As chairman of C, A …" speaks of what follows
    if home.line is away.line and away.first > home.first and _goes_on(away):
        return None
    for value, tokens, own in values:
        if not own < away.content or own & home.content:
            continue
        rest = said - own
        if not rest <= home.content or not rest - away.content:
            continue
        sort = _sort(tokens)
        if (sort == "name" and _listed(sentence, value, home)) or _only_in_names(sentence, rest, home):
            continue
        if _denied(_around(sentence, value)) != _denied(home.tokens):
            continue  # "B is in the plan" has nothing from "A is not in the plan"
        before = sentence.tokens[value.first - 1].folded if value.first else ""
        if before in lexicon.TIME_BOUNDS and before not in {t.folded for t in (*home.line.tokens, *away.line.tokens)}:
            continue  # "after 2019" is another time than "in 2019"
        mine = [t for of, t in home.values if of == sort]
        theirs = [t for of, t in away.values if of == sort]
        missing = [t for t in mine if not content(t) & said]
        if any(_nation(t, tokens) for t in missing):
            continue
        if home.line is not away.line and not _alike(home, away):
            continue
        if len(mine) == len(theirs) and len(missing) == 1 and own in [content(t) for t in theirs]:
            return value, tokens, missing[0]
    return None


def _around(sentence: Sentence, value: Span) -> Sequence[Token]:
    """The clause of a value."""
    parts = sentence.once(_halvings)
    part = next((p for p in parts if p.first <= value.first and value.last <= p.last), value)
    return sentence.tokens[part.first : part.last]


def _denied(tokens: Sequence[Token]) -> bool:
    return sum(lexicon.negates(token.folded) for token in tokens) % 2 == 1


def _nation(one: Sequence[Token], two: Sequence[Token]) -> bool:
    """Whether one is a land and the other what is of it: "France" and "French"."""
    return any(
        a.folded[:3] == b.folded[:3] and (a.folded.endswith(_OF_NATIONS) or b.folded.endswith(_OF_NATIONS))
        for a in one for b in two
    )  # fmt: skip


def _only_in_names(sentence: Sentence, rest: frozenset[str], home: _Half) -> bool:
    """Whether what the half has of the rest stands there in names alone, and in the sentence in none."""
    plain = {token.key for token in sentence.tokens if token.key in rest and not token.capital}
    own = {token.key for token in home.tokens if not token.capital}
    return bool(plain) and not any(token.capital and token.key in rest for token in sentence.tokens) and not plain & own


def _goes_on(half: _Half) -> bool:
    """Whether a half has the subject of the one before: "…, stretching from A to B"."""
    opening = half.tokens[0]
    return opening.folded.endswith("ing") and not opening.capital and len(opening.folded) > 5


def _listed(sentence: Sentence, value: Span, home: _Half) -> bool:
    """Whether the sentence names the value beside another of the home half, as one of a list: "A and B"."""
    around = (value.first - 2, value.first - 1), (value.last + 1, value.last)
    for other, joint in around:
        if min(other, joint) >= 0 and max(other, joint) < len(sentence.tokens):
            near = sentence.tokens[other]
            if sentence.tokens[joint].folded == "and" and near.capital and near.key in home.content:
                return True
    return False


def _alike(home: _Half, away: _Half) -> bool:
    """Whether two sentences are built alike: as many values of each sort, two at least."""
    sorts = [sorted(sort for sort, _ in half.values) for half in (home, away)]
    return sorts[0] == sorts[1] and len(sorts[0]) > 1


def _halves(line: Line) -> tuple[_Half, ...]:
    """Stretches between commas, semicolons, and words like "and", "but", "while"."""
    found = []
    for part in line.once(_halvings)[:_MOST]:
        tokens = line.tokens[part.first : part.last]
        values = tuple((_sort(words), words) for _, words in _with_words(line, _values(line, part)))
        bracketed = "(" in line.text[tokens[0].start : tokens[-1].end]
        found.append(_Half(line, part.first, tokens, content(tokens), values, bracketed))
    return tuple(found)


def _sort(tokens: Sequence[Token]) -> str:
    """"year", "number", "date" or "name": only values of one sort stand for each other."""
    key = tokens[0].key
    if key[:1].isdecimal():
        return "year" if len(key) == 4 and key[0] in "12" and "." not in key else "number"
    return "date" if tokens[0].folded in lexicon.DATES else "name"


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
    return any(token.folded in lexicon.DATES for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]))


def _between_marks(text: Text) -> list[Span]:
    return _stretches(text, frozenset())


def _halvings(text: Text) -> list[Span]:
    return _stretches(text, lexicon.HALVING)


def _stretches(text: Text, breaks: frozenset[str]) -> list[Span]:
    tokens = text.tokens
    found, first = [], 0
    for at in range(1, len(tokens) + 1):
        ends = at == len(tokens) or bool(set(gap(text.text, tokens, at)) & set(",;")) or tokens[at].folded in breaks
        if ends and at > first:
            found.append(Span(first, at))
            first = at
    return found
