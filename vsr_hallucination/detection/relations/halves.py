"""A value of one half of a line with the words of the other: "58 in the north and 11 in the south"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.parts import (
    Span,
    aliased,
    content,
    following,
    gap,
    keys_of,
    names,
    proper,
    turned,
)
from vsr_hallucination.detection.relations.reading import Line, Sentence, Token, Turned
from vsr_hallucination.detection.relations.verbs import SAYING

_DATES = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)
_ORDINALS = frozenset("first second third fourth fifth once twice".split())
_LEANING = frozenset("after as before by for from including like when where which who with without".split())
_OF_NATIONS = ("an", "ch", "ese", "ish")
_TIMING = frozenset("after before since until".split())
_FEWEST = 2  # content words that hold a value to its half
_BREAKS = frozenset("and but whereas while".split())


def across(sentence: Sentence, lines: Sequence[Line]) -> Turned | None:
    """The first value of the sentence that stands in one half of a line while all the rest stands in the other half,
    which has exactly one other value of its sort that the sentence lacks."""
    parts = _clauses(sentence.text, sentence.tokens, frozenset())
    found = [(part, hit) for part in parts if (hit := _crossed(sentence, part, lines)) is not None]
    sure = next((hit for _, (hit, rest) in found if rest >= _FEWEST), None)
    if sure is None and len(found) == len(parts) == 2:
        sure = found[0][1][0]  # "11 in the north, 58 in the south"
    return sure


def _crossed(sentence: Sentence, part: Span, lines: Sequence[Line]) -> tuple[Turned, int] | None:
    """(finding, number of words that hold the value to its half)"""
    said = content(sentence.tokens[part.first : part.last])
    values = _values(sentence, part)
    if not values or any(said <= content(line.tokens[half.first : half.last]) for line, half in _all_clauses(lines)):
        return None
    for line in lines:
        if 2 * len(said & content(line.tokens)) < len(said):
            continue
        halves = [(line, half) for half in _clauses(line.text, line.tokens)]
        after = following(sentence.index, line)
        if after is not None:
            halves += [(after, half) for half in _clauses(after.text, after.tokens)[:1]]
        for one, two in pairwise(halves):
            for home, away in ((one, two), (two, one)):
                found = _taken(sentence, said, values, home, away)
                if found is not None and not aliased(keys_of(found[1]), keys_of(found[2]), lines):
                    span, own, told = found
                    first, last = span.first, span.last
                    if _sort(own) == "name":  # which of two names is in the wrong place, none can say
                        others = [v for v in values if _sort(sentence.tokens[v.first : v.last]) == "name"]
                        first, last = min(v.first for v in others), max(v.last for v in others)
                    plain = {t.key: t for t in _plain(sentence, part) if t.key not in content(own)}
                    rest = len(plain) * any(not t.capital for t in plain.values())
                    return turned(sentence, home[0], "elsewhere", first, last, told), rest
    return None


def _plain(sentence: Sentence, part: Span) -> list[Token]:
    tokens = sentence.tokens[part.first : part.last]
    return [t for t in tokens if t.folded not in SAYING and t.folded not in FUNCTION_WORDS]


def _taken(
    sentence: Sentence, said: frozenset[str], values: Sequence[Span], home: tuple[Line, Span], away: tuple[Line, Span]
) -> tuple[Span, Sequence[Token], Sequence[Token]] | None:
    if home[0].tokens[home[1].first].folded in _LEANING or any("(" in _text(*half) for half in (home, away)):
        return None  # "As chairman of C, A …" speaks of what follows
    here = content(home[0].tokens[home[1].first : home[1].last])
    there = content(away[0].tokens[away[1].first : away[1].last])
    if home[0] is away[0] and away[1].first > home[1].first and _goes_on(*away):
        return None
    for value in values:
        tokens = sentence.tokens[value.first : value.last]
        own = content(tokens)
        rest = said - own
        if not own < there or own & here or not rest <= here or not rest - there:
            continue
        sort = _sort(tokens)
        if (sort == "name" and _listed(sentence, value, home)) or _only_in_names(sentence, rest, home):
            continue
        if _denied(_around(sentence, value)) != _denied(home[0].tokens[home[1].first : home[1].last]):
            continue  # "B is in the plan" has nothing from "A is not in the plan"
        before = sentence.tokens[value.first - 1].folded if value.first else ""
        if before in _TIMING and before not in {t.folded for t in (*home[0].tokens, *away[0].tokens)}:
            continue  # "after 2019" is another time than "in 2019"
        mine = [t for t in _told(*home) if _sort(t) == sort]
        theirs = [t for t in _told(*away) if _sort(t) == sort]
        missing = [t for t in mine if not content(t) & said]
        if any(_nation(t, tokens) for t in missing):
            continue
        if home[0] is not away[0] and not _alike(home, away):
            continue
        if len(mine) == len(theirs) and len(missing) == 1 and own in [content(t) for t in theirs]:
            return value, tokens, missing[0]
    return None


def _around(sentence: Sentence, value: Span) -> Sequence[Token]:
    """The clause of a value."""
    parts = _clauses(sentence.text, sentence.tokens)
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


def _only_in_names(sentence: Sentence, rest: frozenset[str], home: tuple[Line, Span]) -> bool:
    """Whether what the half has of the rest stands there in names alone, and in the sentence in none."""
    plain = {token.key for token in sentence.tokens if token.key in rest and not token.capital}
    own = {token.key for token in home[0].tokens[home[1].first : home[1].last] if not token.capital}
    return bool(plain) and not any(token.capital and token.key in rest for token in sentence.tokens) and not plain & own


def _goes_on(line: Line, half: Span) -> bool:
    """Whether a half has the subject of the one before: "…, stretching from A to B"."""
    opening = line.tokens[half.first]
    return opening.folded.endswith("ing") and not opening.capital and len(opening.folded) > 5


def _listed(sentence: Sentence, value: Span, home: tuple[Line, Span]) -> bool:
    """Whether the sentence names the value beside another of the home half, as one of a list: "A and B"."""
    around = (value.first - 2, value.first - 1), (value.last + 1, value.last)
    here = content(home[0].tokens[home[1].first : home[1].last])
    for other, joint in around:
        if min(other, joint) >= 0 and max(other, joint) < len(sentence.tokens):
            near = sentence.tokens[other]
            if sentence.tokens[joint].folded == "and" and near.capital and near.key in here:
                return True
    return False


def _alike(home: tuple[Line, Span], away: tuple[Line, Span]) -> bool:
    """Whether two sentences are built alike: as many values of each sort, two at least."""
    sorts = [sorted(_sort(value) for value in _told(*half)) for half in (home, away)]
    return sorts[0] == sorts[1] and len(sorts[0]) > 1


def _text(line: Line, part: Span) -> str:
    return line.text[line.tokens[part.first].start : line.tokens[part.last - 1].end]


def _told(line: Line, part: Span) -> list[Sequence[Token]]:
    return [line.tokens[v.first : v.last] for v in _values(line, part)]


def _sort(tokens: Sequence[Token]) -> str:
    """"year", "number", "date" or "name": only values of one sort stand for each other."""
    key = tokens[0].key
    if key[:1].isdecimal():
        return "year" if len(key) == 4 and key[0] in "12" and "." not in key else "number"
    return "date" if tokens[0].folded in _DATES else "name"


def _values(text: Sentence | Line, part: Span) -> list[Span]:
    tokens = text.tokens
    runs = [span for span in names(text.text, tokens) if part.first <= span.first and span.last <= part.last]
    shortest = [
        span for span in runs if not any(o != span and span.first <= o.first and o.last <= span.last for o in runs)
    ]
    shortest = [span for span in shortest if span != Span(0, 1) or proper(tokens[0].key, text)]
    numbers = [
        n for n in range(part.first, part.last) if tokens[n].key[:1].isdecimal() and tokens[n].folded not in _ORDINALS
    ]
    return shortest + [Span(n, n + 1) for n in numbers if not _day(tokens, n)]


def _day(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number is the day of a month."""
    return any(token.folded in _DATES for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]))


def _all_clauses(lines: Sequence[Line]) -> list[tuple[Line, Span]]:
    return [(line, half) for line in lines for half in _clauses(line.text, line.tokens)]


def _clauses(text: str, tokens: Sequence[Token], breaks: frozenset[str] = _BREAKS) -> list[Span]:
    """Stretches between commas, semicolons, and words like "and", "but", "while"."""
    found, first = [], 0
    for at in range(1, len(tokens) + 1):
        ends = at == len(tokens) or bool(set(gap(text, tokens, at)) & set(",;")) or tokens[at].folded in breaks
        if ends and at > first:
            found.append(Span(first, at))
            first = at
    return found
