"""What one rule found on one exchange: the state table as pure functions.

Rows are numbered as in docs/concepts.md; they are read from the top and the first that fits
wins, per choice. An answer that could not be checked never reads as ``not_detected``: that state has one entrance,
at the bottom of ``judge``, and it asks that every character was read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from vsr_hallucination.detection.types import (
    Candidate,
    CheckResult,
    Coverage,
    DetectorIdentity,
    GateResult,
    Reason,
    Span,
)


class State(StrEnum):
    """The four words a rule can end in."""

    DETECTED = "detected"
    NOT_DETECTED = "not_detected"
    UNAVAILABLE = "unavailable"
    NOT_APPLICABLE = "not_applicable"


class SignalError(StrEnum):
    """Why a signal is unavailable, as published in signal errors."""

    CONTEXT_UNAVAILABLE = "hallucination_context_unavailable"
    EVALUATION_FAILED = "hallucination_evaluation_failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one choice (``index`` is the choice's own). Spans are offsets into that choice's text."""

    index: int
    state: State
    error: SignalError | None = None
    reason: Reason | None = None
    confidence: float | None = None
    unsupported_score: float | None = None
    spans: tuple[Span, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    coverage: Coverage | None = None
    has_text: bool = True


@dataclass(frozen=True, slots=True)
class Observation:
    """One rule's word on one exchange: the worst of its choices, and the choices themselves."""

    rule: str
    state: State
    error: SignalError | None = None
    reason: Reason | None = None
    confidence: float | None = None
    unsupported_score: float | None = None
    coverage: Coverage | None = None
    detector: DetectorIdentity | None = None
    gate_score: float | None = None
    findings: tuple[Finding, ...] = ()
    incomplete: bool = False  # the answer was cut by a length limit: checked as far as it goes

    @property
    def span_count(self) -> int:
        return sum(len(finding.spans) for finding in self.findings)


@dataclass(frozen=True, slots=True)
class ChoiceFacts:
    """One choice as the table reads it: its text, and the check's result where one was made."""

    index: int
    text: str
    result: CheckResult | None = None
    grounded: bool = True  # False: its own prompt carries no evidence, whatever the request's others do


def has_text(text: str) -> bool:
    """Whether a reader would see anything: white space, control and invisible format characters are not text."""
    return any(not char.isspace() and unicodedata.category(char) not in ("Cf", "Cc") for char in text)


def judge(choice: ChoiceFacts, *, grounded: bool) -> Finding:
    """Rows 7 to 11 for one choice of a prompt that needs grounding."""
    if not has_text(choice.text):  # row 7
        return _failed(choice.index, Reason.NO_TEXT, has_text=False)
    if not grounded:  # row 8
        return Finding(choice.index, State.UNAVAILABLE, SignalError.CONTEXT_UNAVAILABLE)
    result = choice.result
    if result is None:  # nobody was there to check
        return _failed(choice.index, Reason.NOT_PROVISIONED)
    found = result.detection
    if found is not None and found.spans:  # row 9
        return Finding(
            choice.index,
            State.DETECTED,
            confidence=max(span.confidence for span in found.spans),
            unsupported_score=found.unsupported_score,
            spans=found.spans,
            candidates=found.candidates,
            coverage=found.coverage,
        )
    reason = _why_not_clean(result)
    if reason is not None or found is None:  # row 10
        finding = _failed(choice.index, reason or Reason.DETECTOR_FAILED)
        if found is None:
            return finding
        return replace(
            finding,
            unsupported_score=found.unsupported_score,
            candidates=found.candidates,
            coverage=found.coverage,
        )
    return Finding(  # row 11
        choice.index,
        State.NOT_DETECTED,
        confidence=found.clean_confidence,
        unsupported_score=found.unsupported_score,
        candidates=found.candidates,
        coverage=found.coverage,
    )


def _why_not_clean(result: CheckResult) -> Reason | None:
    if result.failure is not None:
        return result.failure.reason
    if result.detection is None:
        return Reason.DETECTOR_FAILED
    if result.detection.coverage.answer < 1.0:
        return Reason.ANSWER_NOT_READ
    return None


def _failed(index: int, reason: Reason, *, has_text: bool = True) -> Finding:
    return Finding(index, State.UNAVAILABLE, SignalError.EVALUATION_FAILED, reason, has_text=has_text)


def _badness(finding: Finding) -> int:
    """Order of the worst: detected, context unavailable, evaluation failed, not detected."""
    if finding.state is State.DETECTED:
        return 3
    if finding.state is State.UNAVAILABLE:
        return 2 if finding.error is SignalError.CONTEXT_UNAVAILABLE else 1
    return 0


def without_nli(result: CheckResult, answer: str) -> CheckResult:
    """The same check as a rule without ``use_nli`` sees it: no labels, and spans that NLI dropped are back."""
    found = result.detection
    if found is None:
        return result
    plain = [
        replace(span, nli_label=None, nli_confidence=None, severity=None, explanation=None, explainer_failed=False)
        for span in found.spans
    ]
    kept: list[Candidate] = []
    for candidate in found.candidates:
        if candidate.why == "nli_entailed":
            text = answer[candidate.start : candidate.end]
            plain.append(Span(candidate.start, candidate.end, text, candidate.confidence))
        else:
            kept.append(replace(candidate, nli_label=None, nli_confidence=None))
    spans = tuple(sorted(plain, key=lambda span: span.start))
    return replace(result, detection=replace(found, spans=spans, candidates=tuple(kept)))


def shifted(result: CheckResult, by: int) -> CheckResult:
    """The same result with all offsets ``by`` code points further on: what was checked stood behind as many."""
    found = result.detection
    if found is None:
        return result
    spans = tuple(replace(span, start=span.start + by, end=span.end + by) for span in found.spans)
    rest = tuple(replace(each, start=each.start + by, end=each.end + by) for each in found.candidates)
    return replace(result, detection=replace(found, spans=spans, candidates=rest))


def unavailable(
    rule: str, reason: Reason, *, gate: GateResult | None = None, detector: DetectorIdentity | None = None
) -> Observation:
    """Rows 3, 5 and 6: there is no choice to look at."""
    return Observation(
        rule,
        State.UNAVAILABLE,
        SignalError.EVALUATION_FAILED,
        reason,
        gate_score=gate.score if gate else None,
        detector=detector,
    )


def not_applicable(rule: str, gate: GateResult) -> Observation:
    """Row 4: replay only, with the gate's score."""
    return Observation(rule, State.NOT_APPLICABLE, gate_score=gate.score)


def gate_row(rule: str, gate: GateResult) -> Observation | None:
    """Rows 4 and 5, or None where the prompt needs grounding."""
    if gate.failure is not None:
        return unavailable(rule, Reason.FACT_CHECK_FAILED, gate=gate)
    if not gate.needs_fact_check:
        return not_applicable(rule, gate)
    return None


def observe(
    rule: str,
    *,
    use_nli: bool,
    gate: GateResult,
    grounded: bool,
    choices: Sequence[ChoiceFacts],
    incomplete: bool = False,
) -> Observation:
    """Rows 7 to 11: the worst of the choices, with the numbers of all of them."""
    findings: list[Finding] = []
    detector: DetectorIdentity | None = None
    for choice in choices:
        seen = choice
        if choice.result is not None:
            detector = choice.result.detector
            if not use_nli:
                seen = replace(choice, result=without_nli(choice.result, choice.text))
        findings.append(judge(seen, grounded=grounded and choice.grounded))
    if not findings:  # row 7: an answer without a single choice
        return unavailable(rule, Reason.NO_TEXT, gate=gate)
    worst = max(findings, key=_badness)
    confidences = [f.confidence for f in findings if f.state is worst.state and f.confidence is not None]
    least_certain = worst.state is not State.DETECTED
    scores = [f.unsupported_score for f in findings if f.unsupported_score is not None]
    read = [f.coverage for f in findings if f.coverage is not None]
    return Observation(
        rule,
        worst.state,
        worst.error,
        worst.reason,
        confidence=(min if least_certain else max)(confidences) if confidences else None,
        unsupported_score=max(scores) if scores else None,
        coverage=Coverage(min(c.answer for c in read), min(c.grounding for c in read)) if read else None,
        detector=detector,
        gate_score=gate.score,
        findings=tuple(findings),
        incomplete=incomplete,
    )


def overall(observations: Sequence[Observation]) -> str:
    """One word for access logs: the worst state of all rules, ``none`` where no rule ran."""
    if not observations:
        return "none"
    order = (State.DETECTED, State.UNAVAILABLE, State.NOT_DETECTED, State.NOT_APPLICABLE)
    states = {observation.state for observation in observations}
    return next((str(state) for state in order if state in states), "none")


__all__ = [
    "ChoiceFacts",
    "Finding",
    "Observation",
    "SignalError",
    "State",
    "gate_row",
    "has_text",
    "judge",
    "not_applicable",
    "observe",
    "overall",
    "shifted",
    "unavailable",
    "without_nli",
]
