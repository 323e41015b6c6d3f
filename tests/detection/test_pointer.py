"""Evidence pointers: the right line, and offsets in the string the client sent."""

from __future__ import annotations

from vsr_hallucination.apis.flatten import flatten
from vsr_hallucination.detection.pointer import MAX_POINTER_TEXT, EvidenceIndex, to_source
from vsr_hallucination.detection.types import Grounding, OffsetRun, Passage
from vsr_hallucination.detection.value_check import point_at_value


def test_the_nearest_line_of_a_record() -> None:
    source = '{"depot":"K7","month":"May","crates":412,"cost_eur":9500}'
    flat = flatten(source)
    assert flat is not None
    passage = Passage(flat.text, "$.messages[2].content", origin=flat.origin)
    index = EvidenceIndex.build(Grounding((passage,)))
    found = point_at_value("Depot K7 shipped 479 crates in May.", 17, 20, index)
    assert found is not None
    assert found.path == "$.messages[2].content"
    assert found.text == "crates: 412"
    assert "412" in source[found.start : found.end]


def test_numbers_and_rare_words_weigh_more_than_common_ones() -> None:
    passages = tuple(Passage(f"The town of Lorem{n} ships fish by rail.", f"$[{n}]") for n in range(40))
    passages += (Passage("The town of Brev ships 412 crates.", "$[40]"),)
    found = EvidenceIndex.build(Grounding(passages)).point_for("412 crates by rail from the town")
    assert found is not None
    assert found.path == "$[40]"


def test_nothing_in_common_gives_no_pointer() -> None:
    assert EvidenceIndex.build(Grounding((Passage("alpha beta", "$"),))).point_for("gamma") is None


def test_texts_are_short_and_trimmed() -> None:
    index = EvidenceIndex.build(Grounding((Passage("  depot " + "x" * 500, "$"),)))
    found = index.point_for("depot")
    assert found is not None
    assert len(found.text) <= MAX_POINTER_TEXT
    assert found.text == found.text.strip()


def test_offsets_go_back_through_the_runs() -> None:
    passage = Passage("crates: 412", "$", origin=(OffsetRun(0, 5, 6), OffsetRun(8, 13, 3)))
    assert to_source(passage, 8, 11) == (13, 16)
    assert to_source(passage, 0, 11) == (5, 16)
    assert to_source(passage, 6, 8) == (11, 11)
