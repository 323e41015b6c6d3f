"""The audit record of one exchange and its outcomes, one a rule. Values only; JSON-ready through ``to_json``.

Offsets are code points, half-open, into the joined text of the choice whose ``index`` is ``choice``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

NAME_CHARS = 256  # longest name, model or request id that is kept: indexes and pages stay small whatever a client sends
PATH_CHARS = 2048
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # no UTF-8 for a lone surrogate, and PostgreSQL stores no NUL


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
        """JSON object of the replay API; spans, candidates, evidence and bodies only with ``details``.

        Holds no NaN or Infinity and no lone surrogate, so ``json.dumps(..., allow_nan=False)`` and UTF-8 both work.
        """
        record = self.storable()
        out: dict[str, Any] = {
            "id": record.id,
            "timestamp": _iso(record.created_at),
            "created_at": record.created_at,
            "completed_at": record.completed_at,
            "lifecycle": record.lifecycle.value,
            "recipe": record.recipe,
            "decision": record.decision,
            "api": record.api,
            "model": record.model,
            "path": record.path,
            "request_id": record.request_id,
            "response_status": record.status,
            "streaming": record.streaming,
            "config_sha256": record.config_sha256,
            "outcomes": [outcome_to_json(o, details=details) for o in record.outcomes],
        }
        if details:
            out["evidence"] = [{"path": p, "role": r, "trust": t} for p, r, t in record.evidence]
            out["unread_evidence"] = [{"path": p, "kind": k} for p, k in record.unread_evidence]
            if record.request_body is not None:
                out["request_body"] = record.request_body
            if record.response_body is not None:
                out["response_body"] = record.response_body
        return out

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Record:
        """The record that ``to_json(details=True)`` wrote; ValueError names what is missing or of a wrong kind."""
        try:
            return cls(
                id=value["id"],
                created_at=float(value["created_at"]),
                recipe=value["recipe"],
                lifecycle=Lifecycle(value["lifecycle"]),
                decision=value.get("decision"),
                api=value.get("api"),
                model=value.get("model"),
                path=value.get("path"),
                request_id=value.get("request_id"),
                status=value.get("response_status"),
                streaming=bool(value.get("streaming", False)),
                completed_at=value.get("completed_at"),
                config_sha256=value.get("config_sha256"),
                outcomes=tuple(outcome_from_json(o) for o in value.get("outcomes", ())),
                evidence=tuple((e["path"], e["role"], e["trust"]) for e in value.get("evidence", ())),
                unread_evidence=tuple((e["path"], e["kind"]) for e in value.get("unread_evidence", ())),
                request_body=value.get("request_body"),
                response_body=value.get("response_body"),
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"not a replay record: {type(error).__name__}: {error}") from error

    def storable(self) -> Record:
        """The same record as every store can hold it: finite numbers, bounded names, text that UTF-8 can carry."""
        if self._plain():
            return self
        return replace(
            self,
            id=_name(self.id),
            created_at=_finite(self.created_at) or 0.0,
            recipe=_name(self.recipe),
            decision=_name_or_none(self.decision),
            api=_name_or_none(self.api),
            model=_name_or_none(self.model),
            path=None if self.path is None else clean_text(self.path)[:PATH_CHARS],
            request_id=_name_or_none(self.request_id),
            completed_at=_finite(self.completed_at),
            outcomes=tuple(_storable_outcome(o) for o in self.outcomes),
            evidence=tuple((clean_text(p), clean_text(r), clean_text(t)) for p, r, t in self.evidence),
            unread_evidence=tuple((clean_text(p), clean_text(k)) for p, k in self.unread_evidence),
            request_body=None if self.request_body is None else clean_text(self.request_body),
            response_body=None if self.response_body is None else clean_text(self.response_body),
        )

    def _plain(self) -> bool:
        """Whether there is nothing to mend: so it is with nearly every record of an exchange that nothing was judged
        of, and a copy of each would cost as much as the exchange's own record keeping."""
        if self.outcomes or self.evidence or self.unread_evidence or self.body_chars:
            return False
        times = _finite(self.created_at) is not None and _finite(self.completed_at) == self.completed_at
        texts = (self.id, self.recipe, self.decision, self.api, self.model, self.path, self.request_id)
        return times and all(
            text is None or (len(text) <= NAME_CHARS and text.isascii() and "\0" not in text) for text in texts
        )

    @property
    def body_chars(self) -> int:
        """Code points of the stored bodies: what bounds of memory and pages count."""
        return len(self.request_body or "") + len(self.response_body or "")


def clean_text(text: str) -> str:
    """``text`` with NUL and lone surrogates replaced one for one by U+FFFD, so that offsets keep their meaning."""
    return _UNSTORABLE.sub("\ufffd", text)


