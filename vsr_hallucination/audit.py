"""From what an exchange saw to its audit record: what was known of the request, and one row a rule. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from vsr_hallucination.detection.types import Candidate, Span
from vsr_hallucination.intake import Intake
from vsr_hallucination.observation import Finding, Observation
from vsr_hallucination.reading import Reading
from vsr_hallucination.release import NOT_ENFORCED
from vsr_hallucination.replay.record import Lifecycle, Outcome, Record, SpanDetail


class Draft:
    """A record in the making: the exchange writes down what it sees, and freezes it when it is saved.

    One mutable object instead of a chain of copies: most exchanges carry no rule, and their cost is counted in
    microseconds. ``store``: whether bodies and the texts of spans are kept.
    """

    __slots__ = (
        "completed_at", "config_sha256", "created_at", "decision", "id", "intake", "lifecycle", "outcomes",
        "path", "recipe", "request_body", "request_id", "response_body", "status", "store", "streaming",
    )  # fmt: skip

    def __init__(self, id: str, recipe: str, config_sha256: str | None, *, store: bool) -> None:
        self.id = id
        self.recipe = recipe
        self.config_sha256 = config_sha256
        self.store = store
        self.created_at = 0.0
        self.completed_at: float | None = None
        self.lifecycle = Lifecycle.IN_PROGRESS
        self.intake: Intake | None = None
        self.decision: str | None = None
        self.path: str | None = None
        self.request_id: str | None = None
        self.status: int | None = None
        self.streaming = False
        self.outcomes: tuple[Outcome, ...] = ()
        self.request_body: str | None = None
        self.response_body: str | None = None

    def open(self, intake: Intake, body: bytes | None) -> None:
        """What is known of the request, whose body may not have been read."""
        self.intake = intake
        self.recipe = intake.recipe.name
        if body is not None and self.store:
            self.request_body = body.decode("utf-8", "replace")

    def judge(self, found: Sequence[Observation], actions: Sequence[str | None], reading: Reading | None) -> None:
        """One row a rule."""
        texts: dict[int, str] | None = None
        if reading is not None and self.store:
            texts = {answer.index: answer.text for answer in reading.answers}
            self.response_body = _stored_body(reading)
        enforcement = NOT_ENFORCED if self.streaming else None
        self.outcomes = tuple(
            outcome(observation, action=action, enforcement=enforcement, answers=texts)
            for observation, action in zip(found, actions, strict=True)
        )

    def close(self, lifecycle: Lifecycle, at: float) -> None:
        """What was not seen whole has no outcome (row 1)."""
        self.lifecycle, self.completed_at = lifecycle, at
        if lifecycle is not Lifecycle.COMPLETED:
            self.outcomes = ()

    def freeze(self) -> Record:
        """The record as it stands now."""
        intake = self.intake
        request = intake.request if intake is not None else None
        model = request.model if request is not None else None
        grounding = request.grounding if request is not None else None
        return Record(
            self.id,
            self.created_at,
            self.recipe,
            self.lifecycle,
            self.decision,
            intake.api.name if intake is not None and intake.api is not None else None,
            model[:256] if model is not None else None,
            self.path,
            self.request_id,
            self.status,
            self.streaming,
            self.completed_at,
            self.config_sha256,
            self.outcomes,
            tuple((p.path, p.role, p.trust) for p in grounding.passages) if grounding is not None else (),
            tuple((u.path, u.kind) for u in grounding.unread) if grounding is not None else (),
            self.request_body,
            self.response_body,
        )


def _stored_body(reading: Reading) -> str | None:
    """The response as it is kept: the decoded body, or a stream's assembled texts."""
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
