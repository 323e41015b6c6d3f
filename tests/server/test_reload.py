"""Fifty reloads while exchanges run: none is lost or judged by half a configuration; old models are let go."""

from __future__ import annotations

import asyncio
import io
import logging
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from support.reloading import running_app, text, under_load
from support.tiny_models import novelty_detector
from vsr_hallucination.config import load
from vsr_hallucination.server import app as serving
from vsr_hallucination.server import config_file

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well


@pytest.mark.timeout(300)
async def test_fifty_reloads_under_load_lose_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "vsr_hallucination.server.app")
    async with running_app(tmp_path) as running:
        await under_load(running, 50, workers=4)
        sha = load(running.file).config.sha256
        metrics = generate_latest(running.app._telemetry.registry).decode()
        assert f'vsr_config_info{{sha256="{sha}"}} 1.0' in metrics and metrics.count("vsr_config_info{") == 1
        (accepted,) = [line.split()[-1] for line in metrics.splitlines() if 'reloads_total{result="accepted"}' in line]
        assert float(accepted) == 50, "one edit is one reload, however many notice it"
        assert 'reloads_total{result="rejected"} 0.0' in metrics
        (loaded_at,) = [line.split()[-1] for line in metrics.splitlines() if line.startswith("vsr_config_loaded_tim")]
        assert 0 <= time.time() - float(loaded_at) < 30
        aborted = [line for line in metrics.splitlines() if line.startswith('vsr_exchanges_total{lifecycle="aborted"')]
        assert aborted and all(line.endswith(" 0.0") for line in aborted)
        said = [record.getMessage() for record in caplog.records if "reloaded" in record.getMessage()]
        assert len(said) == float(accepted) and sha[:12] in said[-1]
    decisions = running.answered
    assert len(decisions) >= 25 and sum(decisions.values()) >= 50, "most configurations judged some exchange"
    assert running.factory.made == running.factory.closed == 51


@pytest.mark.timeout(300)
async def test_a_real_model_is_shared_across_reloads_that_do_not_touch_it(tmp_path: Path) -> None:
    model = str(novelty_detector(tmp_path / "detector"))
    async with running_app(tmp_path, model) as running:
        await under_load(running, 2, workers=2)
        assert running.factory.made == 3, "another threshold is another model"
        running.put(text(2, running.ports, model).replace("{name: d2", "{name: renamed"))
        running.app._reload.set()
        while running.app._config.recipes[0].decisions[0].name != "renamed":
            await asyncio.sleep(0.01)
        await running.exchange()
        assert running.answered["renamed"] == 1 and running.factory.made == 3


@pytest.mark.timeout(300)
async def test_two_recipes_have_two_detectors_and_equal_ones_share(tmp_path: Path) -> None:
    async with running_app(tmp_path) as running:
        lexical = "hallucination_mitigation: {detector: {backend: lexical, threshold: %s}}, "
        rule = "signals: {hallucination: [{name: %s}]}}\n"
        more = "recipes:\n" + "".join(
            f"  - {{name: {name}, {lexical % threshold}{rule % name}"
            for name, threshold in (("strict", 0.07), ("loose", 0.9), ("twin", 0.9))
        )
        running.put(text(0, running.ports, "") + more)
        running.app._reload.set()
        while len(running.app._slot.current.config.recipes) < 4:
            await asyncio.sleep(0.01)
        assert running.factory.made == 3, "default keeps its own, strict one of its own, loose and twin share one"
        runtime = running.app._slot.current
        checkers = [runtime.checker(name) for name in ("default", "strict", "loose", "twin")]
        thresholds = [checker.identity.thresholds["threshold"] for checker in checkers if checker is not None]
        assert thresholds == [0.05, 0.07, 0.9, 0.9]
        await running.exchange()


