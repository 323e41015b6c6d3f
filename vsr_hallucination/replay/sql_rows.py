"""The tables of the SQL store, and records as their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from vsr_hallucination.replay.record import Lifecycle, Outcome, Record, span_from_json, span_to_json
from vsr_hallucination.replay.store import detail_chars, search_text

SCHEMA_VERSION = 1

_OUTCOME_COLUMNS = (
    "source target_ref verdict score span_count action enforcement error reason incomplete unsupported_score "
    "coverage_answer coverage_grounding gate_score detector detector_backend detector_weights_sha256"
).split()
RECORD_COLUMNS = (
    "id created_at completed_at recipe decision api model path request_id status streaming config_sha256"
).split()


def tables() -> tuple[sa.MetaData, sa.Table, sa.Table, sa.Table]:
    """Metadata, and the tables of the schema version, the records and the outcomes."""
    metadata = sa.MetaData()
    version = sa.Table("vsr_replay_schema", metadata, sa.Column("version", sa.Integer, primary_key=True))
    records = sa.Table(
        "vsr_replay_records",
        metadata,
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("completed_at", sa.Double),
        sa.Column("lifecycle", sa.Text, nullable=False),
        sa.Column("recipe", sa.Text, nullable=False),
        sa.Column("decision", sa.Text),
        sa.Column("api", sa.Text),
        sa.Column("model", sa.Text),
        sa.Column("path", sa.Text),
        sa.Column("request_id", sa.Text),
        sa.Column("status", sa.BigInteger),
        sa.Column("streaming", sa.Boolean, nullable=False),
        sa.Column("config_sha256", sa.Text),
        sa.Column("search", sa.Text, nullable=False),
        sa.Column("detail_chars", sa.BigInteger, nullable=False),
        sa.Column("evidence", sa.Text, nullable=False),
        sa.Column("request_body", sa.Text),
        sa.Column("response_body", sa.Text),
        sa.Index("vsr_replay_records_created", "created_at", "id"),
        sa.Index("vsr_replay_records_decision", "decision", "created_at"),
        sa.Index("vsr_replay_records_recipe", "recipe", "created_at"),
    )
    outcomes = sa.Table(
        "vsr_replay_outcomes",
        metadata,
        sa.Column("record_id", sa.Text, sa.ForeignKey(records.c.id, ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("target_ref", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("span_count", sa.Integer, nullable=False),
        sa.Column("action", sa.Text),
        sa.Column("enforcement", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("unsupported_score", sa.Double),
        sa.Column("coverage_answer", sa.Double),
        sa.Column("coverage_grounding", sa.Double),
        sa.Column("gate_score", sa.Double),
        sa.Column("detector", sa.Text),
        sa.Column("detector_backend", sa.Text),
        sa.Column("detector_weights_sha256", sa.Text),
        sa.Column("detector_thresholds", sa.Text, nullable=False),
        sa.Column("incomplete", sa.Boolean, nullable=False),
        sa.Column("spans", sa.Text, nullable=False),
        sa.Index("vsr_replay_outcomes_verdict", "verdict", "record_id"),
    )
    return metadata, version, records, outcomes


def record_row(record: Record) -> dict[str, Any]:
    """A storable record as a row of the records table."""
    evidence = {"read": record.evidence, "unread": record.unread_evidence}
    return {
        **{name: getattr(record, name) for name in RECORD_COLUMNS},
        "lifecycle": record.lifecycle.value,
        "search": search_text(record),
        "detail_chars": detail_chars(record),
        "evidence": json.dumps(evidence, allow_nan=False),
        "request_body": record.request_body,
        "response_body": record.response_body,
    }


def outcome_row(record_id: str, position: int, outcome: Outcome) -> dict[str, Any]:
    """A storable outcome as a row of the outcomes table; ``position`` keeps the rules' order."""
    spans = [{**span_to_json(span), "survived": span.survived} for span in outcome.spans]
    return {
        **{name: getattr(outcome, name) for name in _OUTCOME_COLUMNS},
        "record_id": record_id,
        "position": position,
        "detector_thresholds": json.dumps(outcome.detector_thresholds, allow_nan=False),
        "spans": json.dumps(spans, allow_nan=False),
    }


def record_from_row(row: Mapping[Any, Any], outcomes: Sequence[Outcome]) -> Record:
    """The record of a row, with or without the columns of its details."""
    evidence = json.loads(row.get("evidence") or "{}")
    return Record(
        **{name: row[name] for name in RECORD_COLUMNS},
        lifecycle=Lifecycle(row["lifecycle"]),
        outcomes=tuple(outcomes),
        evidence=tuple((path, role, trust) for path, role, trust in evidence.get("read", ())),
        unread_evidence=tuple((path, kind) for path, kind in evidence.get("unread", ())),
        request_body=row.get("request_body"),
        response_body=row.get("response_body"),
    )


def outcome_from_row(row: Mapping[Any, Any]) -> Outcome:
    """The outcome of a row, with or without its spans."""
    spans = json.loads(row.get("spans") or "[]")
    return Outcome(
        **{name: row[name] for name in _OUTCOME_COLUMNS},
        detector_thresholds=tuple((name, value) for name, value in json.loads(row["detector_thresholds"])),
        spans=tuple(span_from_json(span, survived=span["survived"]) for span in spans),
    )
