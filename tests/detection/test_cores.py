"""CPU threads of a model call: each model keeps its own number, and a container's limit is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings, FactCheckSettings
from vsr_hallucination.detection import factory
from vsr_hallucination.detection.batching import Floats, Model, Row
from vsr_hallucination.detection.cores import cpu_limit, on_threads, usable_cores
from vsr_hallucination.detection.types import CheckRequest, Grounding, Passage


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_a_model_keeps_its_threads_whatever_another_is_told() -> None:
    def told(rows: Sequence[Row]) -> Sequence[Floats]:
        return [np.array([torch.get_num_threads()], dtype=np.float32)]

    one, three = on_threads(told, 1), on_threads(told, 3)
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        seen = [
            pool.submit(model, []).result()[0][0] for _ in range(2) for pool, model in ((first, one), (second, three))
        ]
    assert seen == [1, 3, 1, 3]


def test_the_detector_has_all_cores_though_the_classifier_takes_one(
    detector_dir: Path, gate_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factory, "usable_cores", lambda: 3)
    seen: dict[str, int] = {}

    def watched(name: str) -> None:
        def held(model: Model, threads: int) -> Model:
            run = on_threads(model, threads)

            def call(rows: Sequence[Row]) -> Sequence[Floats]:
                out = run(rows)
                seen[name] = torch.get_num_threads()
                return out

            return call

        monkeypatch.setattr(factory, "on_threads", held)

    async def both() -> None:
        watched("fact_check")
        gate = factory.make_gate(FactCheckSettings(model=str(gate_dir)), DetectionSettings())
        watched("detector")
        checker = factory.make_checker(DetectorSettings(model=str(detector_dir)), None, DetectionSettings())
        said = Grounding((Passage("It opens at nine.", "$"),))
        request = CheckRequest("When does it open?", said, "The gate opens at ten.", deadline=60.0)
        await gate.classify("When does it open?", 60.0)
        assert (await checker.check(request)).detection is not None
        await gate.aclose()
        await checker.aclose()

    asyncio.run(both())
    assert seen == {"fact_check": 1, "detector": 3}


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "10000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": ""}, None),
        ({"cpu.max": "0 100000"}, None),
        ({"cpu.max": f"1 {10**400}"}, 1),
        ({"cpu.max": f"{10**400} {10**400}"}, 1),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "400000\n"}, None),
        ({}, None),
    ],
)
def test_the_limit_of_a_container(tmp_path: Path, files: dict[str, str], limit: int | None) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cpu_limit(tmp_path) == limit


def test_at_least_one_core_is_usable() -> None:
    assert usable_cores() >= 1
