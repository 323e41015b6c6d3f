"""What a plugin does about an observation, and the words that reach client and access log."""

import pytest

from vsr_hallucination import enforcement as enforce
from vsr_hallucination.config.schema import Action, HallucinationPlugin
from vsr_hallucination.detection.types import Coverage, EvidencePointer, NliLabel, Reason, Severity, Span
from vsr_hallucination.observation import Finding, Observation, SignalError, State

SPAN = Span(
    17,
    20,
    "479",
    0.97,
    NliLabel.CONTRADICTION,
    0.9,
    Severity.HIGH,
    "says 412",
    EvidencePointer("$.messages[2].content", 3, 14, "crates: 412"),
)
DETECTED = Observation(
    "r",
    State.DETECTED,
    confidence=0.97,
    unsupported_score=0.98,
    coverage=Coverage(1.0, 0.5),
    findings=(Finding(1, State.DETECTED, spans=(SPAN,)), Finding(0, State.NOT_DETECTED)),
)
CLEAN = Observation("c", State.NOT_DETECTED, confidence=0.8, findings=(Finding(0, State.NOT_DETECTED),))
NO_CONTEXT = Observation(
    "u",
    State.UNAVAILABLE,
    SignalError.CONTEXT_UNAVAILABLE,
    findings=(Finding(0, State.UNAVAILABLE), Finding(1, State.UNAVAILABLE, has_text=False)),
)
FAILED = Observation("f", State.UNAVAILABLE, SignalError.EVALUATION_FAILED, Reason.TIMEOUT)
NOT_APPLICABLE = Observation("n", State.NOT_APPLICABLE, gate_score=0.1)


def plugin(hallucination: Action = Action.HEADER, unverified: Action = Action.HEADER) -> HallucinationPlugin:
    return HallucinationPlugin(True, hallucination, unverified)


def test_no_plugin_or_a_disabled_one_does_nothing_and_records_no_action() -> None:
    for off in (None, HallucinationPlugin(enabled=False, hallucination_action=Action.BLOCK)):
        made = enforce.plan([DETECTED, FAILED, NO_CONTEXT], off, Action.BLOCK)
        assert made.applied(body_written=False) == (None, None, None)
        assert not made.blocks


def test_clean_and_not_applicable_have_nothing_to_act_on() -> None:
    made = enforce.plan([CLEAN, NOT_APPLICABLE], plugin(Action.BLOCK, Action.BLOCK), Action.BLOCK)
    assert made.acts == (None, None)


def test_header_codes_come_in_their_order() -> None:
    made = enforce.plan([FAILED, NO_CONTEXT, DETECTED], plugin(), Action.HEADER)
    assert made.codes(Action.HEADER) == ("hallucination", "unverified_factual", "hallucination_unchecked")


def test_block_beats_body_beats_header() -> None:
    made = enforce.plan([DETECTED, NO_CONTEXT, FAILED], plugin(Action.BODY, Action.BLOCK), Action.HEADER)
    assert made.blocks
    assert made.code_blocked == "unverified_factual"
    assert made.applied(body_written=False) == ("block", "block", "block")


def test_none_is_recorded_as_none_even_beside_a_block() -> None:
    made = enforce.plan([DETECTED, FAILED], plugin(Action.NONE), Action.BLOCK)
    assert made.applied(body_written=False) == ("none", "block")


def test_a_body_warning_that_found_no_place_is_recorded_as_the_header_it_became() -> None:
    made = enforce.plan([DETECTED], plugin(Action.BODY), Action.NONE)
    assert made.applied(body_written=True) == ("body",)
    assert made.applied(body_written=False) == ("header",)


def test_body_warns_each_detected_choice_only() -> None:
    made = enforce.plan([DETECTED], plugin(Action.BODY), Action.NONE)
    texts = enforce.notices(made, [DETECTED], details=False, codes=made.codes(Action.BODY))
    assert list(texts) == [1]
    assert "1 statement" in texts[1]
    assert "479" not in texts[1]


