"""Faults in grounded answers: what is marked is what changed."""

from __future__ import annotations

import random

from training import faults
from training.faults import Neighbour
from vsr_hallucination.detection.encoding import EvidenceWords

SENTENCE = "The bridge over the river Tarn was opened in 2004 and is 2,460 metres long."
EVIDENCE = EvidenceWords.from_texts([SENTENCE])


def without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def test_sentences_join_back_to_the_text() -> None:
    text = "One. Two has 3.5 m!  Three?\n- four\n\nFive"
    parts = faults.split_sentences(text)
    assert "".join(sentence + separator for sentence, separator in parts) == text
    assert [s for s, _ in parts] == ["One.", "Two has 3.5 m!", "Three?", "- four", "Five"]


def test_a_changed_value_is_new_and_marked() -> None:
    for seed in range(60):
        changed = faults.change_value(random.Random(seed), SENTENCE, EVIDENCE)
        assert changed is not None
        [(start, end)] = changed.spans
        assert EVIDENCE.novel(changed.text()[start:end])
        rest = without(changed.text(), changed.spans)
        assert rest in {SENTENCE.replace("2004", ""), SENTENCE.replace("2,460", "")}


def test_a_changed_name_is_marked() -> None:
    changed = faults.change_name(random.Random(1), SENTENCE, EVIDENCE, ["Loire", "Upper Rhine"])
    assert changed is not None
    [(start, end)] = changed.spans
    assert changed.text()[start:end] == "Loire"


def test_a_flip_marks_only_the_flipped_words() -> None:
    for seed in range(30):
        changed = faults.flip(random.Random(seed), "The largest dam was built before the war.")
        assert changed is not None and changed.text() != "The largest dam was built before the war."
        [(start, end)] = changed.spans
        assert changed.text()[start:end] in {"smallest", "after", "was not"}


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
