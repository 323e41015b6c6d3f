"""What a short sentence affirms and a line denies, or the other way round; and what it makes sure that the line calls
possible. In other words than the line's, so that only a sentence counts all of whose words the line holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.clauses import Clause, claims, clauses, compared, denies, named, same_tense
from vsr_hallucination.detection.relations.phrases import Reading, Word
from vsr_hallucination.detection.relations.reading import Kind

_LONGEST = 30  # words of a sentence that these rules read
_COVERED = 0.6  # share of what the line's clause names that the sentence names as well
_MANY, _COVERED_BY_MANY = 5, 0.35  # the same for a claim that names as many
_DENYING = 3  # words from a negation on that a line has as well
_BOUNDING = (lexicon.BOUNDING | lexicon.NOW) - {"exclude", "excluded", "excludes", "excluding"}
_TURNING = frozenset("are be been by for from in is of on there to was were with".split())
_TIMING = frozenset({"after", "before", "once", "since", "when", "while"})
_KNOWN = frozenset({"=include", "=change"})  # predicates that both sides have for sure
_STRONG = lexicon.ALWAYS | lexicon.CERTAIN
_WEAK = lexicon.POSSIBLE | lexicon.HEDGES | lexicon.LIKELY
_UNMARKED = _STRONG | _WEAK | lexicon.NEEDED | lexicon.FREE | frozenset({"allowed", "permitted", "able"})
_RULING = lexicon.NEEDED | lexicon.FREE | frozenset(
    "allowed can't cannot permitted shall should will".split()
)
_CONDITIONAL = lexicon.CONDITIONS | lexicon.EXCEPTIONS


@dataclass(frozen=True, slots=True)
class Found:
    """Words [first, end) of the sentence turn what line ``line`` says with ``told``."""

    kind: Kind
    line: int
    first: int
    end: int
    told: str


def contradicted(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """A claim of the sentence whose opposite a line has, where no line has the claim itself."""
    if len(said.words) > _LONGEST or said.forms & _CONDITIONAL:
        return None
    stood = [clauses(told) for told in lines]
    for clause in clauses(said):
        if not clause.sure:
            continue
        for names, first, end in claims(said, clause):
            if len(names) < 2 or any(c.denied == clause.denied and names <= c.all for one in stood for c in one):
                continue
            if any(_copied(said, clause, told) for told in lines):
                continue
            for n, one in enumerate(stood):
                against = next((c for c in one if _meets(names, said, clause, lines[n], c)), None)
                if against is not None and not _denied_so(said, clause, lines[n]):
                    first, end = _shown(said, clause, first, end)
                    return Found("negation", n, first, end, _text(lines[n], against.first, against.end))
    return None


def _meets(names: frozenset[str], said: Reading, claim: Clause, told: Reading, clause: Clause) -> bool:
    """Whether a line's clause says the opposite of a claim: of the same things, whole, at the same time."""
    if clause.denied == claim.denied or not clause.sure or not names <= clause.all:
        return False
    if (clause.focus and clause.focus not in names) or (claim.denied and _heads(told, clause)):
        return False
    words, ours = told.words[clause.first : clause.end], said.words[claim.first : claim.end]
    limiting = lexicon.PARTIAL | lexicon.CLAIMING | _BOUNDING | (lexicon.OFTEN if clause.denied else frozenset())
    differ = {w.form for w in words} ^ {w.form for w in ours}
    # "A must be shut before B starts" says no more than that B must not start before.
    timed = any(w.form in _TIMING for w in (*words, *ours))
    conditional = any(w.form in _CONDITIONAL for w in words)
    opposite = any(opposites.opposites_of(w.form).keys() & differ for w in words if w.form in differ)
    # Some may and some may not; "insoluble" denies by itself.
    opposite = opposite or all({w.form for w in one} & lexicon.SOME for one in (words, ours))
    opposite = opposite or any(f"in{w.form}" in differ or f"un{w.form}" in differ for w in ours)
    limiting |= lexicon.UNDOING | {"earlier", "later", "newer", "older", "than"}
    # What must be so is not so yet.
    denied, affirmed = (words, ours) if clause.denied else (ours, words)
    demanded = {w.form for w in affirmed} & lexicon.NEEDED and not {w.form for w in denied} & lexicon.NEEDED
    if demanded or _turned(names, words, ours):
        return False
    if timed or opposite or conditional or differ & limiting or not same_tense(words, ours):
        return False
    covered = _COVERED if len(names) < _MANY else _COVERED_BY_MANY
    return bool(names & _KNOWN) or len(names) >= covered * len(clause.all)


