"""Fewer bits where they pay: same answers, and float32 again where a model does not stand them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vsr_hallucination.detection import loading
from vsr_hallucination.detection.loading import load
from vsr_hallucination.detection.precision import TOLERANCE, narrow


@pytest.mark.parametrize("pays", [True, False])
def test_a_model_is_narrowed_where_it_pays(detector_dir: Path, monkeypatch: pytest.MonkeyPatch, pays: bool) -> None:
    monkeypatch.setattr(loading, "bfloat16_pays", lambda: pays)
    exact, loaded = load(str(detector_dir), "detector", exact=True), load(str(detector_dir), "detector")
    assert (exact.precision, loaded.precision) == ("float32", "bfloat16" if pays else "float32")
    text = loaded.encoder.tokens("depot shipped many crates").ids
    # Of two lengths, so that padding takes part.
    rows = [loaded.encoder.pair(text, text[:n], [2] * n) for n in (1, 4)]
    for one, other in zip(exact.run(rows), loaded.run(rows), strict=True):
        assert one.shape == other.shape
        assert float(np.abs(one - other).max()) < TOLERANCE


def test_a_model_that_moves_too_far_is_loaded_anew(detector_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "bfloat16_pays", lambda: True)
    monkeypatch.setattr("vsr_hallucination.detection.precision.TOLERANCE", -1.0)
    exact, loaded = load(str(detector_dir), "detector", exact=True), load(str(detector_dir), "detector")
    assert loaded.precision == "float32"
    row = loaded.encoder.single(loaded.encoder.tokens("depot").ids)
    assert np.array_equal(loaded.run([row])[0], exact.run([row])[0])


@pytest.mark.parametrize("after", [float("nan"), 0.9])
def test_what_it_says_afterwards_decides(after: float) -> None:
    import torch

    said = iter([0.1, after])
    network = torch.nn.Linear(2, 2)
    assert not narrow(network, lambda: [np.array([next(said)], dtype=np.float32)], 10_000)


def test_an_operation_that_does_not_exist_is_no_error() -> None:
    import torch

    asked = 0

    def run() -> list[np.ndarray]:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise NotImplementedError("no such kernel for BFloat16")
        return [np.zeros(1, dtype=np.float32)]

    assert not narrow(torch.nn.Linear(2, 2), run, 10_000)
