"""What the relation check found, from request to result: beside a model, after one that failed, and explained."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest

from support.tiny_models import copy_model, encoder
from vsr_hallucination.config.schema import DetectionSettings
from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.checker import DetectorChecker
from vsr_hallucination.detection.embedded import ModelMetadata
from vsr_hallucination.detection.explainer import Explainer, ExplainerLimits
from vsr_hallucination.detection.labels import nli_ids
from vsr_hallucination.detection.spans import SpanLimits
from vsr_hallucination.detection.token_classification import TokenClassification
from vsr_hallucination.detection.types import (
    CheckRequest,
    DetectorIdentity,
    Grounding,
    NliLabel,
    Passage,
    Reason,
    Span,
)

FACT = "The lift at the north gate is in service."
TURNED = "The lift at the north gate is not in service."
EXPLANATION = f"Turned into its opposite: the answer says “not”, the evidence says “is in”: “{FACT}” ($.b)"
Model = Callable[[Sequence[Row]], Sequence[Floats]]


def crash(rows: Sequence[Row]) -> Sequence[Floats]:
    raise MemoryError("boom")


def marks(first: int, last: int) -> Model:
    """Marks the answer's tokens ``first`` to ``last`` (exclusive)."""

    def model(rows: Sequence[Row]) -> Sequence[Floats]:
        out = []
        for row in rows:
            answer = np.flatnonzero(row.types != 0)
            scores = np.tile(np.array([0.99, 0.01], dtype=np.float32), (len(row.ids), 1))
            scores[answer[first:last]] = [0.01, 0.99]
            out.append(scores)
        return out

    return model


def entails(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.array([0.99, 0.005, 0.005], dtype=np.float32) for _ in rows]


@asynccontextmanager
async def checker(model: Model = copy_model, **settings: bool) -> AsyncIterator[DetectorChecker]:
    backend = TokenClassification(
        identity=DetectorIdentity("hand", "token_classification"),
        metadata=ModelMetadata("detector", scripts=("Latin",)),
        encoder=encoder(96),
        batcher=Batcher(model, name="detector", queue_limit=8, batch_tokens=4096),
        supported=[0],
        labels=2,
        limits=SpanLimits(0.8, 0.6, 2),
        max_windows=8,
    )
    explainer = Explainer(
        encoder=encoder(96),
        batcher=Batcher(entails, name="explainer", queue_limit=8, batch_tokens=4096),
        labels=nli_ids(((0, "entailment"), (1, "neutral"), (2, "contradiction"))),
        classes=3,
        limits=ExplainerLimits(filtering=True, entailment=0.9),
    )
    made = DetectorChecker(backend, DetectionSettings(**settings), explainer=explainer)
    try:
        yield made
    finally:
        await made.aclose()


def asked(answer: str = TURNED, explain: bool = False) -> CheckRequest:
    return CheckRequest(
        question="Is the lift in service?",
        grounding=Grounding((Passage(FACT, "$.b"),)),
        answer=answer,
        deadline=20.0,
        explain=explain,
    )


async def spans(request: CheckRequest, model: Model = copy_model, **settings: bool) -> tuple[Span, ...]:
    async with checker(model, **settings) as made:
        result = await made.check(request)
    assert result.detection is not None
    return result.detection.spans


@pytest.mark.parametrize("model", [marks(0, 0), crash])
async def test_a_turned_negation_is_a_span_of_its_own_tier_whatever_the_model_does(model: Model) -> None:
    (span,) = await spans(asked(), model)
    assert (span.tier, span.text, span.confidence) == ("relation_check", "not", 0.85)
    assert span.evidence is not None
    assert (span.evidence.path, span.evidence.text) == ("$.b", FACT)
    assert span.explanation == EXPLANATION


async def test_a_right_answer_has_none() -> None:
    assert await spans(asked(FACT), marks(0, 0)) == ()


async def test_switched_off_it_finds_nothing() -> None:
    assert await spans(asked(), marks(0, 0), relation_check=False) == ()


async def test_a_failed_model_is_still_reported() -> None:
    async with checker(crash) as made:
        result = await made.check(asked())
        without = await made.check(asked(FACT))
    assert result.failure is not None
    assert result.failure.reason is Reason.DETECTOR_FAILED
    assert without.detection is None


async def test_an_entailment_neither_drops_it_nor_changes_its_explanation() -> None:
    (span,) = await spans(asked(explain=True), marks(0, 0))
    assert (span.tier, span.nli_label, span.explanation) == ("relation_check", NliLabel.ENTAILMENT, EXPLANATION)


async def test_a_longer_span_of_the_model_takes_its_place_and_its_explanation() -> None:
    (span,) = await spans(asked(), marks(0, 40))
    assert (span.tier, span.text) == ("model", TURNED.rstrip("."))
    assert span.explanation == EXPLANATION
    assert span.evidence is not None
    assert span.evidence.path == "$.b"


async def test_nor_does_an_entailment_drop_the_span_that_took_its_place() -> None:
    (span,) = await spans(asked(explain=True), marks(0, 40))
    assert (span.tier, span.nli_label, span.explanation) == ("model", NliLabel.ENTAILMENT, EXPLANATION)
    assert await spans(asked(explain=True), marks(0, 40), relation_check=False) == ()