def _copied(said: Reading, clause: Clause, told: Reading) -> bool:
    """Whether a line has the clause word for word."""
    return told.has([word.form for word in said.words[clause.first : clause.end]])


def _denied_so(said: Reading, clause: Clause, told: Reading) -> bool:
    """Whether the line has the clause's negation with the words behind it ("or without any meat") elsewhere."""
    at = next((n for n in range(clause.first, clause.end) if lexicon.negates(said.words[n].form)), None)
    own = [] if at is None else [word.form for word in said.words[at : at + _DENYING]]
    return len(own) == _DENYING and told.has(own)


def _turned(names: frozenset[str], one: Sequence[Word], two: Sequence[Word]) -> bool:
    """Whether a relation has its two in another order: "A is cheaper than B", "B is not cheaper than A"."""
    forms = {w.form for w in (*one, *two)}
    first, second = ([key for w in words if (key := compared(w)) in names] for words in (one, two))
    moved = list(dict.fromkeys(first)) != list(dict.fromkeys(second))
    if moved and forms & ({"as", "than"} | opposites.DIRECTED):
        return True
    if not set(first) == set(second) == names:
        return False  # something is left out that the clause before names
    agents = [
        any(w.form == "by" and any(compared(a) in names for a in words[n + 1 : n + 4]) for n, w in enumerate(words))
        for words in (one, two)
    ]
    swapped = second.index(first[0]) > second.index(first[-1])
    # "B recognised A" for "A did not recognise B"; "A was recognised by B" for the same
    if agents[0] != agents[1]:
        return not swapped
    return swapped and (all(agents) or not forms & _TURNING)


def _heads(told: Reading, clause: Clause) -> bool:
    """Whether a clause only names what stands behind its mark: "Data loss: none"."""
    words = told.words[clause.first : clause.end]
    after = told.text[words[-1].end :].lstrip()[:1]
    return after in (":", "(", "|") and all(word.content or word.form in {"of", "the"} for word in words)


def _shown(said: Reading, clause: Clause, first: int, end: int) -> tuple[int, int]:
    """The negation of a clause that denies, through the word behind it; else the words that differ."""
    if not clause.denied:
        verbs = (n for n in range(clause.first, clause.end) if said.words[n].form in lexicon.SAME)
        whole = (first, end) == (clause.first, clause.end)
        verb = next(verbs, first)
        return (verb if whole and verb + 1 < end else first), end
    at = next((n for n in range(clause.first, clause.end) if denies(said, n)), first)
    return at, end if at < first else min(at + 2, clause.end)


