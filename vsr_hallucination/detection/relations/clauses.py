"""Clauses of a text with their polarity: what is affirmed and what is denied, each with the words it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.phrases import Reading, Word, about_source

_MARKS = frozenset(".;:—!?()[]\n")
_TURNS = lexicon.CONTRASTS | {"however", "yet"}
_JOINS = frozenset("and or nor".split())
_LISTING = _JOINS | frozenset("a an both either its the their".split())
_FRONTING = frozenset("at by during for from in no of on since under with within without yes".split())
_CLOSING = frozenset("can did do does had has have is are not was were will".split())
_ONCE = frozenset({"anymore", "~anymore", "~nolonger", "~notyet"})
_CORRECTING = 5  # words of "but in B"
_TAGGED = frozenset("he i it she they we you".split())
_ELLIPTIC = 5  # words of a clause that only says "…, B does not"


@dataclass(frozen=True, slots=True)
class Clause:
    """Words [first, end) of a reading. ``own``: what they name; ``shared``: what they take over from the clause before,
    where subject or predicate is left out; ``sure``: whether the polarity is plain."""

    first: int
    end: int
    denied: bool
    sure: bool
    own: frozenset[str]
    shared: frozenset[str]
    focus: str  # what a negation stands on; "" where it closes the clause

    @property
    def all(self) -> frozenset[str]:
        return self.own | self.shared


def compared(word: Word) -> str:
    """What a content word counts as when two texts are compared."""
    return lexicon.SAME.get(word.form, word.key)


def named(words: Sequence[Word]) -> frozenset[str]:
    """What words name, other than modals' companions and where it is written."""
    return frozenset(
        compared(w) for w in words if w.content and w.form not in lexicon.HEDGES and not about_source(w)
    )


def clauses(reading: Reading) -> list[Clause]:
    """The clauses of a text, in order."""
    found: list[Clause] = []
    for first, end in _pieces(reading):
        words = reading.words[first:end]
        denials = [n for n in range(end - first) if denies(reading, first + n)]
        own, shared = named(words), frozenset[str]()
        before = reading.words[found[-1].first : found[-1].end] if found else ()
        aside = len(found) > 1 and before[0].form in {"not", "excluding"}
        resumed = aside and "," in reading.between(before[-1], words[0])
        if resumed and not denials and words[0].form not in _TURNS | _JOINS:
            earlier = reading.words[found[-2].first : found[-2].end]
            shared = named(earlier[: _verb(earlier)])  # "A, not B, pays"
        elif before and words[0].form in lexicon.PRONOUNS:
            shared = named(before[: _verb(before)])
        elif before and denials and denials[0] <= 1 and words[0].form in {"but", "not", "and", "excluding", "except"}:
            shared = named(before[: _verb(before) + 1])
        elif before and denials and denials[-1] == len(words) - 1:
            shared = named(before[_verb(before) :])
        doubtful = any(words[n - 1].form in {"may", "might", "could"} for n in denials if n)
        # What is no longer so was so once; what is not yet will be.
        open_ = any(word.form in lexicon.HALF_DENYING or word.form in _ONCE for word in words)
        sure = len(denials) < 2 and not doubtful and not open_ and not (denials and corrects(reading, end))
        focus = _focus(reading, first + denials[0], end) if len(denials) == 1 else ""
        found.append(Clause(first, end, len(denials) == 1, sure, own, shared, focus))
    return found


def corrects(reading: Reading, at: int) -> bool:
    """Whether at word ``at`` a correction begins: "not in A but in B" denies no more than the one for the other."""
    words = reading.words[at : at + 1 + _CORRECTING]
    if not words or words[0].form != "but" or any(w.form in lexicon.AUXILIARIES for w in words[1:]):
        return False
    ends = at + len(words) == len(reading.words) or len(words) > _CORRECTING
    return ends or any(mark in reading.between(one, two) for one, two in pairwise(words) for mark in (",", ";", "."))


def same_tense(one: Iterable[Word], two: Iterable[Word]) -> bool:
    """Whether two texts do not speak of different times, as far as their auxiliaries show."""
    first, second = _tenses(one), _tenses(two)
    return not first or not second or bool(first & second)


def _tenses(words: Iterable[Word]) -> set[str]:
    forms = {word.form for word in words}
    return {name for name, tense in (("present", lexicon.PRESENT), ("past", lexicon.PAST)) if forms & tense}


