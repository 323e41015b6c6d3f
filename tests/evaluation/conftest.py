"""Whole commands, in this process: arguments in, exit code and files out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from support.eval_runs import Ran, Run
from support.model_server import csv_of
from vsr_hallucination.cli import main


@pytest.fixture
def run_eval(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``eval model`` on rows of (id, question, gold, unknown_ok), without pictures unless ``plot``."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(
        url: str, rows: Sequence[tuple[str, str, str, int]] | str, *more: str, out: str = "out", plot: bool = False,
        thresholds: Sequence[str] = ("0.5",),
    ) -> Ran:  # fmt: skip
        if not plot:
            monkeypatch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)
        data = tmp_path / "data.csv"
        data.write_text(rows if isinstance(rows, str) else csv_of(rows), "utf-8")
        words = [
            "eval",
            "model",
            "--data",
            str(data),
            "--base-url",
            url,
            "--model",
            "m",
            "--out",
            str(tmp_path / out),
        ]
        code = main([*words, "--thresholds", *thresholds, *more])
        said = capsys.readouterr()
        return Ran(code, tmp_path / out, said.out, said.err)

    return run
