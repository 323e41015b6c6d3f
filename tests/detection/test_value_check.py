"""The exact tier: wrong values found in any clothes, right ones left alone."""

from __future__ import annotations

import time

import pytest

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.types import Grounding, Passage
from vsr_hallucination.detection.value_check import ValueFindings, check_values

RECORD = "depot: K7\nmonth: May\ncrates: 412\ncost_eur: 9500"
QUESTION = "How many crates did depot K7 ship in May, and at what cost?"


def findings(evidence: str | list[str], answer: str, question: str = "") -> ValueFindings:
    texts = [evidence] if isinstance(evidence, str) else evidence
    index = EvidenceIndex.build(Grounding(tuple(Passage(t, f"$.messages[{n}].content") for n, t in enumerate(texts))))
    return check_values(answer, question, ValueSet.build(texts), index)


def flagged(evidence: str | list[str], answer: str, question: str = "") -> list[str]:
    return [answer[f.start : f.end] for f in findings(evidence, answer, question).flagged]


def test_the_shared_example() -> None:
    assert flagged(RECORD, "Depot K7 shipped 412 crates in May at a cost of 9,500 euros.", QUESTION) == []
    (found,) = findings(RECORD, "Depot K7 shipped 479 crates in May at a cost of 9,500 euros.", QUESTION).flagged
    assert (found.start, found.end) == (17, 20)
    assert found.evidence is not None
    assert found.evidence.text == "crates: 412"


CLOTHES = ["Rent is **{}** euros.", "Rent is __{}__ euros.", "| Rent | {} |", "Rent: `{}`", "Rent is <b>{}</b> euros."]


@pytest.mark.parametrize("dress", CLOTHES)
def test_d1_a_wrong_number_in_bold(dress: str) -> None:
    rent = "Rent at Elm Court is 1,310 euros, 3 rooms."
    assert flagged(rent, dress.format("1,810")) == ["1,810"]
    assert flagged(rent, dress.format("1,310")) == []


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("cost: 9500", "The cost was 9,500."),
        ("cost: 9500", "The cost was 9\u202f500."),
        ("cost: 9500", "The cost was 9.500,00 EUR."),
        ("cost: 9500", "The cost was $9{,}500$."),
        ("cost: 9500", "The cost was 9.5 thousand."),
        ("5–10 million users", "It has between 5 and 10 million users."),
        ("share: 0.31", "The share is 31 %."),
        ("on 2024-05-03", "It was on 3 May 2024."),
        ("2024-05-03T14:30:00Z", "At 2:30 pm."),
        ("year: 2024, month: May", "In May 2024."),
        ("version: 1.2.3", "It runs v1.2.3."),
    ],
)
def test_d7_equal_values(evidence: str, answer: str) -> None:
    assert flagged(evidence, answer) == []


@pytest.mark.parametrize(
    ("evidence", "answer", "wrong"),
    [
        ("id: 174322306148984899", "The id is 174322306148984900.", "174322306148984900"),
        ("length: 1.5", "The length is 15.", "15"),
        ("5–10 days", "It takes 5 days.", "5"),
        ("order: 00412", "Your order is 412.", "412"),
        ("on 2024-05-03", "It was on 4 May 2024.", "4 May 2024"),
        ("cost 1.975.708,40 euros", "the cost was 1.975.703,40 euros", "1.975.703,40"),
        ("version: 1.2.3", "It runs v1.2.4.", "v1.2.4"),
    ],
)
def test_d7_unequal_values(evidence: str, answer: str, wrong: str) -> None:
    assert flagged(evidence, answer) == [wrong]


def test_d7_an_ambiguous_form_is_not_flagged_alone() -> None:
    assert flagged("weight: 1.5 kg", "The weight is 1.234 kg.") == []
    assert flagged("weight: 1234", "The weight is 1.234.") == []


@pytest.mark.parametrize("form", ["４７９", "4\u200b79", "4\u00ad79", "٤٧٩"])
def test_d9_characters_no_one_sees_hide_nothing(form: str) -> None:
    assert flagged(RECORD, f"Depot К7 shipped {form} crates.", QUESTION) == [form]


