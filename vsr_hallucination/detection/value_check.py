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
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from vsr_hallucination.detection.consequences import Consequences, may_be_bound
from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.marks import Marks
from vsr_hallucination.detection.numerals import Style, style_of
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.text import sentences, split_long, tidy_span
from vsr_hallucination.detection.types import EvidencePointer
from vsr_hallucination.detection.values import Value, values

VALUE_CHECK_CONFIDENCE = 0.95
_SMALL_WORD = 13  # spelled numbers below it ("two main reasons") need evidence that says otherwise
_POINTERS = 256  # flagged values of one answer that get a pointer each
_NEAREST_LINES = 8
_NEGATED = re.compile(
    r"\b(?:not|no|n't|never|rather than|instead of|incorrect|wrong|neither|nor)\b|n't\b", re.IGNORECASE
)
_STYLE_TEXT = 65_536


@dataclass(frozen=True, slots=True)
class Flagged:
    """A value of the answer that nothing supports, and the evidence value closest to it."""

    start: int
    end: int
    evidence: EvidencePointer | None


@dataclass(frozen=True, slots=True)
class ValueFindings:
    """``confirmed``: stretches of the answer whose value the evidence holds, for whoever wants to weigh a model's
    doubt about just that number (nothing is dropped for it today)."""

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
    consequences = Consequences(answer, evidence)
    flagged: list[Flagged] = []
    confirmed: list[tuple[int, int]] = []
    for n, value in enumerate(values(answer, shown.style)):
        if n % 64 == 0:
            alive()
        if _holds(evidence, answer, value):
            confirmed.append((value.start, value.end))
            continue
        mark = marks.kind(value)
        if mark == "exempt":
            continue
        sentence = shown.sentence(value.start)
        in_question = _holds(asked, answer, value)
        if not in_question and value.kind == "number" and _harmless(consequences, sentence, value):
            continue
        alive()
        nearest = _nearest(answer, sentence, value, index) if len(flagged) < _POINTERS else None
        doubtful = in_question or mark == "judge" or _needs_contradiction(value)
        if doubtful and (nearest is None or not _contradicts(answer, sentence, value, nearest, index)):
            continue
        span = tidy_span(answer, value.start, value.end) or (value.start, value.end)
        flagged.append(Flagged(*span, nearest.pointer if nearest else None))
    return ValueFindings(_merged(flagged), tuple(confirmed))


def _harmless(consequences: Consequences, sentence: tuple[int, int], value: Value) -> bool:
    return value.ambiguous or consequences.counts_items(sentence, value) or consequences.follows(sentence, value)


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


def _needs_contradiction(value: Value) -> bool:
    """Values so often said in passing that only evidence for another one makes them worth a flag."""
    if value.kind != "number":
        return False
    number = value.readings[0]
    return (value.spelled and number < _SMALL_WORD) or number in (0, 1) or (value.percent and number == 100)


@dataclass(frozen=True, slots=True)
class _Near:
    unit: Unit
    values: tuple[Value, ...]
    pointer: EvidencePointer


def _nearest(answer: str, sentence: tuple[int, int], value: Value, index: EvidenceIndex) -> _Near | None:
    """The evidence value closest to ``value``: in a line that shares its words, of its kind, of similar size."""
    close = index.terms(answer[max(sentence[0], value.start - 32) : value.start])[-3:]
    close += index.terms(answer[value.end : min(sentence[1], value.end + 32)])[:3]
    around = index.terms(answer[max(sentence[0], value.start - 200) : min(sentence[1], value.end + 200)])
    boosts = dict.fromkeys(around, 1.0) | dict.fromkeys(close, 2.0)
    best: tuple[tuple[bool, float], Unit, Value, tuple[Value, ...]] | None = None
    lines = index.nearest(around, _NEAREST_LINES, boosts)
    for rank, unit in enumerate(lines):
        found = tuple(values(index.text(unit)))
        shared = set(index.terms(index.text(unit)))
        weight = sum(index.weight(term) * boosts[term] for term in shared if term in boosts)
        for candidate in found:
            score = (candidate.kind == value.kind, weight - 0.01 * rank + _alike(value, candidate))
            if best is None or score > best[0]:
                best = (score, unit, candidate, found)
    if best is None:
        return _Near(lines[0], (), index.point(lines[0])) if lines else None
    _, unit, candidate, found = best
    if unit.end - unit.start <= 200:
        return _Near(unit, found, index.point(unit))
    low = max(unit.start, unit.start + candidate.start - 80)
    return _Near(unit, found, index.point(unit, low, min(unit.end, unit.start + candidate.end + 80)))


def point_at_value(answer: str, start: int, end: int, index: EvidenceIndex) -> EvidencePointer | None:
    """Pointer for a span that holds a value: the evidence value closest to it. None where it holds none."""
    for value in values(answer[start:end]):
        placed = replace(value, start=start + value.start, end=start + value.end)
        near = _nearest(answer, (max(0, start - 300), min(len(answer), end + 300)), placed, index)
        return near.pointer if near else None
    return None


def _alike(value: Value, candidate: Value) -> float:
    """0..1: how near two values are in size (numbers) or spelling (identifiers)."""
    if value.kind == candidate.kind == "number":
        a, b = abs(value.readings[0]), abs(candidate.readings[0])
        return float(min(a, b) / max(a, b)) if a and b else 0.0
    if value.kind == candidate.kind == "identifier" and value.key and candidate.key:
        same = sum(x == y for x, y in zip(value.key[:64], candidate.key[:64], strict=False))
        return same / min(64, max(len(value.key), len(candidate.key)))
    return 0.0


def _contradicts(answer: str, sentence: tuple[int, int], value: Value, near: _Near, index: EvidenceIndex) -> bool:
    """Whether the nearest line gives another figure for what the answer counts: same noun, other value."""
    text = answer[sentence[0] : sentence[1]]
    if _NEGATED.search(text):
        return False
    line = set(index.terms(index.text(near.unit)))
    after = index.terms(answer[value.end : min(sentence[1], value.end + 40)])[:1]
    before = index.terms(answer[max(sentence[0], value.start - 40) : value.start])[-1:]
    if not any(term in line and not term[0].isdigit() for term in (*after, *before)):
        return False
    rivals = [other for other in near.values if other.kind == value.kind]
    if value.kind == "number":
        rivals = [
            other
            for other in rivals
            if other.percent == value.percent and set(other.readings).isdisjoint(value.readings)
        ]
    if not rivals:
        return False
    said = {number for other in values(text) for number in other.readings}
    return not any(said.intersection(other.readings) for other in rivals)
