"""Which of two is more, which of several is most, and what rose or fell: said in other words than the line's.

Directions are compared, not words: "A is taller than B" is "B is shorter than A".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.assertions import Found
from vsr_hallucination.detection.relations.clauses import denies, named, same_tense
from vsr_hallucination.detection.relations.phrases import Reading, Word

_LONGEST = 40  # words of a sentence that these rules read
_COVERED = 0.4  # share of what a line with a trend names that the sentence names as well
_FIGURATIVE = frozenset({"one", "ones", "two", "compared", "comparison"})
_DATING = frozenset("each early every in last late next that the this".split())
_UNREAL = lexicon.POSSIBLE | lexicon.CLAIMING | frozenset({"will", "would", "should", "if", "unless"})
_PLACING = frozenset("above below beneath down over under up upward downward".split())
_TRENDS = opposites.RISES | opposites.FALLS


def miscompared(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """A comparative that points the other way."""
    mine = _comparison(said)
    if mine is None:
        return None
    at, subject, standard = mine
    if len(_names(said.words, {at})) < 2 and not _marked(said.words[1:]) and "two" not in said.forms:
        return None  # "They are fresher and cheaper."
    found: Found | None = None
    for n, told in enumerate(lines):
        theirs = _comparison(told)
        if theirs is None or not theirs[2] or not _names(said.words, {at}) <= _names(told.words, {theirs[0]}):
            continue
        if not same_tense(said.words, told.words) or (told.forms ^ said.forms) & _UNREAL:
            continue
        sign = _sign(told, theirs[0], said, at)
        first, second = theirs[1] - theirs[2], theirs[2] - theirs[1]
        if first & (proper := _marked(told.words)) and second & proper:
            first, second = first & proper, second & proper
        along = _lies(subject, first, second) and (not standard or _lies(standard, second, first))
        across = _lies(subject, second, first) and (not standard or _lies(standard, first, second))
        if not sign or along == across:
            continue
        if along == (sign > 0):
            return None
        found = found or Found("comparison", n, at, at + 1, told.text)
    return found


def _comparison(reading: Reading) -> tuple[int, frozenset[str], frozenset[str]] | None:
    """(the comparative, what is compared, with what; empty where that is left out) of a text with a single one."""
    words = reading.words
    found = [n for n, word in enumerate(words) if opposites.comparative(word.form)]
    if len(found) != 1 or len(words) > _LONGEST or any(denies(reading, n) for n in range(len(words))):
        return None
    at = found[0]
    than = next((n for n in range(at + 1, len(words)) if words[n].form == "than"), None)
    if than is not None:
        return at, _names(words[:at], ()), _names(words[than + 1 :], ())
    beside = next((n for n in range(len(words) - 1) if words[n].form == "compared"), None)
    if beside is None:
        return at, _names(words[:at], ()), frozenset()
    # "Compared with B, A is taller." or "A is taller compared with B."
    end = next((n for n in range(beside + 2, len(words)) if "," in reading.between(words[n - 1], words[n])), len(words))
    rest = [*words[:beside], *words[end:]]
    return at, _names([w for w in rest if w is not words[at]], ()), _names(words[beside + 1 : end], ())


def _sign(told: Reading, a: int, said: Reading, b: int) -> int:
    """1 for the same comparative, -1 for its opposite, 0 for another one; what is more or less must be the same."""
    one, two = told.words[a].form, said.words[b].form
    if {one, two} & {"less", "more", "fewer"}:
        follow = [r.words[n + 1].key if n + 1 < len(r.words) else "" for r, n in ((told, a), (said, b))]
        if follow[0] != follow[1]:
            return 0
    if one == two:
        return 1
    return -1 if opposites.opposed(one, two) == "comparison" else 0


def _lies(names: frozenset[str], here: frozenset[str], there: frozenset[str]) -> bool:
    return bool(names & here) and not names & there


def _names(words: Sequence[Word], without: Sequence[int] | set[int]) -> frozenset[str]:
    left = [w for n, w in enumerate(words) if n not in without and w.form not in _FIGURATIVE]
    return named(left)


def mistrended(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """A rise that was a fall, or a change that is said not to have been one."""
    words = said.words
    denials = [n for n in range(len(words)) if denies(said, n)]
    moving = [n for n in range(len(words)) if _moves(said, n)]
    still = [n for n, w in enumerate(words) if w.form in opposites.STAYS or lexicon.SAME.get(w.form) == "=change"]
    if len(words) > _LONGEST or len(moving) + len(still) != 1:
        return None
    at = (moving or still)[0]
    changed = words[at].form not in opposites.STAYS
    if len(denials) != (1 if still and changed else 0):
        return None
    names = _names(words, {at}) - {"remain", "stay"}
    if len(names) < 2:
        return None
    found: Found | None = None
    for n, told in enumerate(lines):
        trends = {w.form for m, w in enumerate(told.words) if _moves(told, m)}
        theirs = _names([w for w in told.words if w.form not in _TRENDS], ())
        if not trends or not names <= theirs or len(names) < _COVERED * len(theirs):
            continue
        mixed = len({form in opposites.RISES for form in trends}) > 1
        if mixed or any(denies(told, m) for m in range(len(told.words))):
            return None
        if (told.forms ^ said.forms) & (_UNREAL | lexicon.TIME_BOUNDS):
            continue
        if moving and (words[at].form in opposites.RISES) == (min(trends) in opposites.RISES):
            return None
        first = min([at, *denials])
        found = found or Found("negation" if still else "comparison", n, first, max([at, *denials]) + 1, min(trends))
    return found


def _moves(reading: Reading, n: int) -> bool:
    """Whether word ``n`` is a rise or fall; "in the fall of 2015" is none."""
    form = reading.words[n].form
    return form in _TRENDS and not (form == "fall" and n > 0 and reading.words[n - 1].form in _DATING)


def misplaced_extreme(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """What a line says of one and its opposite of another, the other way round: "the largest is in A, the smallest
    in B"."""
    words = said.words
    if len(words) > _LONGEST or "than" in said.forms or any(denies(said, n) for n in range(len(words))):
        return None
    ours = [n for n, word in enumerate(words) if _turns(word.form)]
    if len(ours) != 1:
        return None
    at = ours[0]
    found: Found | None = None
    for n, told in enumerate(lines):
        pieces = _pieces(told)
        names = _names(words, {at})
        held = _names(told.words, ())
        if len(names - held) > 1 or "than" in told.forms or any(denies(told, m) for m in range(len(told.words))):
            continue
        for one, two in combinations(pieces, 2):
            here, there = (one, two) if words[at].form in {w.form for w in one} else (two, one)
            forms = {w.form for w in here}, {w.form for w in there}
            if words[at].form not in forms[0] or words[at].form in forms[1]:
                continue
            if not any(opposites.opposed(words[at].form, form) == "comparison" for form in forms[1]):
                continue
            own, other = _marked(here), _marked(there)
            if names & (own - other):
                return None
            if names & (other - own) and own - other:
                found = found or Found("comparison", n, *_reach(said, at, other - own), told.text)
    return found


def _turns(form: str) -> bool:
    return form not in _PLACING and "comparison" in opposites.opposites_of(form).values()


def _marked(words: Sequence[Word]) -> frozenset[str]:
    """The proper names and numbers among words."""
    return named([w for w in words if w.capital or w.key[:1].isdigit()])


def _reach(said: Reading, at: int, names: frozenset[str]) -> tuple[int, int]:
    """From the extreme to what it is given to."""
    shown = [n for n, word in enumerate(said.words) if named([word]) & names]
    return min(at, *shown), max(at, *shown) + 1


def _pieces(reading: Reading) -> list[list[Word]]:
    pieces: list[list[Word]] = [[]]
    for n, word in enumerate(reading.words):
        between = reading.between(reading.words[n - 1], word) if n else ""
        if word.form in lexicon.HALVING or any(mark in between for mark in ",;.:"):
            pieces.append([])
        pieces[-1].append(word)
    return [piece for piece in pieces if any(_turns(word.form) for word in piece)][:6]