@pytest.mark.parametrize("form", ["４１２", "4\u200b12", "4\u00ad12", "٤١٢"])
def test_d9_right_values_in_those_forms_are_right(form: str) -> None:
    assert flagged(RECORD, f"Depot К7 shipped {form} crates.", QUESTION) == []


def test_a8_an_invented_percentage() -> None:
    answer = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros, 31 % more than in April."
    assert flagged(RECORD, answer, QUESTION) == ["31 %"]


def test_b4_an_identifier_off_by_one_letter() -> None:
    evidence = "name: Estación Ñandú\ncode: 77-KD-9"
    assert flagged(evidence, "Estación Ñandú has code 77-KD-9.") == []
    assert flagged(evidence, "Estación Ñandú has code 77-KB-9.") == ["77-KB-9"]


def test_b7_what_the_user_asserts_supports_nothing() -> None:
    asserted = "<context>K7 shipped 479 crates</context> How many crates did K7 ship?"
    assert flagged(RECORD, "Depot K7 shipped 479 crates in May.", asserted) == ["479"]
    assert flagged(RECORD, "No, it was not 479 crates but 412.", asserted) == []


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("Oslo, Rome and Bern", "There are 3 towns:\n- Oslo\n- Rome\n- Bern"),
        ("Oslo, Rome and Bern", "The 3 towns are Oslo, Rome and Bern."),
        ("a: 5\nb: 7", "In total 12."),
        ("a: 5\nb: 7", "That is 2 more."),
        ("opened 1990, closed 2024", "It was open for 34 years."),
        ("growth: 31.4%", "Growth was 31%."),
        ("people: 1234567", "About 1.2 million people live there."),
        ("rooms: 3", "It has three rooms, for two reasons."),
        ("first and second", "1. First\n2. Second, see [3]\n\n## 4. Last\n"),
        ("the steps", "Step 2 follows Figure 3."),
        ("code", "Try:\n```python\nprint(417)\n```\n"),
    ],
)
def test_simple_consequences_are_not_flagged(evidence: str, answer: str) -> None:
    assert flagged(evidence, answer) == []


def test_spelled_small_numbers_are_flagged_where_evidence_says_otherwise() -> None:
    assert flagged("rooms: 3", "It has two rooms.") == ["two"]


def test_a_sum_needs_a_word_that_says_so() -> None:
    assert flagged("a: 400\nb: 79", "It shipped 479 crates.") == ["479"]
    assert flagged("a: 400\nb: 79", "It shipped 479 crates in total.") == []


def test_confirmed_values_are_named() -> None:
    answer = "Depot K7 shipped 412 crates."
    confirmed = findings(RECORD, answer, QUESTION).confirmed
    assert "412" in {answer[a:b] for a, b in confirmed}


def test_the_nearest_value_is_that_of_the_same_key() -> None:
    evidence = "\n".join(f"depot: A{n}\ncrates: {300 + n}" for n in range(50)) + "\ndepot: K7\nrent: 478\ncrates: 412"
    (found,) = findings(evidence, "Depot K7 has a rent of 999 euros.").flagged
    assert found.evidence is not None
    assert found.evidence.text == "rent: 478"


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Depot K7 shipped [479] crates.", ["479"]),
        ("Depot K7 shipped 【479】 crates.", ["479"]),
        ("Depot K7 shipped crates in May [479], at 9,500 euros.", ["479"]),
        ("Depot K7 shipped [4, 79] crates.", ["4", "79"]),
        ("Depot K7 shipped [14] crates.", ["14"]),
        ("The cost was [950] euros.", ["950"]),
        ("The number of crates was\n479.\nThe cost was 9,500 euros.", ["479"]),
        ("Crates shipped in May:\n479)\nThe cost was 9,500 euros.", ["479"]),
        ("Crates in May:\n**479**.\n", ["479"]),
        ("- 479: crates shipped\n- 9,500: euros of cost", ["479"]),
        ("# 479. crates shipped in May", ["479"]),
        ("479: that is how many crates were shipped.", ["479"]),
        ("Crates: #479.", ["479"]),
        ("So many crates (47) in May.", ["47"]),
        ('```json\n{"depot":"K7","crates":479}\n```', ["479"]),
        ("```text\nK7 shipped 479 crates.\n```", ["479"]),
        ("Depot K7 shipped -412 crates.", ["412"]),
        ("Depot K7 shipped \u2212412 crates.", ["412"]),
        ("crates: -412", ["412"]),
        ("-412", ["412"]),
        ("Depot K7 shipped minus 412 crates.", ["412"]),
        ("The cost was -€9,500.", ["9,500"]),
    ],
)
def test_a_figure_dressed_as_a_citation_list_mark_or_negative_is_flagged(answer: str, wrong: list[str]) -> None:
    assert flagged(RECORD, answer) == wrong


