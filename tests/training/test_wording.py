"""Judged rows chosen by their words: what only wrong answers say is left out, and labels stay as they were."""

from __future__ import annotations

import random

from training.detector_rows import DetectorRow
from training.wording import alike, suspicion


def rows(count: int, faulty_words: float, clean_words: float) -> list[DetectorRow]:
    """Claims of which those shares say "never", whatever else they say."""
    rng = random.Random(4)
    made = []
    for i in range(count):
        faulty = i % 2 == 0
        never = "never" if rng.random() < (faulty_words if faulty else clean_words) else "often"
        answer = f"It was {never} seen in {rng.choice(('Oslo', 'Bern', 'Riga'))} in {rng.randint(1900, 1930)}."
        made.append(DetectorRow("e", "q", answer, ((0, 5),) if faulty else (), "tables claim", key=f"table {i}"))
    return made


def share_of_never(chosen: list[DetectorRow], faulty: bool) -> float:
    found = ["never" in row.answer for row in chosen if bool(row.spans) == faulty]
    return sum(found) / len(found)


def test_a_word_of_wrong_answers_becomes_as_common_in_right_ones() -> None:
    made = rows(3000, 0.8, 0.3)
    chosen = alike(made, random.Random(1))
    assert abs(share_of_never(chosen, True) - share_of_never(chosen, False)) < 0.1
    assert sum(bool(row.spans) for row in chosen) * 2 == len(chosen) > 1000
    assert {id(row) for row in chosen} <= {id(row) for row in made}


def test_where_words_tell_nothing_most_rows_stay() -> None:
    made = rows(3000, 0.5, 0.5)
    assert len(alike(made, random.Random(1))) > 2400


def test_a_row_is_judged_by_words_of_other_contexts() -> None:
    made = [DetectorRow("e", "q", "same words here", ((0, 4),) if i % 2 else (), "t", key=f"k{i}") for i in range(80)]
    assert max(suspicion(made)) - min(suspicion(made)) < 1.0


def test_rows_of_one_label_have_none_to_stand_beside() -> None:
    made = [row for row in rows(300, 0.5, 0.5) if row.spans]
    assert suspicion(made) == [0.0] * len(made)
    assert alike(made, random.Random(1)) == []
