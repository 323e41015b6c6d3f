"""A condition dropped from what is otherwise said, denied ("in every case"), or put in another's place.

Three ways, from the surest: the sentence says of every case what its line says under a condition; it gives another
condition than the only one; it is a copy of its line that ends where the condition began. A plain "if" or "when" left
out of a summary in other words is no fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vsr_hallucination.detection.relations.lexicon import AUXILIARIES
from vsr_hallucination.detection.relations.parts import held, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import (
    Line,
    Sentence,
    Text,
    Token,
    Turned,
    content,
    gap,
    joined,
    keys_of,
    place_of,
)

_STRONG = tuple(
    phrase.split()
    for phrase in (
        "as long as", "except if", "except that", "except when", "except where", "except", "if and only if",
        "on condition that", "on the condition that", "only after", "only as long as", "only if", "only once",
        "only when", "only where", "provided", "provided that", "providing that", "so long as", "unless", "unless and "
        "until",
    )
)  # fmt: skip
_WEAK = tuple(phrase.split() for phrase in ("if", "in case", "only", "until", "when", "where", "whenever"))
_LOOSE = frozenset("when where whenever".split())  # after a comma they only go on
_DROPPED = frozenset("if only until".split())  # weak ones whose loss from a copy counts
_EVERY = tuple(
    phrase.split()
    for phrase in (
        "all the time", "always", "anyone", "at all times", "at any time", "everybody", "everyone", "for everybody",
        "for everyone", "in all cases", "in any case", "in any event", "in each case", "in every case", "invariably",
        "no matter what", "regardless", "unconditionally", "under all circumstances", "under any circumstances",
        "whatever the circumstances", "whenever", "without any condition", "without any conditions",
        "without any restriction", "without any restrictions", "without condition", "without conditions",
        "without exception", "without exceptions", "without restriction", "without restrictions",
    )
)  # fmt: skip
_CONNECTORS = {first: [phrase for phrase in (*_STRONG, *_WEAK) if phrase[0] == first]
               for first in {phrase[0] for phrase in (*_STRONG, *_WEAK)}}  # fmt: skip
_EVERY_FIRST = frozenset(phrase[0] for phrase in _EVERY)
_GENERAL = frozenset(
    "all always any anyone every everyone everybody each never nothing regardless whatever whenever wherever "
    "whichever whoever".split()
)
_UNBOUND = frozenset(
    "condition conditions exception exceptions exclusion limit limits limitation limitations reason reasons "
    "restriction restrictions rule rules".split()
)  # after "no": it holds in every case
_MAY = frozenset("allow allowed allows able entitled have has permitted required".split())
_MODAL = AUXILIARIES - frozenset("am been being did do does doing had having".split())
_TOLD = frozenset("could did had was were".split())
_RULING = frozenset("are can cannot is may might must shall should will".split())
_IDIOMS = frozenset("any anything applicable appropriate available desired necessary needed possible required".split())
_HELD = 0.9
_KEPT = 0.5  # share of the condition's words that the sentence has elsewhere
_COPIED = 4  # words before the condition that a copy repeats
_ENDS = frozenset(".,;:!?)")


@dataclass(frozen=True, slots=True)
class _Clause:
    """A condition: its connector at words ``first`` to ``body``, the whole up to ``last`` (exclusive)."""

    first: int
    body: int
    last: int
    strong: bool


def unconditioned(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    sentence = sentence.once(trimmed)
    if len(sentence.tokens) < 4:
        return None
    own = _conditions(sentence)
    every = _phrase_at(sentence.tokens, _EVERY)
    lines = sentence.whole
    if every is None and not any(token.folded in _CONNECTORS for line in lines for token in line.tokens):
        return None
    if every is not None and not own:
        found = _said_of_all(sentence, lines, *every)
        if found is not None:
            return found
    if len(own) == 1 and every is None:
        found = _other_condition(sentence, lines, own[0])
        if found is not None:
            return found
    return next((one for line in lines if (one := _cut_short(sentence, line, lines)) is not None), None)


def _said_of_all(sentence: Sentence, lines: Sequence[Line], first: int, last: int) -> Turned | None:
    rest = content((*sentence.tokens[:first], *sentence.tokens[last:])) - _MAY
    if len(rest) < 2:
        return None
    plain = last - first > 1  # "in every case" comes from nowhere; "always" may be the summary of much
    hit: tuple[Line, _Clause | None] | None = None
    for line in lines:
        clauses = line.once(_conditions)
        if held(sentence.evidence, rest, line.content) < _HELD:
            continue
        if _of_all(line):
            return None
        if not clauses and not plain:
            return None  # said as it stands
        main = content(_without(line.tokens, clauses))
        known = [clause for clause in clauses if clause.strong] or (clauses if plain else [])
        if held(sentence.evidence, rest, main) >= _HELD and (known or plain):
            hit = hit or (line, known[0] if known else None)
    if hit is None:
        return None
    line, clause = hit
    told = line.tokens[clause.first : clause.last] if clause else ()
    if first > 0 and last == len(sentence.tokens):
        verbs = [n for n, token in enumerate(sentence.tokens[:first]) if token.folded in _MODAL]
        first = verbs[-1] if verbs else first
    return turned_words(sentence, line, "condition", first, last, told)


def _of_all(line: Line) -> bool:
    """Whether a line itself speaks of every case, or of everybody."""
    unbound = any(one.folded == "no" and two.folded in _UNBOUND for one, two in pairwise(line.tokens))
    general = any(token.folded in _GENERAL for token in line.tokens)
    return unbound or general or _phrase_at(line.tokens, _EVERY) is not None


def _other_condition(sentence: Sentence, lines: Sequence[Line], own: _Clause) -> Turned | None:
    main = content(_without(sentence.tokens, (own,))) - _MAY
    condition = content(sentence.tokens[own.body : own.last])
    if len(main) < 2 or not condition:
        return None
    hit: tuple[Line, _Clause] | None = None
    for line in lines:
        clauses = line.once(_conditions)
        if held(sentence.evidence, main, line.content) < _HELD:
            continue
        strong = [clause for clause in clauses if clause.strong]
        if len(clauses) != 1 or not strong or condition & line.content:
            return None
        told = content(line.tokens[strong[0].body : strong[0].last])
        if told and held(sentence.evidence, main, content(_without(line.tokens, strong))) >= _HELD:
            hit = hit or (line, strong[0])
    if hit is None:
        return None
    line, clause = hit
    return turned_words(sentence, line, "condition", own.first, own.last, line.tokens[clause.first : clause.last])


def _cut_short(sentence: Sentence, line: Line, lines: Sequence[Line]) -> Turned | None:
    """A copy of the line that ends, or goes on, where the line has a condition."""
    keys = sentence.keys
    for clause in line.once(_conditions):
        before = keys_of(line.tokens[max(0, clause.first - _COPIED) : clause.first])
        connector = line.tokens[clause.first]
        ever = _phrase_at(sentence.tokens, _EVERY) is not None
        if connector.folded == "until" and not ever and _narrated(line.tokens[: clause.first]):
            continue
        if connector.folded == "if" and ":" in gap(line.text, line.tokens, clause.first):
            continue  # "Heading: if …" is a condition of what follows
        if len(before) < min(_COPIED, max(3, clause.first)) or not (clause.strong or connector.folded in _DROPPED):
            continue
        at = place_of(before, sentence)
        if at < 0:
            continue
        end = at + len(before)
        every = _phrase_at(sentence.tokens[end:], _EVERY)
        stops = end + every[1] if every is not None and every[0] == 0 else end
        after = gap(sentence.text, sentence.tokens, stops).strip()
        if (after and after[0] not in _ENDS) or (not after and stops < len(keys)):
            continue
        if line.tokens[min(clause.body, len(line.tokens) - 1)].folded in _IDIOMS:
            continue  # "if necessary"
        lost = content(line.tokens[clause.body : clause.last])
        rest = content((*sentence.tokens[:end], *sentence.tokens[stops:]))
        if not lost or held(sentence.evidence, lost, rest) > _KEPT:
            continue
        if held(sentence.evidence, rest, line.content) < _HELD or not _in_order(sentence, line, end):
            continue
        if any(other is not line and joined(before) in other.joined for other in lines):
            continue
        if joined(before) in joined(line.keys[clause.last :]):
            continue  # said again without it
        return turned_words(sentence, line, "condition", max(0, at), stops, line.tokens[clause.first : clause.last])
    return None


def _narrated(tokens: Sequence[Token]) -> bool:
    """Whether the words tell of what was: then "until" is a date and no condition."""
    words = {token.folded for token in tokens}
    return bool(words & _TOLD) and not words & _RULING


def _in_order(sentence: Sentence, line: Line, end: int) -> bool:
    """Whether the words before ``end`` are one stretch of the line, but for an opening."""
    own = sentence.keys[:end]
    size = min(len(own), 8)
    return joined(own[len(own) - size :]) in line.joined


def _conditions(source: Text) -> list[_Clause]:
    text, tokens = source.text, source.tokens
    found: list[_Clause] = []
    at = 0
    while at < len(tokens):
        match = _connector(tokens, at)
        if match is None or not _restricts(text, tokens, at):
            at += 1
            continue
        body = at + len(match)
        last = body
        while last < len(tokens) and not set(gap(text, tokens, last)) & _ENDS:
            if last > body and tokens[last].folded not in _LOOSE and _connector(tokens, last):
                break
            last += 1
        last = max(last, body + 1) if body < len(tokens) else body
        found.append(_Clause(at, body, min(last, len(tokens)), match in _STRONG))
        at = last
    return found


def _connector(tokens: Sequence[Token], at: int) -> list[str] | None:
    """The longest connector that stands at this word."""
    if tokens[at].folded not in _CONNECTORS:
        return None
    phrases = _CONNECTORS[tokens[at].folded]
    return max((phrase for phrase in phrases if _stands(tokens, at, phrase)), key=len, default=None)


def _restricts(text: str, tokens: Sequence[Token], at: int) -> bool:
    """Whether a connector goes on with its sentence: after a semicolon, or a comma before "when", another begins."""
    before = gap(text, tokens, at)
    if at > 0 and _stands(tokens, at, ("only", "to")) and set(before) & set(",-–—"):
        return False  # "…, only to find out that …"
    if tokens[at].folded == "provided" and not _stipulates(tokens, at):
        return False
    return at == 0 or not (set(before) & set(";.?!") or (tokens[at].folded in _LOOSE and "," in before))


def _stipulates(tokens: Sequence[Token], at: int) -> bool:
    """Whether "provided" opens a clause; "B provided an assist" has no second verb."""
    clause = tokens[at + 1 : at + 9]
    verbs = (t.folded in _MODAL or (t.folded.endswith("s") and not t.capital) for t in clause[1:])
    return (bool(clause) and clause[0].folded == "that") or any(verbs)


def _without(tokens: Sequence[Token], clauses: Sequence[_Clause]) -> list[Token]:
    return [t for n, t in enumerate(tokens) if not any(clause.first <= n < clause.last for clause in clauses)]


def _stands(tokens: Sequence[Token], at: int, phrase: Sequence[str]) -> bool:
    return all(at + n < len(tokens) and tokens[at + n].folded == word for n, word in enumerate(phrase))


def _phrase_at(tokens: Sequence[Token], phrases: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    for at in range(len(tokens)):
        if tokens[at].folded not in _EVERY_FIRST:
            continue
        size = max((len(phrase) for phrase in phrases if _stands(tokens, at, phrase)), default=0)
        if size:
            return at, at + size
    return None
