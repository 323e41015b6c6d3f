from __future__ import annotations

import pytest

from vsr_hallucination.detection.relations.attribution import attributed

_DEBATE = "Ann Bell argued that the road was badly built, while Carl Dean held that the road met every standard."
_REPLY = "According to Ann Bell, the forest was recovering; Carl Dean replied that half of the trees were dying."
_STAFF = "Mary Ames became director of Acme Tools in 2002, Paul Reed of Tidewater in 2001."
_TWO = "DHL has 53 letters in the north and 39 in the south."
_FAULTS = [
    (_DEBATE, "Carl Dean said that the road was badly built.", "attribution"),
    (_DEBATE, "In the view of Ann Bell, the road met every standard.", "attribution"),
    (_REPLY, "According to Carl Dean, the forest was recovering.", "attribution"),
    (_REPLY, "Ann Bell thought that half of the trees were dying.", "attribution"),
    # a name or number in another's place
    ("The album features cover art designed by Marvin Israel. It was released by Atlantic Records.",
     "The album features cover art designed by Atlantic Records.", "attribution"),
    ("Her first games were the 2004 Paralympics, where she won a bronze. She retired in 2012.",
     "Her first games were the 2012 Paralympics, where she won a bronze.", "elsewhere"),
    # a name that the evidence has nowhere
    ("The mill in Alton was bought by Acme Tools in 2002 and closed two years later.",
     "The mill in Alton was bought by Harrow Works in 2002.", "attribution"),
    ("Sonova is a group of companies headquartered in Berwick that makes hearing aids.",
     "Sonova is a group of companies headquartered in Lisbon that makes hearing aids.", "elsewhere"),
    # a value of the other half
    (_STAFF, "Paul Reed is the director of Acme Tools.", "elsewhere"),
    (_STAFF, "The director of Tidewater is Mary Ames.", "elsewhere"),
    (_TWO, "There are 39 letters in the north.", "elsewhere"),
    (_TWO, "In the south there are 53, in the north 39.", "elsewhere"),
]  # fmt: skip
_CLEAN = [
    (_DEBATE, "Ann Bell said that the road was badly built."),
    (_DEBATE, "According to Bell, the road was badly built."),
    (_DEBATE, "Ann Bell and Carl Dean disagreed about the road."),
    (_REPLY, "In the view of Carl Dean, half of the trees were dying."),
    (_STAFF, "Mary Ames is the director of Acme Tools."),
    (_STAFF, "Paul Reed became director of Tidewater in 2001."),
    (_TWO, "There are 39 letters in the south."),
    (_TWO, "In the south there are 39, in the north 53."),
    (_TWO, "DHL has 39 letters in the south and 53 in the north."),
    # another spelling of a name, a name that only the question has, one that is known in part
    ("Sonova is a group of companies headquartered in Stäfa that makes hearing aids.",
     "Sonova is a group of companies headquartered in Staefa that makes hearing aids."),
    ("Malard (also known as Malār) is a city in the Central District of the county.",
     "Malārd is a city in the Central District of the county."),
    ("The mill in Alton was bought by Acme Tools in 2002 and closed two years later.",
     "The mill in Alton was bought by Acme Holdings in 2002 and closed two years later."),
    # two names of one, initials, a title, a day of a month
    ("When Berry left the group, he was replaced by Adam Horovitz, known as Ad-Rock.",
     "When Berry left the group, he was replaced by Ad-Rock."),
    ("In some cases the Monetary Authority of Singapore can change the date of its meeting. MAS was founded in 1971.",
     "In some cases the MAS can change the date of its meeting."),
    ("The plan was rejected by Prime Minister after the vote. David Cameron spoke.",
     "The plan was rejected by David Cameron after the vote."),
    ("Henry Bergh was born August 29, 1813, in New York City.", "Henry Bergh was born in 1813."),
    ("In May 2013, Helios was bought by Corvus for 498 million euros.", "Corvus bought Helios in 2013."),
    # another line has it so
    ("Truck drivers in Victoria are dealing drugs by radio. Truck drivers in Melbourne are dealing drugs by radio.",
     "Truck drivers in Melbourne are dealing drugs by radio."),
    # an apposition left out
    ("Luke Harris and Daryl Lee, from Surrey, had their first child three months ago and now await their third baby.",
     "Luke Harris and Daryl Lee had their first child three months ago and now await their third baby."),
    # no name: the first word of a sentence
    ("Police said the rope was tied into a noose at noon. Duke officials met on Monday.",
     "Officials said the rope was tied into a noose at noon."),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "sentence", "kind"), _FAULTS)
def test_what_is_anothers_is_found(reading, evidence, sentence, kind):
    found = attributed(reading(evidence, sentence))
    assert found is not None and found.kind == kind
    assert 0 <= found.start < found.end <= len(sentence)
    assert found.told and found.evidence.text in evidence


@pytest.mark.parametrize(("evidence", "sentence"), _CLEAN)
def test_what_is_rightly_given_is_left_alone(reading, evidence, sentence):
    assert attributed(reading(evidence, sentence)) is None
