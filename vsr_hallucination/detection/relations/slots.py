"""A name or number in the place where the line has another of its sort, in a copy of that line: one that the evidence
has elsewhere, or a name that it has nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.lexicon import CREDITING, SAYING
from vsr_hallucination.detection.relations.parts import (
    Span,
    aliased,
    common,
    held,
    is_name,
    names,
    proper,
    turned_words,
)
from vsr_hallucination.detection.relations.reading import (
    Kind,
    Line,
    Sentence,
    Token,
    Turned,
    content,
    gap,
    joined,
    keys_of,
    place_of,
)

_HELD = 0.85  # share of the rest of the sentence that the line holds
_AROUND = 2  # words on either side that must be the line's
_BESIDE = 4  # words beside a value that show that another line has it so
_EDGE = 4  # words on the only side, where the value opens or closes the sentence
_LONG_COPY = 13  # where the line's value comes again in the sentence
_COPY = 9  # words around a value that make a copy of the sentence
_LONGEST = 6  # words of a value
_ALIKE = 0.6  # spellings of one name: "Stäfa" and "Staefa"
_QUOTES = frozenset("\"'“”‘’")
_MOST = 12  # numbers of a sentence
_DIGITS = 16
_NEAR = 3  # words between a value and the verb that credits it


def replaced(sentence: Sentence, lines: Sequence[Line]) -> Turned | None:
    """The first such value, or None. No line may have it where the sentence puts it, and only one value of its sort may
    stand there."""
    keys = sentence.keys
    for span in _values(sentence):
        if span.last == 1 and is_name(sentence.tokens[0]) and not proper(keys[0], sentence, *lines):
            continue
        own = content(sentence.tokens[span.first : span.last])
        if not own or _half_known(sentence, span, own) or _summed(sentence, span, lines):
            continue
        rest = content((*sentence.tokens[: span.first], *sentence.tokens[span.last :]))
        near = [line for line in lines if held(sentence.evidence, rest, line.content) >= _HELD]
        if len(rest) < _AROUND or not near or _has_it(sentence, near, span):
            continue
        beside = _beside(sentence, lines, span, _AROUND)
        if _beside(sentence, lines, span, _BESIDE):
            continue  # the evidence has both
        told: list[tuple[Line, Span, bool]] = []
        for line in near:
            least = _LONG_COPY if beside else 0 if not own & line.content else _COPY
            found = _places(sentence, span, line)
            told += [(line, place, common >= _LONG_COPY) for place, common in found if common >= least]
        values = {keys_of(line.tokens[place.first : place.last]) for line, place, _ in told}
        if len(values) != 1 or not _another(sentence, span, *told[0]) or aliased(own, next(iter(values)), lines):
            continue
        line, place, _ = told[0]
        kind: Kind = "attribution" if _credited(sentence.tokens, span) else "elsewhere"
        return turned_words(sentence, line, kind, span.first, span.last, line.tokens[place.first : place.last])
    return None


def _half_known(sentence: Sentence, span: Span, own: frozenset[str]) -> bool:
    """Whether only a part of a name is known, or it is the question's. Unknown numbers are the value check's."""
    known = [sentence.index.knows(key) for key in own]
    if all(known):
        return False
    numeric = sentence.tokens[span.first].key[:1].isdecimal()
    return any(known) or numeric or not own.isdisjoint(sentence.index.terms(sentence.question[:2000]))


def _summed(sentence: Sentence, span: Span, lines: Sequence[Line]) -> bool:
    """Whether a number is the sum of those of a line: "57 in all" of 18 and 39."""
    own = sentence.keys[span.first]
    if not own.isdecimal():
        return False
    return any(int(own) == sum(int(key) for key in line.keys if key.isdecimal() and len(key) < _DIGITS)
               for line in lines if own not in line.keys and len(own) < _DIGITS)  # fmt: skip


def _values(sentence: Sentence) -> list[Span]:
    numbers = [Span(n, n + 1) for n, token in enumerate(sentence.tokens) if token.key[:1].isdecimal()][:_MOST]
    found = sorted(sentence.once(names), key=lambda span: span.first - span.last)
    # What follows a first name that opens the sentence may be another's.
    tails = [Span(1, span.last) for span in found if span.first == 0 and span.last > 1 and is_name(sentence.tokens[1])]
    return [*found, *tails, *numbers]


def _places(sentence: Sentence, span: Span, line: Line) -> list[tuple[Span, int]]:
    """Where the line has another value of the same sort between the same words, and how many these are."""
    keys, told = sentence.keys, line.keys
    before, after = span.first, len(keys) - span.last
    numeric = keys[span.first][:1].isdecimal()
    found = []
    for first in range(len(told)):
        if numeric != told[first][:1].isdecimal() or not (numeric or is_name(line.tokens[first])):
            continue
        left = common(keys, span.first - 1, told, first - 1, -1)
        if left < min(_AROUND, before):
            continue
        for last in range(first + 1, min(len(told), first + (1 if numeric else _LONGEST)) + 1):
            if not numeric and not _all_name(line.tokens[first:last]):
                break
            right = common(keys, span.last, told, last, 1)
            if right < min(_AROUND, after) or (not after and not _ends(line, last)):
                continue
            if (not before and right < _EDGE) or (not after and left < _EDGE) or left + right < _EDGE:
                continue
            if _entry(line, last, right) or _open_list(sentence, line, first):
                continue
            if _beside_it(sentence, span, line, first, last):
                continue
            found.append((Span(first, last), left + right))
    return found


def _entry(line: Line, last: int, right: int) -> bool:
    """Whether the words before ``last`` belong to the key of an entry: "Screenplay by: B"."""
    ends = (at for at in range(last, min(len(line.tokens), last + right)) if ":" in gap(line.text, line.tokens, at))
    at = next(ends, 0)  # "A said:" and what is quoted are no entries
    return at > 0 and line.tokens[at - 1].folded not in SAYING and not set(gap(line.text, line.tokens, at)) & _QUOTES


def _beside_it(sentence: Sentence, span: Span, line: Line, first: int, last: int) -> bool:
    """Whether a value stands in an apposition to the sentence's own: "A, a researcher at B, said"."""
    own = sentence.keys[span.first : span.last]
    at = place_of(own, line)
    if at < 0 or at + len(own) > first:
        return False
    return all("," in gap(line.text, line.tokens, n) for n in (at + len(own), last) if n < len(line.tokens))


