"""The generated checks that speed is measured with."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tokenizers import Tokenizer

from vsr_hallucination.bench.check_speed import SEED, TOKENS, check_speed, pairs
from vsr_hallucination.bench.measures import QUICK, Size
from vsr_hallucination.detection.embedded import embedded_dir


def test_generated_checks_are_of_the_size_they_say_and_drawn_by_seed() -> None:
    made = list(pairs(5))
    tokenizer = Tokenizer.from_file(str(embedded_dir("detector") / "tokenizer.json"))
    tokenizer.no_truncation()
    for one in made:
        text = "\n".join((one.question, one.answer, one.grounding.passages[0].text))
        assert abs(len(tokenizer.encode(text).ids) - TOKENS) < 40
    assert made == list(pairs(5)) == list(pairs(5, SEED)) != list(pairs(5, SEED + 1))
    assert len({one.answer for one in made}) == 5


async def test_the_rows_tell_the_ratio_and_the_share_of_same_states() -> None:
    assert Size().speed_checks >= 200 > QUICK.speed_checks
    ratio, same = await check_speed({}, replace(QUICK, speed_checks=2))
    assert "times as fast as float32" in ratio.name and ratio.facts.keys() == {"ours_ms", "float32_ms"}
    assert ratio.value == pytest.approx(ratio.facts["float32_ms"] / ratio.facts["ours_ms"])
    assert "same state" in same.name and same.value in (0, 0.5, 1)
    assert (same.facts["checks"], same.facts["seed"]) == (2, SEED)
