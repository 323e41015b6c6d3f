"""Faults put into a sentence, kind by kind: what is marked is what changed, and a place for it is found."""

from __future__ import annotations

import random

import pytest

from training import edits
from training.records import Text
from vsr_hallucination.detection.encoding import EvidenceWords

CONTEXT = "Norman Foster and Michel Virlogeux planned the bridge. The Loire flows north of it; 37 people watched."
SENTENCES = {
    "number": ("It has 7 pylons and 1250 lamps.", ("7", "1250")),
    "number words": ("It has seven pylons.", ("seven",)),
    "percentage": ("Traffic grew by 31 percent.", ("31",)),
    "currency": ("It cost 400 million euros.", ("400",)),
    "range": ("It carries 10,000 to 25,000 cars.", ("10,000",)),
    "date": ("The bridge was opened in December 2004.", ("December", "2004")),
    "duration": ("Building it took 38 months.", ("38",)),
    "unit": ("It is 2,460 metres long.", ("metres",)),
    "name": ("It was planned by Norman Foster.", ("Norman Foster",)),
    "place": ("It stands in Millau.", ("Millau",)),
    "negation": ("The bridge is tolled.", ("is",)),
    "modality": ("Strong wind may close it.", ("may",)),
    "comparison": ("It is higher than the tower.", ("higher",)),
    "order": ("It was tested before the opening.", ("before",)),
    "attribution": ("The plan was designed by Norman Foster.", ("Norman Foster",)),
    "elsewhere": ("The span measures 342 metres.", ("342",)),
}


def made(kind: str, sentence: str, seed: int) -> Text | None:
    evidence = EvidenceWords.from_texts([CONTEXT, sentence])
    return edits.edit(random.Random(seed), kind, sentence, evidence, CONTEXT, ["Gustave Eiffel", "Eiffage"])


@pytest.mark.parametrize("kind", SENTENCES)
def test_what_is_marked_is_what_changed(kind: str) -> None:
    sentence, places = SENTENCES[kind]
    found = [changed for seed in range(20) if (changed := made(kind, sentence, seed)) is not None]
    assert found
    for changed in found:
        [(start, end)] = changed.spans
        text = changed.text()
        assert text != sentence
        assert any(text[:start] + old + text[end:] == sentence for old in places)


def test_names_change_places_and_both_are_marked() -> None:
    changed = made("roles", "In the end, Michel Virlogeux replaced Norman Foster.", 1)
    assert changed is not None
    assert changed.text() == "In the end, Norman Foster replaced Michel Virlogeux."
    assert [changed.text()[a:b] for a, b in changed.spans] == ["Norman Foster", "Michel Virlogeux"]


def test_names_in_a_list_do_not_change_places() -> None:
    assert made("roles", "It was planned by Michel Virlogeux and Norman Foster.", 1) is None


def test_a_dropped_condition_marks_what_it_restricted() -> None:
    for seed in range(6):
        changed = made("condition", "Heavy lorries may cross the bridge only if the wind is weak.", seed)
        assert changed is not None
        [(start, end)] = changed.spans
        assert changed.text()[start:end].startswith("Heavy lorries may cross the bridge")
        assert "wind" not in changed.text()


def test_every_kind_has_an_example_here() -> None:
    assert set(edits.KINDS) == {*SENTENCES, "roles", "condition"}
