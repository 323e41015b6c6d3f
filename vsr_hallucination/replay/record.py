"""The audit record of one exchange and its outcomes, one a rule. Values only; JSON-ready through ``to_json``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Lifecycle(StrEnum):
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    ABORTED = "aborted"  # cut off: client or upstream left before the end
    FAILED = "failed"  # upstream answered with an error


@dataclass(frozen=True, slots=True)
class SpanDetail:
    """A surviving span or a candidate, by choice. ``text`` only where bodies are stored."""

    choice: int
    start: int
    end: int
    confidence: float
    survived: bool
    why: str | None = None  # candidates: what they failed
    tier: str | None = None
    nli_label: str | None = None
    nli_confidence: float | None = None
    severity: str | None = None
    explainer_failed: bool = False
    evidence_path: str | None = None
    evidence_start: int | None = None
    evidence_end: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One rule's row. ``verdict`` is the state (detected, not_detected, unavailable, not_applicable)."""

    target_ref: str  # "hallucination:<name>"
    verdict: str
    score: float | None  # the confidence
    span_count: int
    source: str = "router"
    action: str | None = None  # what was applied: header, body, block, none; absent: nothing to act on
    enforcement: str | None = None  # "not_enforced_streaming"
    error: str | None = None
    reason: str | None = None
    unsupported_score: float | None = None
    coverage_answer: float | None = None
    coverage_grounding: float | None = None
    gate_score: float | None = None
    detector: str | None = None
    detector_backend: str | None = None
    detector_weights_sha256: str | None = None
    detector_thresholds: tuple[tuple[str, float], ...] = ()
    spans: tuple[SpanDetail, ...] = ()
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One exchange. Times are UNIX seconds. Bodies only where ``store_bodies`` is set."""

    id: str
    created_at: float
    recipe: str
    lifecycle: Lifecycle = Lifecycle.IN_PROGRESS
    decision: str | None = None
    api: str | None = None
    model: str | None = None
    path: str | None = None
    request_id: str | None = None
    status: int | None = None
    streaming: bool = False
    completed_at: float | None = None
    config_sha256: str | None = None
    outcomes: tuple[Outcome, ...] = ()
    evidence: tuple[tuple[str, str, str], ...] = ()  # (path, role, trust) of each passage
    unread_evidence: tuple[tuple[str, str], ...] = ()  # (path, kind)
    request_body: str | None = None
    response_body: str | None = None

    def to_json(self, *, details: bool = False) -> dict[str, Any]:
        """JSON object of the replay API; spans, candidates and bodies only with ``details``. Holds no NaN."""
        raise NotImplementedError  # replaced in this room's first commit
