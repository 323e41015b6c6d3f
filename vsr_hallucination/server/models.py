"""Models as the server holds them: made in threads by ``detection.factory``, shared where settings are equal."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from vsr_hallucination.config.schema import (
    DetectionSettings,
    DetectorSettings,
    ExplainerSettings,
    FactCheckSettings,
)
from vsr_hallucination.detection.types import Checker, CheckRequest, CheckResult, DetectorIdentity, Gate
from vsr_hallucination.server.progress import loading
from vsr_hallucination.telemetry import Telemetry

if TYPE_CHECKING:
    from vsr_hallucination.detection.batching import Hooks

CheckerKey = tuple[DetectorSettings, ExplainerSettings | None, DetectionSettings]
GateKey = tuple[FactCheckSettings, DetectionSettings]


class Model(Protocol):
    async def probe(self) -> None: ...

    async def aclose(self) -> None: ...


K = TypeVar("K")
M = TypeVar("M", bound=Model)


class Factory(Protocol):
    """Makes models; blocks while it loads them. ``detection.factory`` in production."""

    def make_checker(self, key: CheckerKey) -> Checker: ...

    def make_gate(self, key: GateKey) -> Gate: ...


def checker_words(key: CheckerKey) -> str:
    """What a checker is made of, for people."""
    detector, explainer, _ = key
    backend = "" if detector.backend == "token_classification" else f" ({detector.backend})"
    also = f" and explainer {explainer.model}" if explainer is not None else ""
    return f"detector {detector.model}{backend}{also}"


def gate_words(key: GateKey) -> str:
    """What a gate is made of, for people."""
    return f"fact-check classifier {key[0].model}"


class ModelFactory:
    """``detection.factory`` with its hooks wired to the metrics. Imports torch when a model is first made."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._importing = threading.Lock()

    def make_checker(self, key: CheckerKey) -> Checker:
        from vsr_hallucination.detection.factory import make_checker
        from vsr_hallucination.detection.loading import locate

        detector, explainer, _ = key
        if detector.backend != "endpoint":
            locate(detector.model, "detector")  # a model that is not there is said before torch is imported
            self._import()
        if explainer is not None:
            locate(explainer.model, "explainer")
            self._import()
        return make_checker(*key, hooks=self._hooks())

    def make_gate(self, key: GateKey) -> Gate:
        from vsr_hallucination.detection.factory import make_gate
        from vsr_hallucination.detection.loading import locate

        locate(key[0].model, "fact_check")
        self._import()
        return make_gate(*key, hooks=self._hooks())

    def _import(self) -> None:
        """One thread imports the heavy libraries: their circular imports do not stand two at once."""
        with self._importing, loading("the model libraries") if "torch" not in sys.modules else nullcontext():
            from huggingface_hub.utils.tqdm import disable_progress_bars
            from transformers.utils.logging import disable_progress_bar

            import_module("transformers.modeling_utils")  # torch, and what every model class needs
            disable_progress_bar()  # type: ignore[no-untyped-call]
            disable_progress_bars()  # the log is JSON lines: nothing else may write there

    def _hooks(self) -> Hooks:
        from vsr_hallucination.detection.batching import Hooks

        told = self._telemetry
        return Hooks(
            queue_size=told.queue_size,
            batch=lambda name, rows, _padded: told.batch_size(name, rows),
            wait=told.queue_wait,
        )


class Shared(Generic[K, M]):
    """Models by their settings, counted: equal settings share one, and the last user's leaving closes it."""

    def __init__(self, make: Callable[[K], M], words: Callable[[K], str]) -> None:
        self._make = make
        self._words = words
        self._loading: dict[K, asyncio.Future[M]] = {}
        self._users: dict[K, int] = {}

    async def take(self, key: K) -> M:
        """Raises what making it raised; the next ``take`` then tries anew."""
        loading = self._loading.get(key)
        if loading is None:
            loading = asyncio.ensure_future(asyncio.to_thread(self._load, key))
            self._loading[key] = loading
            self._users[key] = 0
        self._users[key] += 1
        try:
            return await asyncio.shield(loading)
        except BaseException:
            await self.give_back(key)
            raise

    def _load(self, key: K) -> M:
        with loading(self._words(key)):
            return self._make(key)

    async def give_back(self, key: K) -> None:
        self._users[key] -= 1
        if self._users[key]:
            return
        del self._users[key]
        loading = self._loading.pop(key)
        try:
            model = await loading
        except Exception:
            return  # it never was: whoever asked for it has been told
        await model.aclose()


class Unexplained:
    """A checker whose explainer did not load: where an explanation was asked for, each span says it failed."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    @property
    def identity(self) -> DetectorIdentity:
        return self._checker.identity

    async def check(self, request: CheckRequest) -> CheckResult:
        result = await self._checker.check(request)
        if not request.explain or result.detection is None:
            return result
        spans = tuple(replace(span, explainer_failed=True) for span in result.detection.spans)
        return replace(result, detection=replace(result.detection, spans=spans))

    async def probe(self) -> None:
        await self._checker.probe()

    async def aclose(self) -> None:
        await self._checker.aclose()
