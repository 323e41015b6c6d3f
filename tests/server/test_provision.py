"""Which models a configuration gets, how they are shared, and what happens where one does not load."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from support.driving import find_479
from support.scripted import ModelOf
from vsr_hallucination.config.schema import (
    Config,
    Decision,
    DetectorSettings,
    ExplainerSettings,
    FactCheckMode,
    FilterSettings,
    HallucinationPlugin,
    HallucinationRule,
    Recipe,
)
from vsr_hallucination.detection.deadline import DetectionError
from vsr_hallucination.detection.loading import ModelError
from vsr_hallucination.detection.types import CheckRequest, CheckResult, Grounding, Reason
from vsr_hallucination.server.models import CheckerKey, GateKey
from vsr_hallucination.server.provision import Provisioner
from vsr_hallucination.telemetry import Telemetry

RULE = HallucinationRule("grounded")
EXPLAINED = HallucinationRule("grounded", use_nli=True)


class Models(ModelOf):
    """Models that count; ``fails`` decides which settings do not load, ``probes`` what a probe does."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Any] = []
        self.closed_count = 0
        self.fails: Callable[[Any], bool] = lambda key: False
        self.threads: set[str] = set()
        self.pause = 0.0
        self.broken = False
        self.problem: Exception = ConnectionError("secret")

    def make(self, key: Any) -> Any:
        self.threads.add(threading.current_thread().name)
        time.sleep(self.pause)
        if self.fails(key):
            raise ModelError("/m", "no such directory", "mount it")
        self.made.append(key)
        return self

    def make_checker(self, key: CheckerKey) -> Any:
        return self.make(key)

    def make_gate(self, key: GateKey) -> Any:
        return self.make(key)

    async def check(self, request: CheckRequest) -> CheckResult:
        return find_479(request)

    async def probe(self) -> None:
        if self.broken:
            raise self.problem

    async def aclose(self) -> None:
        self.closed_count += 1


def provisioner(models: Models) -> Provisioner:
    return Provisioner(Telemetry(), models)


def config(*recipes: Recipe, fact_check: FactCheckMode = FactCheckMode.CLASSIFIER) -> Config:
    return Config(recipes, filter=FilterSettings(fact_check=fact_check))


async def test_a_rule_provisions_detector_and_gate() -> None:
    models = Models()
    runtime = await provisioner(models).provision(config(Recipe(hallucination=(RULE,))))
    assert runtime.checker("default") is not None and runtime.gate("default") is not None
    assert runtime.missing == () and len(models.made) == 2
    assert runtime.states(runtime.config.recipes[0]) == (("detector", True), ("fact_check", True))
    assert runtime.checker("other") is None and runtime.gate("other") is None


@pytest.mark.parametrize(
    "recipe",
    [Recipe(), Recipe(decisions=(Decision("d"), Decision("e", plugin=HallucinationPlugin(enabled=False))))],
)
async def test_nothing_is_loaded_where_nothing_is_checked(recipe: Recipe) -> None:
    models = Models()
    runtime = await provisioner(models).provision(config(recipe))
    assert models.made == [] and runtime.checker("default") is None and runtime.missing == ()


async def test_the_compatibility_path_is_provisioned() -> None:
    models = Models()
    plugin = HallucinationPlugin(enabled=True, use_nli=True)
    runtime = await provisioner(models).provision(config(Recipe(decisions=(Decision("d", plugin=plugin),))))
    assert runtime.checker("default") is not None
    (key,) = [made for made in models.made if len(made) == 3]
    assert key[1] == ExplainerSettings()


async def test_without_a_classifier_none_is_loaded() -> None:
    models = Models()
    wanted = config(Recipe(hallucination=(RULE,)), fact_check=FactCheckMode.ALWAYS)
    runtime = await provisioner(models).provision(wanted)
    assert runtime.gate("default") is None and len(models.made) == 1 and runtime.missing == ()


async def test_equal_settings_share_one_model_and_others_do_not() -> None:
    models = Models()
    recipes = (
        Recipe("default", (RULE,)),
        Recipe("same", (RULE,)),
        Recipe("other", (RULE,), detector=DetectorSettings(threshold=0.5)),
    )
    made = provisioner(models)
    runtime = await made.provision(config(*recipes))
    assert len(models.made) == 3  # two detectors, one gate
    again = await made.provision(config(recipes[0]))  # a reload shares what is loaded
    assert len(models.made) == 3
    await runtime.aclose()
    assert models.closed_count == 1  # the detector with its own threshold
    await again.aclose()
    assert models.closed_count == 3


