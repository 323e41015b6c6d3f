"""Fixtures of the detection room: small model directories, built once a run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support import tiny_models


@pytest.fixture(scope="session")
def detector_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("models") / "detector"
    return tiny_models.novelty_detector(directory, scripts=["Latin"], languages=["en"])


@pytest.fixture(scope="session")
def explainer_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    labels = ["contradiction", "entailment", "neutral"]
    return tiny_models.random_classifier(tmp_path_factory.mktemp("models") / "explainer", labels, "explainer")


@pytest.fixture(scope="session")
def gate_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.word_gate(tmp_path_factory.mktemp("models") / "fact_check", "how")


@pytest.fixture
def hide_package(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes importing a package (and what is under it) fail, whether it is installed or not."""

    def hide(name: str) -> None:
        for loaded in [module for module in sys.modules if module == name or module.startswith(name + ".")]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)

    return hide
