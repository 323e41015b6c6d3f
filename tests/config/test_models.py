"""``hallucination_mitigation``: spellings, sparse defaults, references, backends."""

from __future__ import annotations

from pathlib import Path

import pytest

from vsr_hallucination.config import load, loads
from vsr_hallucination.config.schema import (
    DetectorSettings,
    EndpointSettings,
    ExplainerSettings,
    FactCheckSettings,
    Recipe,
)

FOLDER = Path(__file__).parents[1] / "configs" / "valid"


def recipe(name: str, **environment: str) -> Recipe:
    return load(FOLDER / f"{name}.yaml", environment).config.recipes[0]


def with_block(block: str) -> Recipe:
    text = f"""
routing: {{signals: {{hallucination: [{{name: a}}]}}}}
global: {{model_catalog: {{modules: {{hallucination_mitigation: {block}}}}}}}
"""
    return loads(text).config.recipes[0]


def test_both_spellings_mean_the_same() -> None:
    new, old = recipe("both_spellings_new"), recipe("both_spellings_old")
    assert new == old
    assert new.detector == DetectorSettings(model="/models/detector", threshold=0.5)
    assert new.fact_check == FactCheckSettings(model="/models/gate", threshold=0.7)
    assert new.explainer == ExplainerSettings(model="/models/nli", threshold=0.95)


def test_global_is_sparse_over_the_defaults() -> None:
    made = with_block("{detector: {min_span_length: 3}}")
    assert made.detector == DetectorSettings(min_span_length=3)
    assert made.detector.threshold is None  # from the model directory, else the documented default
    assert (made.fact_check, made.explainer) == (FactCheckSettings(), ExplainerSettings())


def test_embedded_models_are_the_default_and_a_word() -> None:
    words = "{detector: {model_id: embedded}, fact_check: {model_id: embedded}, explainer: {model_id: embedded}}"
    assert with_block(words) == with_block("{}")


def test_references_resolve_through_the_system_models() -> None:
    made = recipe("model_ref")
    assert (made.detector.model, made.fact_check.model, made.explainer.model) == (
        "models/ours",
        "embedded",
        "models/explainer",
    )
    assert made.explainer.threshold == 0.8
    assert recipe("model_id_wins").detector.model == "models/by-id"


def test_candle_is_token_classification() -> None:
    assert recipe("backend_candle").detector == DetectorSettings(min_span_length=1, min_span_confidence=0.0)


def test_endpoint_backend() -> None:
    plain = recipe("backend_endpoint").detector
    assert (plain.backend, plain.model) == ("endpoint", "lettucedect-v2")
    assert plain.endpoint == EndpointSettings("http://127.0.0.1:8077/v1", "lettucedect-v2")
    assert recipe("backend_endpoint_block", DETECTOR_KEY="k3y").detector.endpoint == EndpointSettings(
        "https://detector.internal/v1", "lettucedect-v2", "k3y", 2.5, 256 << 10, "lettucedetect", 512
    )


@pytest.mark.parametrize("low_high", [("0", "1"), ("0.0", "1.0"), ("1e-3", "0x1")])
def test_the_ends_of_a_range_belong_to_it(low_high: tuple[str, str]) -> None:
    low, high = low_high
    detector = with_block(f"{{detector: {{threshold: {low}, min_span_confidence: {high}}}}}").detector
    assert detector.threshold in (0.0, 0.001) and detector.min_span_confidence == 1.0
