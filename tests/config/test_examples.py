"""The shipped examples load without a word, and the tour's one routes by the words it names."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from vsr_hallucination.config import loads
from vsr_hallucination.config.addresses import is_loopback
from vsr_hallucination.config.schema import Action, HallucinationPlugin
from vsr_hallucination.detection.types import CheckFailure, GateResult, Reason
from vsr_hallucination.routing.decisions import select
from vsr_hallucination.routing.signals import request_signals

DEMO = resources.files("vsr_hallucination").joinpath("examples/demo.yaml").read_text(encoding="utf-8")
MINIMAL = (Path(__file__).parents[2] / "vsr_hallucination/examples/minimal.yaml").read_text(encoding="utf-8")
FAILED = GateResult(False, None, CheckFailure(Reason.FACT_CHECK_FAILED))


@pytest.mark.parametrize("text", [DEMO, MINIMAL], ids=["demo", "minimal"])
def test_examples_are_clean(text: str) -> None:
    loaded = loads(text, environment={})
    recipe = loaded.config.recipes[0]
    assert loaded.warnings == ()
    assert {recipe.detector.model, recipe.fact_check.model, recipe.explainer.model} == {"embedded"}
    assert loaded.config.replay.url is None and is_loopback(loaded.config.filter.admin.listen)


def test_the_minimal_one_is_ten_lines_at_most() -> None:
    assert len([line for line in MINIMAL.splitlines() if line and not line.startswith("#")]) <= 10


@pytest.mark.parametrize(
    ("prompt", "gate", "action"),
    [
        ("How many crates did depot K7 ship?", GateResult(True, 0.9), Action.HEADER),
        ("For the audit: how many crates?", GateResult(True, 0.9), Action.BLOCK),
        ("For the Newsletter: how many crates?", GateResult(True, 0.9), Action.BODY),
        ("为审计准备：发了多少箱？", GateResult(True, 0.9), Action.BLOCK),
        ("A newsletter poem", GateResult(False, 0.1), Action.HEADER),
        ("The newsletter and the audit", FAILED, Action.BLOCK),
        ("The newsletter", FAILED, Action.BODY),
        ("auditory newsletters", FAILED, Action.HEADER),
    ],
)
def test_the_tours_policy_is_chosen_by_words(prompt: str, gate: GateResult, action: Action) -> None:
    recipe = loads(DEMO).config.recipes[0]
    decision = select(recipe, request_signals(recipe, prompt, gate))
    assert decision is not None and isinstance(decision.plugin, HallucinationPlugin)
    assert decision.plugin.enabled and decision.plugin.hallucination_action is action
    assert decision.plugin.include_hallucination_details is (action is not Action.BLOCK)
