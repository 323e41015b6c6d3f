"""How long two times of the evidence lie apart, and values that are not new though their figures are."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.encoding import EvidenceWords, spare
from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.types import Grounding, Passage
from vsr_hallucination.detection.value_check import ValueFindings, check_values

OUTAGE = "At 14:02 UTC the API returned errors. It was resolved at 14:47 by rotating the certificate."
STAY = "Check-in is on 3 May 2026, check-out on 17 May 2026."
NIGHT = "The night train leaves at 22:30 and arrives at 06:00."
LEASE = "The lease runs from March 2024 to September 2025."


def findings(evidence: str, answer: str) -> ValueFindings:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    return check_values(answer, "", ValueSet.build((evidence,)), index)


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (OUTAGE, "It lasted 45 minutes."),
        (OUTAGE, "It lasted about 50 minutes."),
        (NIGHT, "The ride takes 7.5 hours."),
        (NIGHT, "The ride takes 450 minutes."),
        (STAY, "You stay for 14 nights."),
        (STAY, "You stay for two weeks."),
        (STAY, "You stay for 15 days."),
        (LEASE, "The lease runs for 18 months."),
        ("Ordered on 28 December, delivered on 30 December.", "It took 2 days."),
    ],
)
def test_what_lies_between_two_times_is_right(evidence: str, answer: str) -> None:
    assert findings(evidence, answer).flagged == ()


@pytest.mark.parametrize(
    ("evidence", "answer", "wrong"),
    [
        (OUTAGE, "It lasted 90 minutes.", "90"),
        (OUTAGE, "It lasted about 90 minutes.", "90"),
        (NIGHT, "The ride takes 9 hours.", "9"),
        (STAY, "You stay for 16 nights.", "16"),
        (STAY, "You stay for 45 days.", "45"),
        (LEASE, "The lease runs for 25 months.", "25"),
        (" ".join(f"{hour}:{past:02}" for hour in range(6, 12) for past in (0, 7, 31)), "It takes 44 minutes.", "44"),
    ],
)  # fmt: skip
def test_what_does_not_is_flagged(evidence: str, answer: str, wrong: str) -> None:
    found = findings(evidence, answer).flagged
    assert [answer[one.start : one.end].split()[0] for one in found] == [wrong]


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [('{"humidity": 0.61}', "The humidity is 61 %."), (OUTAGE, "It lasted 45 minutes."), (STAY, "14 nights.")],
)
def test_a_value_that_is_said_otherwise_is_no_new_word(evidence: str, answer: str) -> None:
    words = EvidenceWords.from_texts([evidence]).words(answer)
    figure = next(n for n, word in enumerate(words) if answer[word.start].isdigit())
    assert words[figure].novel
    spared = spare(words, findings(evidence, answer).confirmed)
    assert not spared[figure].novel
    assert [word.novel for n, word in enumerate(spared) if n != figure] == [
        word.novel for n, word in enumerate(words) if n != figure
    ]


@pytest.mark.parametrize(("evidence", "answer"), [("wind: NW", "from the northwest"), ("to the southeast", "SE")])
def test_points_of_the_compass_are_known_by_their_letters(evidence: str, answer: str) -> None:
    known = EvidenceWords.from_texts([evidence])
    assert not known.novel(answer.split()[-1])
    assert EvidenceWords.from_texts(["ne pas"]).novel("northeast")


def test_the_dates_of_the_evidence_are_gone_through_once_for_all_values() -> None:
    class Counted(set):  # type: ignore[type-arg]
        times = 0

        def __iter__(self):  # type: ignore[no-untyped-def]
            Counted.times += 1
            return super().__iter__()

    evidence = "\n".join(f"{1900 + n}-05-17" for n in range(40))
    known = ValueSet.build((evidence,))
    known.dates = Counted(known.dates)
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    check_values(" ".join(f"It took {n} days, or {n} months." for n in range(3, 203)), "", known, index)
    assert Counted.times <= 4
