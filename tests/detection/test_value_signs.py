"""Signs: a minus lost or added makes another number; words of less, ranges, hyphens, bullets and dashes do not."""

from __future__ import annotations

import time

import pytest

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.types import Grounding, Passage
from vsr_hallucination.detection.value_check import check_values
from vsr_hallucination.detection.values import values


def flagged(evidence: str, answer: str, question: str = "") -> list[str]:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$.messages[0].content"),)))
    found = check_values(answer, question, ValueSet.build((evidence,)), index).flagged
    return [answer[f.start : f.end] for f in found]


NOON = "The probe measured -5 °C at noon."


@pytest.mark.parametrize(
    ("evidence", "answer", "wrong"),
    [
        (NOON, "The probe measured 5 °C at noon.", "5"),
        ("The probe measured 5 °C at noon.", NOON, "5"),
        ("The probe measured \u22125 °C at noon.", "The probe measured 5 °C at noon.", "5"),
        ("The probe measured –5 °C at noon.", "The probe measured 5 °C at noon.", "5"),
        ("The probe measured \u2212\u00a05 °C at noon.", "The probe measured 5 °C at noon.", "5"),
        ("The probe measured minus five degrees at noon.", "The probe measured 5 degrees at noon.", "5"),
        ("The probe measured five degrees below zero at noon.", "The probe measured five degrees at noon.", "five"),
        (NOON, "The probe measured five degrees at noon.", "five"),
        (NOON, "The probe measured +5 °C at noon.", "5"),
        (NOON, "The probe measured **5 °C** at noon.", "5"),
        (NOON, "At noon, colder than before, the probe measured 5 °C.", "5"),
        (NOON, "The temperature at the probe fell to 5 °C at noon.", "5"),
        (NOON, "The lowest temperature was 5 °C.", "5"),
        ("The probe measured 5 °C at noon.", "The probe measured minus five degrees at noon.", "five"),
        ("The probe measured 5 °C at noon.", "The probe measured 5 degrees below zero at noon.", "5"),
        ("It fell to 5 °C at noon.", "At noon it was -5 °C.", "5"),
        ("It got colder below the bridge. The probe measured 5 °C at noon.", "It measured -5 °C at noon.", "5"),
        ('{"temperature_c": -5, "city": "Oslo"}', "Temperature in Oslo: 5", "5"),
        ("temperature_c: -5", "It is 5 °C.", "5"),
        ("temperature_c: 5", "It is -5 °C.", "5"),
        ("Balance: -1,250.50 EUR", "Your balance is 1,250.50 EUR.", "1,250.50"),
        ("Balance: $(1,250)", "Your balance is $1,250.", "1,250"),
        ("| result | (1,250) |\n", "The result is 1,250.", "1,250"),
        ("Profit margin: -12 %", "Profit: 12 %", "12 %"),
        ("Revenue changed by -5 % in May.", "Revenue rose 5 % in May.", "5 %"),
        ("The value lies between -5 and 10 °C.", "The value lies between 5 and 10 °C.", "5"),
        ("The probe measured -5.2 °C at noon.", "The probe measured about 5 °C at noon.", "5"),
        ("It was -5 °C at noon in Oslo.", "It was 41 °F at noon in Oslo.", "41"),
        ("It was -5 °C at noon; 5 crates arrived.", "It was 5 °C at noon.", "5"),
        ("The value is -7, then 3 and \u22125.", "The values are 7, 3 and -5.", "7"),
        ("profit: -1.2 million", "Profit was 1.2 million.", "1.2 million"),
        ("Temperatures fell to -12 °C.", "Temperatures dropped to 12 °C.", "12"),
        ("growth: -0.5 %", "GDP growth was 0.5 %.", "0.5 %"),
        ("| City | Low | High |\n|---|---|---|\n| Oslo | -5 | 3 |", "Oslo has a low of 5 and a high of 3.", "5"),
        ("Keep it at –18 °C to –20 °C.", "Keep it at 18 °C to \u221220 °C.", "18"),
        ("The stock rose 3.4 %.", "The change of the stock was -3.4 %.", "3.4 %"),
    ],
)
def test_a_minus_lost_or_added_is_flagged(evidence: str, answer: str, wrong: str) -> None:
    assert flagged(evidence, answer) == [wrong]


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (NOON, "The probe measured \u22125 °C at noon."),
        (NOON, "The probe measured –5 °C at noon."),
        (NOON, "The probe measured minus five degrees at noon."),
        (NOON, "The probe measured negative 5 degrees at noon."),
        (NOON, "The probe measured 5 degrees below zero at noon."),
        (NOON, "The probe measured 5 °C below zero at noon."),
        (NOON, "It was five degrees Celsius below zero."),
        (NOON, "It was five degrees below freezing."),
        (NOON, "The probe measured $-5$ °C at noon."),
        (NOON, "The probe measured 23 °F at noon."),
        ("The probe measured 23 °F at noon.", NOON),
        ("The probe measured -5.2 °C at noon.", "The probe measured about -5 °C at noon."),
        ("The probe measured +5 °C at noon.", "The probe measured 5 °C at noon."),
        ("The probe measured 5 °C at noon.", "The probe measured +5 °C at noon."),
        ("The tolerance is ±5 mm.", "It may be off by -5 mm or +5 mm; the tolerance is 5 mm."),
        ("The tolerance is +/-5 mm.", "The tolerance is 5 mm."),
        # what words say in place of a minus
        ("change: -5 %", "Revenue fell by 5 %."),
        ("change: -5 %", "Revenue is down 5%."),
        ("change: -5 %", "Revenue saw a 5 % decline."),
        ("change: -5 %", "There was a drop of 5 %."),
        ("change: -5 %", "There was a reduction of about 5 %."),
        ("change: -5 %", "The decrease was 5 %."),
        ("change: -5 %", "Revenue was 5 % lower."),
        ("change: -5 %", "Revenue shrank as much as 5 %."),
        ("change: -5 %", "Decline: 5 %"),
        ("change: -5 %", "It changed by 5 %."),
        ("change: -5 %", "Le chiffre d'affaires a reculé de 5 %."),
        ("change: -5 %", "Der Umsatz ging um 5 % zurück."),
        ("result: -5 million", "The firm made a loss of 5 million."),
        ("result: -5 million", "The firm lost 5 million."),
        ("result: -5 million", "It had a deficit of 5 million."),
        ("balance: -52.30", "You owe 52.30."),
        ("amount: -52.30 EUR, payee: Tesco", "You paid 52.30 EUR to Tesco."),
        ("lat: -33.87, lon: 151.21", "It lies at 33.87° S, 151.21° E."),
        ("elevation_m: -430", "It lies 430 m below sea level."),
        ("utc_offset_h: -5", "It is 5 hours behind UTC."),
        ("Revenue fell by 5 %.", "Change in revenue: -5 %"),
        ("There was a loss of 5 million in May.", "The result in May was -5 million."),
        ("Region | Decline | Share\nNorth | 5 | 3\n", "The change in the North was -5."),
        ("year: -44", "Caesar died in 44 BC."),
        ("growth: -0.5 %", "The economy contracted by 0.5 %."),
        ("offset: -40px", "Move it 40px to the left."),
        ("score: -2", "The team finished 2 under par."),
        ("diff: +12/-7", "There are 12 additions and 7 deletions."),
        ("at -40 the scales meet", "At 40 below zero the scales meet."),
        ("最低气温 -5 °C", "最低气温为零下 5 °C。"),
        # ranges
        ("It ranges from -5 to 5 °C.", "It ranges from -5 to 5 °C."),
        ("It ranges from -5 to 5 °C.", "The lowest is -5 °C and the highest 5 °C."),
        ("It ranges from -10 to -5 °C.", "It ranges from \u221210 °C to \u22125 °C."),
        ("It takes 5-10 days.", "It takes 5 to 10 days."),
        ("It takes 5 -10 days.", "It takes 5–10 days."),
        ("It is 5 km -10 km long.", "It is from 5 km to 10 km long."),
        ("It takes 5--10 days.", "It takes 5-10 days."),
        ("10% -20% of them", "From 10% to 20% of them."),
        # hyphens, names, dates
        ("A 5-year plan for COVID-19, 2019-2020.", "The plan takes 5 years, for COVID-19, from 2019 to 2020."),
        ("Call +1 555-0100-22, id AB-5, Q3-5.", "Call +1 555-0100-22, id AB-5, Q3-5."),
        ("Due 2024-05-03, in 5 days.", "Due on 3 May 2024, in 5 days."),
        ("Anna Berg (-1995), in office 1990 -1995", "Anna Berg was in office from 1990 to 1995."),
        # list dashes and dashes of punctuation
        ("- 5 apples\n- 7 pears", "There are 5 apples and 7 pears."),
        ("-5 apples\n-7 pears", "There are 5 apples and 7 pears."),
        ("There are 5 apples and 7 pears.", "-5 apples\n-7 pears"),
        ("There are 5 apples.", "The apples – 5 of them – are red."),
        ("the price – 5 euros – is fair", "The price is 5 euros."),
        ("flour -200 g, eggs -3, price:-500 INR", "Use 200 g of flour and 3 eggs for 500 INR."),
        ("Team A -2, Team B -3. Population –2,500.", "Team A has 2, Team B 3, of a population of 2,500."),
        ("the price –5 euros– is fair", "The price is 5 euros."),
        ("the price —5 euros—is fair", "The price is 5 euros."),
        ("The price is 5 euros.", "The price — 5 euros — is fair."),
        ("The price is 5 euros.", "The price—5 euros—is fair."),
        # brackets may be either
        ("Net result (5)", "The net result was -5."),
        ("He has sisters (5) and brothers.", "He has 5 sisters."),
        ("He has 5 sisters.", "He has sisters (5)."),
        ("result: -5", "Result: (5)"),
        # the same number with another unit, or bare, with its own sign
        ("-5 °C at noon; 5 crates arrived", "At noon 5 crates arrived."),
        ("The test was negative 5 days later.", "The test came 5 days later."),
    ],
)
def test_what_keeps_its_sign_is_not_flagged(evidence: str, answer: str) -> None:
    assert flagged(evidence, answer) == []


