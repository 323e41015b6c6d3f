"""Values and their units: what converts, what another unit makes wrong, what follows and what only seems to."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.quantities import quantities
from vsr_hallucination.detection.types import Grounding, Passage
from vsr_hallucination.detection.units import equal, unit_at
from vsr_hallucination.detection.value_check import check_values


def flagged(evidence: str, answer: str, question: str = "") -> list[str]:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$.messages[0].content"),)))
    found = check_values(answer, question, ValueSet.build((evidence,)), index).flagged
    return [answer[f.start : f.end] for f in found]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("14 miles", ("mile",)),
        ("14km away", ("kilometre",)),
        ("14 working days", ("day",)),
        ("14 square miles", ("square-mile",)),
        ("14 m³/s", ("cubic-metre",)),
        ("14 degrees Celsius", ("celsius",)),
        ("14 pounds", ("pound", "sterling")),
        ("14 percent of them", ("%",)),
        ("14 in May", ()),
        ("14 ferries", ()),
    ],
)
def test_the_unit_beside_a_number(text: str, units: tuple[str, ...]) -> None:
    assert unit_at(text, 0, 2).units == units


def test_a_currency_may_stand_before() -> None:
    assert unit_at("US$ 30", 4, 6).units == ("dollar",)
    assert unit_at("EUR 30", 4, 6).units == ("euro",)


@pytest.mark.parametrize(
    ("number", "unit", "other", "other_unit", "same"),
    [
        ("4", "hour", "240", "minute", True),
        ("4", "hour", "200", "minute", False),
        ("1.5", "kilogram", "1500", "gram", True),
        ("8", "kilometre", "5", "mile", True),
        ("5", "kilometre", "5", "mile", False),
        ("2", "year", "24", "month", True),
        ("2", "year", "30", "month", False),
        ("3", "month", "12", "week", True),
        ("68", "fahrenheit", "20", "celsius", True),
        ("86", "fahrenheit", "20", "celsius", False),
        ("2", "gigabyte", "2048", "megabyte", True),
        ("7", "euro", "7", "dollar", False),
    ],
)
def test_amounts_in_two_units(number: str, unit: str, other: str, other_unit: str, same: bool) -> None:
    assert equal(Decimal(number), unit, Decimal(other), other_unit, step=Decimal(1) if "." not in number else
                 Decimal("0.1")) is same  # fmt: skip


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("The ferry needs 240 minutes.", "The ferry needs 4 hours."),
        ("The ferry needs 4 hours.", "The ferry needs 240 minutes."),
        ("The ferry needs 2 hours and 20 minutes.", "The ferry needs 140 minutes."),
        ("The ferry needs 140 minutes.", "The ferry needs 2 hours 20 minutes."),
        ("crossing_min: 180", "The crossing takes 3 hours."),
        ("The lease runs for a fortnight.", "The lease runs for 14 days."),
        ("The lease runs for 36 months.", "The lease runs for three years."),
        ("The jar holds 0.7 litres.", "The jar holds 700 ml."),
        ("The beam is 45 cm long.", "The beam is 450 millimetres long."),
        ("The trail is 5 miles long.", "The trail is 8 km long."),
        ("It was 20 °C in the cellar.", "It was 68 °F in the cellar."),
        ("A third of the beds are free.", "About 33 percent of the beds are free."),
        ("One in five trains is late.", "20% of the trains are late."),
        ("Half of the tenants agreed.", "50 percent of the tenants agreed."),
        ("75% of the tenants agreed.", "Three quarters of the tenants agreed."),
        ("The mill was built in 1874.", "The mill is from the 19th century."),
        ("The mill was built in 1874.", "The mill was built in the 1870s."),
        ("It is the fourth bridge.", "It is the 4th bridge."),
        ("It lasted two and a half years.", "It lasted 2.5 years."),
        ("flow: 9", "The flow is 9 m³/s."),
        ("humidity: 44", "The humidity is 44 %."),
        ("Passage 3:49,124 samples were kept.", "49,124 samples were kept."),
        ("name,week,crates,price\nK7,9,43,426", "K7 shipped 43 crates for 426 euros in week 9."),
        ("Labels: Elm, Oak, Ash, Fir\nFounded: 1980", "They had 4 labels."),
        ("Second quarter sales rose.", "Sales rose in Q2."),
        ("The F1 score was best.", "The F1-score was best."),
        ("Rates were 10, 20 and 30 percent.", "Rates were 20 percent and 30 percent."),
        ("412² crates were sent.", "412 crates were sent."),
        ("Depths are 5–15 metres.", "Depths are 5–fifteen metres."),
        ("She is a £29m player.", "The £29m-rated player left."),
        ("It marks the 70th anniversary.", "It has been 70 years."),
        ("A is bigger than the one in Rome.", "Of the two, A is bigger."),
        ("rating: 3.5", "It is rated 3.5 out of 5."),
        ("Founded 3 June 1980; Born 1 May 1950; Closed 2001", "She was aged 29 when it was founded."),
        ("There are 22 pupils in the north and 22 in the south.", "Together that is 44 pupils."),
        ("The bill was $25,000, planned were $10,000.", "$25,000 - $10,000 = $15000"),
    ],
)
def test_what_says_the_same_is_not_flagged(evidence: str, answer: str) -> None:
    assert flagged(evidence, answer) == []


@pytest.mark.parametrize(
    ("evidence", "answer", "wrong"),
    [
        ("The port is 14 kilometres away.", "The port is 14 miles away.", "14 miles"),
        ("The repair took 3 weeks.", "The repair took 3 months.", "3 months"),
        ("The repair took two years.", "The repair took two decades.", "two decades"),
        ("They spent 40 million on it.", "They spent 40 billion on it.", "40 billion"),
        ("They paid 700 dollars.", "They paid 700 euros.", "700 euros"),
        ("The tank holds 9 litres.", "The tank holds 9 gallons.", "9 gallons"),
        ("The ferry needs 200 minutes.", "The ferry needs 4 hours.", "4"),
        ("It stands at 1,993 metres (6,539 ft).", "It stands at 1,994 metres.", "1,994"),
        ("There were 76 metres to go.", "There were 76 races to go.", "76"),
    ],
)
def test_a_number_in_another_unit_is_wrong(evidence: str, answer: str, wrong: str) -> None:
    assert flagged(evidence, answer) == [wrong]


def test_the_same_number_in_both_units_is_right() -> None:
    evidence = "The port is 14 kilometres away, the mine 14 miles."
    assert flagged(evidence, "The port is 14 kilometres away, the mine 14 miles.") == []


TRADE = (
    "[2] In May 2 ships left. Of 60 crates, 24 were open. Fees rose from 16% to 15% in 2004, tolls from 2% to 10%. "
    "Tolls cost 8 euros. There were 48 guests at 12 tables."
)


@pytest.mark.parametrize("figure", ["8", "24", "60", "40", "48", "80"])
def test_a_percentage_needs_one_of_its_kind(figure: str) -> None:
    assert flagged(TRADE, f"Fees rose from 16% to {figure}% in 2004.") == [f"{figure}%"]


def test_a_difference_of_percentages_is_said_to_be_one() -> None:
    assert flagged(TRADE, "Tolls rose from 2% to 10%, by 8 percentage points.") == []
    assert flagged(TRADE, "Fees went from 16% to 8 percent.") == ["8"]


def test_a_share_worked_out_from_two_figures_of_the_sentence() -> None:
    assert flagged(TRADE, "Of 60 crates 24 were open, 60% fewer.") == []


@pytest.mark.parametrize(
    ("said", "wrong"), [("about 48,000", False), ("over 45,000", False), ("about 53,000", True), ("over 20,000", True)]
)
def test_rounding_reaches_as_far_as_the_digits_left(said: str, wrong: bool) -> None:
    assert bool(flagged("The town has 47,812 people. It is old.", f"The town has {said} people.")) is wrong


def test_a_short_answer_is_read_with_its_question() -> None:
    evidence = "The lease of the mill in Ulm runs for 24 months. The quarry in Graz is closed."
    assert flagged(evidence, "It is three years.", "How long is the lease of the mill in Ulm?") == ["three"]
    assert flagged(evidence, "It is two years.", "How long is the lease of the mill in Ulm?") == []


def test_amounts_in_words_are_flagged_only_against_evidence() -> None:
    evidence = "The siege of Brno lasted for 14 days."
    assert flagged(evidence, "The siege of Brno lasted for half a century.") == ["half a century"]
    assert flagged(evidence, "It is half a century old, they say.") == []


def test_amounts_without_a_figure() -> None:
    found = [(v.readings[0], v.units) for v in quantities("half an hour, a decade, two thirds of it, one in four")]
    assert found[:2] == [(Decimal("0.5"), ("hour",)), (Decimal(1), ("decade",))]
    assert [units for _, units in found[2:]] == [("%",), ("%",)]
    assert list(quantities("the third man, the second half")) == []


@pytest.mark.parametrize(
    "unit",
    ["3 hours 5 minutes ", "half an hour ", "one in ten ", "5 % ", "12 miles and ", "total 12 more = 5 ", "a third of ",
     "1,2,3\n", "12 km per "],
)  # fmt: skip
def test_units_are_read_in_linear_time(unit: str) -> None:
    index = EvidenceIndex.build(Grounding((Passage("The ferry needs 4 hours.", "$"),)))
    known = ValueSet.build(("The ferry needs 4 hours.",))

    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        started = time.process_time()
        check_values(text, "", known, index)
        ValueSet.build((text,))
        return time.process_time() - started

    assert seconds(12_000) < 8 * seconds(3_000) + 0.2