def outcome_to_json(outcome: Outcome, *, details: bool = False) -> dict[str, Any]:
    """The outcome row of the replay API. What is absent (no action taken, no detector run) has no key."""
    metadata: dict[str, Any] = {"span_count": outcome.span_count}
    optional = {
        "action": outcome.action,
        "enforcement": outcome.enforcement,
        "error": outcome.error,
        "reason": outcome.reason,
        "unsupported_score": _finite(outcome.unsupported_score),
        "gate_score": _finite(outcome.gate_score),
    }
    metadata.update((key, value) for key, value in optional.items() if value is not None)
    if outcome.coverage_answer is not None or outcome.coverage_grounding is not None:
        metadata["coverage"] = {
            "answer": _finite(outcome.coverage_answer),
            "grounding": _finite(outcome.coverage_grounding),
        }
    if outcome.detector is not None:
        metadata["detector"] = {
            "name": outcome.detector,
            "backend": outcome.detector_backend,
            "weights_sha256": outcome.detector_weights_sha256,
            "thresholds": {name: _finite(value) for name, value in outcome.detector_thresholds},
        }
    if outcome.incomplete:
        metadata["incomplete"] = True
    out: dict[str, Any] = {
        "source": outcome.source,
        "target_ref": outcome.target_ref,
        "verdict": outcome.verdict,
        "score": _finite(outcome.score),
        "metadata": metadata,
    }
    if details:
        out["spans"] = [span_to_json(s) for s in outcome.spans if s.survived]
        out["candidates"] = [span_to_json(s) for s in outcome.spans if not s.survived]
    return out


def outcome_from_json(value: Mapping[str, Any]) -> Outcome:
    """The inverse of ``outcome_to_json(details=True)``; surviving spans come before candidates."""
    metadata = value["metadata"]
    coverage = metadata.get("coverage") or {}
    detector = metadata.get("detector") or {}
    spans = [span_from_json(s, survived=True) for s in value.get("spans", ())]
    candidates = [span_from_json(s, survived=False) for s in value.get("candidates", ())]
    return Outcome(
        target_ref=value["target_ref"],
        verdict=value["verdict"],
        score=value["score"],
        span_count=metadata["span_count"],
        source=value["source"],
        action=metadata.get("action"),
        enforcement=metadata.get("enforcement"),
        error=metadata.get("error"),
        reason=metadata.get("reason"),
        unsupported_score=metadata.get("unsupported_score"),
        coverage_answer=coverage.get("answer"),
        coverage_grounding=coverage.get("grounding"),
        gate_score=metadata.get("gate_score"),
        detector=detector.get("name"),
        detector_backend=detector.get("backend"),
        detector_weights_sha256=detector.get("weights_sha256"),
        detector_thresholds=tuple((k, v) for k, v in detector.get("thresholds", {}).items() if v is not None),
        spans=(*spans, *candidates),
        incomplete=bool(metadata.get("incomplete", False)),
    )


_SPAN_OPTIONAL = ("why", "tier", "severity", "evidence_path", "evidence_start", "evidence_end", "text")


def span_to_json(span: SpanDetail) -> dict[str, Any]:
    """One span or candidate. ``nli_label`` is always there: null with ``explainer_failed`` where it broke."""
    out: dict[str, Any] = {
        "choice": span.choice,
        "start": span.start,
        "end": span.end,
        "confidence": _finite(span.confidence),
        "nli_label": span.nli_label,
        "nli_confidence": _finite(span.nli_confidence),
    }
    out.update((key, getattr(span, key)) for key in _SPAN_OPTIONAL if getattr(span, key) is not None)
    if span.explainer_failed:
        out["explainer_failed"] = True
    return out


def span_from_json(value: Mapping[str, Any], *, survived: bool) -> SpanDetail:
    """The inverse of ``span_to_json``."""
    confidence = value["confidence"]
    return SpanDetail(
        choice=value["choice"],
        start=value["start"],
        end=value["end"],
        confidence=0.0 if confidence is None else confidence,
        survived=survived,
        nli_label=value.get("nli_label"),
        nli_confidence=value.get("nli_confidence"),
        explainer_failed=bool(value.get("explainer_failed", False)),
        **{key: value.get(key) for key in _SPAN_OPTIONAL},
    )


def _storable_outcome(outcome: Outcome) -> Outcome:
    return replace(
        outcome,
        target_ref=_name(outcome.target_ref),
        verdict=_name(outcome.verdict),
        source=_name(outcome.source),
        score=_finite(outcome.score),
        action=_name_or_none(outcome.action),
        enforcement=_name_or_none(outcome.enforcement),
        error=_name_or_none(outcome.error),
        reason=_name_or_none(outcome.reason),
        unsupported_score=_finite(outcome.unsupported_score),
        coverage_answer=_finite(outcome.coverage_answer),
        coverage_grounding=_finite(outcome.coverage_grounding),
        gate_score=_finite(outcome.gate_score),
        detector=_name_or_none(outcome.detector),
        detector_backend=_name_or_none(outcome.detector_backend),
        detector_weights_sha256=_name_or_none(outcome.detector_weights_sha256),
        detector_thresholds=tuple((_name(k), v) for k, v in outcome.detector_thresholds if _finite(v) is not None),
        spans=_storable_spans(outcome.spans),
    )


def _storable_spans(spans: Sequence[SpanDetail]) -> tuple[SpanDetail, ...]:
    return tuple(
        replace(
            span,
            confidence=_finite(span.confidence) or 0.0,
            nli_label=_name_or_none(span.nli_label),
            nli_confidence=_finite(span.nli_confidence),
            evidence_path=None if span.evidence_path is None else clean_text(span.evidence_path),
            text=None if span.text is None else clean_text(span.text),
        )
        for span in spans
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _name(text: str) -> str:
    return clean_text(text)[:NAME_CHARS]


def _name_or_none(text: str | None) -> str | None:
    return None if text is None else _name(text)


def _iso(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return None
