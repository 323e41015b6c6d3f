"""From what an exchange saw to its audit record: what was known of the request, and one row a rule. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vsr_hallucination.detection.types import Candidate, Span
from vsr_hallucination.intake import Intake
from vsr_hallucination.observation import Finding, Observation
from vsr_hallucination.reading import Reading
from vsr_hallucination.release import NOT_ENFORCED
from vsr_hallucination.replay.record import Outcome, Record, SpanDetail


def opened(record: Record, intake: Intake, body: bytes | None) -> Record:
    """The record with what is known of the request. ``body`` only where bodies are stored."""
    model = intake.request.model if intake.request is not None else None
    return replace(
        record,
        recipe=intake.recipe.name,
        api=intake.api.name if intake.api is not None else None,
        model=model[:256] if model is not None else None,
        evidence=tuple((p.path, p.role, p.trust) for p in intake.grounding.passages),
        unread_evidence=tuple((u.path, u.kind) for u in intake.grounding.unread),
        request_body=body.decode("utf-8", "replace") if body is not None else None,
    )


def outcomes(
    record: Record,
    observations: Sequence[Observation],
    actions: Sequence[str | None],
    stored: Reading | None,
) -> Record:
    """The record with one row a rule. ``stored``: the answers whose span texts may be kept."""
    texts = {answer.index: answer.text for answer in stored.answers} if stored is not None else None
    enforcement = NOT_ENFORCED if record.streaming else None
    rows = tuple(
        outcome(observation, action=action, enforcement=enforcement, answers=texts)
        for observation, action in zip(observations, actions, strict=True)
    )
    return replace(record, outcomes=rows)


def stored_body(reading: Reading | None) -> str | None:
    """The response as it is kept: the decoded body, or a stream's assembled texts."""
    if reading is None:
        return None
    if reading.plain:
        return reading.plain.decode("utf-8", "replace")
    return "\n".join(answer.text for answer in reading.answers) or None


def outcome(
    observation: Observation,
    *,
    action: str | None = None,
    enforcement: str | None = None,
    answers: dict[int, str] | None = None,
) -> Outcome:
    """One rule's row. ``answers`` (text by choice index) only where bodies are stored: then spans keep their text."""
    texts = answers or {}
    detector = observation.detector
    coverage = observation.coverage
    return Outcome(
        target_ref=f"hallucination:{observation.rule}",
        verdict=str(observation.state),
        score=observation.confidence,
        span_count=observation.span_count,
        action=action,
        enforcement=enforcement,
        error=str(observation.error) if observation.error is not None else None,
        reason=str(observation.reason) if observation.reason is not None else None,
        unsupported_score=observation.unsupported_score,
        coverage_answer=coverage.answer if coverage else None,
        coverage_grounding=coverage.grounding if coverage else None,
        gate_score=observation.gate_score,
        detector=detector.name if detector else None,
        detector_backend=detector.backend if detector else None,
        detector_weights_sha256=detector.weights_sha256 if detector else None,
        detector_thresholds=tuple(sorted(detector.thresholds.items())) if detector else (),
        spans=tuple(
            detail for finding in observation.findings for detail in _details(finding, texts.get(finding.index))
        ),
        incomplete=observation.incomplete,
    )


def _details(finding: Finding, text: str | None) -> list[SpanDetail]:
    return [_span(finding.index, span, text is not None) for span in finding.spans] + [
        _candidate(finding.index, candidate, text) for candidate in finding.candidates
    ]


def _span(choice: int, span: Span, keep_text: bool) -> SpanDetail:
    evidence = span.evidence
    return SpanDetail(
        choice=choice,
        start=span.start,
        end=span.end,
        confidence=span.confidence,
        survived=True,
        tier=span.tier,
        nli_label=str(span.nli_label) if span.nli_label is not None else None,
        nli_confidence=span.nli_confidence,
        severity=str(span.severity) if span.severity is not None else None,
        explainer_failed=span.explainer_failed,
        evidence_path=evidence.path if evidence else None,
        evidence_start=evidence.start if evidence else None,
        evidence_end=evidence.end if evidence else None,
        text=span.text if keep_text else None,
    )


def _candidate(choice: int, candidate: Candidate, text: str | None) -> SpanDetail:
    return SpanDetail(
        choice=choice,
        start=candidate.start,
        end=candidate.end,
        confidence=candidate.confidence,
        survived=False,
        why=candidate.why,
        nli_label=str(candidate.nli_label) if candidate.nli_label is not None else None,
        nli_confidence=candidate.nli_confidence,
        evidence_path=candidate.evidence_path,
        text=text[candidate.start : candidate.end] if text is not None else None,
    )
