"""A word whose opposite the evidence says of the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vsr_hallucination.detection.relations.opposed import opposed_word
from vsr_hallucination.detection.relations.reading import Sentence

Reading = Callable[..., Sentence]
MUSEUM = "The museum is open Tuesday to Sunday from 10 to 18. Admission is 12 euros. It is closed on Mondays."


@pytest.mark.parametrize(
    ("evidence", "answer", "said", "told"),
    [
        ("The mayor, who opposed the plan, said she would respect the vote.", "Yes, the mayor supported the plan.",
         "supported", "opposed"),
        ("Swimming is prohibited; fishing requires a permit.", "Yes, swimming is allowed with a permit.", "allowed",
         "prohibited"),
        (MUSEUM, "Yes, it is open on Mondays from 10 to 18.", "open", "closed"),
        ("The deploy failed at noon, and the team went home.", "The deploy succeeded.", "succeeded", "failed"),
    ],
)  # fmt: skip
def test_the_opposite_of_the_same(reading: Reading, evidence: str, answer: str, said: str, told: str) -> None:
    found = opposed_word(reading(evidence, answer))
    assert found is not None and (found.kind, found.said, found.told) == ("negation", said, told)


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (MUSEUM, "The museum is open on Sundays."),
        (MUSEUM, "It is closed on Mondays."),
        ("Swimming was allowed until 2020 and is prohibited now.", "Swimming was allowed."),
        ("The mayor opposed the plan. Later the mayor supported the plan.", "The mayor supported the plan."),
        ("The mayor did not oppose the plan.", "The mayor supported the plan."),
        ("Smoking is prohibited in the lab.", "Smoking is allowed outside."),
        ("The party opposed the bill and supported the amendment.", "The party supported the amendment."),
        ("He failed the first exam.", "He passed the second exam."),
        ("Some users are private.", "Users are public."),
        ("Critics say the test failed.", "The test succeeded."),
        ("The test would fail without a key.", "The test succeeded."),
        ("Ann exports tea to Kenya.", "Kenya imports tea from Ann."),
        ("Swimming is prohibited.", "Is swimming allowed?"),
    ],
)
def test_what_may_be_right(reading: Reading, evidence: str, answer: str) -> None:
    assert opposed_word(reading(evidence, answer)) is None
