"""Several windows of the evidence, united to one probability a token."""

from __future__ import annotations

import numpy as np
import pytest

from vsr_hallucination.detection import union
from vsr_hallucination.detection.union import unite

ONE = np.zeros(4, dtype=np.int64)


def test_one_window_is_returned_as_it_is() -> None:
    assert unite(np.array([[0.1, 0.9, 0.0, 1.0]]), ONE).tolist() == [0.1, 0.9, 0.0, 1.0]


def test_each_sentence_is_held_to_the_window_that_supports_it_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(union, "SHARE", 0.0)
    windows = np.array([[0.1, 0.2, 0.9, 0.8], [0.9, 0.05, 0.1, 0.2]])
    sentence = np.array([3, 3, 7, 7])
    assert unite(windows, sentence).tolist() == pytest.approx([0.1, 0.2, 0.1, 0.2])


def test_a_window_about_something_else_changes_little() -> None:
    supported, doubtful = np.array([0.02, 0.05, 0.6, 0.1]), np.array([0.9, 0.7, 0.4, 0.8])
    alone = unite(supported[None, :], ONE)
    both = unite(np.stack([supported, doubtful]), ONE)
    assert both[[0, 1, 3]].tolist() == pytest.approx(alone[[0, 1, 3]].tolist())
    assert np.minimum(supported, doubtful)[2] < both[2] < alone[2]


def test_the_order_of_windows_does_not_matter_and_extremes_are_kept_apart_from_0_and_1() -> None:
    windows = np.random.default_rng(1).random((5, 40))
    windows[0, :3] = (0.0, 1.0, 0.0)
    sentence = np.repeat(np.arange(4), 10)
    assert unite(windows, sentence).tolist() == pytest.approx(unite(windows[::-1], sentence).tolist())
    assert np.isfinite(unite(windows, sentence)).all()
