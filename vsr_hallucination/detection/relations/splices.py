"""Two clauses of the evidence spliced: "Alice owns the search service", where Alice owns the billing service and Bob
owns the search service.

The sentence, or a clause of it, begins as one clause of the evidence and ends as another, and a verb that they share is
where it was cut. A clause that leaves out what the one before it began with ("passed on Linux but failed on Windows")
is read with that, where the two say opposite things. What the two clauses are about must be two of a sort: what has two
descriptions may be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vsr_hallucination.detection.alignment import is_record
from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.parts import aliased, common, is_name, stretches, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import Line, Sentence, Text, Token, Turned, keys_of

_ARTICLES = frozenset("a an the".split())
_JOINTS = lexicon.HALVING
_ENDS = frozenset(";:.!?\n")
# Words by which a clause may give the same to one more, or speak of what was named before.
_SHARING = frozenset(
    "all also another both each either even every everybody everyone former it its jointly latter like likewise "
    "neither other others same similarly such that their them these they this those together too which who "
    "whose".split()
)
_SHORTEST, _LONGEST = 3, 30  # words of a clause, articles apart
_MOST = 8  # clauses of a line
_LINES = 12  # that are looked at for what is told of one
_TRIES = 8  # cuts of a sentence that are held against what else is told


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause without its articles; ``bare``: its first word had none. ``said``: where it stands in its text."""

    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    bare: bool
    said: tuple[int, int]

    @property
    def content(self) -> frozenset[str]:
        return _named(self.tokens)


@dataclass(frozen=True, slots=True)
class _Cut:
    """``subject`` of the clause that the sentence begins as, ``rest`` of it that it leaves out; ``other`` of the one
    that it ends as, and ``end``, what it has of that."""

    subject: Sequence[Token]
    rest: Sequence[Token]
    other: Sequence[Token]
    end: Sequence[Token]


def spliced(sentence: Sentence) -> Turned | None:
    """The first clause of the sentence that is made of two of the evidence's, or None."""
    sentence = sentence.once(trimmed)
    told = [(line, clause) for line in sentence.whole if _tells(line) for clause in line.once(_clauses)]
    tries = 0
    for mine in sentence.once(_clauses):
        if len(mine.keys) > _LONGEST or any(mine.content <= one.content for _, one in told):
            continue
        size = len(mine.keys)
        fronts = [(front, one) for _, one in told if (front := common(mine.keys, 0, one.keys, 0, 1))]
        rears = [(rear, line, one) for line, one in told if (rear := _common_end(mine.keys, one.keys))]
        for front, begun in fronts:
            for rear, line, ended in rears:
                if front + rear <= size or front == size or rear == size or tries >= _TRIES:
                    continue
                cut = _cut(mine, begun, ended, front, rear)
                tries += cut is not None
                if cut is not None and _two_facts(sentence, cut):
                    return turned_words(sentence, line, "elsewhere", *mine.said, ended.tokens)
    return None


def _tells(line: Line) -> bool:
    return not is_record(line.text) and line.text.rstrip()[-1:] != "?"


def _common_end(one: Sequence[str], two: Sequence[str]) -> int:
    return common(one, len(one) - 1, two, len(two) - 1, -1)


def _cut(mine: _Clause, begun: _Clause, ended: _Clause, front: int, rear: int) -> _Cut | None:
    """The cut of ``mine``, whose first ``front`` words begin one clause and whose last ``rear`` end another; None where
    these are not two of a sort, or share no verb."""
    size = len(mine.keys)
    cut = _Cut(mine.tokens[: size - rear], begun.tokens[front:], ended.tokens[: len(ended.keys) - rear],
               mine.tokens[front:])  # fmt: skip
    named = [_named(part) for part in (cut.subject, cut.rest, cut.other, cut.end)]
    if not all(named) or named[1] & named[2] or named[0] & named[3]:
        return None  # "Cats are mammals", "Mammals are animals"
    shared = mine.tokens[size - rear : front]
    verb = any(t.folded in lexicon.AUXILIARIES or (t.folded not in FUNCTION_WORDS and not t.capital) for t in shared)
    opposed = _opposed(cut.subject, cut.other)
    noun = next((n for n, t in enumerate(shared) if t.folded in lexicon.AUXILIARIES), 0)  # "the [blue] cable is"
    alike = opposed or (verb and _of_a_sort(cut, shared[:noun], mine.bare and ended.bare))
    return cut if alike and not _folded(cut.subject, cut.other) & (lexicon.PRONOUNS | _SHARING) else None


def _named(tokens: Sequence[Token]) -> frozenset[str]:
    """Keys of the words that are no function words; the month of May is none."""
    return frozenset(t.key for t in tokens if t.folded not in FUNCTION_WORDS or (t.capital and t.folded == "may"))


def _folded(*parts: Sequence[Token]) -> set[str]:
    return {token.folded for part in parts for token in part}


