"""Numbers an answer may state without the evidence stating them: counts, rounding, sums and differences.

Sums, differences and quotients count only beside a word that says so ("in total", "fewer", "per"), and only over a
grounding with few numbers: with many, some pair makes any figure. Citations and list marks are no claims at all.
"""

from __future__ import annotations

import re
from decimal import Decimal

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.values import Value

_PAIRS_UP_TO = 40  # distinct numbers in a grounding up to which sums of two are tried
_TOTALS_UP_TO = 40
_APPROX = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|over|under|above|below|just|"
    r"more than|less than|fewer than|at least|at most|up to|close to|well over|~|≈|>|<)\s*[$€£]?\s*$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:at least|at most|up to|between|from|minimum|maximum|min|max|least|most|lower|upper|"
    r"no (?:more|less|fewer) than|more than|less than|starting|start|low|high|to|until)\b",
    re.IGNORECASE,
)
_SUM = re.compile(r"\b(?:total|sum|together|combined|altogether|overall|both|in all|adds? up|plus)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"\b(?:difference|differs?|more|less|fewer|higher|lower|increase[ds]?|decrease[ds]?|rose|fell|grew|dropped|gain(?:ed)?|"
    r"loss|remain(?:s|ing)?|left|net|change[ds]?|later|earlier|ago|older|younger|gap|longer|shorter)\b",
    re.IGNORECASE,
)
_QUOTIENT = re.compile(r"\b(?:per|each|average|mean|ratio|apiece|times)\b|%|percent", re.IGNORECASE)
_YEARS = re.compile(r"[\s-]*years?\b", re.IGNORECASE)
_LABELLED = re.compile(
    r"(?:\b(?:step|option|figure|fig\.|table|section|part|point|example|item|phase|chapter|note|question|case|method|"
    r"reason|tip|answer|passage|source|document|doc|ref(?:erence)?)s?|#)\s*$",
    re.IGNORECASE,
)
_MARKER = re.compile(r"(?:^|\n)[ \t>]*(?:[-*+•][ \t]+)?(?:#{1,6}[ \t]+)?[*_]{0,2}\(?$")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_CITED = re.compile(r"[\[【〔]\^?(?:\d{1,3}(?:[ ]?[,;–-][ ]?)?){1,10}[†\w]{0,8}[\]】〕]")
_FENCE = re.compile(r"^[ \t]*```[ \t]*\w[^\n]{0,40}\n.*?(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)


def exempt_stretches(answer: str) -> list[tuple[int, int]]:
    """Stretches that claim no value: citations and fenced code in a named language. In order."""
    return sorted([m.span() for m in _CITED.finditer(answer)] + [m.span() for m in _FENCE.finditer(answer)])


def is_list_mark(answer: str, value: Value) -> bool:
    """True for ``1.`` or ``2)`` at a line's start, ``(1)``, and the number of a step, figure, table or source."""
    before = answer[max(0, value.start - 32) : value.start]
    after = answer[value.end : value.end + 2]
    # The look-back may start in mid-line; only a true line start (or the answer's) counts.
    at_line_start = _MARKER.search(before) is not None and ("\n" in before or value.start <= 32)
    if at_line_start and after[:1] in {".", ")", ":"} and (len(after) == 1 or after[1].isspace() or after[1] in "*_"):
        return True
    if before.endswith("(") and after[:1] == ")" and value.end - value.start <= 2:
        return True
    return _LABELLED.search(before) is not None and value.end - value.start <= 3


def counts_items(answer: str, sentence: tuple[int, int], value: Value) -> bool:
    """True where a small whole number is how many items the answer then lists."""
    number = value.readings[0]
    if not 1 < number <= 100 or number != number.to_integral_value():
        return False
    if len(_ITEM.findall(answer[sentence[0] : sentence[0] + 20_000])) == number:
        return True
    tail = answer[value.end : sentence[1]]
    listed = re.split(r",\s*(?:and|or)\s+|,|;|\band\b|\bor\b|、", tail.partition(":")[2] or tail)
    return len([item for item in listed if item.strip(" .\n")]) == number and len(listed) > 1


def may_be_bound(answer: str, value: Value) -> bool:
    """True where words around a number say that it is one end of a range."""
    around = answer[max(0, value.start - 40) : value.start] + " " + answer[value.end : value.end + 24]
    return value.range is not None or _BOUND.search(around) is not None


def follows(answer: str, sentence: tuple[int, int], value: Value, evidence: ValueSet) -> bool:
    """True where the number is a rounding, sum, difference, quotient or count of what the evidence holds."""
    text = answer[sentence[0] : sentence[1]][:2000]
    number = value.readings[0]
    if 1 < number <= 10_000 and number == number.to_integral_value() and int(number) in evidence.counts:
        return True
    if _rounds(answer, value, evidence):
        return True
    pool = sorted(evidence.numbers | evidence.ends)
    if not 2 <= len(pool) <= _PAIRS_UP_TO:
        return False
    known = set(pool)
    if _SUM.search(text) and (any(number - a in known for a in pool) or _is_total(number, pool)):
        return True
    if _DIFFERENCE.search(text) and any(a - number in known or number + a in known for a in pool):
        return True
    if _YEARS.match(answer[value.end : value.end + 16]):
        years = [known for known in pool if 1000 <= known <= 2200]
        if any(abs(a - b) == number for a in years for b in years):
            return True
    return _QUOTIENT.search(text) is not None and _is_quotient(number, value, pool)


def _rounds(answer: str, value: Value, evidence: ValueSet) -> bool:
    approximate = _APPROX.search(answer[max(0, value.start - 24) : value.start]) is not None
    for number in value.readings:
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int):
            return False
        step = Decimal(1).scaleb(exponent) if exponent <= 0 or value.scaled else Decimal(1)
        for known in evidence.near(number - step / 2, number + step / 2):
            finer = known.as_tuple().exponent
            if isinstance(finer, int) and finer < exponent:
                return True
        if approximate and number and evidence.near(number * Decimal("0.9"), number * Decimal("1.1")):
            return True
    return False


def _is_total(number: Decimal, pool: list[Decimal]) -> bool:
    return len(pool) <= _TOTALS_UP_TO and sum(pool, Decimal(0)) == number


def _is_quotient(number: Decimal, value: Value, pool: list[Decimal]) -> bool:
    exponent = number.as_tuple().exponent
    step = Decimal(1).scaleb(min(0, exponent if isinstance(exponent, int) else 0)) / 2
    for a in pool:
        for b in pool:
            if not b or a == b:
                continue
            quotient = a / b
            candidates = (quotient * 100, abs(quotient - 1) * 100) if value.percent else (quotient,)
            if any(abs(candidate - number) <= step for candidate in candidates):
                return True
    return False
