"""The generated checks that speed is measured with."""

from __future__ import annotations

from tokenizers import Tokenizer

from vsr_hallucination.bench.check_speed import TOKENS, pairs
from vsr_hallucination.detection.embedded import embedded_dir


def test_generated_checks_are_of_the_size_they_say_and_drawn_by_seed() -> None:
    made = list(pairs(5))
    tokenizer = Tokenizer.from_file(str(embedded_dir("detector") / "tokenizer.json"))
    tokenizer.no_truncation()
    for one in made:
        text = "\n".join((one.question, one.answer, one.grounding.passages[0].text))
        assert abs(len(tokenizer.encode(text).ids) - TOKENS) < 40
    assert made == list(pairs(5))
    assert len({one.answer for one in made}) == 5
