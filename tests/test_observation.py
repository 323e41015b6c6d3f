"""The state table, row by row."""

import itertools

import pytest

from vsr_hallucination import observation as observing
from vsr_hallucination.detection.types import (
    Candidate,
    CheckFailure,
    CheckResult,
    Coverage,
    Detection,
    DetectorIdentity,
    GateResult,
    NliLabel,
    Reason,
    Span,
)
from vsr_hallucination.observation import ChoiceFacts, SignalError, State

IDENTITY = DetectorIdentity("d", "token_classification", "00" * 32, {"threshold": 0.8})
NEEDS = GateResult(True, 0.9)


def detection(*spans: Span, coverage: float = 1.0, candidates: tuple[Candidate, ...] = ()) -> Detection:
    score = max((span.confidence for span in spans), default=0.1)
    return Detection(spans, candidates, score, 1.0 - score, Coverage(coverage, 0.5))


def checked(found: Detection | None, failure: Reason | None = None) -> CheckResult:
    return CheckResult(IDENTITY, found, CheckFailure(failure) if failure else None)


def span(start: int = 0, end: int = 3, confidence: float = 0.9) -> Span:
    return Span(start, end, "x" * (end - start), confidence)


def observe(*choices: ChoiceFacts, grounded: bool = True, use_nli: bool = False) -> observing.Observation:
    return observing.observe("r", use_nli=use_nli, gate=NEEDS, grounded=grounded, choices=choices)


def test_row_4_is_not_applicable_with_the_gates_score() -> None:
    row = observing.gate_row("r", GateResult(False, 0.12))
    assert row is not None
    assert (row.state, row.gate_score, row.error, row.confidence) == (State.NOT_APPLICABLE, 0.12, None, None)


def test_row_5_a_failed_classifier_is_unavailable_even_if_it_says_no() -> None:
    row = observing.gate_row("r", GateResult(False, None, CheckFailure(Reason.NOT_PROVISIONED)))
    assert row is not None
    assert (row.state, row.error, row.reason) == (
        State.UNAVAILABLE,
        SignalError.EVALUATION_FAILED,
        Reason.FACT_CHECK_FAILED,
    )


@pytest.mark.parametrize("text", ["", " \n\t"])
@pytest.mark.parametrize("grounded", [True, False])
def test_row_7_no_text_wins_over_missing_grounding(text: str, grounded: bool) -> None:
    found = observe(ChoiceFacts(0, text), grounded=grounded)
    assert (found.state, found.reason) == (State.UNAVAILABLE, Reason.NO_TEXT)


def test_row_7_an_answer_without_any_choice() -> None:
    assert observe().reason is Reason.NO_TEXT


def test_row_8_no_grounding() -> None:
    found = observe(ChoiceFacts(0, "text"), grounded=False)
    assert (found.state, found.error, found.reason) == (State.UNAVAILABLE, SignalError.CONTEXT_UNAVAILABLE, None)


def test_row_9_a_surviving_span_wins_over_every_failure() -> None:
    for failure in (None, *Reason):
        found = observe(ChoiceFacts(0, "some text", checked(detection(span(), coverage=0.4), failure)))
        assert found.state is State.DETECTED
        assert found.confidence == 0.9


@pytest.mark.parametrize(
    "reason",
    [
        Reason.DETECTOR_FAILED,
        Reason.TIMEOUT,
        Reason.OVERLOADED,
        Reason.NOT_PROVISIONED,
        Reason.UNSUPPORTED_LANGUAGE,
        Reason.ANSWER_NOT_READ,
    ],
)
@pytest.mark.parametrize("partial", [True, False])
def test_row_10_failures(reason: Reason, partial: bool) -> None:
    found = observe(ChoiceFacts(0, "text", checked(detection() if partial else None, reason)))
    assert (found.state, found.error, found.reason) == (State.UNAVAILABLE, SignalError.EVALUATION_FAILED, reason)
    assert found.confidence is None


def test_row_10_part_of_the_answer_not_read() -> None:
    found = observe(ChoiceFacts(0, "text", checked(detection(coverage=0.999))))
    assert (found.state, found.reason) == (State.UNAVAILABLE, Reason.ANSWER_NOT_READ)


def test_row_10_nobody_there_to_check() -> None:
    assert observe(ChoiceFacts(0, "text")).reason is Reason.NOT_PROVISIONED
    assert observe(ChoiceFacts(0, "text", checked(None))).reason is Reason.DETECTOR_FAILED


def test_row_11_clean_with_the_confidence_of_the_least_certain_choice() -> None:
    low = Detection((), (), 0.4, 0.6, Coverage(1.0, 0.5))
    found = observe(ChoiceFacts(0, "a", checked(detection())), ChoiceFacts(1, "b", checked(low)))
    assert (found.state, found.confidence, found.unsupported_score) == (State.NOT_DETECTED, 0.6, 0.4)
    assert found.coverage == Coverage(1.0, 0.5)  # unread grounding never changes the state


def test_worst_choice_order() -> None:
    clean = ChoiceFacts(0, "a", checked(detection()))
    failed = ChoiceFacts(1, "b", checked(None, Reason.TIMEOUT))
    bad = ChoiceFacts(2, "c", checked(detection(span())))
    for order in itertools.permutations([clean, failed, bad]):
        assert observe(*order).state is State.DETECTED
    for order2 in itertools.permutations([clean, failed]):
        assert observe(*order2).reason is Reason.TIMEOUT
    assert observe(clean, ChoiceFacts(1, "")).state is State.UNAVAILABLE


def test_context_unavailable_comes_before_evaluation_failed() -> None:
    found = observe(ChoiceFacts(0, ""), ChoiceFacts(1, "text"), grounded=False)
    assert found.error is SignalError.CONTEXT_UNAVAILABLE


def test_a_rule_without_nli_sees_what_nli_dropped_and_no_labels() -> None:
    labelled = Span(0, 3, "abc", 0.9, NliLabel.CONTRADICTION, 0.8)
    dropped = Candidate(4, 7, 0.85, "nli_entailed", NliLabel.ENTAILMENT, 0.99)
    low = Candidate(8, 9, 0.3, "threshold")
    result = checked(detection(labelled, candidates=(dropped, low)))
    plain = observe(ChoiceFacts(0, "abc def g", result), use_nli=False)
    assert [(s.start, s.text, s.nli_label) for s in plain.findings[0].spans] == [(0, "abc", None), (4, "def", None)]
    assert [c.why for c in plain.findings[0].candidates] == ["threshold"]
    full = observe(ChoiceFacts(0, "abc def g", result), use_nli=True)
    assert [s.nli_label for s in full.findings[0].spans] == [NliLabel.CONTRADICTION]


def test_nli_filtering_alone_decides_between_two_rules() -> None:
    dropped = Candidate(0, 3, 0.85, "nli_entailed", NliLabel.ENTAILMENT, 0.99)
    choice = ChoiceFacts(0, "abc", checked(detection(candidates=(dropped,))))
    assert observe(choice, use_nli=True).state is State.NOT_DETECTED
    assert observe(choice, use_nli=False).state is State.DETECTED


def test_overall_is_the_worst_word() -> None:
    clean = observe(ChoiceFacts(0, "a", checked(detection())))
    failed = observe(ChoiceFacts(0, "a"))
    bad = observe(ChoiceFacts(0, "a", checked(detection(span()))))
    assert observing.overall(()) == "none"
    assert observing.overall((clean,)) == "not_detected"
    assert observing.overall((clean, failed)) == "unavailable"
    assert observing.overall((failed, clean, bad)) == "detected"
