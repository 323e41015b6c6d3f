"""Projections: worked by hand against the router's documentation of partitions, scores and mappings."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from vsr_hallucination.config import loads
from vsr_hallucination.config.projection_schema import (
    Band,
    Mapping,
    MappingMethod,
    Partition,
    Projections,
    Score,
    ScoreInput,
    ValueSource,
)
from vsr_hallucination.detection.types import CheckFailure, GateResult, Reason
from vsr_hallucination.routing.decisions import select
from vsr_hallucination.routing.projections import project
from vsr_hallucination.routing.signals import request_signals

CONFIGS = Path(__file__).parents[1] / "configs"
K, L, M = ("keyword", "k"), ("keyword", "l"), ("keyword", "m")
BANDS = (Band("low", lt=0.3), Band("middle", gte=0.3, lt=0.7), Band("high", gte=0.7))


def outputs(score: float, mapping: Mapping) -> dict[str, float]:
    """What a mapping emits for a score of that value."""
    step = Score("s", (ScoreInput("keyword", "k", score),))
    found = project(Projections(steps=(step, mapping)), {K: 1.0})
    return {name: confidence for (family, name), confidence in found.items() if family == "projection"}


def test_nothing_to_project_leaves_the_signals_as_they_are() -> None:
    signals = {K: 1.0}
    assert project(Projections(), signals) is signals


@pytest.mark.parametrize(
    ("item", "value"),
    [
        (ScoreInput("keyword", "k", 0.5), 0.5),
        (ScoreInput("keyword", "l", 0.5), 0.0),
        (ScoreInput("keyword", "l", 0.5, miss=-1.0), -0.5),
        (ScoreInput("keyword", "k", 2.0, match=0.25, miss=9.0), 0.5),
        (ScoreInput("keyword", "k", 0.5, ValueSource.CONFIDENCE), 0.4),
        (ScoreInput("keyword", "l", 0.5, ValueSource.CONFIDENCE, miss=7.0), 0.0),
        (ScoreInput("keyword", "k", -0.5), -0.5),
    ],
)
def test_an_input_counts_weight_times_value(item: ScoreInput, value: float) -> None:
    exact = Band("exact", gte=value - 1e-9, lte=value + 1e-9)
    steps = (Score("s", (item,)), Mapping("m", "s", (exact,)))
    assert ("projection", "exact") in project(Projections(steps=steps), {K: 0.8})


@pytest.mark.parametrize(("score", "name"), [(-5, "low"), (0.299, "low"), (0.3, "middle"), (0.7, "high"), (99, "high")])
def test_the_first_band_that_holds_the_score_is_emitted(score: float, name: str) -> None:
    assert list(outputs(score, Mapping("m", "s", BANDS))) == [name]


def test_no_band_no_output() -> None:
    assert outputs(0.5, Mapping("m", "s", (Band("high", gt=0.5), Band("low", lt=0.5)))) == {}


def test_overlapping_bands_by_method() -> None:
    bands = (Band("any"), Band("wide", gte=0.0, lte=1.0), Band("narrow", gte=0.4, lte=0.6))
    assert list(outputs(0.5, Mapping("m", "s", bands))) == ["any"]
    assert list(outputs(0.5, Mapping("m", "s", bands, MappingMethod.MULTI_EMIT))) == ["any", "wide", "narrow"]
    assert list(outputs(0.5, Mapping("m", "s", bands, MappingMethod.TOP_K, top_k=2))) == ["wide", "narrow"]
    assert len(outputs(0.5, Mapping("m", "s", bands, MappingMethod.TOP_K))) == 3


def test_confidence_is_the_logistic_of_the_distance_to_the_nearest_edge() -> None:
    assert outputs(0.3, Mapping("m", "s", BANDS)) == {"middle": 0.5}
    assert outputs(0.6, Mapping("m", "s", BANDS, slope=10)) == {"middle": pytest.approx(1 / (1 + math.exp(-1.0)))}
    assert outputs(0.5, Mapping("m", "s", (Band("any"),), slope=2)) == {"any": pytest.approx(1 / (1 + math.exp(-2)))}
    assert outputs(1e9, Mapping("m", "s", BANDS, slope=1e6)) == {"high": 1.0}


def test_scores_read_scores_and_outputs() -> None:
    steps = (
        Score("s", (ScoreInput("keyword", "k", 0.9),)),
        Mapping("m", "s", BANDS),
        Score(
            "t",
            (
                ScoreInput("projection", "s", 2.0, ValueSource.SCORE),
                ScoreInput("projection", "high", 1.0, ValueSource.BINARY),
                ScoreInput("projection", "low", 8.0, ValueSource.CONFIDENCE),
            ),
        ),
        Mapping("n", "t", (Band("sum", gte=2.79, lte=2.81),)),
    )
    assert ("projection", "sum") in project(Projections(steps=steps), {K: 1.0})


def test_a_partition_leaves_the_surest_member() -> None:
    kept = Partition("p", "keyword", ("m", "l", "k"), "m")
    assert project(Projections((kept,)), {K: 0.9, L: 0.6, ("keyword", "other"): 1.0}) == {
        K: 0.9,
        ("keyword", "other"): 1.0,
    }
    assert project(Projections((kept,)), {K: 1.0, L: 1.0}) == {L: 1.0}, "the first named among equals"


def test_a_partition_falls_back_to_its_default() -> None:
    assert project(Projections((Partition("p", "keyword", ("k", "m"), "m"),)), {L: 1.0}) == {L: 1.0, M: 0.0}
    assert project(Projections((Partition("p", "keyword", ("k", "m")),)), {L: 1.0}) == {L: 1.0}


def test_softmax_makes_the_winners_confidence_its_share() -> None:
    soft = Projections((Partition("p", "keyword", ("k", "l"), "k", temperature=0.1),))
    assert project(soft, {K: 0.9, L: 0.8}) == {K: pytest.approx(1 / (1 + math.exp(-1.0)))}
    assert project(soft, {L: 0.8}) == {L: 0.8}, "no contest, no change"


@pytest.mark.parametrize(
    ("prompt", "gate", "decision"),
    [
        ("an invoice", GateResult(True, 0.9), None),
        ("the contract, now", GateResult(True, 0.9), "careful"),
        ("the contract, now", GateResult(False, 0.1), "hasty"),
        ("the contract, not yet", GateResult(True, 0.7), None),
        ("the contract and the invoice, now", GateResult(False, 0.1), "hasty"),
        ("now", GateResult(False, 0.1), None),
        ("the contract, now", GateResult(False, None, CheckFailure(Reason.FACT_CHECK_FAILED)), "hasty"),
    ],
)
def test_decisions_are_selected_over_projections(prompt: str, gate: GateResult, decision: str | None) -> None:
    text = (CONFIGS / "valid" / "projections_evaluated.yaml").read_text("utf-8")
    recipe = loads(text).config.recipes[0]
    found = select(recipe, request_signals(recipe, prompt, gate))
    assert (found.name if found is not None else None) == decision


def test_a_partition_of_the_routers_own_families_is_left_to_it() -> None:
    text = """
routing:
  signals:
    hallucination: [{name: a}]
    keywords: [{name: law, keywords: [contract]}]
    domains: [{name: law}, {name: money}]
  projections: {partitions: [{name: p, semantics: exclusive, members: [law, money], default: law}]}
"""
    recipe = loads(text).config.recipes[0]
    assert recipe.projections == Projections()
    assert request_signals(recipe, "nothing of the kind", None) == {}
