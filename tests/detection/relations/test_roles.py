from __future__ import annotations

import pytest

from vsr_hallucination.detection.relations.roles import exchanged

_FAULTS = [
    # converse verbs, either voice
    ("Orion Labs acquired Nordwind in 2007.", "Orion Labs was bought by Nordwind."),
    ("Orion Labs acquired Nordwind in 2007.", "Nordwind bought Orion Labs in 2007."),
    ("In the final of 2003, Acme lost to Tidewater.", "Acme won against Tidewater in 2003."),
    ("In the final of 2003, Acme lost to Tidewater.", "The final was won by Acme."),
    ("Ann Bell gave the medal to Carl Dean in 1999.", "Ann Bell got the medal from Carl Dean."),
    ("In 1999 Carl Dean was given the medal by Ann Bell.", "It was Carl Dean who gave the medal to Ann Bell."),
    ("Heavy rain led to a strike at the port.", "Heavy rain was caused by a strike at the port."),
    ("A software error brought about new safety rules.", "The reason for a software error was new safety rules."),
    ("In 1954, Silverline left Ghent for Toronto.", "Silverline went from Toronto to Ghent."),
    ("In 1954, Silverline left Ghent for Toronto.", "Until 1954, Silverline was in Toronto."),
    ("Mary Ames designed the Willow tower, with money from Paul Reed.",
     "Mary Ames financed the Willow tower, which Paul Reed had designed."),
    ("French cuisine was heavily influenced by Italian cuisine.", "Italian cuisine was influenced by French cuisine."),
    # copies with two names swapped
    ("The Mongols destroyed all major cities of Eastern Europe with the exceptions of Novgorod.",
     "The Mongols destroyed all major cities of Novgorod with the exceptions of Eastern Europe."),
    ("In 1920 Poland signed the treaty that Lithuania had refused.",
     "In 1920 Lithuania signed the treaty that Poland had refused."),
]  # fmt: skip
_CLEAN = [
    # the same in another voice, with another verb, in another order
    ("Orion Labs acquired Nordwind in 2007.", "Nordwind was bought by Orion Labs."),
    ("Orion Labs acquired Nordwind in 2007.", "In 2007, Nordwind was taken over by Orion Labs."),
    ("In the final of 2003, Acme lost to Tidewater.", "Tidewater won against Acme."),
    ("Ann Bell gave the medal to Carl Dean in 1999.", "Carl Dean received the medal from Ann Bell."),
    ("Heavy rain led to a strike at the port.", "The strike at the port was the result of heavy rain."),
    ("In 1954, Silverline left Ghent for Toronto.", "Until 1954, Silverline was in Ghent."),
    ("The plans of the Willow tower are by Mary Ames. Paul Reed financed the work.",
     "Paul Reed financed the Willow tower, which Mary Ames had designed."),
    # relations without a direction
    ("Ann Bell married Carl Dean in 1999.", "Carl Dean married Ann Bell in 1999."),
    ("Texas borders Oklahoma in the north.", "Oklahoma borders Texas in the north."),
    ("The treaty was signed by Spain and Portugal.", "The treaty was signed by Portugal and Spain."),
    # a line says it this way as well
    ("Acme beat Tidewater in 2003. Tidewater beat Acme in 2004.", "Tidewater beat Acme."),
    # a noun, a pronoun, a title
    ("She hands the award to Novak Reed. Princess Charlene smiled.",
     "Princess Charlene presented Novak Reed with an award."),
    ("The Legend is a story by American author Washington Irving.",
     "The author of The Legend, Washington Irving, was American."),
    ("Sounds of varying intensity are presented to the child.",
     "Tests watch reactions to sounds presented to the child."),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "sentence"), _FAULTS)
def test_exchanged_parties_are_found(reading, evidence, sentence):
    found = exchanged(reading(evidence, sentence))
    assert found is not None
    assert 0 <= found.start < found.end <= len(sentence)
    assert found.told and found.evidence.text in evidence


@pytest.mark.parametrize(("evidence", "sentence"), _CLEAN)
def test_the_same_from_the_other_end_is_left_alone(reading, evidence, sentence):
    assert exchanged(reading(evidence, sentence)) is None
