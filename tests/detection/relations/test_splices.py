"""A clause made of two of the evidence's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vsr_hallucination.detection.relations.reading import Sentence
from vsr_hallucination.detection.relations.splices import spliced

Reading = Callable[..., Sentence]
OWNERS = "Alice owns the billing service. Bob owns the search service."


@pytest.mark.parametrize(
    ("evidence", "answer", "said"),
    [
        (OWNERS, "Alice owns the search service.", "Alice owns the search service"),
        (OWNERS, "According to the text, Bob owns the billing service.", "Bob owns the billing service"),
        ("Port 80 is closed and port 443 is open.", "Port 80 is open.", "Port 80 is open"),
        ("Port 80 is closed and port 443 is open.", "Port 443 is open and port 80 is open.", "port 80 is open"),
        ("The build passed on Linux but failed on Windows.", "The build failed on Linux.", "The build failed on Linux"),
        ("Sales rose in May and fell in June.", "Sales fell in May and rose in June.", "Sales fell in May"),
        ("Basic plan users get email support. Pro plan users get phone support.",
         "Basic plan users get phone support.", "Basic plan users get phone support"),
        ("Admins can delete projects. Editors can rename projects.", "Editors can delete projects.",
         "Editors can delete projects"),
        ("The dose for adults is 20 mg and for children 10 mg.", "The dose for children is 20 mg.",
         "The dose for children is 20 mg"),
        ("The red cable is 5 m long and the blue cable 7 m long.", "The blue cable is 5 m long.",
         "The blue cable is 5 m long"),
        ("Service A calls the cache; Service B calls the queue.", "Service B calls the cache.",
         "Service B calls the cache"),
    ],
)  # fmt: skip
def test_what_one_does_and_another_is_told_of(reading: Reading, evidence: str, answer: str, said: str) -> None:
    found = spliced(reading(evidence, answer))
    assert found is not None and answer[found.start : found.end] == said
    assert found.kind == "elsewhere" and found.evidence.text and found.told


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (OWNERS, "Alice owns the billing service."),
        (OWNERS, "Bob owns the search service and Alice owns the billing service."),
        (OWNERS + " Alice also owns the search service.", "Alice owns the search service."),
        (OWNERS + " Alice and Bob share both.", "Alice owns the search service."),
        (OWNERS + " Alice leads Bob's team.", "Alice owns the search service."),
        ("Dolphins are mammals. Mammals are animals.", "Dolphins are animals."),
        ("Marie Curie won a prize in physics. The scientist won a prize in chemistry.",
         "Marie Curie won a prize in chemistry."),
        ("Curie won the physics prize. Marie Curie won the chemistry prize.", "Curie won the chemistry prize."),
        ("Ann Reed leads the lab. She leads the board.", "Ann Reed leads the board."),
        ("Basic plan users get email support. Pro plan users get phone and email support.",
         "Pro plan users get email support."),
        ("Port 80 is closed and port 443 is open.", "Port 443 is open."),
        ("Port 80 is open. Is port 443 open?", "Port 443 is open."),
        ("The build passed on Linux but failed on Windows.", "It failed on Windows, and passed on Linux."),
        ("The plan includes a phone. The plan includes a laptop.", "The plan includes a laptop."),
        ("Samuel Clemens wrote a novel. Mark Twain wrote a memoir. Mark Twain was his pen name.",
         "Samuel Clemens wrote a memoir."),
        ("name: Alice\nteam: billing\nname: Bob\nteam: search", "Alice is on billing."),
    ],
)  # fmt: skip
def test_what_the_evidence_says_or_may_say(reading: Reading, evidence: str, answer: str) -> None:
    assert spliced(reading(evidence, answer)) is None


def test_what_the_question_takes_for_granted_is_no_splice(reading: Reading) -> None:
    answer = "Alice owns the search service."
    assert spliced(reading(OWNERS, answer, "Since when does Alice own the search service?")) is None
    assert spliced(reading(OWNERS, answer, "Who owns the search service?")) is not None
