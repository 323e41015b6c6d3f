"""The deterministic tier: a number, date, amount, percentage, version or identifier that no evidence carries.

Both sides are normalised and compared exactly (decimals, never floats; identifiers as strings). A value is flagged
where neither evidence nor question has it and it is no simple consequence of the evidence; one that only the question
has is flagged where the evidence gives another figure for the same thing, since what a user asserts supports nothing.
``1.234`` is not flagged by this tier alone. Confidence is ``VALUE_CHECK_CONFIDENCE``: a mismatch of exact values is
near certain, the rest is for values that follow from the evidence in ways this tier does not know.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal

from vsr_hallucination.detection.consequences import Consequences, is_about, may_be_bound, step_of
from vsr_hallucination.detection.elapsed import Elapsed
from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.marks import Marks
from vsr_hallucination.detection.measures import together
from vsr_hallucination.detection.numerals import Style, style_of
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.quantities import quantities
from vsr_hallucination.detection.rivals import contradicts, nearest
from vsr_hallucination.detection.rivals import point_at_value as point_at_value
from vsr_hallucination.detection.signs import Wording
from vsr_hallucination.detection.text import sentences, split_long, tidy_span
from vsr_hallucination.detection.types import EvidencePointer
from vsr_hallucination.detection.units import UNITS, unit_named
from vsr_hallucination.detection.values import Value, values

VALUE_CHECK_CONFIDENCE = 0.95
_SMALL_WORD = 13  # spelled numbers below it ("two main reasons") need evidence that says otherwise
_POINTERS = 256  # flagged values of one answer that get a pointer each
_STYLE_TEXT = 65_536
_OPERAND_LINES = 3
_OUT_OF = re.compile(r"\bout of\s*[*_`]*$", re.IGNORECASE)
_STATED = re.compile(r"(?:a|one)[ -](?:whole|full|single|fortnight|decade|century|millennium)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Flagged:
    """What a rule found in the answer: ``tier`` names the rule, ``evidence`` what stands closest to it."""

    start: int
    end: int
    evidence: EvidencePointer | None
    tier: str = "value_check"
    confidence: float = VALUE_CHECK_CONFIDENCE
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class ValueFindings:
    """``confirmed``: stretches of the answer whose value the evidence holds, says otherwise, or makes: a model that is
    told which words are new is not told so of these ("61 %" for 0.61)."""

    flagged: tuple[Flagged, ...] = ()
    confirmed: tuple[tuple[int, int], ...] = ()


NO_FINDINGS = ValueFindings()


@dataclass(slots=True)
class _Answer:
    text: str
    style: Style
    sentences: list[tuple[int, int]]
    _starts: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> _Answer:
        spans = split_long(text, sentences(text), 2000)
        made = cls(text, style_of(text[:_STYLE_TEXT]), spans)
        made._starts = [start for start, _ in spans]
        return made

    def sentence(self, at: int) -> tuple[int, int]:
        return self.sentences[max(0, bisect_right(self._starts, at) - 1)]


def check_values(
    answer: str,
    question: str,
    evidence: ValueSet,
    index: EvidenceIndex,
    alive: Callable[[], None] = lambda: None,
) -> ValueFindings:
    """Judges every value of ``answer``. Pure; ``alive`` is called now and then and may raise to stop the work."""
    asked = ValueSet.build((question,)) if question else ValueSet()
    shown = _Answer.of(answer)
    marks = Marks(answer, len(index.grounding.passages) + len(index.grounding.unread))
    wording, elapsed = Wording(answer, question), Elapsed(evidence)
    consequences = Consequences(answer, evidence, lambda span: _lines(answer, span, index))
    flagged: list[Flagged] = []
    confirmed: list[tuple[int, int]] = []
    before: Value | None = None
    for n, (value, after) in enumerate(_read(answer, shown.style)):
        if n % 64 == 0:
            alive()
        before, last = value, before
        if evidence.signs.any_negative() and _said_as_less(wording, shown, value):
            value = replace(value, unsure=True)
        if value.worded:
            kept = _worded_is_fine(evidence, answer, value)
        elif _holds(evidence, answer, value):
            confirmed.append((value.start, value.end))
            continue
        else:
            kept = _says_the_same(elapsed, answer, last, value, after)
        if kept:
            confirmed.append((value.start, value.end))
            continue
        mark = marks.kind(value)
        if mark == "exempt":
            continue
        sentence = shown.sentence(value.start)
        in_question = not value.worded and _holds(asked, answer, value)
        if not in_question and value.kind == "number" and _harmless(consequences, sentence, value):
            confirmed.append((value.start, value.end))
            continue
        alive()
        near = nearest(answer, sentence, value, index, question) if len(flagged) < _POINTERS else None
        doubtful = in_question or mark == "judge" or _needs_contradiction(answer, value, evidence)
        if doubtful and (near is None or not contradicts(answer, sentence, value, near, index, question)):
            continue
        span = tidy_span(answer, value.start, _wrong_to(evidence, value)) or (value.start, value.end)
        flagged.append(Flagged(*span, near.pointer if near else None))
    return ValueFindings(_merged(flagged), tuple(sorted(confirmed)))


def _read(answer: str, style: Style) -> Iterator[tuple[Value, Value | None]]:
    """The values of the answer in order, each with the one after it; what says an amount in words takes its place."""
    worded = deque(replace(q, worded=True) for q in quantities(answer))
    held: Value | None = None
    for value in values(answer, style):
        while worded and worded[0].start <= value.start:
            said = worded.popleft()
            if held is not None:
                yield held, said
            held = said
        if held is not None and held.worded and value.start < held.end:
            continue
        if held is not None:
            yield held, value
        held = value
    for said in worded:
        if held is not None:
            yield held, said
        held = said
    if held is not None:
        yield held, None


def _said_as_less(wording: Wording, shown: _Answer, value: Value) -> bool:
    """Whether words take the place of a minus: "a loss of 5 million", "5 degrees below zero"."""
    if value.kind != "number" or value.negative or value.unsure:
        return False
    return wording.less(shown.sentence(value.start), value.start, value.end, value.unit_end)


def _worded_is_fine(evidence: ValueSet, answer: str, value: Value) -> bool:
    """Whether an amount in words ("half an hour", "a third of") has its like in the evidence, or is only a manner."""
    number, measures = value.readings[0], evidence.measures
    if value.percent:
        return number >= 200 or measures.share(number, Decimal(1), figures=True) or number / 100 in evidence.numbers
    if number == 1 and not _STATED.match(answer, value.start):
        return True  # "a year"
    if any(number in evidence.numbers and measures.fits(number, value) for number in value.readings):
        return True
    return measures.converts(number, value.units, Decimal("0.1"), approximate=True)


def _says_the_same(elapsed: Elapsed, answer: str, last: Value | None, value: Value, after: Value | None) -> bool:
    """Whether the evidence says the same another way: in another unit, in words, as a year of a decade or century."""
    evidence = elapsed.evidence
    if value.kind == "identifier":
        return bool(unit_named(answer[value.start : value.end].replace("³", "3").replace("²", "2")))
    if value.kind != "number":
        return False
    number, measures = value.readings[0], evidence.measures
    if value.ordinal or value.decade:
        return measures.in_span(value, answer)
    about = is_about(answer, value)
    if value.percent:
        return measures.share(number, step_of(number), approximate=about)
    if not value.units:
        return False
    if elapsed.has(value, about=about):
        return True
    degrees = any(UNITS[unit].dimension == "temperature" for unit in value.units)
    signed = [-number if value.negative else number] if degrees else [number]
    if degrees and value.unsure:
        signed.append(-number)
    if any(measures.converts(said, value.units, step_of(number), approximate=about) for said in signed):
        return True
    for first, second in ((last, value), (value, after)):
        joined = together(first, second, answer) if first is not None and second is not None else None
        if joined is None or second is None:
            continue
        if not measures.tags.get(joined, frozenset()).isdisjoint(second.units):
            return True
        if measures.converts(joined, second.units, step_of(joined)):
            return True
    return False


def _wrong_to(evidence: ValueSet, value: Value) -> int:
    """Where the wrong part ends: with the unit, if the evidence has the number, but not in it."""
    measures = evidence.measures
    if value.kind != "number" or value.unit_end <= value.end or value.percent:
        return value.end
    known = any(number in measures.tags and not measures.fits(number, value) for number in value.readings)
    scaled = any(part in measures.mantissas or part in measures.tags for part in value.parts)
    return value.unit_end if known or scaled else value.end


def _lines(answer: str, sentence: tuple[int, int], index: EvidenceIndex) -> list[str]:
    terms = index.terms(answer[sentence[0] : sentence[1]][:2000])
    return [index.text(unit) for unit in index.nearest(terms, _OPERAND_LINES)]


def _harmless(consequences: Consequences, sentence: tuple[int, int], value: Value) -> bool:
    if value.ambiguous or value.worded:
        return value.ambiguous
    return consequences.counts_items(sentence, value) or consequences.follows(sentence, value)


def _merged(flagged: list[Flagged]) -> tuple[Flagged, ...]:
    """Values grown into one another (both ends of ``479-480``) are one span."""
    out: list[Flagged] = []
    for item in flagged:
        if out and item.start < out[-1].end:
            out[-1] = Flagged(out[-1].start, max(out[-1].end, item.end), out[-1].evidence or item.evidence)
        else:
            out.append(item)
    return tuple(out)


def _holds(known: ValueSet, answer: str, value: Value) -> bool:
    if value.kind == "number":
        return known.holds_number(value, as_bound=may_be_bound(answer, value))
    if value.kind == "identifier":
        return known.holds_identifier(value)
    if value.kind == "date":
        return known.holds_date(value)
    return known.holds_time(value)


def _needs_contradiction(answer: str, value: Value, evidence: ValueSet) -> bool:
    """Values so often said in passing that only evidence for another one makes them worth a flag."""
    if value.kind != "number":
        return False
    if value.worded:
        return True
    number = value.readings[0]
    if number > 1 and value.units and evidence.measures.rivals(value):
        return False
    if _OUT_OF.search(answer[max(0, value.start - 12) : value.start]) and number in (5, 10, 100):
        return True
    return (value.spelled and number < _SMALL_WORD) or number in (0, 1) or (value.percent and number == 100)
