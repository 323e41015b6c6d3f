"""From a configuration to a runtime: loads what its recipes need, in parallel, and shares what is equal.

A model that does not load is missing, never a crash: its recipe's answers are ``not_provisioned``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from vsr_hallucination.config.schema import Config, DetectionSettings, FactCheckMode, Recipe
from vsr_hallucination.detection.types import Checker, Gate
from vsr_hallucination.server.metering import MeteredChecker, MeteredGate
from vsr_hallucination.server.models import (
    CheckerKey,
    Factory,
    GateKey,
    ModelFactory,
    Shared,
    Unexplained,
    checker_words,
    gate_words,
)
from vsr_hallucination.server.progress import say
from vsr_hallucination.server.work import where
from vsr_hallucination.telemetry import Telemetry

log = logging.getLogger(__name__)

PROBE_WITHIN = 30.0  # seconds for a model's first small check
PROBE_AGAIN = 5.0  # seconds between tries, for one that has not answered (an endpoint that is still starting)


@dataclass(frozen=True, slots=True)
class Missing:
    """A model that is wanted and does not answer."""

    recipe: str
    kind: str  # "detector", "explainer" or "fact_check"
    why: str

    def __str__(self) -> str:
        return f"{self.kind} of recipe {self.recipe}: {self.why}"


class ProvisionedRuntime:
    """A configuration with the models of its recipes. ``missing`` says which are wanted and do not answer."""

    def __init__(self, config: Config, built: _Building, close: Callable[[], Awaitable[None]]) -> None:
        self.config = config
        self.failed = tuple(built.failed)
        self._checkers = built.checkers
        self._gates = built.gates
        self._silent = {("detector", name): "has not answered a probe" for name in built.checkers}
        self._silent |= {("fact_check", name): "has not answered a probe" for name in built.gates}
        self._close = close

    def checker(self, recipe: str) -> Checker | None:
        return self._checkers.get(recipe)

    def gate(self, recipe: str) -> Gate | None:
        return self._gates.get(recipe)

    @property
    def missing(self) -> tuple[Missing, ...]:
        silent = tuple(Missing(recipe, kind, why) for (kind, recipe), why in self._silent.items())
        return self.failed + silent

    @property
    def silent(self) -> bool:
        """Some model is loaded and has not answered a probe yet."""
        return bool(self._silent)

    def states(self, recipe: Recipe) -> tuple[tuple[str, bool], ...]:
        """(kind, answers) of each model that ``recipe`` is provisioned with."""
        if not recipe.needs_models:
            return ()
        missing = {model.kind for model in self.missing if model.recipe == recipe.name}
        kinds = ["detector"]
        if recipe.needs_explainer:
            kinds.append("explainer")
        if self.config.filter.fact_check is not FactCheckMode.ALWAYS:
            kinds.append("fact_check")
        return tuple((kind, kind not in missing) for kind in kinds)

    async def probe(self) -> bool:
        """Asks every model that has not answered yet for a small check. True: all have answered."""
        await asyncio.gather(*(self._probe(kind, recipe) for kind, recipe in tuple(self._silent)))
        return not self._silent

    async def _probe(self, kind: str, recipe: str) -> None:
        model = self._checkers[recipe] if kind == "detector" else self._gates[recipe]
        try:
            await asyncio.wait_for(model.probe(), PROBE_WITHIN)
        except TimeoutError:
            self._still_silent(recipe, kind, f"did not answer a probe in {PROBE_WITHIN:g} s")
        except Exception as problem:
            self._still_silent(recipe, kind, f"failed a probe: {_words(problem)}")
        else:
            self._silent.pop((kind, recipe), None)

    def _still_silent(self, recipe: str, kind: str, why: str) -> None:
        """Said once for each reason, not at every try."""
        if self._silent.get((kind, recipe)) != why:
            log.warning("model_silent: %s; its answers count as not checked; asked again", Missing(recipe, kind, why))
        self._silent[kind, recipe] = why

    async def aclose(self) -> None:
        await self._close()


class _Building:
    """What has been loaded so far for one runtime."""

    def __init__(self) -> None:
        self.checkers: dict[str, Checker] = {}
        self.gates: dict[str, Gate] = {}
        self.checker_keys: list[CheckerKey] = []
        self.gate_keys: list[GateKey] = []
        self.failed: list[Missing] = []

    def fail(self, recipe: str, kind: str, why: str) -> None:
        missing = Missing(recipe, kind, why)
        log.error("model_missing: %s", missing)
        say(f"not loaded: {missing}")
        self.failed.append(missing)


class Provisioner:
    """Makes runtimes. Models are shared among the recipes of one, and with the one before across a reload."""

    def __init__(self, telemetry: Telemetry, factory: Factory | None = None) -> None:
        made = factory or ModelFactory(telemetry)
        self._telemetry = telemetry
        self._checkers: Shared[CheckerKey, Checker] = Shared(made.make_checker, checker_words)
        self._gates: Shared[GateKey, Gate] = Shared(made.make_gate, gate_words)

    async def provision(self, config: Config) -> ProvisionedRuntime:
        """The runtime for ``config``: each model loaded and probed once, or known as missing."""
        building, settings = _Building(), config.filter.detection
        loads = []
        for recipe in config.recipes:
            if recipe.needs_models:
                loads.append(self._add_checker(building, recipe, settings))
                if config.filter.fact_check is not FactCheckMode.ALWAYS:
                    loads.append(self._add_gate(building, recipe, settings))
        try:
            await asyncio.gather(*loads)
        except BaseException:
            await self._give_back(building)
            raise
        runtime = ProvisionedRuntime(config, building, lambda: self._give_back(building))
        await runtime.probe()
        return runtime

    async def _add_checker(self, building: _Building, recipe: Recipe, settings: DetectionSettings) -> None:
        explainer = recipe.explainer if recipe.needs_explainer else None
        key = (recipe.detector, explainer, settings)
        try:
            checker = await self._checkers.take(key)
        except Exception as problem:
            why = _words(problem)
            if explainer is None:
                building.fail(recipe.name, "detector", why)
                return
            key = (recipe.detector, None, settings)
            try:  # a missing explainer takes the labels away, not the verdict
                checker = await self._checkers.take(key)
            except Exception as without:
                building.fail(recipe.name, "detector", _words(without))
                return
            building.fail(recipe.name, "explainer", why)
            checker = Unexplained(checker)
        building.checker_keys.append(key)
        building.checkers[recipe.name] = MeteredChecker(checker, self._telemetry)

    async def _add_gate(self, building: _Building, recipe: Recipe, settings: DetectionSettings) -> None:
        key = (recipe.fact_check, settings)
        try:
            gate = await self._gates.take(key)
        except Exception as problem:
            building.fail(recipe.name, "fact_check", _words(problem))
            return
        building.gate_keys.append(key)
        building.gates[recipe.name] = MeteredGate(gate, self._telemetry)

    async def _give_back(self, building: _Building) -> None:
        for checker_key in building.checker_keys:
            await self._checkers.give_back(checker_key)
        for gate_key in building.gate_keys:
            await self._gates.give_back(gate_key)


def _words(problem: Exception) -> str:
    """What to tell of a failure: a ``ModelError`` or ``DetectionError`` says it; of anything else what and where."""
    from vsr_hallucination.detection.deadline import DetectionError
    from vsr_hallucination.detection.loading import ModelError

    if isinstance(problem, ModelError | DetectionError):
        return str(problem)
    return f"{type(problem).__name__} at {where(problem)}"
