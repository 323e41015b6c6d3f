"""Statements and whose they are: "A said that …", "according to A, …", "in the view of A, …", "…, A said"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vsr_hallucination.detection.relations.lexicon import ANSWERING, CONTRASTS, SAYING, VIEWS
from vsr_hallucination.detection.relations.parts import is_name
from vsr_hallucination.detection.relations.reading import Text, Token, content, gap, keys_of

_BEFORE = CONTRASTS | {"and"}  # a clause that begins with its speaker
_WITHIN = frozenset("a an and as by for in of s with".split())
_LONGEST_NAME = 5
_MOST = 4  # of a sentence; prose has two


@dataclass(frozen=True, slots=True)
class Statement:
    """``speaker``: the name's keys, at words ``at`` to ``until`` with the verb; what is said: words ``first`` to
    ``last`` (exclusive), which name ``content``."""

    speaker: frozenset[str]
    at: int
    until: int
    first: int
    last: int
    content: frozenset[str]


def statements(source: Text) -> list[Statement]:
    """What named speakers say in a sentence."""
    text, tokens = source.text, source.tokens
    found: list[Statement] = []
    for at, token in enumerate(tokens):
        if len(found) >= _MOST:
            break
        if token.folded in SAYING or token.folded in ANSWERING:
            found += _after(text, tokens, at)
        elif token.folded == "to" and at > 0 and tokens[at - 1].folded == "according":
            found += _before(text, tokens, at - 1, at + 1)
        elif token.folded == "of" and at > 1 and tokens[at - 1].folded in VIEWS and tokens[at - 2].folded == "the":
            found += _before(text, tokens, max(0, at - 3), at + 1)
    return found


def _after(text: str, tokens: Sequence[Token], at: int) -> list[Statement]:
    """"A said that …", "A, the mayor, said …", "A disagreed: …"."""
    name = _name_before(text, tokens, at)
    if name is None:
        return []
    first = at + 1
    colon = ":" in gap(text, tokens, first)
    if first < len(tokens) and tokens[first].folded == "that":
        first += 1
    else:
        answers = tokens[at].folded in ANSWERING and tokens[at].folded not in SAYING and not colon
        if answers or (tokens[first:] and tokens[first].folded in ("at", "by", "in", "on", "to", "with")):
            return []
    last = _end(text, tokens, first)
    if last <= first:
        return []
    speaker = frozenset(keys_of(tokens[name[0] : name[1]]))
    return [Statement(speaker, name[0], max(at + 1, name[1]), first, last, content(tokens[first:last]))]


def _before(text: str, tokens: Sequence[Token], lead: int, first: int) -> list[Statement]:
    """"According to A, …" at the beginning, or "…, according to A" at the end of a clause."""
    last = first
    while last < len(tokens) and is_name(tokens[last]) and last - first < _LONGEST_NAME:
        if last > first and gap(text, tokens, last).strip(" .&"):
            break
        last += 1
    if last == first:
        return []
    speaker = frozenset(keys_of(tokens[first:last]))
    if last < len(tokens) and "," in gap(text, tokens, last):
        opens = lead == 0 or ";" in gap(text, tokens, lead) or tokens[lead - 1].folded in _BEFORE
        if not opens:
            return []
        end = _end(text, tokens, last)
        return [Statement(speaker, lead, last, last, end, content(tokens[last:end]))] if end > last else []
    begin = lead
    while begin > 0 and not set(gap(text, tokens, begin)) & set(";:.") and tokens[begin - 1].folded not in CONTRASTS:
        begin -= 1
    ends = last == len(tokens) or bool(set(gap(text, tokens, last)) & set(";."))
    return [Statement(speaker, lead, last, begin, lead, content(tokens[begin:lead]))] if ends and begin < lead else []


def _name_before(text: str, tokens: Sequence[Token], at: int) -> tuple[int, int] | None:
    """The name that is the subject of the verb at ``at``; an apposition in commas may stand between."""
    last = at
    while last > 0 and tokens[last - 1].folded in ("also", "had", "has", "have", "later", "once", "then"):
        last -= 1
    if last > 0 and "," in gap(text, tokens, last):
        start = last - 1
        while start > 0 and "," not in gap(text, tokens, start) and last - start < 8:
            start -= 1
        if not (start > 0 and "," in gap(text, tokens, start)):
            return None
        last = start
    elif set(gap(text, tokens, last)) & set(";:.,"):
        return None
    first = last
    while first > 0 and is_name(tokens[first - 1]) and last - first < _LONGEST_NAME:
        if first < last and gap(text, tokens, first).strip(" .&"):
            break
        first -= 1
    if first == last or (first > 0 and tokens[first - 1].folded in _WITHIN):
        return None
    return first, last


def _end(text: str, tokens: Sequence[Token], first: int) -> int:
    """Where a statement ends: at a semicolon, or at a comma or word that opens another's."""
    last = first
    while last < len(tokens):
        before = set(gap(text, tokens, last)) if last > first else set()
        if before & set(";") or (last > first and tokens[last].folded in CONTRASTS):
            break
        last += 1
    return last
