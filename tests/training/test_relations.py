"""Pairs of sentences and lines: the label of a fault's kind, nothing held out, nothing that is not known."""

from __future__ import annotations

import random

from training.detector_data import is_held_out
from training.detector_rows import DetectorRow
from training.loop import NOT_FIRST
from training.relations import pairs_of, relation_pairs

CONTEXT = "The mill was built before the bridge. It has 40 rooms.\nThe owner sold the barn to Ada Byron in 1931."


def row(answer: str, bad: str = "", group: str = "passages clean", **more: object) -> DetectorRow:
    start = answer.index(bad) if bad else 0
    spans = ((start, start + len(bad)),) if bad else ()
    return DetectorRow(CONTEXT, "What was built first?", answer, spans, group, key=CONTEXT, **more)  # type: ignore[arg-type]


def labels(made: DetectorRow) -> list[int]:
    return [pair.label for pair in pairs_of(made, random.Random(1))]


def test_a_turned_relation_contradicts_and_an_added_one_is_neutral() -> None:
    assert labels(row("The mill was built after the bridge.", "after", "passages order")) == [2]
    assert labels(row("The mill has a red roof.", "a red roof", "passages phrase")) == [1]
    assert labels(row("The mill was built before the bridge.")) == [0]


def test_what_people_only_called_unsupported_is_not_entailed() -> None:
    assert labels(row("The mill was built after the bridge.", "after", "summedits edited")) == [NOT_FIRST]
    assert labels(row("The mill was built after the bridge.", "after", "passages order+name")) == [NOT_FIRST]


def test_the_sentence_a_fault_touches_comes_first_and_only_it_is_blamed() -> None:
    made = row("It has 40 rooms. The mill was built after the bridge. Ada Byron bought it.", "after", "passages order")
    pairs = pairs_of(made, random.Random(1))
    assert [pair.label for pair in pairs] == [2, 0]
    assert pairs[0].second == "The mill was built after the bridge."
    assert pairs[0].first.startswith("What was built first?; The mill was built before the bridge.")


def test_a_label_of_the_whole_answer_says_nothing_of_one_sentence_of_several() -> None:
    whole = "The mill is old. It has 40 rooms."
    assert labels(row(whole, whole, "begin", whole=True)) == []
    assert labels(row("It has 40 rooms.", "", "begin", whole=True)) == [0]


def test_sentences_with_no_trusted_label_make_no_pairs() -> None:
    answer = "It has 40 rooms. It is lovely."
    assert labels(row(answer, ignored=((17, 30),))) == [0]


def test_held_out_rows_make_no_pairs_and_caps_hold() -> None:
    rows = [
        DetectorRow(f"Fact {n}. {CONTEXT}", "", "It has 40 rooms.", (), "prose clean", key=f"Fact {n}. {CONTEXT}")
        for n in range(300)
    ]
    kept = [made for made in rows if not is_held_out(made)]
    assert 0 < len(kept) < 300
    assert len(relation_pairs(rows, random.Random(1), {"prose": 1000})) == len(kept)
    assert len(relation_pairs(rows, random.Random(1), {"prose": 20})) == 20
    assert relation_pairs(rows, random.Random(1), {"records": 20}) == []