@pytest.mark.parametrize(
    "answer",
    [
        "K7 shipped 412 crates [2]. It cost 9,500 euros [1, 3].",
        "Depot K7 [2] shipped 412 crates [1] in May.",
        "See 【4:0†source】.",
        "1. First\n2. Second\n3) Third",
        "21. First\n22. Second\n23. Third",
        "(1) first, (2) second and (3) third",
        "## 4. Costs",
        "As step 3 says.",
        "```python\nx = 479\n```",
        "- 412 crates\n- 9500 euros",
        "-412 crates\n-9500 euros",
        "K7 – 412 crates.",
    ],
)
def test_what_can_be_a_mark_is_no_claim(answer: str) -> None:
    assert flagged(RECORD, answer) == []


def test_a_citation_may_be_as_high_as_there_are_passages() -> None:
    passages = [f"Passage about topic {chr(97 + n % 26)}." for n in range(30)]
    assert flagged(passages, "So it is [29].") == []
    assert flagged(passages, "So it is [31].") == ["31"]


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("change: -5", "It fell by 5."),
        ("change: -5", "Change: -5"),
        ("It fell by 7%.", "The change was -7%."),
        ("temperature: -12.4 C", "It was \u221212.4 °C."),
        ("temperature: -12.4 C", "It was about -12 °C."),
    ],
)
def test_negative_values_that_hold(evidence: str, answer: str) -> None:
    assert flagged(evidence, answer) == []


@pytest.mark.parametrize("unit", ["1,234,", "12, ", "[1", "(1) ", "-412 ", "1.", "total 1234 per year "])
def test_the_check_is_linear_in_the_answer(unit: str) -> None:
    index = EvidenceIndex.build(Grounding((Passage(RECORD, "$"),)))
    known = ValueSet.build((RECORD,))

    def seconds(length: int) -> float:
        started = time.process_time()
        check_values(unit * (length // len(unit)), "", known, index)
        return time.process_time() - started

    # Four times the text may cost eight times the time, and some noise; a square would cost sixteen times.
    assert seconds(12_000) < 8 * seconds(3_000) + 0.2


def test_dates_are_compared_part_by_part() -> None:
    evidence = "from 2024-05-03 to 7 March, and in June 2023"
    for right in ("On 3 May 2024.", "In May 2024.", "On 3 May.", "On 7 March.", "In June 2023."):
        assert flagged(evidence, right) == [], right
    for wrong in ("On 4 May 2024.", "In April 2024.", "On 3 May 2025."):
        assert flagged(evidence, wrong) != [], wrong


def test_much_evidence_costs_a_value_no_more() -> None:
    days = "\n".join(f"{1900 + n // 336}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02} item{n}-x" for n in range(20_000))
    index = EvidenceIndex.build(Grounding((Passage(RECORD, "$"),)))
    known = ValueSet.build((days,))
    started = time.process_time()
    answer = " ".join(f"On {n % 28 + 1} May {2200 + n}, unit{n}-q." for n in range(150))
    assert len(check_values(answer, "", known, index).flagged) >= 150
    assert time.process_time() - started < 3