def _pieces(reading: Reading) -> Iterator[tuple[int, int]]:
    start = 0
    aside = False  # within ", not A,"
    for n, (one, two) in enumerate(pairwise(reading.words), 1):
        between = reading.between(one, two)
        comma = "," in between
        denying = comma and two.form in {"not", "excluding"}
        second = two.form == "and" and {w.form for w in reading.words[n + 1 : n + 2]} & {"never", "not", "~notyet"}
        elliptic = (comma and _elliptic(reading, n)) or (two.form == "and" and _elliptic(reading, n + 1))
        turns = two.form in _TURNS or denying or second or elliptic or (aside and comma)
        if turns or any(mark in between for mark in _MARKS):
            yield start, n
            start, aside = n, denying
    if start < len(reading.words):
        yield start, len(reading.words)


def _elliptic(reading: Reading, start: int) -> bool:
    """Whether the words from ``start`` on say of another what was said before, or deny it: "A does, B does not"."""
    words = reading.words
    for n in range(start, min(len(words), start + _ELLIPTIC)):
        if n + 1 == len(words) or any(mark in reading.between(words[n], words[n + 1]) for mark in (",", *_MARKS)):
            closing = words[n].form
            return n > start and (closing in _CLOSING or closing.endswith("n't"))
    return False


def denies(reading: Reading, n: int) -> bool:
    """Whether word ``n`` is a negation that denies something."""
    word = reading.words[n]
    if not lexicon.negates(word.form) and word.form not in {"excluding", "excludes", "excluded"}:
        return False
    # "No, …" answers the question.
    if word.form == "no" and reading.text[word.end : word.end + 1] in (",", ".", ":", "!"):
        return False
    if word.form.endswith("n't") and _tags(reading, n):
        return False
    return n + 1 >= len(reading.words) or reading.words[n + 1].form not in lexicon.NOT_DENYING


def _tags(reading: Reading, n: int) -> bool:
    """Whether a negated auxiliary only asks for assent: "…, isn't it?", "doesn't she" at the end."""
    if n < 2 or n + 1 >= len(reading.words):
        return False
    pronoun = reading.words[n + 1]
    closes = n + 2 == len(reading.words) or reading.text[pronoun.end : pronoun.end + 1] in ("?", ".", ",", "!")
    return pronoun.form in _TAGGED and closes


def _focus(reading: Reading, at: int, end: int) -> str:
    for n in range(at + 1, end):
        if "," in reading.between(reading.words[n - 1], reading.words[n]) or reading.words[n].form in lexicon.RELATIVES:
            break
        if reading.words[n].content:
            return compared(reading.words[n])
    return ""


def _verb(words: Sequence[Word]) -> int:
    """Where the predicate begins: the first auxiliary or verb that is known as one, else the end."""
    known = (n for n, w in enumerate(words) if w.form in lexicon.AUXILIARIES or w.form in lexicon.SAME)
    return next(known, len(words))


def claims(reading: Reading, clause: Clause) -> list[tuple[frozenset[str], int, int]]:
    """What a clause says, one by one where it lists: (what it names, first and end of the words that differ)."""
    words = reading.words
    runs: list[tuple[int, int]] = []
    joined: list[int] = []  # runs that are joined to the one before
    gap: list[Word] = []
    predicate: list[Word] = []
    for n in range(clause.first, clause.end):
        word = words[n]
        if not word.content or about_source(word):
            gap.append(word)
            continue
        if word.form in lexicon.SAME:
            gap.append(word)
            predicate.append(word)
            continue
        if runs and not gap and "," not in reading.between(words[n - 1], word):
            runs[-1] = (runs[-1][0], n + 1)
        else:
            listed = gap and all(w.form in _LISTING for w in gap)
            comma = n > clause.first and "," in reading.between(words[n - 1 - len(gap)], words[n - len(gap)])
            # "For children, the drug is …" is no list.
            opening = {w.form for w in words[clause.first : clause.first + 2]}
            comma = comma and not (len(runs) == 1 and opening & _FRONTING)
            if runs and (comma or any(w.form in _JOINS for w in gap)) and (listed or not gap):
                joined.append(len(runs))
            runs.append((n, n + 1))
        gap = []
    group = {member for n in joined for member in (n - 1, n)}
    if not group:
        return [(clause.all, clause.first, clause.end)]
    alone = (named(words[a:b]) for n, (a, b) in enumerate(runs) if n not in group)
    rest = (clause.shared | named(predicate)).union(*alone)
    return [(rest | named(words[a:b]), a, b) for n, (a, b) in enumerate(runs) if n in group]