def _open_list(sentence: Sentence, line: Line, at: int) -> bool:
    """Whether a value is one of several that the line only has as examples: "stars including A, B and C"."""
    start = at
    while start > 0 and (is_name(line.tokens[start - 1]) or line.tokens[start - 1].folded == "and"):
        start -= 1
    before = [token.folded for token in line.tokens[max(0, start - 2) : start]]
    opened = before[-1:] == ["including"] or before == ["such", "as"]
    return opened and not any(token.folded == before[-1] for token in sentence.tokens)


def _ends(line: Line, at: int) -> bool:
    """Whether a value does not go on at this word of the line."""
    return at == len(line.tokens) or not is_name(line.tokens[at]) or bool(gap(line.text, line.tokens, at).strip())


def _all_name(tokens: Sequence[Token]) -> bool:
    return is_name(tokens[-1]) or (len(tokens) > 1 and tokens[-1].folded in ("and", "de", "of", "the", "van", "von"))


def _has_it(sentence: Sentence, lines: Sequence[Line], span: Span) -> bool:
    """Whether a line that has the rest of the sentence has the value too, and is no copy with another in its place."""
    own = content(sentence.tokens[span.first : span.last])
    return any(
        own <= line.content
        and not any(
            common >= _LONG_COPY and not own & content(line.tokens[max(0, place.first - _NEAR) : place.last + _NEAR])
            for place, common in _places(sentence, span, line)
        )
        for line in lines
    )


def _beside(sentence: Sentence, lines: Sequence[Line], span: Span, around: int) -> bool:
    """Whether a line has the value directly beside the words it stands beside, small words apart."""
    keys = sentence.keys
    parts = []
    for first, last in ((max(0, span.first - around), span.last), (span.first, span.last + around)):
        words = (*sentence.tokens[first : span.first], *sentence.tokens[span.last : last])
        if content(words) or len(words) >= _BESIDE:
            parts.append(joined(keys[first:last]))
    return any(part in line.joined for line in lines for part in parts)


def _another(sentence: Sentence, span: Span, line: Line, place: Span, copied: bool) -> bool:
    """Whether the two are not two ways to call the same: no shared word or stem, no initials, no mere titles. In a long
    copy the line's own value may come again in the sentence."""
    own, other = sentence.tokens[span.first : span.last], line.tokens[place.first : place.last]
    if own[0].key[:1].isdecimal():
        return own[0].key.rstrip(",") != other[0].key.rstrip(",")  # "1960's"
    if all(t.folded in lexicon.DATES for t in (*own, *other)):
        return own[0].folded != other[0].folded  # "Tuesday" and "Thursday" are spelt alike
    if any(a.folded[:4] == b.folded[:4] or _short_for(a.folded, b.folded) for a in own for b in other):
        return False
    if any(SequenceMatcher(None, a.folded, b.folded).ratio() >= _ALIKE for a in own for b in other):
        return False
    if all(t.folded in lexicon.TITLES for t in own) or all(t.folded in lexicon.TITLES for t in other):
        return False
    if _initials(own) in {t.folded for t in other} or _initials(other) in {t.folded for t in own}:
        return False
    return copied or not content(other) & sentence.content


def _short_for(one: str, two: str) -> bool:
    """Whether one is the other's pet name: "Hibs" and "Hibernian"."""
    short, long = sorted((one, two), key=len)
    stem = short[:-1]
    return short[-1:] in ("s", "y") and len(stem) >= 3 and len(long) > len(short) and long.startswith(stem)


def _initials(tokens: Sequence[Token]) -> str:
    return "".join(token.folded[0] for token in tokens if token.capital)


def _credited(tokens: Sequence[Token], span: Span) -> bool:
    near = (*tokens[max(0, span.first - _NEAR) : span.first], *tokens[span.last : span.last + _NEAR])
    return any(token.folded in CREDITING for token in near)