def overstated(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """What a line calls possible, as certain or the rule; what it demands, as left open."""
    if len(said.words) > _LONGEST or said.forms & _CONDITIONAL:
        return None
    strong = [n for n, w in enumerate(said.words) if w.form in _STRONG and not _counts(said, n)]
    free = [n for n, w in enumerate(said.words) if w.form in {"neednt", "optional", "voluntary"}]
    if len(strong) + len(free) != 1 or any(lexicon.negates(w.form) for w in said.words):
        return None
    if strong and (said.forms & _WEAK) - _STRONG - {"case", "cases"}:
        return None
    names = _named(said.words)
    if len(names) < 2:
        return None
    for n, told in enumerate(lines):
        main = _main(told)
        forms = {w.form for w in main}
        if any(lexicon.negates(form) for form in forms) or forms & _STRONG:
            continue
        weak = forms & (_WEAK if strong else lexicon.NEEDED)
        other = forms & (lexicon.NEEDED if strong else lexicon.FREE | lexicon.HEDGES)
        held = _named(main)
        if weak and not other and names <= held and len(names) >= _COVERED * len(held):
            others = (one for m, one in enumerate(lines) if m != n and one.forms & said.forms & _UNMARKED)
            if any(names <= _named(one.words) for one in others):
                return None
            at = (strong or free)[0]
            return Found("modality", n, at, at + 1, next(w.form for w in main if w.form in weak))
    return None


def _counts(said: Reading, n: int) -> bool:
    """Whether "certain" says which, and not how sure."""
    after = said.words[n + 1].form if n + 1 < len(said.words) else ""
    return said.words[n].form == "certain" and after not in {"that", "to"}


def reconditioned(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """Under the same condition the opposite: "may if" or "cannot unless" against "cannot if"."""
    mine = _conditional(said)
    if mine is None:
        return None
    found: Found | None = None
    for n, told in enumerate(lines):
        theirs = _conditional(told)
        if theirs is None:
            continue
        same = mine.main <= theirs.main and mine.condition <= theirs.condition and len(mine.condition) > 0
        if not same or len(mine.main) < 1 or mine.within != theirs.within:
            continue
        if mine.turned == theirs.turned:
            return None
        if found is None and len(mine.main) >= _COVERED * len(theirs.main):
            found = Found("negation", n, mine.at, mine.at + 1, told.text)
    return found


@dataclass(frozen=True, slots=True)
class _Conditional:
    main: frozenset[str]
    condition: frozenset[str]
    turned: bool  # an odd number of negations and exceptions
    within: tuple[int, frozenset[str]]  # negations and bounds in the condition
    at: int  # the negation or modal of the main clause


def _conditional(reading: Reading) -> _Conditional | None:
    words = reading.words
    at = [n for n, w in enumerate(words) if w.form in _CONDITIONAL]
    # "except where", "provided that", "only if" are one marker
    if not at or any(b - a > 1 for a, b in pairwise(at)) or len(words) > 2 * _LONGEST:
        return None
    first, end = _span(reading, at[0])
    inside, outside = words[first:end], [*words[:first], *words[end:]]
    denials = [w for w in outside if lexicon.negates(w.form) or w.form == "neednt"]
    # A rule, not what once happened.
    if len(denials) > 1 or not any(w.form in _RULING for w in outside):
        return None
    excepted = any(words[n].form in lexicon.EXCEPTIONS for n in at)
    shown = next((n for n, w in enumerate(words) if w in denials), None)
    if shown is None:
        modal = (n for n, w in enumerate(words) if not first <= n < end and w.form in lexicon.AUXILIARIES)
        shown = next(modal, at[0])
    bounds = {w.form for w in inside} & (lexicon.BOUNDING - _CONDITIONAL - _TIMING)
    within = sum(lexicon.negates(w.form) for w in inside), frozenset(bounds)
    condition = frozenset(name for name in _named(inside) if name not in {"provid", "except"})
    return _Conditional(_named(outside), condition, bool(denials) != excepted, within, shown)


def _span(reading: Reading, at: int) -> tuple[int, int]:
    """A conditional clause: to the comma where it opens the sentence, else to the end of the sentence."""
    words = reading.words
    opens = at == 0 or "," in reading.between(words[at - 1], words[at]) or at <= 2
    for n in range(at + 1, len(words)):
        between = reading.between(words[n - 1], words[n])
        if any(mark in between for mark in ".;:!?\n") or ("," in between and opens and at <= 2):
            return at, n
    return at, len(words)


def _main(reading: Reading) -> list[Word]:
    """The words outside conditions and exceptions."""
    at = next((n for n, w in enumerate(reading.words) if w.form in _CONDITIONAL), None)
    if at is None:
        return list(reading.words)
    first, end = _span(reading, at)
    return [*reading.words[:first], *reading.words[end:]]


def _named(words: Iterable[Word]) -> frozenset[str]:
    return frozenset(compared(w) for w in _naming(words))


def _naming(words: Iterable[Word]) -> Iterator[Word]:
    for word in words:
        if word.form not in _UNMARKED and named([word]):
            yield word


def _text(reading: Reading, first: int, end: int) -> str:
    return reading.text[reading.words[first].start : reading.words[end - 1].end]
