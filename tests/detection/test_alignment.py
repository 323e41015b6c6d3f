"""How a sentence lies on its nearest line: what a turned relation looks like, and what a right paraphrase does not."""

from __future__ import annotations

import random

import pytest

from vsr_hallucination.detection.alignment import Alignment, align, is_record
from vsr_hallucination.detection.near import near_units
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.types import Grounding, Passage

RECORDS = "depot: Alton; crates: 412; manager: Ida Holm\ndepot: Corby; crates: 57; manager: Jon Reed"
SPELT = "[0].depot: Alton\n[0].crates: 412\n[1].depot: Corby\n[1].crates: 57"
TABLE = "| depot | crates | since |\n| Alton | 13000 | 2016-11-11 |\n| Corby | 57 | 2019-01-02 |"
PROSE = (
    "The Searchers reached No. 1 in Britain in 1964. Smokie had a hit in Germany in 1977. "
    "The lever may be turned only by staff. The bridge was opened after the mill was sold to the council in spring."
)


def aligned(sentence: str, evidence: str, question: str = "") -> Alignment:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    asked = frozenset(index.terms(question))
    return align(index, sentence, near_units(index, index.terms(sentence), asked), asked)


@pytest.mark.parametrize("evidence", [RECORDS, SPELT, TABLE.replace("13000", "412")])
def test_a_value_of_another_record_is_crossed(evidence: str) -> None:
    assert aligned("Alton shipped 57 crates.", evidence).crossed > 0.1
    assert aligned("Alton shipped 412 crates.", evidence).crossed == 0
    assert aligned("Corby shipped 57 crates.", evidence).crossed == 0


def test_the_question_says_whose_value_a_bare_one_is() -> None:
    asked = "How many crates did Alton ship?"
    assert aligned("57 crates", RECORDS, asked).crossed > 0
    assert aligned("412 crates", RECORDS, asked).crossed == 0
    assert aligned("| crates | 57 |", TABLE, asked).crossed > 0


def test_a_name_of_another_record_is_crossed() -> None:
    assert aligned("The manager of Alton is Jon Reed.", RECORDS).crossed > 0
    assert aligned("The manager of Corby is Jon Reed.", RECORDS).crossed == 0


def test_values_written_another_way_are_the_same_values() -> None:
    assert aligned("Alton has 13,000 crates.", TABLE).crossed == 0
    assert aligned("Corby has fifty-seven crates.", TABLE).crossed == 0


def test_two_records_told_in_one_sentence_are_not_crossed() -> None:
    assert aligned("Alton shipped 412 crates and Corby 57.", RECORDS).crossed == 0


def test_a_value_of_another_sentence_is_misplaced_where_the_rest_is_copied() -> None:
    assert aligned("The Searchers reached No. 1 in Britain in 1977.", PROSE).misplaced > 0
    assert aligned("The Searchers reached No. 1 in Germany in 1964.", PROSE).misplaced > 0
    assert aligned("The Searchers reached No. 1 in Britain in 1964.", PROSE).misplaced == 0
    assert aligned("Smokie, big in 1977, followed the Searchers.", PROSE).misplaced == 0  # not a copy of either line


def test_names_the_other_way_round() -> None:
    line = "Orion Labs was taken over by Vega Retail and moved to Oslo."
    assert aligned("Vega Retail was taken over by Orion Labs and moved to Oslo.", line).inverted > 0
    assert aligned("Orion Labs was taken over by Vega Retail and moved to Oslo.", line).inverted == 0
    listed = "The firm was founded by Logan Green and John Zimmer in Boston."
    assert aligned("The firm was founded by John Zimmer and Logan Green in Boston.", listed).inverted == 0


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("The lever must be turned only by staff.", "reworded"),
        ("The lever may not be turned only by staff.", "substituted"),
        ("The lever can never be turned only by staff.", "reworded"),
        ("The bridge was opened before the mill was sold to the council in spring.", "substituted"),
        ("The bridge was closed after the mill was sold to the council in spring.", "reworded"),
        ("The bridge was not opened after the mill was sold to the council in spring.", "substituted"),
    ],
)
def test_one_word_put_in_the_place_of_another(said: str, kind: str) -> None:
    found = aligned(said, PROSE)
    assert found.copied >= 0.6
    assert found.substituted + found.reworded >= 1, kind


@pytest.mark.parametrize(
    "said",
    [
        "The lever may be turned only by staff.",
        "The bridge was opened after the mill was sold to the council in spring.",
        "In Germany, Smokie had a hit in 1977.",
        "Staff alone are allowed to turn the lever.",
        "It was only after the sale of the mill to the council that the bridge opened.",
    ],
)
def test_a_right_sentence_shows_no_sign(said: str) -> None:
    found = aligned(said, PROSE)
    assert (found.crossed, found.misplaced, found.inverted, found.substituted, found.reworded) == (0, 0, 0, 0, 0)


def test_a_sentence_cut_into_two_lines_is_compared_whole() -> None:
    body = "which the council had bought from the family that once owned the mill and the barn beside the river, "
    line = "The bridge, " + body * 3 + "was opened by the mayor in spring."
    assert aligned(line, line).copied > 0.9


def test_what_reads_like_a_record() -> None:
    assert is_record("depot: Alton; crates: 412")
    assert is_record("| Alton | 13000 |")
    assert is_record("Alton,April,22,116517,Oslo,6.3\n")
    assert is_record("equipment=press 7, month=May, units=91")
    assert not is_record("The Searchers, whose version reached No. 1, came first.")
    assert not is_record("Note: the lever may be turned only by staff and only on days with no wind")
    assert not is_record("")


def test_hostile_sentences_are_bounded() -> None:
    draw = random.Random(3)
    alphabet = ["a", "The", "not", "7", "1,000", "[3].x:", "|", "A" * 5000, "\u200b", "é", "数", "\n"]
    evidence = " ".join(draw.choice(alphabet) for _ in range(4000))
    for _ in range(60):
        found = aligned(" ".join(draw.choice(alphabet) for _ in range(200))[:600], evidence)
        assert all(value >= 0 for value in (found.crossed, found.misplaced, found.inverted, found.substituted))
        assert 0 <= found.copied <= 1
    assert align(EvidenceIndex.build(Grounding(())), "The lever.", []) == Alignment()
