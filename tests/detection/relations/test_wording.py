"""Words turned round: what must be found, and the near miss that must stay clean."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.reading import Lines, Turned, read_sentence
from vsr_hallucination.detection.relations.wording import reworded
from vsr_hallucination.detection.types import Grounding, Passage


def turned(evidence: str, sentence: str, question: str = "") -> Turned | None:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    return reworded(read_sentence(Lines(index), sentence, question, frozenset(index.terms(question))))


FAULTS = [
    # a copied line with one word turned
    ("negation", "The lift at the north gate is in service.", "The lift at the north gate is not in service.", "not"),
    ("negation", "The lift at the gate is not in service today.", "The lift at the gate is in service today.", "is in"),
    ("negation", "Dogs are allowed on all trams of the city.", "Dogs are allowed on no trams of the city.", "no"),
    ("negation", "Dogs are always allowed on the night trams.", "Dogs are never allowed on the night trams.", "never"),
    ("negation", "It is possible to pay the fine in cash.", "It is impossible to pay the fine in cash.", "impossible"),
    ("negation", "The old road leaves the town to the north.", "The old road leaves the town to the south.", "south"),
    ("negation", "Staff can open the vault at night.", "Staff can't open the vault at night.", "can't"),
    ("negation", "Coffee is served with milk on the upper deck.", "Coffee is served without milk on the upper deck.",
     "without"),
    ("modality", "Guests may leave their bags at the desk.", "Guests must leave their bags at the desk.", "must"),
    ("modality", "Guests must leave their bags at the desk.", "Guests may leave their bags at the desk.", "may"),
    ("modality", "Some of the wells in the valley are dry.", "All of the wells in the valley are dry.", "All"),
    ("modality", "The seal can leak in cold weather at sea.", "The seal will always leak in cold weather at sea.",
     "will always"),
    ("modality", "The crater is about 40 metres deep.", "The crater is exactly 40 metres deep.", "exactly"),
    ("modality", "The study suggests that tea lowers the risk.", "The study proves that tea lowers the risk.",
     "proves"),
    ("comparison", "The upper lake is the second-largest of the region.",
     "The upper lake is the second-smallest of the region.", "second-smallest"),
    ("comparison", "The price of copper rose in the spring.", "The price of copper fell in the spring.", "fell"),
    ("order", "The harbour was dredged before the storm of May.", "The harbour was dredged after the storm of May.",
     "after"),
    ("order", "The line was extended prior to the fair.", "The line was extended following the fair.", "following"),
    ("order", "Ruiz was the first mayor of the new town.", "Ruiz was the third mayor of the new town.", "third"),
    # in other words
    ("negation", "The fee covers towels and lockers, but not lessons.", "The fee includes lessons.",
     "includes lessons"),
    ("negation", "The fee covers towels and lockers, but not lessons.", "Lockers are not included.", "not included"),
    ("negation", "The fee does not cover lessons. It does cover towels and lockers.",
     "The fee does not include towels.",
     "not include"),
    ("negation", "Towels and lockers are covered by the fee; lessons are not.", "The fee includes towels and lessons.",
     "lessons"),
    ("negation", "Unless the gate is locked, visitors cannot leave by the yard.",
     "Visitors cannot leave by the yard if the gate is locked.", "cannot"),
    ("negation", "In March the level of the lake rose by 2 metres.", "The level of the lake did not change in March.",
     "not change"),
    ("modality", "In some cases, the glue can harm the paint.", "The glue is certain to harm the paint.",
     "is certain to"),
    ("modality", "It is possible that the glue will harm the paint.", "In every case, the glue will harm the paint.",
     "In every case"),
    ("modality", "Drivers must renew the badge within 30 days unless they are retired.",
     "Drivers may, but need not, renew the badge within 30 days.", "need not"),
    ("comparison", "The Elbe is longer than the Spree.", "The Spree is longer than the Elbe.", "longer"),
    ("comparison", "Compared with the Spree, the Elbe is longer.", "Of the two, the Elbe is shorter.", "shorter"),
    ("comparison", "The Elbe is longer than the Spree.", "The Elbe is shorter than the Spree.", "shorter"),
    ("comparison", "The deepest of the shafts is in Gera, the shallowest in Jena.",
     "Jena has the deepest of the shafts.",
     "Jena has the deepest"),
    ("comparison", "Rents in Gera went up by 4 percent in 2019.", "In 2019, rents in Gera decreased.", "decreased"),
    ("order", "The roof was tiled after the walls were painted.", "The walls were painted after the roof was tiled.",
     "after the roof was tiled"),
    ("order", "The walls were painted in Gera. Only then, the roof was tiled, and at the end the garden was planted.",
     "First the roof was tiled, then the walls were painted.", "then the walls were painted"),
    ("order", "The walls were painted before the roof was tiled; the garden was planted last of all.",
     "First the garden was planted, and in the end the walls were painted.", "and in the end the walls were painted"),
    ("order", "In 1990, Hill & Co moved from Gera to Jena.", "Hill & Co is in Gera now.", "Gera"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "evidence", "sentence", "shown"), FAULTS)
def test_finds_the_words_that_turn_a_line(kind: str, evidence: str, sentence: str, shown: str) -> None:
    found = turned(evidence, sentence)
    assert found is not None
    assert (found.kind, sentence[found.start : found.end]) == (kind, shown)
    assert found.evidence.text and found.evidence.text in evidence and found.said and found.told


CLEAN = [
    # the same in other words
    ("The Elbe is longer than the Spree.", "The Spree is shorter than the Elbe."),
    ("The Elbe is longer than the Spree.", "Of the two, the Elbe is longer."),
    ("The roof was tiled before the walls were painted.", "The walls were painted after the roof was tiled."),
    ("The roof was tiled before the walls were painted.", "First the roof was tiled, then the walls were painted."),
    ("The board must approve the plan, after which the work starts.",
     "The work starts after the board approves the plan."),
    ("Unless they hold a pass, guests cannot use the sauna.", "As long as they hold a pass, guests may use the sauna."),
    ("Guests may use the sauna only if they hold a pass.", "Guests cannot use the sauna unless they hold a pass."),
    ("The fee covers not only towels but also lockers.", "The fee covers towels and also lockers."),
    ("The meeting drew no fewer than 300 people to the hall.", "The meeting drew at least 300 people to the hall."),
    ("It is not impossible to cross the bay on foot.", "It is possible to cross the bay on foot."),
    ("The glue is safe for use on wet wood.", "The glue is not unsafe for use on wet wood."),
    ("You must not smoke on the upper deck of the ferry.", "You cannot smoke on the upper deck of the ferry."),
    ("The flat has no heating in the winter months.", "The flat does not have any heating in the winter months."),
    ("By four he refused to wear a tie at school.", "By four he wouldn't wear a tie at school."),
    ("The story of the wreck remains to be told.", "The story of the wreck has not been told."),
    ("The fee covers towels, but not lessons.", "You pay extra for lessons."),
    ("Most of the wells in the valley are dry.", "Almost all of the wells in the valley are dry."),
    ("The glue may harm the paint of the car.", "The glue might harm the paint of the car."),
    ("The war began in 1990 and ended in 1995.", "The war ended in 1995."),
    ("Sales rose in 2019 and fell in 2020 at the plant.", "Sales fell in 2020 at the plant."),
    ("The deepest shaft is in Gera, the shallowest in Jena.", "In Jena you find the shallowest one."),
    ("In 1990, Hill & Co moved from Gera to Jena.", "Hill & Co is in Jena now."),
    # not the same, but no contradiction either
    ("Some birds of the island cannot fly.", "The birds of the island can fly far."),
    ("Some people claim that the bridge was safe.", "The bridge was not safe."),
    ("The museum was open in the summer of 2010.", "The museum is not open."),
    ("Enrolment at the school was 400 in the fall of 2015.", "Enrolment at the school rose in 2015."),
    ("The drug may not help older patients.", "The drug can help older patients."),
    ("The officer, who has not been named, was awake at dawn.", "The officer was awake at dawn."),
    ("The man was given life without parole for the killing.", "The man was given life for the killing."),
    ("Winter is the coldest season in the zone (it does not occur in the tropics).", "Winter is the coldest season."),
    ("Sales of the plant in Gera rose in 2019.", "Sales of the plant in Jena fell in 2020."),
    ("Is breakfast not included in the price of the room?", "Breakfast is included in the price of the room."),
    ("The pass is valid on trams of the city.", "Is the pass not valid on trams of the city?"),
    ("Rents in Gera may fall in 2019 and later.", "Rents in Gera rose in 2019."),
    ("The lift is in service on weekdays.", "No, the lift is in service on weekdays."),
    # another line has it as it is said
    ("Plan One includes calls to the islands. Plan Two does not include calls to the islands.",
     "The plan does not include calls to the islands."),
    ("In spring the price of copper rose at the dock. In autumn the price of copper fell at the dock.",
     "The price of copper fell at the dock."),
    ("Guests may leave bags at the desk. Guests must leave bags at the desk at night.",
     "Guests must leave bags at the desk."),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "sentence"), CLEAN)
def test_leaves_the_near_miss_alone(evidence: str, sentence: str) -> None:
    assert turned(evidence, sentence) is None


def test_what_the_question_takes_for_granted_is_no_fault() -> None:
    evidence, sentence = "The price of copper rose at the old dock.", "The price of copper fell at the old dock."
    assert turned(evidence, sentence, "Where did the price fall?") is not None
    assert turned(evidence, sentence, "Why fell the price at the dock?") is None
