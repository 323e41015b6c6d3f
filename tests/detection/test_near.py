"""The lines nearest to a sentence: those that share its rare words, best first; with its question where it is short."""

from __future__ import annotations

from vsr_hallucination.detection.near import MAX_LINES, few, near_units
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.types import Grounding, Passage

LEDGER = "Elm Court was founded in May.\nIt has 12 rooms.\nDepot North shipped crates to the lab.\nRail was not open."
ROOMS = "How many rooms does Elm Court have?"


def lines(sentence: str, evidence: str = LEDGER, question: str = "") -> list[str]:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    found = near_units(index, index.terms(sentence), frozenset(index.terms(question)))
    return [index.text(unit).strip() for unit in found]


def test_the_lines_that_share_its_words_come_best_first() -> None:
    assert lines("Depot North shipped 40 crates to Elm Court, which was founded in May, by rail.") == [
        "Elm Court was founded in May.", "Depot North shipped crates to the lab.", "Rail was not open.",
    ]  # fmt: skip
    assert lines("Boats fish.") == []


def test_a_short_sentence_also_gets_the_lines_its_question_asks_for() -> None:
    assert lines("12.") == ["It has 12 rooms."]
    assert lines("12.", question=ROOMS) == ["It has 12 rooms.", "Elm Court was founded in May."]


def test_a_long_sentence_is_looked_up_by_its_own_words_alone() -> None:
    long = "Depot North shipped crates to the lab by rail from nine until ten over many days of each month"
    assert lines(long, question=ROOMS) == lines(long)
    assert "It has 12 rooms." not in lines(long, question=ROOMS)


def test_a_row_of_a_table_is_found_among_many() -> None:
    table = "depot,crates,vials\n" + "".join(f"town{n},{n}7,{n}3\n" for n in range(40))
    assert lines("Town12 shipped 127 crates.", table)[0] == "town12,127,123"


def test_they_are_few_however_much_evidence_there_is() -> None:
    ledger = "\n".join(f"Depot number {n} shipped crates to the lab by rail in May of that year." for n in range(3000))
    assert len(lines("The depot shipped crates to the lab by rail in May.", ledger)) == MAX_LINES


def test_what_was_looked_up_is_remembered_within_bounds() -> None:
    index = EvidenceIndex.build(Grounding((Passage("Depot North shipped crates. Elm Court was founded.", "$"),)))
    asked = frozenset(index.terms(ROOMS))
    terms = index.terms("Crates.")
    assert near_units(index, terms, asked) is near_units(index, terms, asked)
    assert near_units(index, terms, asked) is not near_units(index, terms, frozenset())
    for n in range(1100):
        near_units(index, ["crate", f"town{n}"], asked)
    assert len(index.remembered) == 1024


def test_few_words_need_their_question() -> None:
    assert few(["12"])
    assert not few(["depot", "north", "ship", "crate", "lab", "rail", "nine", "ten", "day", "month"])