def test_body_warns_each_choice_with_text_where_unverified() -> None:
    made = enforce.plan([NO_CONTEXT], plugin(Action.NONE, Action.BODY), Action.NONE)
    texts = enforce.notices(made, [NO_CONTEXT], details=True, codes=made.codes(Action.BODY))
    assert list(texts) == [0]
    assert "Unverified" in texts[0]


def test_details_list_span_label_severity_and_evidence() -> None:
    made = enforce.plan([DETECTED], plugin(Action.BODY), Action.NONE)
    text = enforce.notices(made, [DETECTED], details=True, codes=("hallucination",))[1]
    for part in ("479", "17–20", "0.97", "contradiction", "severity high", "crates: 412"):
        assert part in text
    assert text.endswith("\n\n")
    assert all(line.startswith(">") for line in text.rstrip("\n").split("\n"))


def test_a_quoted_span_cannot_leave_its_line_or_start_markup() -> None:
    evil = Span(0, 9, "a\n\n<script>`**x**`[l](u)\u2028b\x00", 0.9)
    text = enforce.notice("hallucination", Finding(0, State.DETECTED, spans=(evil,)), details=True)
    assert all(line.startswith(">") for line in text.rstrip("\n").split("\n"))
    assert "\\<script\\>" in text
    assert "\x00" not in text
    assert "\u2028" not in text


def test_many_spans_are_bounded() -> None:
    spans = tuple(Span(n, n + 1, "x" * 500, 0.9) for n in range(1000))
    finding = Finding(0, State.DETECTED, spans=spans)
    text = enforce.notice("hallucination", finding, details=True)
    assert "990 more" in text
    assert len(text) < 5000
    shown = dict(enforce.debug_headers([Observation("r", State.DETECTED, findings=(finding,))]))
    assert len(shown["x-vsr-hallucination"]) <= enforce.MAX_HEADER


def test_debug_headers() -> None:
    shown = dict(enforce.debug_headers([DETECTED, CLEAN, NO_CONTEXT, FAILED, NOT_APPLICABLE]))
    assert shown["x-vsr-matched-hallucination"] == "r"
    assert shown["x-vsr-signal-errors"] == (
        "hallucination:u=hallucination_context_unavailable,hallucination:f=hallucination_evaluation_failed"
    )
    lines = shown["x-vsr-hallucination"].split(", ")
    assert lines[0] == (
        "r; state=detected; confidence=0.9700; unsupported=0.9800; spans=1:17-20; coverage=1.0000/0.5000"
    )
    assert lines[3] == "f; state=unavailable; reason=timeout"
    assert len(lines) == 4  # not_applicable is not published


def test_nothing_matched_means_no_matched_header() -> None:
    assert "x-vsr-matched-hallucination" not in dict(enforce.debug_headers([CLEAN, FAILED]))
    assert enforce.debug_headers([NOT_APPLICABLE]) == ()


@pytest.mark.parametrize("name", ["a\r\nset-cookie: x", "ü", "a,b", "a;b", "a b"])
def test_names_cannot_split_or_end_a_header(name: str) -> None:
    safe = enforce.header_safe(name)
    assert safe.isascii()
    assert not set(safe) & set("\r\n,;\x00")


def test_standing_headers_leave_out_what_is_not_known() -> None:
    assert enforce.response_headers(recipe="default", decision=None, replay_id=None) == (
        ("x-vsr-selected-recipe", "default"),
    )


def test_metadata_says_verdict_rules_decision_and_action() -> None:
    facts = enforce.metadata(
        [DETECTED, FAILED], recipe="default", decision="d", replay_id="id", actions=["header", None]
    )
    assert facts == {
        "verdict": "detected",
        "recipe": "default",
        "rules": ("r=detected", "f=unavailable"),
        "decision": "d",
        "replay_id": "id",
        "action": "header",
        "reason": "timeout",
    }
