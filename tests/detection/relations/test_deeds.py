"""A deed given to another, and parties swapped: what is found, and what must stay clean."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.check import check_relations
from vsr_hallucination.detection.types import Grounding, Passage

OUTAGE = "Anna Weber restarted the gateway. Tom Reed approved the rollback."
TIMED = "Anna Weber restarted the gateway at 09:20. Tom Reed approved the rollback at 09:31."
LOVELACE = "Ada Lovelace wrote the first program. Charles Babbage designed the machine."


def flagged(evidence: str, answer: str, question: str = "") -> list[str]:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    return [answer[found.start : found.end] for found in check_relations(answer, question, index)]


@pytest.mark.parametrize(
    ("evidence", "answer", "marked"),
    [
        (OUTAGE, "Tom Reed restarted the gateway.", "Tom Reed"),
        (OUTAGE, "The page was long. Tom Reed restarted the gateway.", "Tom Reed"),
        (OUTAGE.replace("gateway.", "gateway at 09:20."), "Tom Reed restarted the gateway at 09:20.", "Tom Reed"),
        (OUTAGE.replace("gateway.", "gateway at 09:20."), "Tom Reed restarted the gateway.", "Tom Reed"),
        ("On Monday Anna Weber restarted the gateway. Then Tom Reed approved the rollback.",
         "Tom Reed restarted the gateway.", "Tom Reed"),
        (TIMED, "Tom Reed restarted the gateway at 09:20 and Anna Weber approved the rollback at 09:31.", "Tom Reed"),
        (LOVELACE, "Ada Lovelace designed the machine, and Charles Babbage wrote the first program.", "Ada Lovelace"),
        ("Acme Corp acquired Beta Ltd in 2019. Gamma Inc sold its fleet to Delta Lines.",
         "Gamma Inc acquired Beta Ltd in 2019.", "Gamma Inc"),
        ("Prime Minister Boris Johnson signed the bill. Keir Starmer opposed it.",
         "Keir Starmer signed the bill.", "Keir Starmer"),
    ],
)  # fmt: skip
def test_what_one_did_is_not_what_another_did(evidence: str, answer: str, marked: str) -> None:
    assert any(found.startswith(marked) for found in flagged(evidence, answer))


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("Anna Weber hired Tom Reed.", "Tom Reed hired Anna Weber."),
        ("The supplier paid the agency.", "The agency paid the supplier."),
        ("The supplier paid the agency. The agency paid the driver.", "The agency paid the supplier."),
        ("The nurse called the doctor at noon. The doctor called the family.", "The doctor called the nurse at noon."),
        ("The tenant must inform the landlord before moving out.",
         "The landlord must inform the tenant before moving out."),
        ("Service A calls Service B, which writes to the queue.", "Service B calls Service A."),
        ("Ann Bell paid the new agency.", "The new agency paid Ann Bell."),
    ],
)  # fmt: skip
def test_parties_change_places(evidence: str, answer: str) -> None:
    assert flagged(evidence, answer)


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (OUTAGE, "Anna Weber restarted the gateway."),
        (OUTAGE, "Tom Reed approved the rollback and Anna Weber restarted the gateway."),
        (TIMED, "Anna Weber restarted the gateway at 09:20 and Tom Reed approved the rollback at 09:31."),
        ("Anna Weber and Tom Reed restarted the gateway.", "Tom Reed restarted the gateway."),
        ("Anna Weber restarted the gateway. Later Tom Reed did the same.", "Tom Reed restarted the gateway."),
        ("Anna Weber restarted the gateway. Tom Reed, her deputy, restarted it again.",
         "Tom Reed restarted the gateway."),
        ("Anna Weber restarted the gateway. Tom Reed helped her.", "Anna Weber restarted the gateway."),
        ("Samuel Clemens wrote Tom Sawyer in Hartford. Clemens had the pseudonym Mark Twain.",
         "Mark Twain wrote Tom Sawyer in Hartford."),
        ("Samuel Clemens wrote Tom Sawyer. Mark Twain was his pen name.", "Mark Twain wrote Tom Sawyer."),
        ("Samuel Clemens, known as Mark Twain, wrote the novel.", "Mark Twain wrote the novel."),
        ("The Prime Minister signed the bill. Boris Johnson flew to Kyiv.", "Boris Johnson signed the bill."),
        ("Weber restarted the gateway. Anna Weber works in Oslo.", "Anna Weber restarted the gateway."),
        ("The whole crew restarted the gateway. Tom Reed led the crew.", "Tom Reed restarted the gateway."),
    ],
)  # fmt: skip
def test_a_deed_that_may_be_ones_own(evidence: str, answer: str) -> None:
    assert not flagged(evidence, answer)


def test_a_deed_the_question_takes_for_granted() -> None:
    assert not flagged(OUTAGE, "Tom Reed restarted the gateway.", "When did Tom Reed restart the gateway?")


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("The school faces the church.", "The church faces the school."),
        ("The agency was paid by the supplier.", "The supplier paid the agency."),
        ("The road from the harbour to the station is closed.", "The road from the station to the harbour is closed."),
        ("The cat and the dog slept.", "The dog and the cat slept."),
        ("The museum as well as the library is free.", "The library as well as the museum is free."),
        ("The supplier paid the agency. In turn, the agency paid the supplier.", "The agency paid the supplier."),
        ("The nurse met the doctor at noon.", "The doctor met the nurse at noon."),
        ("Die Agentur bezahlt den Lieferanten.", "Den Lieferanten bezahlt die Agentur."),
    ],
)  # fmt: skip
def test_parties_whose_places_say_nothing(evidence: str, answer: str) -> None:
    assert not flagged(evidence, answer)
