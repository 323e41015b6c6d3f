"""The gate: its score, windows of long prompts, thresholds, labels, failures that say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from support import tiny_models
from vsr_hallucination.config.schema import DetectionSettings, FactCheckSettings
from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.fact_check import MAX_WINDOWS, FactCheckGate
from vsr_hallucination.detection.factory import make_gate
from vsr_hallucination.detection.language import Reader
from vsr_hallucination.detection.types import Reason

ENCODER = tiny_models.encoder(32)
(HOW,) = ENCODER.tokens("how").ids


def looks_for_how(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.array([0.1, 0.9] if HOW in r.ids.tolist() else [0.9, 0.1], dtype=np.float32) for r in rows]


def gate(
    model: Callable[[Sequence[Row]], Sequence[Floats]] = looks_for_how,
    threshold: float = 0.6,
    reader: Reader | None = None,
) -> FactCheckGate:
    batcher = Batcher(model, name="fact_check", queue_limit=8, batch_tokens=4096)
    return FactCheckGate(
        encoder=ENCODER, batcher=batcher, needs=(1,), classes=2, threshold=threshold, reader=reader
    )


@pytest.mark.parametrize("prompt", ["how many", "town " * 500 + "how many", "how many " + "town " * 500])
async def test_a_question_anywhere_in_a_long_prompt_counts(prompt: str) -> None:
    result = await gate().classify(prompt, 5)
    assert result.needs_fact_check
    assert result.score == pytest.approx(0.9)


async def test_d13_a_no_carries_its_score() -> None:
    result = await gate().classify("thanks", 5)
    assert (result.needs_fact_check, result.score, result.failure) == (False, pytest.approx(0.1), None)


@pytest.mark.parametrize("prompt", ["Wie viele Kisten hat das Lager im Mai verschickt?", "仓库五月份发货了多少箱？"])
async def test_a_prompt_it_cannot_read_needs_grounding(prompt: str) -> None:
    reader = Reader.of(["Latin"], ["en"], ENCODER.unknown_id)
    result = await gate(reader=reader).classify(prompt, 5)
    assert (result.needs_fact_check, result.score, result.failure) == (True, None, None)
    assert not (await gate(reader=reader).classify("thanks", 5)).needs_fact_check


async def test_a_huge_prompt_costs_a_bounded_number_of_windows() -> None:
    seen: list[int] = []

    def model(rows: Sequence[Row]) -> Sequence[Floats]:
        seen.append(len(rows))
        return looks_for_how(rows)

    assert (await gate(model).classify("town " * 400_000 + "how", 20)).needs_fact_check
    assert sum(seen) <= MAX_WINDOWS


async def test_an_empty_prompt_makes_no_claim() -> None:
    assert (await gate().classify("  \n", 5)).score == 0.0


def crash(rows: Sequence[Row]) -> Sequence[Floats]:
    raise RuntimeError("boom")


def nan(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.full(2, np.nan, dtype=np.float32) for _ in rows]


@pytest.mark.parametrize("model", [crash, nan])
async def test_failures_are_failures(model: Callable[[Sequence[Row]], Sequence[Floats]]) -> None:
    result = await gate(model).classify("how", 5)
    assert result.score is None
    assert result.failure is not None
    assert result.failure.reason is Reason.FACT_CHECK_FAILED
    with pytest.raises(Exception, match=r"fact_check|probabilities"):
        await gate(model).probe()


async def test_no_time_is_a_failure() -> None:
    assert (await gate().classify("how", 0)).failure is not None


async def test_a_directory_serves_and_the_file_sets_the_threshold(gate_dir: Path) -> None:
    made = make_gate(FactCheckSettings(model=str(gate_dir)), DetectionSettings())
    try:
        await made.probe()
        yes, no = await made.classify("how", 5), await made.classify("town", 5)
        assert yes.score is not None
        assert no.score is not None
        assert yes.score > no.score
    finally:
        await made.aclose()
