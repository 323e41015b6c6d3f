"""Faults in grounded answers: what is marked is what changed."""

from __future__ import annotations

import random

from training import faults
from training.faults import Neighbour
from vsr_hallucination.detection.encoding import EvidenceWords

SENTENCE = "The bridge over the river Tarn was opened in 2004 and is 2,460 metres long."
EVIDENCE = EvidenceWords.from_texts([SENTENCE])


def test_sentences_join_back_to_the_text() -> None:
    text = "One. Two has 3.5 m!  Three?\n- four\n\nFive"
    parts = faults.split_sentences(text)
    assert "".join(sentence + separator for sentence, separator in parts) == text
    assert [s for s, _ in parts] == ["One.", "Two has 3.5 m!", "Three?", "- four", "Five"]


def test_foreign_content_is_not_in_the_evidence() -> None:
    neighbours = [
        Neighbour((SENTENCE, "Its architect Norman Foster chose slender concrete piers for it."), ("Foster",))
    ]
    found = {faults.foreign_sentence(random.Random(s), EVIDENCE, neighbours, ("Tarn",)) for s in range(20)} - {None}
    assert found and all("concrete piers" in str(text) for text in found)


def test_withheld_evidence_takes_out_what_supports_one_sentence_only() -> None:
    context = (
        "The bridge crosses the river Tarn near the town. Norman Foster was its architect and chose slender piers. "
        "Traffic has grown every summer. The toll pays for maintenance of the road."
    )
    answer = [
        ("It crosses the river Tarn near the town.", " "),
        ("The architect Norman Foster chose slender piers.", ""),
    ]
    for seed in range(10):
        found = faults.withhold(random.Random(seed), context, answer)
        assert found is not None
        left, index = found
        gone, kept = ("Foster", "Tarn") if index == 1 else ("Tarn", "Foster")
        assert gone not in left and kept in left


def test_reformatted_values_read_the_same() -> None:
    text = "It sold 12,500 pieces, 31 % more, in 7 towns and 120000 homes."
    evidence = EvidenceWords.from_texts([text])
    for seed in range(20):
        other = faults.reformat_values(random.Random(seed), text)
        assert not any(word.novel for word in evidence.words(other)), other
