"""From token probabilities to spans (upstream's semantics), and the value check's place among them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsr_hallucination.detection.spans import Marked, SpanLimits, mark, with_flagged
from vsr_hallucination.detection.types import EvidencePointer
from vsr_hallucination.detection.value_check import Flagged

LIMITS = SpanLimits(threshold=0.8, min_span_confidence=0.6, min_span_length=2)


def marked(
    answer: str, scored: dict[str, float], *, pattern: str = r"\w+|[^\w\s]", limits: SpanLimits = LIMITS
) -> Marked:
    tokens = [m.span() for m in re.finditer(pattern, answer)]
    chances = np.array([scored.get(answer[a:b], 0.1) for a, b in tokens], dtype=np.float32)
    return mark(answer, [a for a, _ in tokens], [b for _, b in tokens], chances, limits)


def test_neighbours_merge_over_space_and_punctuation_and_the_highest_token_counts() -> None:
    found = marked("It was founded, by Karl, long ago.", {"founded": 0.7, "by": 0.65, "Karl": 0.95})
    (span,) = found.spans
    assert (span.text, span.confidence) == ("founded, by Karl", pytest.approx(0.95))


def test_what_any_window_supports_is_no_span_but_a_doubt_all_the_same() -> None:
    supported, doubts = np.array([0.1, 0.1]), np.array([0.3, 0.7])
    found = mark("Karl came.", [0, 5], [4, 9], supported, LIMITS, doubts)
    assert (found.spans, found.candidates, found.unsupported_score) == ((), (), pytest.approx(0.7))


def test_a_supported_word_between_them_keeps_spans_apart() -> None:
    found = marked("Karl saw Anna.", {"Karl": 0.9, "Anna": 0.9})
    assert [s.text for s in found.spans] == ["Karl", "Anna"]


def test_spans_do_not_run_over_a_line_end() -> None:
    assert len(marked("- Karl\n- Anna", {"Karl": 0.9, "Anna": 0.9}).spans) == 2


def test_d3_a_number_over_four_tokens_is_one_span() -> None:
    answer = "Fine.\n\n   the cost was 1.975.703,40 euros."
    found = marked(answer, {"703": 0.97}, pattern=r"\d+|[^\W\d]+|[^\w\s]")
    (span,) = found.spans
    assert answer[span.start : span.end] == span.text == "1.975.703,40"


def test_d3_outer_space_in_a_tokens_offsets_is_cut() -> None:
    answer = "cost was  high indeed"
    found = mark(answer, [0, 4, 8, 14], [4, 8, 14, 21], np.array([0, 0, 0.9, 0.9], dtype=np.float32), LIMITS)
    assert found.spans[0].text == "high indeed"


def test_d4_many_tokens_on_one_character() -> None:
    answer = "🧪🧪 Karadžić lab: 479 vials"
    starts, ends = [0, 0, 1, 1, 3, 12, 17, 17, 21], [1, 1, 2, 2, 11, 15, 18, 20, 26]
    chances = np.array([0.9, 0.7, 0.1, 0.1, 0.1, 0.1, 0.95, 0.9, 0.1], dtype=np.float32)
    found = mark(answer, starts, ends, chances, LIMITS)
    assert (found.spans[0].start, found.spans[0].end) == (17, 20)
    assert found.candidates[0].why == "min_span_length"
    assert (found.candidates[0].start, found.candidates[0].end) == (0, 1)


@pytest.mark.parametrize("emoji", ["👩🏽‍🔬", "🇩🇪"])
def test_d4_no_span_ends_inside_an_emoji(emoji: str) -> None:
    answer = f"x {emoji} y"
    size = len(emoji)
    found = mark(answer, [0, 2, 3], [1, 3, 2 + size], np.array([0.1, 0.9, 0.1], dtype=np.float32), LIMITS)
    assert answer[found.candidates[0].start : found.candidates[0].end] == emoji


def test_the_rest_become_candidates_with_a_reason() -> None:
    found = marked("a green roof, partly leaking now", {"green": 0.9, "partly": 0.7, "leaking": 0.75})
    assert [(c.why, c.start) for c in found.candidates] == [("min_span_length", 2), ("threshold", 14)]
    assert not found.spans


def test_short_but_telling_spans_survive() -> None:
    assert [s.text for s in marked("It is 479 now, says Karl.", {"479": 0.9, "Karl": 0.9}).spans] == ["479", "Karl"]


def test_two_cjk_characters_survive_a_length_of_two() -> None:
    assert [s.text for s in marked("他在北京。", {"北": 0.9, "京": 0.9}, pattern=r"\w").spans] == ["北京"]


def test_the_score_is_that_of_the_worst_word_whatever_the_threshold() -> None:
    assert marked("all is well", {"well": 0.55}).unsupported_score == pytest.approx(0.55)
    assert marked("all is well.", {".": 0.9}).unsupported_score == pytest.approx(0.1)


@given(st.text(alphabet="aZ9 .,北🧪\n\u0301", min_size=1, max_size=40), st.data())
def test_reported_text_is_always_the_answers(answer: str, data: st.DataObject) -> None:
    size = len(answer)
    chances = np.array(data.draw(st.lists(st.floats(0, 1, width=32), min_size=size, max_size=size)), dtype=np.float32)
    found = mark(answer, list(range(size)), [n + 1 for n in range(size)], chances, LIMITS)
    ends = 0
    for span in found.spans:
        assert answer[span.start : span.end] == span.text == span.text.strip()
        assert span.start >= ends
        ends = span.end


def test_a_blank_with_a_combining_mark_stays_outside() -> None:
    found = mark(" \u03019", [0, 1, 2], [1, 2, 3], np.array([0, 0, 1], dtype=np.float32), LIMITS)
    assert [(span.start, span.text) for span in found.spans] == [(1, "\u03019")]


POINTER = EvidencePointer("$", 0, 3, "412")


def test_a_flagged_value_replaces_a_tight_model_span_and_raises_a_wide_one() -> None:
    answer = "It shipped 479 crates in May."
    tight = with_flagged(answer, marked(answer, {"479": 0.97, "crates": 0.7}), [Flagged(11, 14, POINTER)], LIMITS)
    assert [(s.text, s.tier, s.confidence) for s in tight.spans] == [("479", "value_check", pytest.approx(0.97))]
    scored = dict.fromkeys("It shipped 479 crates in May".split(), 0.85)
    wide = with_flagged(answer, marked(answer, scored), [Flagged(11, 14, POINTER)], LIMITS)
    assert [(s.text, s.tier, s.confidence) for s in wide.spans] == [("It shipped 479 crates in May", "model", 0.95)]
    assert wide.spans[0].evidence == POINTER


def test_a_flagged_value_settles_its_candidate_and_the_score() -> None:
    answer = "It shipped 479 crates."
    found = with_flagged(answer, marked(answer, {"479": 0.7}), [Flagged(11, 14, None)], LIMITS)
    assert not found.candidates
    assert found.unsupported_score == 0.95


def test_a_threshold_above_the_value_checks_confidence_holds_for_it_too() -> None:
    strict = SpanLimits(0.99, 0.6, 2)
    answer = "It shipped 479 crates."
    found = with_flagged(answer, marked(answer, {}, limits=strict), [Flagged(11, 14, None)], strict)
    assert not found.spans
    assert [c.why for c in found.candidates] == ["threshold"]
