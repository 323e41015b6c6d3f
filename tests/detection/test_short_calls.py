"""No call into C is given more text than it works through in a fraction of a millisecond: it holds the interpreter,
and with it the event loop, until it returns."""

from __future__ import annotations

import re
import time
from types import ModuleType
from typing import Any

import pytest

from vsr_hallucination.detection import encoding, numerals, signs, values
from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.fold import CHUNK
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.text import PIECE, pieces_of
from vsr_hallucination.detection.types import Grounding, Passage
from vsr_hallucination.detection.value_check import check_values

PROSE = "The river was wide, and those who crossed it early thought of nothing but the other bank. " * 250
LINE = PROSE.replace(". ", ", ").replace("\n", " ")
BLOCK = "公司的收入在这一年里有了很大的增长" * 1200


class Pattern:
    """A compiled pattern that notes how much text each search may walk through."""

    def __init__(self, real: re.Pattern[str], sizes: list[int]) -> None:
        self._real = real
        self._sizes = sizes

    def _noted(self, method: str, text: str, *range_: int) -> Any:
        low, high = (*range_, len(text))[:2] if len(range_) > 1 else (range_[0] if range_ else 0, len(text))
        self._sizes.append(min(high, len(text)) - low)
        return getattr(self._real, method)(text, *range_)

    def search(self, text: str, *range_: int) -> Any:
        return self._noted("search", text, *range_)

    def finditer(self, text: str, *range_: int) -> Any:
        return self._noted("finditer", text, *range_)

    def findall(self, text: str, *range_: int) -> Any:
        return self._noted("findall", text, *range_)


@pytest.mark.parametrize("text", [PROSE, LINE, BLOCK], ids=["prose", "one line", "unspaced"])
@pytest.mark.parametrize(
    ("module", "name"),
    [
        (values, "_SCAN"),
        (numerals, "_POINT"),
        (numerals, "_COMMA"),
        (signs, "_AMOUNT"),
        (signs, "_MOVE"),
        (encoding, "_SPELLED_RE"),
        (encoding, "_SCALED_RE"),
    ],
)
def test_a_long_text_is_searched_in_pieces(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, text: str
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(module, name, Pattern(getattr(module, name), sizes))
    grounding = Grounding((Passage(text, "$"),))
    known = ValueSet.build([text, "479"])
    check_values(text + " It fell by -479.", "How wide?", known, EvidenceIndex.build(grounding))
    encoding.EvidenceWords.from_texts(text[low:high] for low, high in pieces_of(text)).words(text)
    assert sizes
    assert max(sizes) <= PIECE + 64


def test_pieces_are_small() -> None:
    # The slowest patterns take 0.16 ms (readings) and 0.42 ms (values) for a thousand characters.
    assert (PIECE, CHUNK) <= (4096, 2048)


@pytest.mark.parametrize("decimal", ["1.25", "1,25", "0.125", "1,234.5"])
@pytest.mark.parametrize("before", [PIECE - 3, PIECE - 2, PIECE - 1, PIECE, 3 * PIECE])
def test_a_number_on_the_border_of_two_pieces_shows_its_style(decimal: str, before: int) -> None:
    alone = numerals.style_of(f"x {decimal} x")
    assert alone != numerals.NO_STYLE
    assert numerals.style_of("x" * (before - 1) + " " + decimal + " x") == alone


@pytest.mark.parametrize("text", ["1." * 20_000, "1,2" * 20_000, "7" * 50_000])
def test_a_number_without_end_is_cut_all_the_same(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(numerals, "_POINT", Pattern(numerals._POINT, sizes))
    numerals.style_of(text)
    assert max(sizes) <= PIECE + 64


def test_a_date_is_not_cut_at_its_day() -> None:
    line = "x" * 80 + " " + "am 3. Mai 2024 "
    found = [value for value in values.values(line * 400) if value.kind == "date"]
    assert len(found) == 400
    assert {value.dates for value in found} == {((2024, 5, 3),)}


@pytest.mark.parametrize(
    "unit", [" ", "\t", " \n", "a ", "a", "[1", "a[1] ", ": ", "1 ", "-", "- ", "\u00a0", "|", "“", "a drop "]
)
def test_a_text_of_nothing_but_one_thing_costs_no_more_than_another(unit: str) -> None:
    text = "It was 5 km" + unit * (8_000 // len(unit)) + "b: 7\n"
    started = time.process_time()
    grounding = Grounding((Passage(text, "$"),))
    index = EvidenceIndex.build(grounding)
    check_values(text.replace("5", "-6"), "How long?", ValueSet.build([text]), index)
    assert time.process_time() - started < 3
