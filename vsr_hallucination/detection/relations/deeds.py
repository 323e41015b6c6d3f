"""A deed given to another: "Reed restarted the gateway", where Weber did, and of Reed something else is told.

A clause of the answer copies what a clause of the evidence says of its subject, under another full name that the
evidence knows. Read only where nothing told of either could make it true: no clause has the two together, none tells of
the first anything the deed speaks of, and whatever tells the deed tells it of the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.parts import aliased, is_name, names, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import Sentence, Text, Token, Turned, content, gap

_JOINING = frozenset("and but while whereas".split())
_NO_DEED = FUNCTION_WORDS | lexicon.BE
_ARTICLES = frozenset("a an the".split())
# Words that may give a deed to one more, or call one by two names.
_SHARING = frozenset(
    "alias alike all also another both called did do does either everyone everybody instead jointly known likewise "
    "named nickname nicknamed other others pseudonym same so similarly team them they together too well".split()
)
_LEADING = frozenset("after at before by in on since until".split())
_TIMES = lexicon.DATES | frozenset("afterwards early finally first later last late next then today yesterday".split())
_OPENING = 4  # words of a time before the subject
_FEWEST = 2  # content words of a deed
_LINES = 12  # that are looked at for what is told of one
_MOST = 8  # clauses of a sentence or line
_TRIES = 8  # copies of a sentence's deeds that are held against what else is told


@dataclass(frozen=True, slots=True)
class _Deed:
    """A clause ``NAME does …``: words ``first`` to ``last`` of its text, of which ``subject`` are the name."""

    subject: Sequence[Token]
    first: int
    last: int
    words: tuple[str, ...]  # keys of the rest, without articles
    content: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(token.key for token in self.subject)


def deed_of_another(sentence: Sentence) -> Turned | None:
    """The first clause of the sentence that is told of another, or None."""
    sentence = sentence.once(trimmed)
    tries = 0
    for deed in sentence.once(_deeds):
        if len(deed.content) < _FEWEST or _asked(sentence, deed):
            continue
        for line in sentence.whole:
            for told in line.once(_deeds):
                copied = told.words[: len(deed.words)] == deed.words and _strangers(deed, told)
                if not copied or tries >= _TRIES:
                    continue
                tries += 1
                if _told_of_none_else(sentence, deed, told):
                    end = deed.first + len(deed.subject)
                    return turned_words(sentence, line, "roles", deed.first, end, told.subject)
    return None


def _strangers(one: _Deed, other: _Deed) -> bool:
    """Whether two full names share no word."""
    return not one.names & other.names and not (one.names | other.names) & lexicon.TITLES


def _asked(sentence: Sentence, deed: _Deed) -> bool:
    """Whether the question takes the deed for granted."""
    asked = Text.of(sentence.index, sentence.question).content
    return bool(deed.names & asked) and bool(deed.content & asked)


def _told_of_none_else(sentence: Sentence, deed: _Deed, told: _Deed) -> bool:
    index, evidence = sentence.index, sentence.evidence
    name = index.terms(" ".join(token.folded for token in deed.subject))
    lines = (*evidence.nearest([*name, *index.terms(sentence.text)], _LINES), *evidence.nearest(name, _LINES))
    near = list({line.unit: line for line in lines}.values())
    known, told_apart = False, frozenset(key for key in deed.content if not key[:1].isdecimal())
    for line in near:
        for part in line.once(_clauses):
            tokens = line.tokens[part[0] : part[1]]
            keys = {token.key for token in tokens}
            mine, theirs = bool(keys & deed.names), bool(keys & told.names)
            if mine and theirs:
                return False
            if mine and (keys & told_apart or {token.folded for token in tokens} & _SHARING):
                return False
            if deed.content <= keys and not theirs:
                return False
            known = known or (mine and deed.names <= keys)
    return known and not aliased(deed.names, told.names, near)


def _deeds(text: Text) -> tuple[_Deed, ...]:
    return tuple(_found(text))


def _found(text: Text) -> Iterator[_Deed]:
    runs = text.once(_runs)
    for first, last in text.once(_clauses):
        start = _subject(text, first, last, runs)
        if start is None:
            continue
        after = runs[start]
        tokens = text.tokens[after:last]
        if gap(text.text, text.tokens, after).strip() or tokens[0].folded in _NO_DEED or is_name(tokens[0]):
            continue
        words = tuple(token.key for token in tokens if token.folded not in _ARTICLES)
        yield _Deed(text.tokens[start:after], start, last, words, content(tokens))


def _subject(text: Text, first: int, last: int, runs: dict[int, int]) -> int | None:
    """Where the full name begins that a clause is about: at its start, or after a time ("On Monday,", "Then")."""
    for at in range(first, min(last, first + _OPENING)):
        token = text.tokens[at]
        if token.folded in _TIMES or token.key[:1].isdecimal() or (token.folded in _LEADING and at == first):
            continue
        end = runs.get(at, at)
        full = end - at > 1 and end < last and all(is_name(one) for one in text.tokens[at:end])
        return at if full and (at == first or text.tokens[at - 1].folded not in _LEADING) else None
    return None


def _runs(text: Text) -> dict[int, int]:
    """Names by their first word: of two readings the shorter, without a time before ("Monday Anna Weber")."""
    found = {}
    for span in reversed(text.once(names)):
        first = span.first
        while first < span.last and text.tokens[first].folded in _TIMES:
            first += 1
        found[first] = span.last
    return found


def _clauses(text: Text) -> tuple[tuple[int, int], ...]:
    """Stretches of words between semicolons, and before "and", "but", "while" where another's name and verb follow."""
    tokens, runs = text.tokens, text.once(_runs)
    found, first = [], 0
    for at in range(1, len(tokens)):
        joint = tokens[at].folded in _JOINING and not tokens[at - 1].capital
        opens = at + 1 if joint else at
        end = runs.get(opens)
        goes_on = end is not None and end < len(tokens) and not gap(text.text, tokens, end).strip()
        if (joint and goes_on) or ";" in gap(text.text, tokens, at):
            found.append((first, at))
            first = opens
    found.append((first, len(tokens)))
    return tuple((a, b) for a, b in found if b > a)[:_MOST]
