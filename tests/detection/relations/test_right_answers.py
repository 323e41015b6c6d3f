"""Right answers that looked turned to a rule, by kind of fault, and wrong ones of the same build that still count."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.check import check_relations
from vsr_hallucination.detection.types import Grounding, Passage


def flagged(evidence: str, answer: str) -> list[str]:
    index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
    return [turned.kind for turned in check_relations(answer, "", index)]


DENIED_IN_OTHER_WORDS = [
    ("The plan is no longer available to new customers.", "The plan is not available to new customers."),
    ("The API no longer supports XML.", "The API does not support XML."),
    ("The API does not support XML.", "The API no longer supports XML."),
    ("The API has dropped support for XML.", "The API does not support XML."),
    ("The header is missing from the file.", "The file has no header."),
    ("Smoking is prohibited in the lab.", "You must not smoke in the lab."),
    ("Nobody may smoke in the lab.", "Smoking in the lab is banned."),
    ("You may not smoke in the lab.", "You must not smoke in the lab."),
    ("You do not have to install the update.", "You needn't install the update."),
    ("Most police services are regional bodies and do not have to pay VAT.",
     "Most police services are regional bodies and don't have to pay VAT."),
    ("The warranty covers everything but misuse.", "The warranty does not cover misuse."),
    ("By default, the feature is not on.", "The feature is off by default."),
    ("The feature is not enabled by default.", "The feature has to be enabled."),
    ("You can replace the butter with coconut oil, but the cake will be less moist.",
     "The butter can be replaced with coconut oil, though the cake will not be as moist."),
    ("The cake keeps for three days; with icing, it must be refrigerated.",
     "Without icing it does not need to be refrigerated."),
    ("The company has not confirmed the report.", "The company did not deny the report."),
    ("Data loss: none.", "There was no data loss."),
]  # fmt: skip
NO_DENIAL = [
    ("Rochester is right on the shores, isn't it?", "Rochester is right on the shores."),
    ("Life, unlike the book, is not a series of morality fables.", "The book is a series of morality fables."),
    ("The band is not known for its music, more so for its comedy.", "The band is known for its comedy."),
    ("The net benefit is initially positive, whether or not we adjust for the wage premium.",
     "The initial net benefit is positive, with or without wage premiums."),
    ("Puerto Rico (Spanish for 'rich port') is an island and an unincorporated territory.",
     "No, Puerto Rico is not a US state."),
    ("It is made with rice, and usually some type of meat (chicken, beef), or in some cases without any meat.",
     "It is made with rice, and usually some type of meat, or in some cases without any meat."),
    ("Carl says Jack should follow his heart when choosing Ireland or England.",
     "Carl says Jack must follow his heart."),
]  # fmt: skip
DENIED_OF_ANOTHER = [
    ("Analysts at Rowe expect profit to recover in 2024; analysts at Tamm do not.",
     "Analysts disagree: Rowe's expect it to recover in 2024, Tamm's do not."),
    ("For adults, the drug is safe. Children should not take the drug.", "For children, the drug isn't safe."),
    ("For adults, the drug is safe. The drug is unsafe for children.", "The drug is not safe for children."),
    ("The museum is open from Tuesday to Sunday.", "On Mondays the museum is not open."),
    ("The museum is open daily but not on Mondays.", "On Mondays the museum is not open."),
    ("The road is closed to trucks but open to cars.", "The road is not closed to cars."),
    ("The reactor was shut down because of a leak, not because of the storm.",
     "The reactor was not shut down because of the storm but because of a leak."),
    ("The first edition was printed in Oslo, the second in Turin.",
     "The second edition was not printed in Oslo but in Turin."),
    ("The second edition was printed in Turin and the first in Oslo.",
     "The first edition was printed in Oslo, the second in Turin."),
    ("Eggs are safe if cooked, but raw eggs are not.", "Eggs are unsafe if they are not cooked."),
    ("Raw eggs are not safe, but cooked ones are.", "Eggs are safe as long as they are cooked."),
    ("The basic plan is cheaper than the premium plan.", "The premium plan isn't cheaper than the basic plan."),
    ("Replicas may lag behind the primary. A replica is never ahead of the primary.",
     "The primary does not lag behind replicas."),
    ("Version 2 is stable, but version 3 is in beta.", "Version 3 is in beta and not yet stable."),
    ("Team B used no consultant. Unlike it, Team A had one.", "Team A used a consultant."),
    ("The bug does not affect versions earlier than 1.4.", "The bug affects version 1.4 but no earlier version."),
    ("The tenant pays for heating.", "The tenant, not the landlord, pays for heating."),
    ("The landlord doesn't pay for heating, the tenant does.", "The tenant pays for heating."),
    ("Two of five samples were contaminated.", "Of the five samples, two were contaminated and three were not."),
    ("The witness recognised the suspect.", "The suspect did not recognise the witness."),
    ("The witness recognised the suspect.", "The witness was not recognised by the suspect."),
    ("Ada and Ben married in 1999 and divorced in 2007.", "Ada and Ben are no longer married."),
    ("Some plans include support and others don't.", "Some plans do not include support."),
    ("In 2019 sales rose to 40 million. In 2020, sales decreased to 31 million.", "After 2019 sales fell."),
]  # fmt: skip
CONDITIONS = [
    ("She spent most of her life in a wheelchair and could only eat through a tube until her death in 2011.",
     "Spent most of her life in a wheelchair and could only eat through a tube."),
    ("2) Use a different algorithm: If the current one cannot capture the patterns, it may be necessary.",
     "- Use a different algorithm"),
    ("A quiet afternoon for the Belgian, but still provided a telling contribution for the winner.",
     "The Belgian had a quiet afternoon but provided assist for the winner."),
    ("'The film will be made no matter what,' she says.", "'The film will be made no matter what,' she says."),
    ("Open the sound recorder, if necessary (click Start).", "Open the sound recorder."),
    ("They all believed they were involved with a man living in the same state - only to find out otherwise.",
     "They all believed they were involved with a man living in the same state."),
]  # fmt: skip
NAMES = [
    ("In the 1990s the original Nobø factory was closed down and the area is now a housing estate.",
     "In the 1990s the original Nobo factory was closed down and the area is now a housing estate."),
    ("In the 1960's top bowlers made twice as much as top football stars.",
     "In the 1960s top bowlers made twice as much as top football stars."),
    ("The win means Rangers and Hibs remain level on 61 points. Hibernian won.",
     "The win means Rangers and Hibernian remain level on 61 points."),
    ("title: Bicycle Thieves\nDirected by: Vittorio De Sica\nScreenplay by: Vittorio De Sica, Cesare Zavattini",
     "Bicycle Thieves Directed by Vittorio De Sica"),
    ("Heidi Klum is 41. Stars including Halle Berry, Gwen Stefani, Cindy Crawford and Naomi Campbell all have figures "
     "that would not look out of place on a 25 year old.",
     "Gwen Stefani, Heidi Klum and Naomi Campbell have figures of 25 year olds."),
    ("Graham Cluley, senior security researcher at Sophos, said the research was \"interesting and cute\" but may "
     "introduce other problems.",
     "Graham Cluley said the research was \"interesting and cute\" but may introduce other problems."),
    ("His mother Ora Mae died in 1943, when he was just 12 years old. He had no record of his mother, who died when "
     "he was just 13.", "His mother Orae Mae died in 1943, when he was just 13."),
]  # fmt: skip
HALVES = [
    ("The returning of Hong Kong from the United Kingdom in 1997 and of Macau from Portugal in 1999 were landmarks.",
     "The returning of Hong Kong and Macau"),
    ("The Western Ghats extend from the Satpura Range in the north, stretching from Gujarat to Tamil Nadu.",
     "Western Ghats extends from Gujarat"),
    ("The English championship became the first competition in 1876 and the International Cross Country "
     "Championships was held in 1903.", "cross country has been around since 1876."),
    ("The Basic plan does not include SSO. The Pro plan has SSO.", "SSO is included in the Pro plan."),
    ("2019 saw a rise in sales to 40 million. In 2020 sales fell to 31 million.", "Sales did not rise in 2020."),
]  # fmt: skip
ROLES = [
    ("Bruce Nodwell, OC (May 12, 1914 – January 20, 2006) was a Canadian inventor who invented the Nodwell 110.",
     "Bruce Nodwell invented the Nodwell 110."),
    ("He established the base within Iranian Kurdistan in Nawkhan and another one in Iraqi Kurdistan in Qandil.",
     "He established a base in Nawkhan and another one in Qandil in Iraqi Kurdistan."),
    ("He reads out the names of Mats Hummels, Nathaniel Clyne, Paul Pogba, Gareth Bale and Memphis Depay.",
     "He reads out the names of Mats Hummels, Gareth Bale, Paul Pogba, Nathaniel Clyne and Memphis Depay."),
    ("Acme bought Bolt from Crane in 2010.", "In 2010, Acme acquired Bolt, which Crane had owned."),
    ("France won the match against Italy. Italy did not lose to Spain.", "Italy won the match against Spain."),
]  # fmt: skip
SPEAKERS = [
    ("Usain Bolt is a Jamaican sprinter. Bolt insists that when he is fully fit he is almost impossible to beat.",
     "But Jamaican insists when he is fit he is almost impossible to beat."),
    ("The Education Secretary was asked. The senior Tory said she would question whether she was happy to serve.",
     "Education Secretary suggests she would not be happy to serve."),
    ("AG Barr said sales rose. Chief executive Roger White said AG Barr had made considerable progress in volatile "
     "market conditions.", "AG Barr has said it has made considerable progress in volatile market conditions."),
]  # fmt: skip
WRONG = [
    ("The plan is no longer available to new customers.", "The plan is available to new customers.", "negation"),
    ("The API does not support XML.", "The API supports XML.", "negation"),
    ("XML is not supported by the API.", "The API supports XML.", "negation"),
    ("You must install the update.", "You do not have to install the update.", "modality"),
    ("Employees should report incidents within a day.", "Employees must report incidents within a day.", "modality"),
    ("The museum is open from Tuesday to Sunday.", "The museum is not open from Tuesday to Sunday.", "negation"),
    ("The feature is not enabled by default.", "The feature is enabled by default.", "negation"),
    ("The road is closed to trucks.", "The road is not closed to trucks.", "negation"),
    ("The first edition was printed in Oslo.", "The second edition was printed in Oslo.", "order"),
    ("The card can be used abroad until it is blocked.", "The card can be used abroad.", "condition"),
    ("Items are delivered for free provided the order is over 50 euros.",
     "Items are delivered for free in every case.", "condition"),
    ("Norway has 58 sites in the north and Sweden has 11 sites in the south.",
     "Norway has 11 sites in the north.", "elsewhere"),
    ("Acme bought Bolt from Crane in 2010.", "Crane bought Bolt from Acme in 2010.", "roles"),
    ("Rivera argued that the dam would flood the valley; Okafor argued that it would save the town.",
     "Okafor argued that the dam would flood the valley.", "attribution"),
]  # fmt: skip
RIGHT = {
    "denied in other words": DENIED_IN_OTHER_WORDS,
    "no denial": NO_DENIAL,
    "denied of another": DENIED_OF_ANOTHER,
    "conditions": CONDITIONS,
    "names": NAMES,
    "halves": HALVES,
    "roles": ROLES,
    "speakers": SPEAKERS,
}


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [pytest.param(*pair, id=f"{kind}: {pair[1][:60]}") for kind, pairs in RIGHT.items() for pair in pairs],
)
def test_a_right_answer_is_not_flagged(evidence: str, answer: str) -> None:
    assert flagged(evidence, answer) == []


@pytest.mark.parametrize(("evidence", "answer", "kind"), WRONG)
def test_its_wrong_counterpart_is(evidence: str, answer: str, kind: str) -> None:
    assert flagged(evidence, answer) == [kind]
