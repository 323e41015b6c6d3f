from __future__ import annotations

import pytest

from vsr_hallucination.detection.relations.conditions import unconditioned

_FAULTS = [
    # said of every case
    ("Members may use the pool only if they have paid the fee.", "Members can use the pool at any time.",
     "can use the pool at any time"),
    ("Guests must leave by noon unless the manager agrees.", "Guests must leave by noon in every case.",
     "must leave by noon in every case"),
    ("Unless notice is given, tenants cannot park overnight.", "Tenants are always allowed to park overnight.",
     "always"),
    ("Employees must sign the form within 5 days, except where a union agreement exists.",
     "Everyone must sign the form within 5 days.", "Everyone"),
    ("The engines were air-cooled until the 996 series arrived in 1998.",
     "The engines were air-cooled without exception.", "were air-cooled without exception"),
    # another condition
    ("Visitors may bring a dog, provided that it is on a lead.", "Visitors can bring a dog if a guard agrees.",
     "if a guard agrees"),
    # cut off where the condition began
    ("The permit is valid for two years only if the vehicle passes inspection.", "The permit is valid for two years.",
     "valid for two years"),
    ("The court may extend the order for six months unless the parties object in writing.",
     "Based on the passage, the court may extend the order for six months.", "order for six months"),
]  # fmt: skip
_CLEAN = [
    ("Members may use the pool only if they have paid the fee.", "Members can use the pool if they have paid the fee."),
    ("Members may use the pool only if they have paid the fee.", "Members who have paid the fee may use the pool."),
    # plain words of a summary, another order, a line that says it of all
    ("When it rains, the stadium closes its roof for the match.", "The stadium closes its roof."),
    ("Unless notice is given, tenants cannot park overnight.", "Tenants can park overnight if notice is given."),
    ("Guests must leave by noon unless the manager agrees. Guests must leave by noon in every case during the fair.",
     "Guests must leave by noon in every case."),
    ("Everyone must sign the form within 5 days.", "Everyone must sign the form within 5 days."),
    ("The castle fell into ruins, destroying the treasures inside; only Gurgi saved several scrolls.",
     "The castle fell into ruins, destroying the treasures inside."),
    ("The permit is valid for two years only if the car passes inspection. The permit in Ohio is valid for two years.",
     "In Ohio the permit is valid for two years."),
    ("Les membres peuvent nager seulement si la taxe est payée.", "Les membres peuvent nager always."),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "sentence", "span"), _FAULTS)
def test_a_condition_that_is_lost_is_found(reading, evidence, sentence, span):
    found = unconditioned(reading(evidence, sentence))
    assert found is not None and found.kind == "condition"
    assert span in sentence[found.start : found.end]
    assert found.evidence.text in evidence


@pytest.mark.parametrize(("evidence", "sentence"), _CLEAN)
def test_what_keeps_its_condition_is_left_alone(reading, evidence, sentence):
    assert unconditioned(reading(evidence, sentence)) is None
