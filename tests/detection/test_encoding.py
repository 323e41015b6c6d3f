"""Pair encoding: what counts as novel, how tokens are typed, where answers are cut."""

from __future__ import annotations

import time

import pytest

from vsr_hallucination.detection.encoding import EvidenceWords, answer_pieces, premise_text, readings, token_types

EVIDENCE = "branch: Q4\nmonth: May\nboxes: 4790\ncost_eur: 9500\nsigned: 2024-05-03\nshare: 12.5%\nunitPrice: 1200000"


def novel_words(evidence: str, answer: str) -> list[str]:
    words = EvidenceWords.from_texts([evidence]).words(answer)
    return [answer[word.start : word.end] for word in words if word.novel]


@pytest.mark.parametrize(
    "form", ["9500", "9,500", "9.500,00", "9'500", "9\u202f500", "9500.0", "9 500", "9.5k", "9.5 thousand"]
)
def test_numbers_agree_across_their_written_forms(form: str) -> None:
    assert novel_words(EVIDENCE, f"It cost {form} euros.") == []


@pytest.mark.parametrize("form", ["479", "47900", "790", "4.79", "95", "950", "12", "5,12"])
def test_a_number_matches_only_as_a_whole(form: str) -> None:
    assert novel_words(EVIDENCE, f"It was {form}") == [form]


@pytest.mark.parametrize(("evidence", "answer"), [
    ("1200000", "1.2 million"), ("1.2 million", "1,200,000"), ("3 trucks", "three trucks"),
    ("2024-05-03", "May 3, 2024"), ("May 3, 2024", "2024-05-03"), ("31 %", "31 percent"), ("cost_eur: 5", "5 euros"),
    ("unitPrice: 4", "the unit price is 4"), ("shipped", "ship, ships and shipping"), ("companies", "company"),
    ("STRASSE", "straße"), ("a,2018,428,2", "428 in 2018"), ("03.05.2024", "2024"), ("3 4 5", "3,4 and 5"),
    ("boxes: 412", "four hundred and twelve boxes"), ("two thousand and five", "2005"), ("x: 21", "Twenty-one"),
    ("４７９", "479"),
])  # fmt: skip
def test_readings_bridge_spelling(evidence: str, answer: str) -> None:
    assert novel_words(evidence, answer) == []


def test_zero_width_characters_hide_nothing_and_stay_in_the_span() -> None:
    answer = "It shipped 4\u200b79 boxes"
    words = EvidenceWords.from_texts(["boxes 412 shipped"]).words(answer)
    assert [answer[w.start : w.end] for w in words if w.novel] == ["4\u200b79"]
    assert novel_words("boxes 412 shipped", "It shipped 4\u200b12 boxes") == []


def test_function_words_citations_and_list_marks_are_never_novel() -> None:
    assert novel_words("boxes", "1. The boxes are there [3].\n2. And so were they [4, 5].") == []


def test_json_punctuation_does_not_stick_to_words() -> None:
    assert novel_words('{"branch":"Q4","boxes":412,"open":true}', "Q4: 412 boxes, open: true") == []


def test_words_cover_every_alphanumeric_character_once() -> None:
    answer = "Q4 shipped 9,500 boxes; d'accord? 北京 4-5 x_y ünïcode"
    spans = [(w.start, w.end) for w in EvidenceWords.from_texts([""]).words(answer)]
    covered = [i for start, end in spans for i in range(start, end)]
    assert len(covered) == len(set(covered))
    assert all(i in covered for i, char in enumerate(answer) if char.isalnum())


def test_token_types_follow_the_words() -> None:
    answer = "ship 479 boxes"
    words = EvidenceWords.from_texts(["ship boxes"]).words(answer)
    offsets = [(0, 4), (5, 6), (6, 8), (9, 12), (12, 14)]
    assert token_types(offsets, words, 2) == [1, 2, 2, 1, 1]


def test_premise_is_question_then_window() -> None:
    assert premise_text("How many?", "boxes: 4") == "How many?\nboxes: 4"
    assert premise_text("", "boxes: 4") == "boxes: 4"


def test_pieces_cover_all_tokens_within_the_limit_and_prefer_sentence_ends() -> None:
    text = "one two three four. five six seven eight. nine"
    offsets, at = [], 0
    for word in text.replace(".", " .").split():
        at = text.index(word, at)
        offsets.append((at, at + len(word)))
        at += len(word)
    pieces = list(answer_pieces(offsets, text, 7))
    assert [first for first, _ in pieces] == [0, *(last for _, last in pieces[:-1])] and pieces[-1][1] == len(offsets)
    assert pieces[0] == (0, 5)
    assert all(last - first <= 7 for first, last in pieces)


def test_a_text_without_any_gap_is_cut_all_the_same() -> None:
    offsets = [(i, i + 1) for i in range(50)]
    assert list(answer_pieces(offsets, "x" * 50, 20)) == [(0, 20), (20, 40), (40, 50)]


@pytest.mark.parametrize(
    "text", ["\ud800 lone", "\x00", "1" * 500, "[1,[2", "k" * 300, "1,2.3,4.5", "٤٧٩", "½ ² ④", "'s 's", "9.k"]
)
def test_odd_text_raises_nothing(text: str) -> None:
    words = EvidenceWords.from_texts([text])
    assert not any(w.novel for w in words.words(text))
    assert isinstance(readings(text), tuple)


def test_a_million_characters_are_read_in_seconds() -> None:
    text = "".join(f"row {i} holds {i * 7:,} units of item{i % 900};\n" for i in range(27_000))
    assert len(text) > 900_000
    started = time.process_time()
    EvidenceWords.from_texts([text])
    # About 0.5 s of CPU on an idle machine: the bound only catches work that is not linear.
    assert time.process_time() - started < 5
