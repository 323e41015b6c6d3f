"""The whole command line through a real Envoy and the filter: the same questions, answers and figures."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.driving import policy
from support.eval_runs import Ran
from support.model_server import IDK, Answer, Asked, ModelServer, csv_of, error, limited, says
from support.stack import running_stack
from vsr_hallucination.cli import main

pytestmark = pytest.mark.asyncio(loop_scope="session")  # as in the server's tests
ROWS = [(name, f"What about {name}?", "yes", 0) for name in ("right", "wrong", "idk", "later", "down")]


async def test_eval_model_through_envoy_and_filter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)
    seen: list[str] = []

    def script(asked: Asked) -> Answer:
        seen.append(asked.question)
        name = asked.question.split()[-1][:-1]
        if name == "later" and seen.count(asked.question) == 1:
            return limited("0.05s")
        if name == "down":
            return error(503, headers=[("retry-after", "0")])
        return {"wrong": says("no"), "idk": IDK}.get(name, says("yes"))

    (tmp_path / "data.csv").write_text(csv_of(ROWS), "utf-8")
    async with running_stack(policy(), tmp_path / "envoy") as stack:
        stack.upstream.answer = ModelServer(script).answer
        words = ["eval", "model", "--data", str(tmp_path / "data.csv"), "--thresholds", "0.5", "--model", "m"]
        words += ["--base-url", f"{stack.envoy.url}/v1", "--max-retries", "1", "--out", str(tmp_path / "out")]
        code = await asyncio.to_thread(main, words)
        records = await stack.final(7)
    ran = Ran(code, tmp_path / "out", *capsys.readouterr())
    (at,) = ran.metrics["thresholds"]
    assert (at["correct"], at["wrong"], at["abstentions"], at["unavailable_by_kind"]) == (2, 1, 1, {"server_error": 1})
    assert ran.code == 3
    assert [row["attempts"] for row in ran.rows] == ["1", "1", "1", "2", "2"]
    # The filter saw answers without evidence, and its warning is kept beside each.
    assert {row["warnings"] for row in ran.rows if row["state"] != "unavailable"} == {"unverified_factual"}
    assert len(records) >= 7
