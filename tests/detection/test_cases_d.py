"""Group D of the cases through the shipped models: what an operator gets who configures nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings, ExplainerSettings, FactCheckSettings
from vsr_hallucination.detection.factory import make_checker, make_gate
from vsr_hallucination.detection.types import Checker, CheckRequest, CheckResult, Detection, Gate, Grounding, Passage

RECORD = "depot: K7\nmonth: May\ncrates: 412\ncost_eur: 9500"
QUESTION = "How many crates did depot K7 ship in May, and at what cost?"
GOOD = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros."
BAD = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."
SECONDS = 60.0


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    made = make_checker(DetectorSettings(), ExplainerSettings(), DetectionSettings())
    asyncio.run(made.probe())
    yield made
    asyncio.run(made.aclose())


@pytest.fixture(scope="module")
def gate() -> Iterator[Gate]:
    made = make_gate(FactCheckSettings(), DetectionSettings())
    asyncio.run(made.probe())
    yield made
    asyncio.run(made.aclose())


async def check(
    checker: Checker, answer: str, passages: list[str], question: str = QUESTION, *, explain: bool = False
) -> Detection:
    grounding = Grounding(tuple(Passage(text, f"$.messages[{n}].content") for n, text in enumerate(passages)))
    result: CheckResult = await checker.check(CheckRequest(question, grounding, answer, explain, SECONDS))
    assert result.failure is None
    assert result.detection is not None
    return result.detection


def texts(detection: Detection) -> list[str]:
    return [span.text for span in detection.spans]


async def test_the_shared_example(checker: Checker) -> None:
    assert texts(await check(checker, GOOD, [RECORD])) == []
    bad = await check(checker, BAD, [RECORD])
    assert [(s.start, s.end, s.text) for s in bad.spans] == [(17, 20, "479")]
    assert bad.spans[0].evidence is not None
    assert bad.spans[0].evidence.text == "crates: 412"


async def test_an_invented_sentence_is_a_span(checker: Checker) -> None:
    invented = "The depot was founded in 1987 by Karl Brandt."
    detection = await check(checker, f"{GOOD} {invented}", [RECORD])
    assert detection.spans
    assert all(span.start > len(GOOD) for span in detection.spans)


@pytest.mark.parametrize(
    "dress",
    ["Rent is **{}** euros.", "Rent is __{}__ euros.", "Rent: `{}`", "Rent is <b>{}</b> euros.", "| Rent | {} |"],
)
async def test_d1_a_wrong_number_in_bold(checker: Checker, dress: str) -> None:
    evidence = ["Rent at Elm Court is 1,310 euros, 3 rooms."]
    asked = "What is the rent at Elm Court?"
    wrong = await check(checker, dress.format("1,810"), evidence, asked)
    assert any("1,810" in text for text in texts(wrong))
    assert texts(await check(checker, dress.format("1,310"), evidence, asked)) == []


def depot(n: int) -> str:
    lines = "\n".join(f"note: shift {m} of depot L{n} ran as planned with a crew of {4 + m % 5}" for m in range(8))
    return f"depot: L{n}\nmonth: June\npallets: {700 + n}\n{lines}"


@pytest.mark.parametrize("at", [0, 5, 11])
async def test_d2_long_evidence(checker: Checker, at: int) -> None:
    passages = [RECORD if n == at else depot(n) for n in range(12)]
    good, bad = await check(checker, GOOD, passages), await check(checker, BAD, passages)
    assert texts(good) == []
    assert good.coverage.answer == good.coverage.grounding == 1.0
    assert texts(bad) == ["479"]
    assert good.clean_confidence < 0.99


async def test_d3_spans_count_from_the_start_of_the_whole_answer(checker: Checker) -> None:
    evidence = ["The bridge was opened in 2009. Its cost was 1.975.708,40 euros. It is 300 metres long."]
    answer = "The bridge was opened in 2009. It is long.\n\n   Its cost was 1.975.703,40 euros in all."
    detection = await check(checker, answer, evidence, "What did the bridge cost?")
    assert sum("1.975.703,40" in text for text in texts(detection)) == 1
    assert all(answer[s.start : s.end] == s.text == s.text.strip() for s in detection.spans)


@pytest.mark.parametrize("form", ["４７９", "4\u200b79", "4\u00ad79", "٤٧٩"])
async def test_d9_characters_no_one_sees(checker: Checker, form: str) -> None:
    detection = await check(checker, f"Depot K7 shipped {form} crates in May.", [RECORD])
    assert form in texts(detection)


@pytest.mark.parametrize("order", [0, 1])
async def test_d11_a_contradicted_span_stays(checker: Checker, order: int) -> None:
    passages = ["Depot K7 ships crates to many towns in May.", "In May depot K7 shipped 412 crates."]
    if order:
        passages.reverse()
    detection = await check(checker, "Depot K7 shipped 479 crates in May.", passages, explain=True)
    assert texts(detection) == ["479"]
    assert not detection.spans[0].explainer_failed


@pytest.mark.parametrize(
    "prompt",
    [
        "How tall is Mount Kesh?",
        "When did the Orla war end?",
        "What is the boiling point of xenol?",
        "Population of Vantaa district?",
        "Who built the Tarn bridge?",
        QUESTION,
    ],
)
async def test_d13_short_factual_questions_need_grounding(gate: Gate, prompt: str) -> None:
    result = await gate.classify(prompt, SECONDS)
    assert result.failure is None
    assert result.needs_fact_check


@pytest.mark.parametrize("prompt", ["Write a poem about Mount Kesh", "thanks!", "fix my regex"])
async def test_d13_poems_thanks_and_chores_do_not(gate: Gate, prompt: str) -> None:
    result = await gate.classify(prompt, SECONDS)
    assert result.failure is None
    assert not result.needs_fact_check
    assert result.score is not None