def _opposed(one: Sequence[Token], two: Sequence[Token]) -> bool:
    """Whether two stretches are the same but for a word and its opposite: "the build failed", "the build passed"."""
    apart = [(a, b) for a, b in zip(one, two, strict=False) if a.key != b.key]
    return len(one) == len(two) and len(apart) == 1 and opposites.opposed(*(t.folded for t in apart[0])) is not None


def _of_a_sort(cut: _Cut, noun: Sequence[Token], bare: bool) -> bool:
    """Whether two subjects are different things of one sort: two names, two of one noun ("port 80", "port 443"), or two
    plurals ("admins", "editors")."""
    one, two = (*cut.subject, *noun), (*cut.other, *noun)
    if _folded(one, two) & lexicon.TITLES:
        return False
    if len(one) == len(two) > 1 and sum(a.key != b.key for a, b in zip(one, two, strict=True)) == 1:
        return True
    if all(is_name(token) for token in (*one, *two)):
        return not {token.key for token in one} & {token.key for token in two}
    return bare and len(one) == len(two) == 1 and all(t.folded.endswith("s") for t in (*one, *two))


def _two_facts(sentence: Sentence, cut: _Cut) -> bool:
    """Whether nothing told of either subject could make the clause true."""
    index, evidence = sentence.index, sentence.evidence
    subject, other, end = _named(cut.subject), _named(cut.other), _named(cut.end)
    own, their = subject - other, other - subject
    ours, theirs = ({token.key for token in part} for part in ((*cut.subject, *cut.rest), (*cut.other, *cut.end)))
    terms = (index.terms(" ".join(t.folded for t in part)) for part in (cut.subject, cut.other, cut.end))
    near = list({line.unit: line for words in terms for line in evidence.nearest(words, _LINES)}.values())
    for line in near:
        words = set(line.keys)
        if own & words and their & words and not (ours <= words or theirs <= words):
            return False
        told: set[str] = set()  # of one subject: what follows goes on about it until the other is named
        for clause in line.once(_pieces):
            keys = set(clause.keys)
            told = keys if their & keys or own & keys else told | keys
            if own & told and (their & told or end <= told):
                return False
            if keys & (own | end) and _folded(clause.tokens) & _SHARING:
                return False
    asked = _named(Text.of(index, sentence.question).tokens)
    granted = own <= asked and bool(end & asked)
    called = all(is_name(token) for token in (*cut.subject, *cut.other))
    return not granted and not (called and aliased(own, their, near))


def _clauses(text: Text) -> tuple[_Clause, ...]:
    return tuple(clause for clause in text.once(_pieces) if len(clause.keys) >= _SHORTEST)[:_MOST]


def _pieces(text: Text) -> tuple[_Clause, ...]:
    found: list[_Clause] = []
    for part in stretches(text, _ENDS, _JOINTS):
        made = _clause(text, part.first, part.last)
        if made is not None:
            found.append(_completed(found[-1], made) if found else made)
    return tuple(found)


def _clause(text: Text, first: int, last: int) -> _Clause | None:
    tokens = tuple(t for n, t in enumerate(text.tokens[first:last]) if t.folded not in _ARTICLES or (n and t.capital))
    return _Clause(tokens, keys_of(tokens), text.tokens[first] is tokens[0], (first, last)) if tokens else None


def _completed(before: _Clause, clause: _Clause) -> _Clause:
    """A clause with what it leaves out of the one before it: the words before an opposite ("passed on Linux but failed
    on Windows"), or the verb and what leads up to its first word ("for adults it is 20 mg and for children 10 mg")."""
    opening = clause.tokens[0]
    for at, token in enumerate(before.tokens):
        if at and opposites.opposed(token.folded, opening.folded) is not None:
            return _made_of((*before.tokens[:at], *clause.tokens), before, clause)
    verb = next((at for at, token in enumerate(before.tokens) if token.folded in lexicon.BE), 0)
    tail = len(before.tokens) - verb - 1
    split = len(clause.tokens) - tail
    if min(verb, split, tail) < 1 or not lexicon.AUXILIARIES.isdisjoint(_folded(clause.tokens)):
        return clause
    values = zip(before.tokens[verb + 1 :], clause.tokens[split:], strict=True)
    if not all(a.key == b.key or (a.key[:1].isdecimal() and b.key[:1].isdecimal()) for a, b in values):
        return clause
    lead = before.keys.index(opening.key) if opening.key in before.keys[:verb] else 0
    tokens = (*before.tokens[:lead], *clause.tokens[:split], before.tokens[verb], *clause.tokens[split:])
    return _made_of(tokens, before, clause)


def _made_of(tokens: tuple[Token, ...], before: _Clause, clause: _Clause) -> _Clause:
    return _Clause(tokens, keys_of(tokens), before.bare, clause.said)
