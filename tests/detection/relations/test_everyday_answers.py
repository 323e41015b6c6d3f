"""Sentences as people answer: right ones that turn a line's words round, and wrong ones that look like it."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.reading import Turned, read_sentence
from vsr_hallucination.detection.relations.wording import reworded
from vsr_hallucination.detection.types import Grounding, Passage


def turned(evidence: str, sentence: str) -> Turned | None:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    return reworded(read_sentence(index, sentence, "", ()))


RIGHT = [
    ("Refunds are issued within 14 days. Refunds are not issued for digital goods.",
     "Refunds are issued within 14 days, but not for digital goods."),
    ("Refunds are not available for digital goods.", "Refunds are available for physical goods only."),
    ("The API does not support batch requests. It supports streaming requests.",
     "The API supports streaming requests."),
    ("The API does not support batch requests.", "Batch requests are not supported by the API."),
    ("You can't cancel an order after it has shipped.", "You can cancel an order before it has shipped."),
    ("You can cancel an order until it has shipped.", "You cannot cancel an order after it has shipped."),
    ("Orders cannot be cancelled once shipped.", "Orders can only be cancelled before they are shipped."),
    ("Visitors must not enter the lab without a badge.", "Visitors must have a badge to enter the lab."),
    ("Visitors must not enter the lab without a badge.", "Visitors can enter the lab with a badge."),
    ("No employee may share passwords.", "Employees must not share passwords."),
    ("Revenue grew 5% in Q1 but declined 3% in Q2.", "Revenue declined 3% in Q2."),
    ("Revenue grew 5% in Q1 but declined 3% in Q2.", "Revenue first grew and then declined."),
    ("The north tower is taller than the south tower, which is older.",
     "The south tower is older than the north tower."),
    ("The Nile is longer than the Amazon but carries less water.",
     "The Amazon carries more water than the Nile."),
    ("Before 2010 the office was in Rome; after 2010 it was in Paris.",
     "After 2010 the office was in Paris."),
    ("She joined the firm after leaving the army.", "She left the army before joining the firm."),
    ("He was elected mayor before he wrote the book.", "He wrote the book after he was elected mayor."),
    ("The treaty was signed in 1990, after the war had ended.",
     "The war ended before the treaty was signed."),
    ("Wait until the light is green before you press the button.",
     "Press the button after the light turns green."),
    ("Do not press the button before the light is green.", "Press the button only after the light is green."),
    ("Add the eggs first, then the milk, and finally the flour.", "The flour is added last, after the milk."),
    ("The trial may be extended by up to 30 days.", "The trial can be extended by 30 days at most."),
    ("The drug can cause nausea.",
     "Nausea is a possible side effect; the drug always requires a prescription."),
    ("Most users prefer the dark theme.", "Not all users prefer the dark theme."),
    ("All users must verify their email.", "Every user has to verify their email."),
    ("The plan is free for up to 5 users.", "The plan is not free for more than 5 users."),
    ("Support is available on weekdays.", "Support is not available on weekends."),
    ("The store is closed on Sundays.", "The store is not open on Sundays."),
    ("The store is open daily except Sundays.", "The store is not open on Sundays."),
    ("Pets are welcome, except in the dining area.", "Pets are not welcome in the dining area."),
    ("The warranty covers defects but excludes wear.", "The warranty does not cover wear."),
    ("The warranty covers all parts with the exception of the battery.",
     "The warranty does not cover the battery."),
    ("The museum is free for children under 12.", "Children over 12 have to pay."),
    ("Only members can vote.", "Non-members cannot vote."),
    ("Only members can vote.", "People who are not members cannot vote."),
    ("The device is water resistant but not waterproof.",
     "The device is not waterproof, although it is water resistant."),
    ("The new model is lighter and cheaper than the old model.",
     "The old model is heavier and more expensive than the new model."),
    ("The new model is lighter than the old one.", "The old model is heavier."),
    ("Unemployment fell to 4% from 6%.", "Unemployment was higher before: it fell from 6% to 4%."),
    ("The price increased from $5 to $7.", "The price was lower before it increased from $5 to $7."),
    ("Smith defeated Jones in the final.", "Jones lost the final to Smith."),
    ("Smith won the final against Jones.", "Jones lost the final against Smith."),
    ("Team A won 3 games and lost 2 games.", "Team A lost 2 games."),
    ("Is it safe? The cream is not safe for infants.", "The cream is safe for adults."),
    ("The patient was not admitted because the ward was full.",
     "The ward was full, so the patient was not admitted."),
    ("The patient did not have a fever but had a cough.", "The patient had a cough."),
    ("The patient did not have a fever but had a cough.", "The patient had a cough but no fever."),
    ("The company has never missed a payment.", "The company has always made its payments."),
    ("The bridge isn't the oldest in the city.",
     "The bridge is one of the older ones in the city, but not the oldest."),
    ("The update was released in March, not in May.", "The update was released in March."),
    ("Users who do not pay lose access.", "Users lose access if they do not pay."),
    ("Users who do not pay lose access.", "Users who pay keep access."),
    ("I do not think the plan will work, said Reed.", "Reed said he doubted the plan will work."),
    ("The committee did not reject the plan.", "The committee accepted the plan."),
    ("Sales are not expected to fall this year.", "Sales are expected to hold this year."),
    ("Exports rose while imports fell.", "Imports fell while exports rose."),
    ("Gold is more expensive than silver.", "Silver is less expensive than gold."),
    ("Gold is more expensive than silver.", "Silver is cheaper than gold."),
    ("The tunnel is longer than 5 km.", "The tunnel is over 5 km long."),
    ("It takes less than 10 minutes.", "It takes under 10 minutes."),
    ("At least one parent must sign.", "One or more parents must sign."),
    ("Passengers may bring one bag. Passengers may not bring liquids.",
     "Passengers may bring one bag, and may not bring liquids."),
    ("The left lane is closed. The right lane is open.", "The right lane is open."),
    ("The left lane is closed. The right lane is open.", "The right lane is not closed."),
    ("Server A is up. Server B is down.", "Server B is down."),
    ("Plan Basic: storage 5 GB, no support. Plan Pro: storage 50 GB, support included.",
     "Plan Pro has support included."),
    ("The first phase ended in May. The second phase began in June.", "The second phase began in June."),
    ("The last train leaves at 11. The first train leaves at 5.", "The first train leaves at 5."),
    ("The meeting was moved from Monday to Tuesday.", "The meeting is now on Tuesday."),
    ("Ann moved from Rome to Oslo. She returned to Rome in 2020.", "Ann is in Rome now."),
    ("The largest office is in Berlin and the smallest is in Bonn.",
     "The smallest office is in Bonn, and the largest is in Berlin."),
    ("The oldest member is Kim and the youngest is Lee.", "Lee is younger than Kim."),
]  # fmt: skip
WRONG = [
    ("Refunds are not available for digital goods.", "Refunds are available for digital goods."),
    ("The API does not support batch requests.", "The API supports batch requests."),
    ("Visitors must wear a badge in the lab.", "Visitors do not need to wear a badge in the lab."),
    ("The warranty covers defects but excludes wear.", "The warranty covers wear."),
    ("The warranty covers defects and theft, excluding water damage.",
     "Water damage is covered by the warranty."),
    ("Pets are not permitted in the dining area.", "Pets are permitted in the dining area."),
    ("The treaty was signed after the war had ended.", "The treaty was signed before the war had ended."),
    ("She joined the firm after leaving the army.", "She joined the firm before leaving the army."),
    ("The drug may cause nausea in some patients.", "The drug always causes nausea."),
    ("The drug may cause nausea.", "The drug will certainly cause nausea."),
    ("Unemployment fell to 4% in May.", "Unemployment rose to 4% in May."),
    ("Gold is more expensive than silver.", "Silver is more expensive than gold."),
    ("Gold is more expensive than silver.", "Gold is less expensive than silver."),
    ("The largest office is in Berlin and the smallest is in Bonn.", "The largest office is in Bonn."),
    ("The museum is open on Sundays.", "The museum is closed on Sundays."),
    ("The update is mandatory for all users.", "The update is optional for all users."),
    ("The office relocated from Rome to Oslo in 2019.", "The office is currently in Rome."),
    ("Most of the staff work from home.", "All of the staff work from home."),
    ("The company has never missed a payment.", "The company has missed a payment."),
    ("Password resets usually take 5 minutes.", "Password resets always take 5 minutes."),
    ("Employees should report incidents within a day.", "Employees need not report incidents within a day."),
    ("The device is not waterproof.", "The device is waterproof."),
    ("You can cancel an order until it has shipped.", "You can cancel an order after it has shipped."),
    ("The patient had no fever.", "The patient had a fever."),
    ("The patient did not have a fever but had a cough.", "The patient had a fever."),
    ("The server is unavailable on Mondays.", "The server is available on Mondays."),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "sentence"), RIGHT)
def test_right_answers_are_left_alone(evidence: str, sentence: str) -> None:
    assert turned(evidence, sentence) is None


@pytest.mark.parametrize(("evidence", "sentence"), WRONG)
def test_wrong_answers_are_found(evidence: str, sentence: str) -> None:
    found = turned(evidence, sentence)
    assert found is not None
    assert sentence[found.start : found.end].strip() == sentence[found.start : found.end] != ""
    assert len(found.said) <= 80 and len(found.told) <= 80
