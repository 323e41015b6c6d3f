"""Reading values: the forms of one number, dates, ids, ranges."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsr_hallucination.detection.numerals import Style, readings, spelled, style_of
from vsr_hallucination.detection.values import Value, values


def one(text: str) -> Value:
    (value,) = values(text)
    return value


@pytest.mark.parametrize(
    "text",
    ["9500", "9,500", "9 500", "9\u202f500", "9\u00a0500", "9'500", "9.500,00 EUR", "$9{,}500$", "9.5 thousand", "9.5k",
     "９５００", "٩٥٠٠", "9\u200b500", "9\u00ad500", "**9,500**", "`9,500`", "9,500.00", "nine thousand five hundred"],
)  # fmt: skip
def test_d7_forms_of_one_value(text: str) -> None:
    assert Decimal(9500) in one(text).readings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", "1.5"),
        ("1,5", "1.5"),
        ("15", "15"),
        ("1 000 000", "1000000"),
        ("12,34,567", "1234567"),
        ("0.125", "0.125"),
    ],
)
def test_d7_separators_are_read_by_where_they_stand(text: str, expected: str) -> None:
    assert one(text).readings == (Decimal(expected),)


def test_d7_one_dot_and_three_digits_is_ambiguous_unless_the_text_shows_its_style() -> None:
    assert one("1.234").ambiguous
    assert readings("1.234", style_of("costs 9.500,00")) == ((Decimal(1234),), False)
    assert readings("1.234", style_of("costs 9,500.00")) == ((Decimal("1.234"),), False)
    assert style_of("1,234.50 and 1.234,50") == Style()


def test_d7_ids_stay_strings() -> None:
    assert one("174322306148984899").key == "174322306148984899"
    assert one("00412").key == "00412"
    assert one("77-KD-9").key == "77-kd-9"
    assert one("К7").key == one("K7").key


def test_d7_ranges_share_their_magnitude() -> None:
    low, high = values("5–10 million")
    assert low.range == high.range == (Decimal(5_000_000), Decimal(10_000_000))
    assert [v.range for v in values("between 5 and 10 million")] == [low.range, high.range]


@pytest.mark.parametrize(
    "text", ["2024-05-03", "3 May 2024", "May 3, 2024", "May 3rd, 2024", "2024年5月3日", "3. Mai 2024"]
)
def test_written_dates(text: str) -> None:
    assert (2024, 5, 3) in one(text).dates


def test_offsets_are_those_of_the_original() -> None:
    text = "🧪 x４７９ and 4\u200b79\u202f%"
    found = [(v.start, v.end, text[v.start : v.end]) for v in values(text)]
    assert found[-1][2] == "4\u200b79\u202f%"


def test_number_words() -> None:
    assert spelled("two hundred and five") == 205
    assert spelled("a dozen") == 12
    assert spelled("two three") is None


@given(st.text(alphabet="019.,-'%$ \u202fkKmM/:aAß{}\n年月日mayone to½٣", max_size=80))
def test_any_text_is_read_and_offsets_hold(text: str) -> None:
    last = 0
    for value in values(text):
        assert last <= value.start < value.end <= len(text)
        last = value.start


@pytest.mark.parametrize(
    "unit", ["a-", "1.", "1,", "1 ", "100 ", "may ", "one ", "a hundred and ", "1a", "{,}", "\u200b1"]
)
def test_hostile_repetition_is_read_in_linear_time(unit: str) -> None:
    for _ in values(unit * 20_000):
        pass
