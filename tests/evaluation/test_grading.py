"""The exact judge: rules, and case E8."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.values import values
from vsr_hallucination.evaluation.grading import exact, letter_of

E8_RIGHT = [
    ("72", "The total is 72 clips, altogether."),
    ("72", "72."),
    ("72", "**72**"),
    ("72", "$72$"),
    ("72", r"\boxed{72}"),
    ("72", "72.0"),
    ("72", "seventy-two"),
    ("8000", "8,000"),
    ("8000", "8 000"),
    ("8000", "8\u202f000"),
    ("8000", "8.000"),
    ("8000", "$8{,}000$"),
    ("28%", "28 percent"),
    ("28%", "28 %"),
    ("28%", "0.28"),
    ("28%", "28"),
]
E8_WRONG = [
    ("1,2", "12"),
    ("28%", "2.8"),
    ("28%", "0.28%"),
    ("8000", "800"),
    ("72", "altogether,"),
    ("15", "1.5"),
]


@pytest.mark.parametrize(("gold", "reply"), E8_RIGHT)
def test_e8_right(gold: str, reply: str) -> None:
    assert exact(reply, gold)


@pytest.mark.parametrize(("gold", "reply"), E8_WRONG)
def test_e8_wrong(gold: str, reply: str) -> None:
    assert not exact(reply, gold)


@pytest.mark.parametrize(
    ("gold", "reply"),
    [("8000", "8,000"), ("8000", "8.000"), ("28%", "0.28"), ("28%", "28"), ("1,2", "12"), ("15", "1.5")],
)
def test_e8_ambiguity_is_settled_as_in_the_detectors_value_check(gold: str, reply: str) -> None:
    evidence = ValueSet.build((gold,))
    (value,) = values(reply)
    assert evidence.holds_number(value) is exact(reply, gold)


@pytest.mark.parametrize(
    "reply", ["A", "A.", "(A)", "Answer: A", "**A**", "a", "A)", "A) Paris", "A. Paris", "[A]", "“A”", "Option A",
              "答案：A",
              "The correct answer is (A).", "The answer is A because it fits.", r"\boxed{A}", "Ａ",
              "It follows from the first line.\n\nA"],
)  # fmt: skip
def test_the_letter_a(reply: str) -> None:
    assert exact(reply, "A")
    assert letter_of(reply.replace("Ａ", "A")) == "A"


@pytest.mark.parametrize(
    "reply",
    [
        "B",
        "A or B",
        "A cat",
        "answer: B, no, answer: C",
        "AB",
        "",
        "I think so",
        "the answer is almost certain",
    ],
)
def test_not_the_letter_a(reply: str) -> None:
    assert not exact(reply, "A")


@pytest.mark.parametrize(
    ("gold", "reply"),
    [
        ("Paris", "paris."), ("Paris", "The answer is Paris."), ("Paris", "答案是：Paris"), ("café", "cafe\u0301"),
        ("Nile", "the Nile"), ("O’Neill", "o'neill"), ("Mercury", "ＭＥＲＣＵＲＹ"), ("-3.5", "−3.5"),
        ("-3.5", "minus 3.5"),
        ("-4", "It is -4 °C"), ("1000", "$1,000.00"), ("5 km", "5 kilometres"), ("5 km", "5"), ("72", "48 + 24 = 72"),
        ("2024-05-01", "May 1, 2024"), ("1000", "1e3"), ("5000000", "5 million"), ("412", "4\u200b12"), ("412", "٤١٢"),
        ("174322306148984899", "174322306148984899"), ("9500 EUR", "€9,500"), ("14:30", "2:30 pm"),
        ("unknown", "Unknown"), ("10", "10 apples in 2 bags"), ("C++", "C++"), ("?", "?"),
    ],
)  # fmt: skip
def test_right(gold: str, reply: str) -> None:
    assert exact(reply, gold)


@pytest.mark.parametrize(
    ("gold", "reply"),
    [
        ("Paris", "Lyon"), ("-3.5", "3.5"), ("3", "-3"), ("5 km", "5 miles"), ("€5", "$5"),
        ("72", "either 71 or 72"),
        ("174322306148984899", "174322306148984900"), ("412", "00412"), ("2024-05-01", "May 2, 2024"), ("", ""),
        ("", "x"), ("Apollo 11", "11"), ("5%", "5 km"), ("C++", "C"), ("5", "-5"), ("$5", "5%"),
    ],
)  # fmt: skip
def test_wrong(gold: str, reply: str) -> None:
    assert not exact(reply, gold)


@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_is_judged(reply: str, gold: str) -> None:
    assert exact(reply, gold) in (True, False)


@given(st.integers(-(10**17), 10**17))
def test_a_number_is_itself_however_it_is_grouped(number: int) -> None:
    assert exact(f"{number:,}", str(number)) or abs(number) > 10**15
    assert exact(str(number), str(number))
    assert not exact(str(number + 1), str(number))
