"""Generated tool results: labels must be exact, or the detector learns noise."""

from __future__ import annotations

import json
import random
import re

import pytest

from training.records import Text, as_read, make
from training.values import draw, wrong, wrong_number
from vsr_hallucination.detection.encoding import EvidenceWords


def rows(fault: str, count: int = 150) -> list:  # type: ignore[type-arg]
    rng = random.Random(fault)
    return [made for made in (make(rng, fault) for _ in range(count)) if made.fault == fault]


def test_the_same_seed_gives_the_same_rows() -> None:
    assert [make(random.Random(4)) for _ in range(3)] == [make(random.Random(4)) for _ in range(3)]


def test_spans_are_inside_the_answer_without_outer_blanks() -> None:
    for made in rows("value") + rows("swap") + rows("invented"):
        assert made.spans
        for start, end in made.spans:
            text = made.answer[start:end]
            assert 0 <= start < end <= len(made.answer) and text == text.strip()


def test_clean_answers_hold_no_number_the_record_lacks() -> None:
    for made in rows("clean"):
        if re.search(r"\d,\d", made.context):
            continue  # CSV: `19,120` is two cells or one number, nobody can say
        evidence = EvidenceWords.from_texts([made.context, made.question])
        answer = made.answer.replace(" out of 5", "")
        lost = [answer[w.start : w.end] for w in evidence.words(answer) if w.novel]
        assert not [word for word in lost if word[0].isdigit()], (made.context, made.answer)


def test_a_swapped_value_is_in_the_evidence_and_a_changed_one_mostly_is_not() -> None:
    def novel(fault: str) -> float:
        found = []
        for made in rows(fault):
            evidence = EvidenceWords.from_texts([made.context, made.question])
            words = [w for w in evidence.words(made.answer) if any(a <= w.start < b for a, b in made.spans)]
            found.append(any(w.novel for w in words))
        return sum(found) / len(found)

    assert novel("swap") < 0.35 < 0.8 < novel("value")


def test_the_acceptance_example_is_not_generated() -> None:
    rng = random.Random(1)
    for _ in range(400):
        made = make(rng)
        text = (made.context + made.question + made.answer).lower()
        assert "depot" not in text and "crate" not in text


@pytest.mark.parametrize("value", [7, 412, 9500, 0.5, 12.4, -14, 90000])
def test_a_wrong_number_is_another_of_the_same_sign_and_kind(value: float) -> None:
    rng = random.Random(2)
    for _ in range(200):
        other = wrong_number(rng, value)
        assert other != value
        assert value < 0 or other > 0


@pytest.mark.parametrize(
    "kind", ["int 1 9000", "money EUR 2 900", "pct 1 99", "date", "person", "word a;b", "version", "time"]
)
def test_wrong_differs_from_what_was_drawn(kind: str) -> None:
    rng = random.Random(3)
    for _ in range(50):
        value = draw(rng, kind)
        assert str(wrong(rng, kind, value)) != str(value)


def test_text_keeps_spans_while_it_is_joined() -> None:
    inner = Text()
    inner.add("was ")
    inner.add(" 479 ", bad=True)
    outer = Text()
    outer.add("It ")
    outer.extend(inner)
    assert [outer.text()[a:b] for a, b in outer.spans] == ["479"]


def test_records_are_read_as_at_run_time() -> None:
    assert as_read([{"hub": "a", "n": 4}]) == "hub: a; n: 4"
    assert json.loads(json.dumps({"a": 1})) == {"a": 1}
