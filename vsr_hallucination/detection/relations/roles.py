"""Who did what to whom, the other way round.

Two readings. Of a copy: two names of the sentence stand in each other's place in its line, with the same words between.
Of a sentence in other words: verbs of one frame (``verbs``), whose roles the line gives to the same parties otherwise.
"B was bought by A" and "A sold it to B" are read for what they say; order alone means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations.lexicon import DETERMINERS, SYMMETRIC
from vsr_hallucination.detection.relations.parts import Span, held, is_name, names, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import (
    Kind,
    Line,
    Sentence,
    Text,
    Turned,
    following,
    gap,
    joined,
    place_of,
    whole,
)
from vsr_hallucination.detection.relations.voice import Filled, Slot, frames_of

_COPIED = 0.75  # share of the sentence that its line holds, where names are swapped in a copy
_FRAMED = 0.6  # the same where it says it with another verb
_PAIRS = 80
_COPULA = frozenset("a an are is the was were".split())  # says nothing of who is which
_BE = frozenset("are is was were".split())
_BOTH_WAYS = frozenset("unlike well".split())
_LONGEST_PARTY = 3  # words after the article
_THINGS = frozenset("contest gift work".split())  # roles of what changes hands and not of parties


def exchanged(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    sentence = sentence.once(trimmed)
    if len(sentence.tokens) < 3:
        return None
    return _swapped(sentence, sentence.whole) or _recast(sentence, sentence.whole)


def _swapped(sentence: Sentence, lines: Sequence[Line]) -> Turned | None:
    keys = sentence.keys
    found = [*sentence.once(names), *sentence.once(_parties)]
    near = [line for line in lines if held(sentence.evidence, sentence.content, line.content) >= _COPIED]
    pairs = [(a, b) for a in found for b in found if a.last < b.first]
    for a, b in sorted(pairs, key=lambda pair: pair[1].last - pair[0].first)[:_PAIRS]:
        one, between, two = keys[a.first : a.last], keys[a.last : b.first], keys[b.first : b.last]
        if one == two or not (_tells if _named(sentence, a) and _named(sentence, b) else _acts)(sentence, a, b):
            continue
        other_way = joined((*two, *between, *one))
        if any(joined((*one, *between, *two)) in line.joined for line in lines):
            continue
        for line in near:
            if other_way not in line.joined:
                continue
            at = place_of((*two, *between, *one), line)
            end = at + b.last - a.first
            if len(between) == 1 and at > 0 and line.tokens[at - 1].folded == sentence.tokens[a.last].folded == "in":
                continue  # "one in A in B": which holds which is not said
            if _framed(keys, a, b, line.keys, at, end):
                return turned_words(sentence, line, "roles", a.first, b.last, line.tokens[at:end])
    return None


def _tells(sentence: Sentence, a: Span, b: Span) -> bool:
    """Whether the words between two names say which is which."""
    between = sentence.tokens[a.last : b.first]
    if all(is_name(token) or token.folded == "and" for token in between) and "," in gap(
        sentence.text, sentence.tokens, a.last
    ):
        return False  # a list
    return bool({token.folded for token in between} - _COPULA - SYMMETRIC)


def _parties(text: Text) -> list[Span]:
    """Parties without a name, "the agency": after an article or the like one to three words, each a reading."""
    tokens = text.tokens
    found = []
    for first, token in enumerate(tokens):
        if token.folded in DETERMINERS:
            for last in range(first + 2, min(first + 2 + _LONGEST_PARTY, len(tokens) + 1)):
                if tokens[last - 1].folded in FUNCTION_WORDS or gap(text.text, tokens, last - 1).strip():
                    break
                found.append(Span(first, last))
    return found


def _named(sentence: Sentence, span: Span) -> bool:
    return sentence.tokens[span.first].folded not in DETERMINERS


def _acts(sentence: Sentence, a: Span, b: Span) -> bool:
    """Whether one does something to the other: a word between them that is no small word, and works in one way only."""
    between = {token.folded for token in sentence.tokens[a.last : b.first]}
    return not between & (SYMMETRIC - {"and"}) and bool(between - FUNCTION_WORDS - _BOTH_WAYS)


def _framed(keys: Sequence[str], a: Span, b: Span, line: Sequence[str], at: int, end: int) -> bool:
    """Whether the copy goes on before or after the two names, or there is nothing more of the sentence."""
    before = a.first == 0 or (at > 0 and keys[a.first - 1] == line[at - 1])
    after = b.last == len(keys) or (end < len(line) and keys[b.last] == line[end])
    return before and after


def _recast(sentence: Sentence, lines: Sequence[Line]) -> Turned | None:
    own = [frame for frame in frames_of(sentence) if len(frame.roles) > 1]
    if not own:
        return None
    weights = sentence.content - {sentence.tokens[frame.at].key for frame in own}
    figures = _figures(weights)
    blocks = [(line, after.once(whole) if (after := line.once(following)) is not None else line) for line in lines]
    near = [
        held(sentence.evidence, weights, both) >= _FRAMED and figures <= both
        for both in (line.content | after.content for line, after in blocks)
    ]
    if not any(near):
        return None
    found = [
        [(part, frame) for part in ((line, after) if after is not line else (line,)) for frame in part.once(frames_of)]
        for line, after in blocks
    ]
    for mine in own:
        alike = [[pair for pair in frames if pair[1].group == mine.group] for frames in found]
        if any(_supports(mine, frame) for frames in alike for _, frame in frames):
            continue
        for frames, here in zip(alike, near, strict=True):
            hit = _crossing(mine, frames) if here else None
            if hit is not None:
                part, told, role = hit
                slots = list(mine.roles.values())
                first = min(mine.at, *(slot.first for slot in slots))
                last = max(mine.at + 1, *(slot.last for slot in slots))
                kind: Kind = "attribution" if mine.group == "make" and role == "maker" else "roles"
                words = part.tokens[told.first : told.last]
                return turned_words(sentence, part, kind, *_tidy(sentence, first, last), words)
    return None


def _tidy(sentence: Sentence, first: int, last: int) -> tuple[int, int]:
    while last - first > 1 and sentence.tokens[first].folded in ("in", "since", "until"):
        first += 1
    return first, last


def _figures(keys: frozenset[str]) -> frozenset[str]:
    return frozenset(key for key in keys if key[:1].isdecimal())


def _same(one: Slot, two: Slot) -> bool:
    """One party: the words of one name are all among those of the other."""
    common = len(one.keys & two.keys)
    return common == min(len(one.keys), len(two.keys)) and 2 * common >= max(len(one.keys), len(two.keys))


def _supports(mine: Filled, told: Filled) -> bool:
    """Whether the line gives every role it has in common with the sentence to the same."""
    common = mine.roles.keys() & told.roles.keys()
    return bool(common) and all(_same(mine.roles[role], told.roles[role]) for role in common)


def _crossing(
    mine: Filled, told: Sequence[tuple[Line, Filled]]
) -> tuple[Line, Slot, str] | None:
    """A role that the lines give to one party and the sentence to another, who has another role there; (line, who has
    it there, role). All other roles of the sentence must be crossed too or agree."""
    for line, frame in told:
        for role in sorted(mine.roles.keys() & frame.roles.keys() - _THINGS):
            one, other = mine.roles[role], frame.roles[role]
            if _same(one, other) or line.tokens[other.first].folded in _BE:
                continue  # "A was an inventor who invented …": the inventor is A
            # The party stands there in another role, of the same verb or of one beside it about the same.
            places = [(f, r) for _, f in told for r, slot in f.roles.items() if r != role and _same(one, slot)
                      and (one.keys == slot.keys or not one.keys & other.keys)]
            for place, second in places:
                rest = mine.roles.keys() - {role}
                crossed = [r for r in rest if r in frame.roles and not _same(mine.roles[r], frame.roles[r])]
                agreed = [
                    r for r in rest for other_frame in (frame, place)
                    if r in other_frame.roles and _same(mine.roles[r], other_frame.roles[r])
                ]  # fmt: skip
                if place is not frame and not agreed:
                    continue
                if all(_same(mine.roles[r], other) for r in crossed) and (second or agreed):
                    return line, other, role
    return None
