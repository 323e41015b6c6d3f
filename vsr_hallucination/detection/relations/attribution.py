"""One party's statement, work or value given to another.

Three readings. Of statements ("A argued that …, while B held that …"): who says what. Of a copy: a name or number in
the place where the line has another of its sort, with the line's words around it. Of a line that says two things side
by side ("58 in the north and 11 in the south"): a name or number of the one half with the words of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from vsr_hallucination.detection.relations.halves import across
from vsr_hallucination.detection.relations.parts import held, proper, renamed, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import Line, Sentence, Token, Turned, keys_of
from vsr_hallucination.detection.relations.slots import replaced
from vsr_hallucination.detection.relations.statements import Statement, statements

_HELD = 0.9  # share of what is said that the other's statement holds
_OFFICES = frozenset(
    "boss captain chairman chairwoman chancellor chief coach commissioner democrat director executive governor "
    "manager mayor minister pope premier president republican secretary senator spokesman spokesperson spokeswoman "
    "striker tory winger".split()
)
_NATIONS = ("chman", "ese", "ian", "ican", "shman", "woman")
_FEWEST = 2  # content words of a statement


def attributed(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    if len(sentence.tokens) < 3:
        return None
    lines = sentence.whole
    body = sentence.once(trimmed)
    return _said_by_another(sentence, lines) or replaced(body, lines) or across(body, lines)


def _said_by_another(sentence: Sentence, lines: Sequence[Line]) -> Turned | None:
    told = [(line, found) for line in lines for found in line.once(statements)]
    if not told:
        return None
    for mine in statements(sentence):
        said = mine.content
        if len(said) < _FEWEST or not all(sentence.index.knows(key) for key in mine.speaker):
            continue
        if _described(sentence.tokens[mine.at : mine.until], mine.speaker):
            continue
        if len(mine.speaker) == 1 and not proper(min(mine.speaker), sentence, *lines):
            continue
        hit: tuple[Line, Statement] | None = None
        supported = False
        for line, other in told:
            share = held(sentence.evidence, said, other.content)
            if share < _HELD:
                continue
            about = line.tokens[other.first : other.last]
            same = mine.speaker & other.speaker == min(mine.speaker, other.speaker, key=len)
            called = _described(line.tokens[other.at : other.until], other.speaker)
            alike = same or called or renamed(mine.speaker | other.speaker, lines)
            if alike or _of_itself(sentence, mine, about):
                supported = True
            elif not mine.speaker & other.speaker or len(mine.speaker) == len(other.speaker):
                hit = hit or (line, other)
        if hit is None or supported:
            continue
        line, other = hit
        if not _speaks(mine, told, line, lines):
            continue
        first, last = min(mine.at, mine.first), max(mine.until, mine.last)
        return turned_words(sentence, line, "attribution", first, last, line.tokens[other.at : other.until])
    return None


def _described(tokens: Sequence[Token], speaker: frozenset[str]) -> bool:
    """Whether a speaker is called by an office, a party or a nation, and may be anybody of it: "the Frenchman"."""
    named = [token.folded for token in tokens if token.key in speaker]
    return named[-1:] != [] and (named[-1] in _OFFICES or (len(named) == 1 and named[0].endswith(_NATIONS)))


def _of_itself(sentence: Sentence, mine: Statement, told: Sequence[Token]) -> bool:
    """Whether a body says of itself what its man says of it: "A has said it had grown" and "its head said A had"."""
    return sentence.tokens[mine.first].folded in ("it", "its") and mine.speaker <= set(keys_of(told))


def _speaks(mine: Statement, told: Sequence[tuple[Line, Statement]], where: Line, lines: Sequence[Line]) -> bool:
    """Whether the evidence has the speaker with another statement, or in other lines than the one that is at stake."""
    if any(mine.speaker == other.speaker for _, other in told):
        return True
    return not mine.speaker & set(where.keys) and any(
        mine.speaker <= set(line.keys) for line in lines
    )
