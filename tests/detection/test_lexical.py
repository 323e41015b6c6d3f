"""The word counter: counts worked by hand, and the backend over it."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vsr_hallucination.config import loads
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.factory import make_checker
from vsr_hallucination.detection.lexical import Novelty, novelty, stretches
from vsr_hallucination.detection.types import CheckRequest, CheckResult, Grounding, Passage, Reason

EVIDENCE = "K7, May: 412 crates, 9500 EUR."
QUESTION = "How many crates did depot K7 ship?"


def new_words(answer: str, question: str = QUESTION, *evidence: str) -> list[str]:
    found = novelty(answer, question, evidence or (EVIDENCE,))
    return [answer[start:end] for start, end in found.places]


def test_a_count_by_hand() -> None:
    answer = "Depot K7 shipped 479 crates to Vantaa."
    found = novelty(answer, QUESTION, [EVIDENCE])
    assert [answer[a:b] for a, b in found.places] == ["shipped", "479", "Vantaa"]
    assert (found.count, found.words, found.share) == (3, 6, 0.5)  # Depot, 7, shipped, 479, crates, Vantaa
    assert found.score == 3 / 6.5


def test_each_occurrence_counts_and_function_words_never_do() -> None:
    assert new_words("Boats and boats were there before them.") == ["Boats", "boats"]


def test_the_score_rises_with_the_count_and_meets_the_default_threshold_at_fourteen() -> None:
    scores = [Novelty(((0, 1),) * count, 30).score for count in range(31)]
    assert scores == sorted(set(scores))
    assert scores[0] == 0 and scores[13] < 0.8 and scores[14] == 0.8 and scores[-1] < 1


@pytest.mark.parametrize(
    "answer",
    [
        "CRATES of depot k7",
        "４１２ crates",
        "4\u200b12 crates",
        "９５００",
        "it’s May",  # "it's" is three letters with its mark inside: in the evidence below
    ],
)
def test_forms_of_known_words_are_known(answer: str) -> None:
    assert new_words(answer, QUESTION, EVIDENCE, "It's so.") == []


def test_unspaced_scripts_are_read_by_pairs() -> None:
    assert new_words("北京天气好", "", "北京天气晴") == ["气好"]
    assert novelty("北京天气好", "", ["北京天气晴"]).share == 0.25
    assert novelty("好", "", ["晴"]).count == 1


def test_nothing_to_read_is_nothing_new() -> None:
    found = novelty("… to be", "", [])
    assert (found.count, found.words, found.share, found.score) == (0, 0, 0.0, 0.0)


def test_spans_bridge_two_words_and_end_with_the_sentence() -> None:
    answer = "Golden boats of the river sank. Pirates came, and some people in the town saw them."
    places = novelty(answer, "", ["river people town"]).places
    assert [answer[a:b] for a, b in stretches(answer, places)] == ["Golden boats", "sank", "Pirates came", "saw"]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_gives_ordered_places_inside_it(answer: str, evidence: str) -> None:
    found = novelty(answer, "", [evidence])
    assert all(0 <= start < end <= len(answer) for start, end in found.places)
    assert list(found.places) == sorted(found.places)
    assert 0 <= found.share <= 1 and 0 <= found.score < 1
    spans = stretches(answer, found.places)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert novelty(evidence, "", [evidence]).count == 0


def check(answer: str, *, deadline: float = 20.0, **options: object) -> CheckResult:
    async def run() -> CheckResult:
        detector = DetectorSettings(backend="lexical", **options)  # type: ignore[arg-type]
        made = make_checker(detector, None, DetectionSettings(value_check=False, relation_check=False))
        try:
            await made.probe()
            grounding = Grounding((Passage(EVIDENCE, "$.context"),))
            return await made.check(CheckRequest(QUESTION, grounding, answer, deadline=deadline))
        finally:
            await made.aclose()

    return asyncio.run(run())


def test_as_a_backend_it_needs_no_model_and_reads_everything() -> None:
    found = check("Depot K7 shipped 479 crates to Vantaa.", threshold=0.4)
    assert found.failure is None and found.detection is not None
    assert (found.detector.name, found.detector.backend) == ("lexical", "lexical")
    assert found.detection.unsupported_score == 3 / 6.5
    assert [span.text for span in found.detection.spans] == ["shipped 479 crates to Vantaa"]
    assert {span.confidence for span in found.detection.spans} == {3 / 6.5}
    assert found.detection.coverage.answer == 1.0


def test_below_the_threshold_its_spans_are_candidates() -> None:
    found = check("Depot K7 shipped 479 crates to Vantaa.")
    assert found.detection is not None
    assert not found.detection.spans and [c.why for c in found.detection.candidates] == ["threshold"]


def test_it_keeps_the_deadline() -> None:
    found = check("word " * 2_000_000, deadline=0.05)
    assert found.failure is not None and found.failure.reason is Reason.TIMEOUT


def test_a_configuration_may_choose_it() -> None:
    text = "global: {model_catalog: {modules: {hallucination_mitigation: {detector: {backend: lexical}}}}}"
    assert loads(text).config.recipes[0].detector == DetectorSettings(backend="lexical")
    named = loads(text.replace("backend: lexical", "backend: lexical, model_id: some/model"))
    assert any("the lexical backend counts words" in str(problem) for problem in named.warnings)
