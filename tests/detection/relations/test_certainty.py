"""How sure or how binding a thing is, said at another level."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vsr_hallucination.detection.relations.certainty import said_at_another_level
from vsr_hallucination.detection.relations.reading import Sentence

Reading = Callable[..., Sentence]


@pytest.mark.parametrize(
    ("evidence", "answer", "said", "told"),
    [
        ("It is impossible for it to prevent infections.", "There is a chance that it can prevent infections.",
         "a chance", "impossible"),
        ("In no case was the diet found to lower blood pressure.", "Perhaps the diet lowers blood pressure.", "Perhaps",
         "In no case"),
        ("The coating never fails.", "The coating sometimes fails.", "sometimes", "never"),
        ("Students are free to return an order, it is up to them.", "They must return an order.", "must", "free to"),
        ("The pump could fail in the cold.", "By no means does the pump fail in the cold.", "By no means", "could"),
    ],
)  # fmt: skip
def test_another_level(reading: Reading, evidence: str, answer: str, said: str, told: str) -> None:
    found = said_at_another_level(reading(evidence, answer))
    assert found is not None and (found.kind, found.said, found.told) == ("modality", said, told)


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("The coating never fails.", "The coating never fails."),
        ("The coating never fails.", "The coating does not fail."),
        ("The coating never fails if it is dry.", "The coating sometimes fails."),
        ("The coating never fails. In the north the coating sometimes fails.", "The coating sometimes fails."),
        ("Critics say the coating never fails.", "The coating sometimes fails."),
        ("The pump may fail in the cold.", "The pump sometimes fails in the cold."),
        ("The coating never fails.", "Does the coating sometimes fail?"),
        ("The coating never fails.", "It is not true that the coating sometimes fails."),
        ("Visitors need not pay.", "Visitors must pay elsewhere."),
        ("There are no shares that might come back.", "Those shares will never come back."),
    ],
)
def test_what_may_be_right(reading: Reading, evidence: str, answer: str) -> None:
    assert said_at_another_level(reading(evidence, answer)) is None