async def test_models_load_in_parallel_and_off_the_event_loop() -> None:
    models = Models()
    models.pause = 0.2
    begun = time.monotonic()
    await provisioner(models).provision(config(Recipe(hallucination=(RULE,))))
    assert time.monotonic() - begun < 0.38
    assert threading.current_thread().name not in models.threads


async def test_a_detector_that_does_not_load_is_missing_and_said(caplog: pytest.LogCaptureFixture) -> None:
    models = Models()
    models.fails = lambda key: len(key) == 3
    runtime = await provisioner(models).provision(config(Recipe(hallucination=(RULE,))))
    assert runtime.checker("default") is None and runtime.gate("default") is not None
    assert [str(m) for m in runtime.missing] == [
        "detector of recipe default: /m: no such directory; mount it"
    ]
    assert "model_missing: detector of recipe default: /m: no such directory; mount it" in caplog.text
    await runtime.aclose()
    assert models.closed_count == 1


async def test_a_missing_explainer_takes_only_the_labels_away() -> None:
    models = Models()
    models.fails = lambda key: len(key) == 3 and key[1] is not None
    runtime = await provisioner(models).provision(config(Recipe(hallucination=(EXPLAINED,))))
    checker = runtime.checker("default")
    assert checker is not None and [m.kind for m in runtime.missing] == ["explainer"]
    request = CheckRequest("q", Grounding(), "K7 shipped 479", explain=True)
    for explain in (True, False):
        result = await checker.check(replace(request, explain=explain))
        assert result.detection is not None
        assert [span.explainer_failed for span in result.detection.spans] == [explain]


async def test_a_failed_load_is_tried_again_by_the_next_runtime() -> None:
    models = Models()
    models.fails = lambda key: True
    made = provisioner(models)
    wanted = config(Recipe("default", (RULE,)), Recipe("same", (RULE,)))
    assert len((await made.provision(wanted)).missing) == 4
    models.fails = lambda key: False
    assert (await made.provision(wanted)).missing == ()


async def test_an_unexpected_error_says_what_and_where_only() -> None:
    models = Models()

    def boom(key: Any) -> bool:
        raise RuntimeError("secret path")

    models.fails = boom
    runtime = await provisioner(models).provision(config(Recipe(hallucination=(RULE,))))
    assert all(m.why.startswith("RuntimeError at test_provision.py:") for m in runtime.missing)


async def test_a_model_that_does_not_answer_its_probe_is_kept_and_asked_again() -> None:
    models = Models()
    models.broken = True
    runtime = await provisioner(models).provision(config(Recipe(hallucination=(RULE,))))
    assert runtime.checker("default") is not None and runtime.silent and len(runtime.missing) == 2
    assert "secret" not in str(runtime.missing)
    models.broken = False
    assert await runtime.probe() and runtime.missing == () and not runtime.silent


async def test_why_a_probe_failed_is_said_once_in_words(caplog: pytest.LogCaptureFixture) -> None:
    models = Models()
    models.broken = True
    models.problem = DetectionError(Reason.DETECTOR_FAILED, "the endpoint cannot be reached (ConnectError)")
    runtime = await provisioner(models).provision(config(Recipe(hallucination=(RULE,))))
    assert not await runtime.probe()
    said = [record.getMessage() for record in caplog.records if "model_silent" in record.getMessage()]
    assert len(said) == len(set(said)) == 2
    assert all("failed a probe: the endpoint cannot be reached (ConnectError)" in line for line in said)
    models.problem = DetectionError(Reason.DETECTOR_FAILED, "the endpoint answered 401")
    await runtime.probe()
    assert "the endpoint answered 401" in caplog.text and "answered 401" in str(runtime.missing)


async def test_settings_that_differ_in_detection_do_not_share() -> None:
    models = Models()
    made = provisioner(models)
    base = config(Recipe(hallucination=(RULE,)))
    await made.provision(base)
    slower = replace(base.filter.detection, deadline=20.0)
    await made.provision(replace(base, filter=replace(base.filter, detection=slower)))
    assert len(models.made) == 4
