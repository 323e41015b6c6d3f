"""The cases of group D that training decides, on the embedded detector as it ships."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import pytest

from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.factory import make_checker
from vsr_hallucination.detection.types import Checker, CheckRequest, Detection, Grounding, Passage, Reason

DEPOT = "depot: K7\nmonth: May\ncrates: 412\ncost_eur: 9500"
ASKED = "How many crates did depot K7 ship in May, and at what cost?"
RIGHT = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros."
WRONG = RIGHT.replace("412", "479")
RENT = "Rent at Elm Court is 1,310 euros, 3 rooms."
CLOTHES = ("Rent is **{}** euros.", "Rent is __{}__ euros.", "| Rent | {} |", "Rent: `{}`", "Rent is <b>{}</b> euros.")


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    made = make_checker(DetectorSettings(), None, DetectionSettings(torch_threads=1))
    yield made
    asyncio.run(made.aclose())


async def found(checker: Checker, answer: str, question: str, *passages: str) -> Detection:
    grounding = Grounding(tuple(Passage(text, f"$[{n}]") for n, text in enumerate(passages)))
    result = await checker.check(CheckRequest(question, grounding, answer, deadline=60))
    assert result.failure is None
    assert result.detection is not None
    assert all(answer[span.start : span.end] == span.text == span.text.strip() for span in result.detection.spans)
    return result.detection


async def test_acceptance_the_right_record_is_clean_and_the_wrong_number_is_named(checker: Checker) -> None:
    right, wrong = await found(checker, RIGHT, ASKED, DEPOT), await found(checker, WRONG, ASKED, DEPOT)
    assert not right.spans
    assert [span.text for span in wrong.spans] == ["479"]
    assert wrong.spans[0].confidence > 0.9
    assert wrong.unsupported_score > right.unsupported_score


async def test_acceptance_an_added_sentence_is_a_span_of_its_own(checker: Checker) -> None:
    detection = await found(checker, RIGHT + " The depot was founded in 1987 by Karl Brandt.", ASKED, DEPOT)
    assert [span.start >= len(RIGHT) for span in detection.spans] == [True] * len(detection.spans) != []
    assert "1987" in " ".join(span.text for span in detection.spans)


@pytest.mark.parametrize("form", CLOTHES)
async def test_d1_a_number_in_markup(checker: Checker, form: str) -> None:
    question = "What is the rent at Elm Court?"
    wrong = await found(checker, form.format("1,810"), question, RENT)
    right = await found(checker, form.format("1,310"), question, RENT)
    assert any("1,810" in span.text for span in wrong.spans)
    assert not right.spans


def depots(count: int) -> list[str]:
    """Passages about other depots, some 60 words each."""
    source = random.Random(4)
    return [
        f"Depot {chr(65 + n)}{source.randint(20, 99)} lies near the river. " + " ".join(
            f"Its {part} holds {source.randint(1000, 9000)} items and was repainted lately."
            for part in ("north hall", "south hall", "yard", "annex", "cellar", "loft")
        )
        for n in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("place", [0, 3, 7])
async def test_d2_the_fact_is_found_wherever_it_stands(checker: Checker, place: int) -> None:
    passages = depots(7)
    passages.insert(place, "Depot K7 shipped 412 crates in May. The cost was 9,500 euros.")
    right, wrong = await found(checker, RIGHT, ASKED, *passages), await found(checker, WRONG, ASKED, *passages)
    assert not right.spans
    assert "479" in [span.text for span in wrong.spans]
    assert right.coverage.answer == right.coverage.grounding == 1.0


async def test_d3_a_number_over_many_tokens_is_one_span_of_the_whole_answer(checker: Checker) -> None:
    answer = "The site is open.\n\n   In total, cost was 1.975.703,40 euros for the year."
    evidence = "The site is open. In total, cost was 1.975.708,40 euros for the year."
    detection = await found(checker, answer, "What did it cost?", evidence)
    assert "1.975.703,40" in detection.spans[0].text
    assert len(detection.spans) == 1


async def test_d4_offsets_are_code_points(checker: Checker) -> None:
    answer = "🧪🧪 Karadžić lab: 479 vials"
    detection = await found(checker, answer, "How many vials?", "Karadžić lab: 412 vials")
    assert (17, 20) in [(span.start, span.end) for span in detection.spans]


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but the passages do not say who paints it.",
        "The Eiffel Tower was completed in 1889. It is 330 m high.",
        "According to the text, the tower stands **330 metres** tall and was finished in 1889.",
    ],
)
async def test_d8_refusals_paraphrase_and_other_units_are_clean(checker: Checker, answer: str) -> None:
    evidence = (
        "The Eiffel Tower, finished in 1889, stands 330 metres tall. It was designed by Gustave Eiffel's company."
    )
    assert not (await found(checker, answer, "Tell me about the Eiffel Tower.", evidence)).spans


LAGER = "Das Lager K7 in Hamburg hat im Mai 412 Kisten verschickt. Die Kosten betrugen 9.500 Euro."


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("Das Lager K7 verschickte im Mai 412 Kisten und gab dafür 9.500 Euro aus.", LAGER),
        (RIGHT, LAGER),
        ("Depot K7 shipped crates, and its head is a thief.", LAGER),
        ("Das Lager K7 verschickte im Mai 412 Kisten und gab dafür 9.500 Euro aus.", DEPOT),
    ],
)
async def test_another_language_is_neither_clean_nor_a_finding(checker: Checker, answer: str, evidence: str) -> None:
    result = await checker.check(CheckRequest(ASKED, Grounding((Passage(evidence, "$[0]"),)), answer, deadline=60))
    assert result.failure is not None and result.failure.reason is Reason.UNSUPPORTED_LANGUAGE
    assert result.detection is None
