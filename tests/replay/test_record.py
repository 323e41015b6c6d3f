from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.records import ANSWER, CANDIDATE, SPAN, outcome, record
from vsr_hallucination.replay.record import Lifecycle, Outcome, Record, SpanDetail


def strict(record: Record, *, details: bool = True) -> str:
    return json.dumps(record.to_json(details=details), allow_nan=False)


def test_the_outcome_carries_what_an_auditor_asks_for() -> None:
    row = record().to_json()["outcomes"][0]
    assert {key: row[key] for key in ("source", "target_ref", "verdict", "score")} == {
        "source": "router",
        "target_ref": "hallucination:ungrounded_claims",
        "verdict": "detected",
        "score": 0.97,
    }
    assert row["metadata"] == {
        "span_count": 1,
        "action": "header",
        "unsupported_score": 0.97,
        "gate_score": 0.88,
        "coverage": {"answer": 1.0, "grounding": 0.75},
        "detector": {
            "name": "embedded",
            "backend": "token_classification",
            "weights_sha256": "ab" * 32,
            "thresholds": {"min_span_confidence": 0.6, "threshold": 0.8},
        },
    }


def test_an_action_is_absent_where_nothing_was_there_to_act_on() -> None:
    streamed = record(outcomes=(outcome(action=None, enforcement="not_enforced_streaming"),)).to_json()
    metadata = streamed["outcomes"][0]["metadata"]
    assert "action" not in metadata
    assert metadata["enforcement"] == "not_enforced_streaming"


def test_spans_candidates_and_bodies_come_only_with_details() -> None:
    full = record(request_body="question", response_body=ANSWER)
    brief = strict(full, details=False)
    assert (
        "479" not in brief
        and "question" not in brief
        and "candidates" not in brief
        and "evidence" not in brief
    )
    row = full.to_json(details=True)["outcomes"][0]
    assert [s["text"] for s in row["spans"]] == ["479"] and [
        ANSWER[s["start"] : s["end"]] for s in row["spans"]
    ] == ["479"]
    assert [c["why"] for c in row["candidates"]] == ["threshold"]
    assert full.to_json(details=True)["response_body"] == ANSWER


def test_a_failed_explainer_shows_as_a_null_label_and_says_so() -> None:
    broken = replace(SPAN, nli_label=None, nli_confidence=None, severity=None, explainer_failed=True)
    span = record(outcomes=(outcome(spans=(broken,)),)).to_json(details=True)["outcomes"][0]["spans"][0]
    assert span["nli_label"] is None and span["explainer_failed"] is True


def test_a_record_returns_from_its_json() -> None:
    original = record(request_body="{}", response_body=ANSWER, streaming=True, lifecycle=Lifecycle.ABORTED)
    assert Record.from_json(json.loads(strict(original))) == original


@pytest.mark.parametrize(
    "bad", [{}, {"id": "x"}, [], {"id": "x", "created_at": "soon", "recipe": "r", "lifecycle": "?"}]
)
def test_what_is_no_record_is_named_so(bad: object) -> None:
    with pytest.raises(ValueError, match="not a replay record"):
        Record.from_json(bad)  # type: ignore[arg-type]


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.none()
texts = st.text(st.characters(codec=None), max_size=12)  # lone surrogates and NUL included


@given(
    score=numbers,
    unsupported=numbers,
    coverage=numbers,
    gate=numbers,
    span=st.floats(),
    model=texts,
    body=texts,
    at=st.floats(),
)
def test_a12_no_number_or_text_breaks_the_json(
    score: float | None,
    unsupported: float | None,
    coverage: float | None,
    gate: float | None,
    span: float,
    model: str,
    body: str,
    at: float,
) -> None:
    row = Outcome(
        target_ref=f"hallucination:{model}",
        verdict="detected",
        score=score,
        span_count=1,
        unsupported_score=unsupported,
        coverage_answer=coverage,
        gate_score=gate,
        detector="d",
        detector_thresholds=(("threshold", span),),
        spans=(SpanDetail(0, 0, 1, span, True, text=body), replace(CANDIDATE, nli_confidence=span)),
    )
    text = strict(Record(id="x", created_at=at, recipe="r", model=model, response_body=body, outcomes=(row,)))
    assert json.loads(text)["id"] == "x"
    json.dumps(json.loads(text), ensure_ascii=False).encode()  # no lone surrogate is left


def test_cleaning_keeps_offsets_and_bounds_names() -> None:
    stored = record(model="m" * 5000, response_body="a\x00b\ud800c").storable()
    assert stored.model is not None and len(stored.model) == 256
    assert stored.response_body == "a\ufffdb\ufffdc"