def test_the_question_may_speak_of_less() -> None:
    assert flagged("change: -5 %", "It was 5 %.", "By how much did revenue fall?") == ["5 %"]
    assert flagged("change: -5 %", "5 %.", "By how much did revenue fall?") == []
    assert flagged(NOON, "It was 5 °C at noon.", "Was it 5 °C at noon at the probe?") == ["5"]


@pytest.mark.parametrize(
    ("text", "negative", "unsure"),
    [
        ("x is -5.", True, False),
        ("-5", True, False),
        ("[3, -5]", True, False),
        ("a=-5", True, False),
        ("−€5", True, False),
        ("-**5**", True, False),
        ("$(5)", True, False),
        ("3 − 5", False, True),
        ("5", False, False),
        ("3 -5", False, True),
        ("(5)", False, True),
        ("±5", False, True),
        ("- 5", False, False),
        ("* - 5", False, False),
        ("−\u00a05", True, False),
    ],
)
def test_the_sign_of_the_last_number(text: str, negative: bool, unsure: bool) -> None:
    last = [value for value in values(text) if value.kind == "number"][-1]
    assert (last.negative, last.unsure) == (negative, unsure)


@pytest.mark.parametrize("unit", ["-5 ", "-", "- ", "minus ", "(5)", "loss 5 -5 ", "fell to -5, ", "1 fell, ", "−5\n|"])
def test_signs_cost_no_more_than_their_text(unit: str) -> None:
    text = NOON + " 7 crates were lost. " + unit * (40_000 // len(unit))
    started = time.process_time()
    flagged(NOON + unit * 5_000, text[:20_000])
    assert time.process_time() - started < 8
