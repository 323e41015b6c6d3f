"""A sentence that copies an evidence line but for a word of a closed class: its opposite, or a negation more or less.

Word by word, as natural logic edits one text into the other (MacCartney & Manning 2007); an edit counts only where
its surroundings are copied, and where no word moved that the change could have turned round with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.clauses import corrects, denies, same_tense
from vsr_hallucination.detection.relations.phrases import Reading, Word, about_source
from vsr_hallucination.detection.relations.reading import Kind

_LONGEST = 4  # words of one edit
_AROUND = 4  # copied words beside it
_HELD = 2  # beside it where the line has all that the sentence names
_MOST_ALIKE = 1500  # pairs of the same word; prose has a tenth
_NAMING = 2  # of which name something
_CONTRARY = frozenset(
    "confirm confirmed confirms denied denies deny oppose opposed opposes refute refuted refutes support supported "
    "supports".split()
)
_CONDITIONS = lexicon.CONDITIONS - {"provided", "providing"}  # "Based on the provided passages"
_PREFIXES = ("un", "in", "im", "non", "non-")
_ADDING = frozenset("at by during for from in of on to with".split())
_NEAR = 8  # words in which another edit may undo it
_CONDITION = 3  # words of a condition, with its marker, that are copied
_FOLLOWED = 0.6  # share of the sentence's words, or of its clause's, that stand in the line in its order
_OPEN = frozenset({"may", "might"})
_LIMITING = lexicon.PARTIAL | lexicon.CLAIMING | lexicon.BOUNDING | lexicon.HALF_DENYING | lexicon.UNDOING | {"by"}
_REPORTS = frozenset(verb for verb in lexicon.SAYING if verb.endswith(("s", "ed", "said")))
# "Not unless" says what "if" does, and "no other" what "only" does.
_EXCEPTING = lexicon.EXCEPTIONS | {"only"}
_EMPTY = frozenset("a an are be been did do does had has have is of that the to was were will would".split())


@dataclass(frozen=True, slots=True)
class Edit:
    """``said[c:d]`` stands for ``told[a:b]``."""

    kind: Kind
    a: int
    b: int
    c: int
    d: int


def edits(told: Reading, said: Reading) -> list[Edit]:
    """Changes of a relation between a line and the sentence that copies it, in text order."""
    if not told.words or not said.words or _alike(told, said) > _MOST_ALIKE:
        return []
    matcher = SequenceMatcher(None, [w.key for w in told.words], [w.key for w in said.words], autojunk=False)
    codes = matcher.get_opcodes()
    found: list[Edit] = []
    undoing: list[int] = []
    dropped: list[int] = []  # where a longer part of the line is left out that denies
    for n, (op, a, b, c, d) in enumerate(codes):
        if op == "equal":
            continue
        if b - a > _LONGEST or d - c > _LONGEST:
            if any(lexicon.negates(w.form) for w in said.words[c:d]):
                undoing.append(c)  # "Without X it need not" for "…, with X it must"
            if any(lexicon.negates(w.form) for w in told.words[a:b]):
                dropped.append(c)
            continue
        kind = _kind(told, said, a, b, c, d)
        if kind is None:
            if any(lexicon.negates(w.form) for w in (*told.words[a:b], *said.words[c:d])):
                undoing.append(c)
            continue
        undoing.append(c)
        if kind == "negation" and _limited(codes, n, told, said):
            continue
        if _of_another(codes, n, told, said) or not _copied(codes, n, told, said, kind):
            continue
        if kind == "negation" and _placed(told, said, a, b, c, d):
            continue
        ordinals = {w.form for w in (*told.words[a:b], *said.words[c:d])} & opposites.ORDINALS
        if ordinals and ordinals <= told.forms & said.forms:
            continue  # both have both
        if kind == "negation" and (_conditional(codes, n, told, said) or _other_names(told, said, a, b, c, d)):
            continue
        if not (_directed(told, said, a, b, c, d) and _moved(codes, told, said, c)):
            found.append(Edit(kind, a, b, c, d))
    # Two changes in one clause may cancel out: "not rare" for "common".
    return [
        edit
        for edit in found
        if sum(abs(at - edit.c) <= _NEAR for at in undoing) == 1
        # "On Mondays it is not open" for "it is open daily but not on Mondays"
        and not (_negation(said, edit.c, edit.d) and any(abs(at - edit.c) <= _NEAR for at in dropped))
    ]


def _alike(told: Reading, said: Reading) -> int:
    """Pairs of the same word in both: what matching them costs."""
    counts = Counter(word.key for word in told.words)
    return sum(counts[word.key] for word in said.words)


def _kind(told: Reading, said: Reading, a: int, b: int, c: int, d: int) -> Kind | None:
    old, new = _essential(told.words[a:b]), _essential(said.words[c:d])
    if len(old) == len(new) == 1:
        if lexicon.overstates(old[0].form, new[0].form):
            if _denied(told, b) and _denied(said, d):
                return None  # "may not" forbids as "must not" does
            # What somebody says one should do is reported as freely.
            reported = old[0].form in lexicon.ADVISED and told.forms & _REPORTS and said.forms & _REPORTS
            return None if reported else "modality"
        sort = opposites.opposed(old[0].form, new[0].form)
        if sort is not None:
            return sort
    pair = _hyphenated(old, new)
    if pair is not None:
        return "modality" if lexicon.overstates(*pair) else opposites.opposed(*pair)
    was, is_now = _negation(told, a, b), _negation(said, c, d)
    if was == is_now or told.forms & _EXCEPTING != said.forms & _EXCEPTING:
        return None
    # What may not be may be as well.
    if not same_tense(told.words[a:b], said.words[c:d]) or _left_open(told, a, b) or _left_open(said, c, d):
        return None
    denied, affirmed = (told.words[a:b], said.words[c:d]) if was else (said.words[c:d], told.words[a:b])
    ended = any(w.form == "~nolonger" for w in denied) and any(w.form in lexicon.PRESENT for w in denied)
    if ended and not any(w.form in lexicon.PRESENT for w in affirmed):
        return None  # "They married", and are no longer married
    if {w.form for w in affirmed} & lexicon.NEEDED and not {w.form for w in denied} & lexicon.NEEDED:
        return None  # what must be so is not so yet
    rest = [w for w in (*old, *new) if not lexicon.negates(w.form)]
    if all(w.form in lexicon.AUXILIARIES or w.form in lexicon.INDEFINITE for w in rest):
        return "negation"
    return None


def _denied(reading: Reading, end: int) -> bool:
    return end < len(reading.words) and reading.words[end].form in {"never", "not"}


def _hyphenated(old: Sequence[Word], new: Sequence[Word]) -> tuple[str, str] | None:
    """The one part in which two compounds differ: "second-largest" and "second-smallest"."""
    if len(old) != 1 or len(new) != 1:
        return None
    one, two = old[0].form.split("-"), new[0].form.split("-")
    if len(one) != len(two) or len(one) < 2:
        return None
    apart = [pair for pair in zip(one, two, strict=True) if pair[0] != pair[1]]
    return apart[0] if len(apart) == 1 else None


def _left_open(reading: Reading, first: int, end: int) -> bool:
    """Whether a negation among the words [first, end) stands behind a "may"."""
    return any(n > 0 and denies(reading, n) and reading.words[n - 1].form in _OPEN for n in range(first, end))


def _essential(words: Sequence[Word]) -> list[Word]:
    """The words of an edit without those that only carry them."""
    return [word for word in words if word.form not in _EMPTY] or list(words)


def _negation(reading: Reading, first: int, end: int) -> bool:
    """Whether the words [first, end) hold one negation that denies something."""
    return sum(denies(reading, n) for n in range(first, end)) == 1


def _directed(told: Reading, said: Reading, a: int, b: int, c: int, d: int) -> bool:
    """Whether what is changed stands between two that could have changed places."""
    changed = {w.form for w in (*told.words[a:b], *said.words[c:d])}
    return "than" in said.forms or bool(changed & opposites.DIRECTED)


def _copied(
    codes: Sequence[tuple[str, int, int, int, int]], n: int, told: Reading, said: Reading, kind: Kind
) -> bool:
    """Whether the words beside the edit are the line's on both sides; on one where the line has all the rest."""
    before = codes[n - 1] if n and codes[n - 1][0] == "equal" else None
    after = codes[n + 1] if n + 1 < len(codes) and codes[n + 1][0] == "equal" else None
    first, end = codes[n][3], codes[n][4]
    fresh = kind != "order" and not any(w.form in told.forms for w in said.words[first:end])
    whole = fresh and all(w.key in told.keys for w in (*said.words[:first], *said.words[end:]) if w.content)
    if not whole and ((before is None and first > 0) or (after is None and end < len(said.words))):
        return False
    left = said.words[before[3] : before[4]] if before else ()
    right = said.words[after[3] : after[4]] if after else ()
    beside = [*left, *right]
    if len(beside) < (_HELD if whole else _AROUND):
        return False
    if sum(word.content for word in beside) < (1 if whole else _NAMING):
        return False
    # A sentence that leaves out a part of the line may have the word from there.
    left_out = any(op == "delete" and b - a > _NEAR // 2 for op, a, b, _, _ in codes[1:-1])
    if left_out and all(w.form in told.forms for w in said.words[first:end]):
        return False
    same = sum(code[4] - code[3] for code in codes if code[0] == "equal")
    return same >= _FOLLOWED * (len(said.words) - 1)


def _limited(
    codes: Sequence[tuple[str, int, int, int, int]], edit: int, told: Reading, said: Reading
) -> bool:
    """Whether near the edit one text speaks of some only, or of what somebody claims, and the other does not."""
    at = codes[edit][3]
    return any(
        word.form in _LIMITING
        for n, (op, a, b, c, d) in enumerate(codes)
        if op != "equal" and n != edit and c <= at + _NEAR and d >= at - _NEAR
        for word in (*told.words[a:b], *said.words[c:d])
    )


def _of_another(
    codes: Sequence[tuple[str, int, int, int, int]], edit: int, told: Reading, said: Reading
) -> bool:
    """Whether something else is named near the edit where the line has its own: then it is another fact."""
    at = codes[edit][3]
    return any(
        op == "replace"
        and n != edit
        and c < at + _NEAR
        and d > at - _NEAR
        and any(word.content for word in told.words[a:b])
        and any(word.content for word in said.words[c:d])
        for n, (op, a, b, c, d) in enumerate(codes)
    )


def _placed(told: Reading, said: Reading, a: int, b: int, c: int, d: int) -> bool:
    """Whether a negation more or less only stands elsewhere, or each text says by it what the other says without."""
    old, new = ({w.form for w in words} for words in (told.words[a:b], said.words[c:d]))
    if old & _CONTRARY and new & _CONTRARY:  # neither confirmed nor denied
        return any(denies(told, n) for n in range(max(0, a - 2), a)) and any(
            denies(said, n) for n in range(max(0, c - 2), c)
        )
    ours, theirs = (sum(denies(r, n) for n in range(len(r.words))) for r in (said, told))
    if ours and ours == theirs and _negation(told, a, b) != _negation(said, c, d):
        return True
    apart = told.forms ^ said.forms
    if "but" in apart and any(corrects(r, n) for r in (told, said) for n, w in enumerate(r.words) if w.form == "but"):
        return True
    # "closed to A but open to B": it is not closed to B
    denied = said.words[d : d + 1] if _negation(said, c, d) else told.words[b : b + 1]
    return any(
        opposites.opposites_of(word.form).keys() & apart or {f"{prefix}{word.form}" for prefix in _PREFIXES} & apart
        for word in denied
    )


def _conditional(
    codes: Sequence[tuple[str, int, int, int, int]], edit: int, told: Reading, said: Reading
) -> bool:
    """Whether the sentence says it under a condition that is not the line's, or of which the line goes on otherwise."""
    if said.forms & _CONDITIONS - told.forms:
        return True
    end = codes[edit][4]
    if end >= len(said.words) or said.words[end].form not in lexicon.CONDITIONS | lexicon.EXCEPTIONS:
        return False
    after = codes[edit + 1] if edit + 1 < len(codes) else None
    return after is None or after[4] - after[3] < _CONDITION


def _other_names(told: Reading, said: Reading, a: int, b: int, c: int, d: int) -> bool:
    """Whether near the edit either text names what the other lacks: then it is another fact."""
    ours = (*said.words[max(0, c - _NEAR) : c], *said.words[d : d + _NEAR])
    theirs = (*told.words[max(0, a - _NEAR) : a], *told.words[b : b + _NEAR])
    return _names(ours, told) and _names(theirs, said)


def _names(words: Sequence[Word], other: Reading) -> bool:
    """Whether a preposition adds what the other text has nothing of ("for children")."""
    for n, word in enumerate(words):
        if word.content and word.key not in other.keys and not about_source(word):
            before = [w.form for w in words[max(0, n - 2) : n]]
            if before[-1:] and (before[-1] in _ADDING or (before[-1] in _EMPTY and before[0] in _ADDING)):
                return True
    return False


def _moved(codes: Sequence[tuple[str, int, int, int, int]], told: Reading, said: Reading, at: int) -> bool:
    """Whether words near the edit stand elsewhere in the line: then the whole may be the same the other way round."""
    left = {w.key for op, a, b, _, _ in codes if op != "equal" for w in told.words[a:b] if w.content}
    return any(
        w.content and w.key in left
        for op, _, _, c, d in codes
        if op != "equal"
        for w in said.words[max(c, at - _NEAR) : min(d, at + _NEAR)]
    )
