"""Generated passages: right answers say nothing new, wrong ones are marked, no slot is left open."""

from __future__ import annotations

import random
import re

import pytest

from training import prose
from training.detector_data import balanced, prose_row
from training.detector_rows import DetectorRow

REQUIRED = {
    "number", "number words", "percentage", "range", "currency", "date", "duration", "name", "place", "unit",
    "negation",
    "modality", "comparison", "order", "roles", "attribution", "condition", "elsewhere",
}  # fmt: skip


def test_every_kind_of_fault_is_there() -> None:
    assert set(prose.KINDS) >= REQUIRED


@pytest.mark.parametrize("kind", prose.KINDS)
def test_a_wrong_statement_marks_what_is_wrong_and_differs_from_the_right_one(kind: str) -> None:
    for seed in range(25):
        fact = prose.statement(random.Random(seed), kind)
        assert not re.search(r"[{}]", fact.told + fact.said + fact.ask + "".join(text for _, text in fact.wrong))
        for found, text in fact.wrong:
            assert found == kind
            assert text.count(prose.OPEN) == text.count(prose.CLOSE) > 0
            assert text.replace(prose.OPEN, "").replace(prose.CLOSE, "") != fact.said


def test_every_wrong_statement_is_right_about_another_passage() -> None:
    for family in prose.FAMILIES:
        for fault in family.wrong:
            assert bool(fault.swap) != bool(fault.told), fault
            drawn = family.draw(random.Random(3))
            assert set(fault.swap.replace("/", " ").split()) <= set(drawn)
            assert all(drawn[one] != drawn[two] for one, two in (pair.split("/") for pair in fault.swap.split()))
            if fault.swap:
                told = [prose.fill(text, drawn) for text in family.told]
                assert told != [prose.fill(text, fault.exchanged(drawn)) for text in family.told]


def test_words_alone_do_not_tell_a_wrong_statement_from_a_right_one() -> None:
    for seed in range(60):
        made = prose.statement(random.Random(seed))
        told = {made.told, *made.made_true}
        for at, (_, wording) in enumerate(made.wrong):
            assert made.made_true[at] != made.told, wording
        right = {made.right(random.Random(i)) for i in range(40)}
        assert {sentence for sentence, _ in right} <= told
        assert {said for _, said in right} & {prose.unmarked(wording) for _, wording in made.wrong}


def test_a_row_marks_its_fault_and_a_clean_row_nothing() -> None:
    for seed in range(40):
        faulty, clean = prose_row(random.Random(seed), "roles"), prose_row(random.Random(seed))
        [(start, end)] = faulty.spans
        assert faulty.answer[start:end].strip() == faulty.answer[start:end] != ""
        assert not clean.spans
        assert prose.OPEN not in faulty.answer + clean.answer


def test_after_balancing_no_length_is_more_common_among_faulty_answers() -> None:
    rng = random.Random(1)
    rows = [DetectorRow("e", "q", "word " * rng.randint(1, 9), (), "made clean") for _ in range(300)]
    rows += [DetectorRow("e", "q", "word " * rng.randint(5, 30), ((0, 4),), "made number") for _ in range(300)]
    kept = balanced(rows, rng)
    short = [row for row in kept if 30 <= len(row.answer) < 60]
    assert sum(bool(row.spans) for row in short) == sum(not row.spans for row in short) > 0


def test_no_statement_has_an_open_place() -> None:
    rng = random.Random(8)
    for _ in range(4000):
        made = prose.statement(rng)
        texts = (made.told, made.said, made.ask, *(wording for _, wording in made.wrong))
        assert not any("{" in text or "}" in text for text in texts), made