@pytest.mark.parametrize("left", ["version: v9", "version: v0.3", "version: v0.3\nrouting:\n", "filter: {}"])
async def test_a_file_that_lost_its_rules_is_not_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, left: str
) -> None:
    async with running_app(tmp_path) as running:
        before = running.app._config.sha256
        whole = running.file.read_text("utf-8")
        running.put(left)
        running.app._reload.set()
        while not [r for r in caplog.records if "reload_rejected" in r.getMessage()]:
            await asyncio.sleep(0.01)
        (said, *_) = [r.getMessage() for r in caplog.records if "reload_rejected" in r.getMessage()]
        assert str(running.file) in said and ("`v9` is not a version" in said or "nothing would be checked" in said)
        assert running.app._config.sha256 == before
        await running.exchange()  # judged by the rules that were there
        assert running.answered == {"d0": 1}
        running.put(whole.replace("name: d0", "name: d2"))
        running.app._reload.set()
        while running.app._config.sha256 == before:
            await asyncio.sleep(0.01)
        await running.exchange()
        assert running.answered == {"d0": 1, "d2": 1}


async def test_a_file_being_written_is_read_once_it_has_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.yaml"
    whole = text(0, (1, 2), "")
    file.write_text(whole, "utf-8")
    app = serving.App(str(file), load(file).config)
    look, asked = config_file._stamp, []  # what each look found asked for, before it
    steps = [
        lambda: None,
        lambda: file.write_text("version: v0.3\n"),
        lambda: file.write_text(whole[:200]),
        file.unlink,
        lambda: file.write_text(whole[:300]),
        lambda: file.write_text(whole + "x-anchors: {}\n"),
        lambda: None,
        lambda: None,
    ]

    def stepping(path: Path) -> tuple[int, int, int] | None:
        asked.append(app._reload.is_set())
        if steps:
            steps.pop(0)()
        return look(path)

    monkeypatch.setattr(config_file, "_stamp", stepping)
    monkeypatch.setattr(config_file, "WATCH_EVERY", 0.001)
    watching = asyncio.create_task(app._watch_file())
    while len(asked) < 9:
        await asyncio.sleep(0.001)
    watching.cancel()
    assert asked[:9] == [False] * 7 + [True] * 2


def reloads(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.getMessage().startswith("reloaded")]


async def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


async def test_one_edit_is_one_reload_and_a_signal_reloads_an_unchanged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(config_file, "WATCH_EVERY", 0.02)
    caplog.set_level(logging.INFO, "vsr_hallucination.server.app")
    async with running_app(tmp_path) as running:
        await running.reload()  # an edit, and a signal at once: the watch has nothing to add
        await asyncio.sleep(0.3)
        assert len(reloads(caplog)) == 1

        running.write(2)  # an edit without a signal
        await until(lambda: len(reloads(caplog)) == 2)
        running.file.touch()
        running.put(running.file.read_text("utf-8"))  # another file with the same content
        await asyncio.sleep(0.3)
        assert len(reloads(caplog)) == 2

        running.app._reload.set()  # as SIGHUP does: it asks, and is answered
        await until(lambda: len(reloads(caplog)) == 3)
        assert reloads(caplog)[-1].endswith(", unchanged")
        assert re.search(r", in place of [0-9a-f]{12}, which held for \d+ s$", reloads(caplog)[-2])

        running.put("filter: {nonsense: 1}")  # rejected once, not at every look
        await until(lambda: any("reload_rejected" in record.getMessage() for record in caplog.records))
        await asyncio.sleep(0.3)
        assert sum("reload_rejected" in record.getMessage() for record in caplog.records) == 1


async def test_an_edit_while_models_are_loading_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_file, "WATCH_EVERY", 0.001)
    file = tmp_path / "config.yaml"
    file.write_text(text(0, (1, 2), ""), "utf-8")
    app = serving.App(str(file), load(file).config)
    file.write_text(text(1, (1, 2), ""), "utf-8")  # before the watch begins
    watching = asyncio.create_task(app._watch_file())
    await until(app._reload.is_set)
    watching.cancel()


async def test_each_model_is_told_begun_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    caplog.set_level(logging.INFO, "vsr_hallucination.server.progress")
    model = str(novelty_detector(tmp_path / "detector"))
    async with running_app(tmp_path, model):
        pass
    said = [record.getMessage() for record in caplog.records if record.name.endswith("progress")]
    assert said[0] == f"model_loading: detector {model}"
    assert re.fullmatch(rf"model_loaded: detector {re.escape(model)}, \d+\.\d s", said[-1])
    lines = terminal.getvalue().splitlines()
    assert lines[0] == f"loading detector {model} …" and any(line.startswith("serving on 127.0.0.1:") for line in lines)
