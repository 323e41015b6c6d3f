"""What is kept to some, given to all or taken from them; what is told of somebody's kin."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vsr_hallucination.detection.relations.exclusive import unbounded
from vsr_hallucination.detection.relations.reading import Sentence

Reading = Callable[..., Sentence]


@pytest.mark.parametrize(
    ("evidence", "answer", "kind", "said", "told"),
    [
        ("Only admins can delete projects.", "Anyone can delete projects.", "condition", "Anyone", "admins"),
        ("Projects can only be deleted by team leads.", "Projects can be deleted by anyone.", "condition", "anyone",
         "team leads"),
        ("Only admins can delete projects.", "Admins cannot delete projects.", "negation", "cannot",
         "admins can delete projects"),
        ("Maria's sister lives in Porto.", "Maria lives in Porto.", "attribution", "Maria", "Maria's sister"),
        ("Ann Reed's elder brother founded the lab.", "Reed founded the lab.", "attribution", "Reed",
         "Ann Reed's elder brother"),
    ],
)  # fmt: skip
def test_who_it_holds_for(reading: Reading, evidence: str, answer: str, kind: str, said: str, told: str) -> None:
    found = unbounded(reading(evidence, answer))
    assert found is not None
    assert (found.kind, found.said, found.told) == (kind, said, told)


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("Only admins can delete projects.", "Admins can delete projects."),
        ("Only admins can delete projects.", "Not everyone can delete projects."),
        ("Only admins can delete projects.", "Guests cannot delete projects."),
        ("Only admins can delete projects. In a sandbox anyone can delete projects.", "Anyone can delete projects."),
        ("Anyone can delete projects.", "Anyone can delete projects."),
        ("Only three people came.", "Everyone came."),
        ("Maria's sister Ana lives in Porto.", "Ana lives in Porto."),
        ("Maria's sister lives in Porto. Maria lives in Porto too.", "Maria lives in Porto."),
        ("Acme's revenue grew by a tenth last year.", "Acme grew by a tenth last year."),
    ],
)
def test_what_the_evidence_says(reading: Reading, evidence: str, answer: str) -> None:
    assert unbounded(reading(evidence, answer)) is None
