"""Replay records as tests need them."""

from __future__ import annotations

from typing import Any

from vsr_hallucination.replay.record import Lifecycle, Outcome, Record, SpanDetail

ANSWER = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."

SPAN = SpanDetail(
    choice=0,
    start=17,
    end=20,
    confidence=0.97,
    survived=True,
    tier="value_check",
    nli_label="contradiction",
    nli_confidence=0.91,
    severity="high",
    evidence_path="$.messages[2].content",
    evidence_start=32,
    evidence_end=35,
    text="479",
)
CANDIDATE = SpanDetail(choice=0, start=0, end=8, confidence=0.4, survived=False, why="threshold")


def outcome(verdict: str = "detected", **fields: Any) -> Outcome:
    values: dict[str, Any] = {
        "target_ref": "hallucination:ungrounded_claims",
        "verdict": verdict,
        "score": 0.97,
        "span_count": 1 if verdict == "detected" else 0,
        "action": "header",
        "unsupported_score": 0.97,
        "coverage_answer": 1.0,
        "coverage_grounding": 0.75,
        "gate_score": 0.88,
        "detector": "embedded",
        "detector_backend": "token_classification",
        "detector_weights_sha256": "ab" * 32,
        "detector_thresholds": (("min_span_confidence", 0.6), ("threshold", 0.8)),
        "spans": (SPAN, CANDIDATE) if verdict == "detected" else (),
    }
    return Outcome(**{**values, **fields})


def record(record_id: str = "r1", created_at: float = 1000.0, **fields: Any) -> Record:
    values: dict[str, Any] = {
        "recipe": "default",
        "lifecycle": Lifecycle.COMPLETED,
        "decision": "checked",
        "api": "openai_chat",
        "model": "m",
        "path": "/v1/chat/completions",
        "request_id": f"req-{record_id}",
        "status": 200,
        "completed_at": created_at + 0.25,
        "config_sha256": "cd" * 32,
        "outcomes": (outcome(),),
        "evidence": (("$.messages[2].content", "tool", "tool"),),
        "unread_evidence": (("$.messages[3].content[0]", "image"),),
    }
    return Record(id=record_id, created_at=created_at, **{**values, **fields})
