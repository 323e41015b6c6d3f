"""Sentences, span borders and what is too telling to be too short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsr_hallucination.detection.text import (
    PIECE,
    always_survives,
    count_words,
    pieces_of,
    replace_surrogates,
    sentences,
    split_long,
    tidy_span,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith paid 1.975.703,40 euros. It rained.", ["Dr. Smith paid 1.975.703,40 euros. ", "It rained."]),
        ("See e.g. Fig. 3 of it. Then go.", ["See e.g. Fig. 3 of it. ", "Then go."]),
        ("J. K. Rowling wrote 3.5 of them! Really?", ["J. K. Rowling wrote 3.5 of them! ", "Really?"]),
        ("1. First item\n2. Second item", ["1. First item\n", "2. Second item"]),
        ("他去了。她来了！**Bold.** Next.", ["他去了。", "她来了！", "**Bold.** ", "Next."]),
        ("| Rent | 1,810 |\n\n| Size | 3 |", ["| Rent | 1,810 |\n\n", "| Size | 3 |"]),
    ],
)
def test_sentences_survive_abbreviations_decimals_lists_markdown_and_cjk(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in sentences(text)] == expected


@given(st.text(max_size=300))
def test_sentences_and_cuts_partition_any_text(text: str) -> None:
    assert "".join(text[a:b] for a, b in split_long(text, sentences(text), 40)) == text


@given(st.text(alphabet="aZ9 .,-*\n\u200b\u0301é北🧪👩\u200d🔬🇩🇪", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_tidy_spans_have_no_outer_space_and_lie_in_the_text(text: str, start: int, end: int) -> None:
    span = tidy_span(text, start, end)
    if span is not None:
        a, b = span
        assert 0 <= a < b <= len(text)
        assert text[a:b] == text[a:b].strip()


@pytest.mark.parametrize(
    ("text", "inside", "whole"),
    [
        ("cost was 1.975.703,40 euros", (11, 14), "1.975.703,40"),
        ("is **1,810** now", (3, 12), "1,810"),
        ("is __1,810__ now", (5, 8), "1,810"),
        ("so $9{,}500$ then", (4, 5), "9{,}500"),
        ("a 9\u202f500 b", (2, 3), "9\u202f500"),
        ("shipped 4\u200b79 crates", (8, 9), "4\u200b79"),
        ("has code 77-KD-9.", (12, 14), "77-KD-9"),
        ("the laboratory", (5, 8), "laboratory"),
        ("北京大学", (1, 2), "京"),
        ("x 👩🏽‍🔬 y", (3, 4), "👩🏽‍🔬"),
        ("🇩🇪🇫🇷", (2, 3), "🇫🇷"),
        ("a cafe\u0301 b", (3, 5), "cafe\u0301"),
    ],
)
def test_spans_are_never_cut_inside_a_number_word_or_grapheme(text: str, inside: tuple[int, int], whole: str) -> None:
    span = tidy_span(text, *inside)
    assert span is not None
    assert text[span[0] : span[1]] == whole


def test_a_span_of_marks_alone_is_no_span() -> None:
    assert tidy_span("so ** , .", 2, 9) is None


@pytest.mark.parametrize("text", ["479", "May 2024", "5 km", "euros", "77-KD-9", "Berlin", "31 %", "四百一十二"])
def test_numbers_dates_units_identifiers_and_names_survive(text: str) -> None:
    assert always_survives(text)


@pytest.mark.parametrize("text", ["green", "The", "was", "it is"])
def test_plain_words_do_not(text: str) -> None:
    assert not always_survives(text)


def test_a_cjk_character_counts_as_a_word() -> None:
    assert count_words("北京") == 2
    assert count_words("two words") == 2


def test_lone_surrogates_are_replaced_one_for_one() -> None:
    assert replace_surrogates("a\ud800b\udfff") == "a\ufffdb\ufffd"


@pytest.mark.parametrize("text", ["", "x" * 50_000, "a b " * 20_000, "One. Two.\n" * 5_000, "One. Two. " * 5_000])
def test_pieces_partition_a_text_and_are_short(text: str) -> None:
    pieces = pieces_of(text)
    assert "".join(text[low:high] for low, high in pieces) == text
    assert all(0 < high - low <= PIECE for low, high in pieces)


def test_pieces_end_at_a_sentence_where_one_ends() -> None:
    text = "It is four hundred and twelve. " * 3000
    assert all(text[low:high].endswith(". ") for low, high in pieces_of(text))
