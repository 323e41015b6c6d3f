"""The evidence value closest to one of the answer, and whether it says otherwise of the same thing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.signs import clash
from vsr_hallucination.detection.types import EvidencePointer
from vsr_hallucination.detection.units import dimensions
from vsr_hallucination.detection.values import Value, values

_NEAREST_LINES = 8
_WORDS_OF_ITS_OWN = 3  # a sentence with fewer known words is read with the question
_QUESTION = 500
_NEGATED = re.compile(
    r"\b(?:not|no|n't|never|rather than|instead of|incorrect|wrong|neither|nor)\b|n't\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Near:
    unit: Unit
    values: tuple[Value, ...]
    pointer: EvidencePointer


def nearest(
    answer: str, sentence: tuple[int, int], value: Value, index: EvidenceIndex, question: str = ""
) -> Near | None:
    """The evidence value closest to ``value``: in a line that shares its words, of its kind, of similar size."""
    close = index.terms(answer[max(sentence[0], value.start - 32) : value.start])[-3:]
    close += index.terms(answer[value.end : min(sentence[1], value.end + 32)])[:3]
    around = index.terms(answer[max(sentence[0], value.start - 200) : min(sentence[1], value.end + 200)])
    if sum(index.knows(term) for term in set(around)) < _WORDS_OF_ITS_OWN:
        around += index.terms(question[:_QUESTION])  # "It is three weeks."
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
        return Near(lines[0], (), index.point(lines[0])) if lines else None
    _, unit, candidate, found = best
    if unit.end - unit.start <= 200:
        return Near(unit, found, index.point(unit))
    low = max(unit.start, unit.start + candidate.start - 80)
    return Near(unit, found, index.point(unit, low, min(unit.end, unit.start + candidate.end + 80)))


def point_at_value(answer: str, start: int, end: int, index: EvidenceIndex) -> EvidencePointer | None:
    """Pointer for a span that holds a value: the evidence value closest to it. None where it holds none."""
    for value in values(answer[start:end]):
        placed = replace(value, start=start + value.start, end=start + value.end)
        near = nearest(answer, (max(0, start - 300), min(len(answer), end + 300)), placed, index)
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


def contradicts(
    answer: str, sentence: tuple[int, int], value: Value, near: Near, index: EvidenceIndex, question: str
) -> bool:
    """Whether the nearest line gives another figure for what the answer counts: same noun, other value."""
    text = answer[sentence[0] : sentence[1]]
    if _NEGATED.search(text):
        return False
    line = index.text(near.unit)
    mine = _neighbours(answer, max(sentence[0], value.start - 40), value, sentence[1], index)
    said = {number for other in values(text) for number in other.readings}
    asked = set(index.terms(text))
    if sum(index.knows(term) for term in asked) < _WORDS_OF_ITS_OWN:
        asked.update(index.terms(question[:_QUESTION]))
    shared = asked.intersection(index.terms(line))
    for other in near.values:
        if other.kind != value.kind:
            continue
        if value.kind == "number":
            apart = bool(value.units and other.units) and set(value.units).isdisjoint(other.units)
            if other.percent != value.percent or other.ordinal != value.ordinal or other.decade != value.decade:
                continue
            same = not set(other.readings).isdisjoint(value.readings)
            turned = same and clash(other, value) and bool(value.readings[0])
            if not apart and same and not turned:
                continue
            if not apart and not turned and said.intersection(other.readings):
                continue
            alike = value.units and not dimensions(value.units).isdisjoint(dimensions(other.units))
            if alike and len(shared) >= 2:
                return True
        if other.spelled and line[max(0, other.start - 4) : other.start].lower() == "the ":
            continue  # "the one in Rome"
        if _same_thing(mine, _neighbours(line, max(0, other.start - 40), other, len(line), index)):
            return True
    return False


def _neighbours(text: str, low: int, value: Value, high: int, index: EvidenceIndex) -> tuple[str, str, bool]:
    """The words after and before a value, that say what it counts; and whether the one before is its key."""
    after = index.terms(text[value.end : min(high, value.end + 40)])[:1]
    before = index.terms(text[low : value.start])[-1:]
    names = ["" if not terms or terms[0][0].isdigit() else terms[0] for terms in (after, before)]
    return names[0], names[1], text[low : value.start].rstrip(" *_`[(")[-1:] in (":", "=", "|")


def _same_thing(mine: tuple[str, str, bool], other: tuple[str, str, bool]) -> bool:
    """Whether the words beside two values name one thing: "412 crates", "crates: 412"."""
    if (mine[0] and mine[0] == other[0]) or (mine[1] and mine[1] == other[1]):
        return True
    return bool((other[2] and mine[0] and mine[0] == other[1]) or (mine[2] and mine[1] and mine[1] == other[0]))
