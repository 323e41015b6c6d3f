"""Checkers and gates from settings. Blocking (models are loaded): call in a thread. Errors are ``ModelError``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from vsr_hallucination.config.schema import (
    DetectionSettings,
    DetectorSettings,
    EndpointSettings,
    ExplainerSettings,
    FactCheckSettings,
)
from vsr_hallucination.detection.batching import NO_HOOKS, Batcher, Hooks
from vsr_hallucination.detection.checker import Backend, DetectorChecker, SpanExplainer
from vsr_hallucination.detection.cores import on_threads, usable_cores
from vsr_hallucination.detection.embedded import Kind
from vsr_hallucination.detection.endpoint import Endpoint
from vsr_hallucination.detection.explainer import Explainer, ExplainerLimits
from vsr_hallucination.detection.fact_check import FactCheckGate
from vsr_hallucination.detection.labels import UnknownLabels, needs_ids, nli_ids, supported_ids
from vsr_hallucination.detection.language import Reader
from vsr_hallucination.detection.lexical import Lexical
from vsr_hallucination.detection.loading import Loaded, ModelError, load
from vsr_hallucination.detection.thresholds import Calibrated, fact_check_threshold, span_limits
from vsr_hallucination.detection.token_classification import TokenClassification
from vsr_hallucination.detection.types import Checker, CheckRequest, CheckResult, DetectorIdentity, Gate

_T = TypeVar("_T")
_PIECES = 8  # times max_windows: how many pieces of a very long answer are still read, with one window each

__all__ = ["Hooks", "ModelError", "check_once", "make_checker", "make_explainer", "make_gate"]


def make_checker(
    detector: DetectorSettings,
    explainer: ExplainerSettings | None,
    detection: DetectionSettings,
    hooks: Hooks = NO_HOOKS,
    *,
    exact: bool = False,
) -> Checker:
    """A provisioned detector, with its explainer where ``explainer`` is given. Raises ModelError.

    ``exact``: the detector in float32 even where another precision is faster (measurement).
    """
    if detector.backend == "endpoint":
        backend: Backend = _endpoint(detector)
    elif detector.backend == "lexical":
        backend = _lexical(detector)
    else:
        backend = _token_classification(detector, detection, hooks, exact)
    explained = None if explainer is None else _explainer(detector, explainer, detection, hooks)
    return DetectorChecker(backend, detection, explainer=explained, hooks=hooks)


def make_explainer(
    detector: DetectorSettings, explainer: ExplainerSettings, detection: DetectionSettings, hooks: Hooks = NO_HOOKS
) -> SpanExplainer:
    """A provisioned explainer by itself (measurement); ``detector`` says whether it filters. Raises ModelError."""
    return _explainer(detector, explainer, detection, hooks)


def make_gate(settings: FactCheckSettings, detection: DetectionSettings, hooks: Hooks = NO_HOOKS) -> Gate:
    """A provisioned fact-check classifier. Raises ModelError."""
    loaded = load(settings.model, "fact_check", use_cpu=settings.use_cpu)
    needs = _labels(settings.model, lambda: needs_ids(loaded.metadata.labels))
    return FactCheckGate(
        encoder=loaded.encoder,
        batcher=_batcher(loaded, "fact_check", detection, hooks),
        needs=needs,
        classes=len(loaded.metadata.labels),
        threshold=fact_check_threshold(settings, Calibrated.of(loaded.metadata.thresholds)),
        reader=_reader(settings.model, loaded),
    )


def check_once(
    request: CheckRequest,
    detector: DetectorSettings,
    explainer: ExplainerSettings | None,
    detection: DetectionSettings,
) -> CheckResult:
    """One check without an event loop of one's own, for the command line. Raises ModelError."""

    async def run() -> CheckResult:
        checker = make_checker(detector, explainer, detection)
        try:
            return await checker.check(request)
        finally:
            await checker.aclose()

    return asyncio.run(run())


def _token_classification(
    settings: DetectorSettings, detection: DetectionSettings, hooks: Hooks, exact: bool
) -> Backend:
    loaded = load(settings.model, "detector", use_cpu=settings.use_cpu, exact=exact)
    supported = _labels(settings.model, lambda: supported_ids(loaded.metadata.labels))
    limits = span_limits(settings, Calibrated.of(loaded.metadata.thresholds))
    made: Backend = TokenClassification(
        identity=_identity(settings, loaded.name, limits.threshold, limits.min_span_confidence, loaded.sha256),
        metadata=loaded.metadata,
        encoder=loaded.encoder,
        batcher=_batcher(loaded, "detector", detection, hooks),
        supported=supported,
        labels=len(loaded.metadata.labels),
        limits=limits,
        max_windows=detection.max_windows,
        max_pieces=detection.max_windows * _PIECES,
        sentence=loaded.metadata.sentence,
        reader=_reader(settings.model, loaded),
    )
    return made


def _endpoint(settings: DetectorSettings) -> Backend:
    endpoint = settings.endpoint
    if not isinstance(endpoint, EndpointSettings):
        raise ModelError("endpoint", "the endpoint backend has no endpoint settings", "give base_url and model")
    limits = span_limits(settings)
    identity = _identity(settings, endpoint.model, limits.threshold, limits.min_span_confidence, None)
    return Endpoint(endpoint, identity, limits)


def _lexical(settings: DetectorSettings) -> Backend:
    limits = span_limits(settings)
    return Lexical(_identity(settings, "lexical", limits.threshold, limits.min_span_confidence, None), limits)


def _identity(
    settings: DetectorSettings, name: str, threshold: float, confidence: float, sha256: str | None
) -> DetectorIdentity:
    numbers = {
        "threshold": threshold,
        "min_span_confidence": confidence,
        "min_span_length": float(settings.min_span_length),
    }
    if settings.enable_nli_filtering:
        numbers["nli_entailment_threshold"] = settings.nli_entailment_threshold
    return DetectorIdentity(name, settings.backend, sha256, numbers)


def _explainer(
    detector: DetectorSettings, settings: ExplainerSettings, detection: DetectionSettings, hooks: Hooks
) -> Explainer:
    loaded = load(settings.model, "explainer", use_cpu=settings.use_cpu)
    limits = ExplainerLimits(
        threshold=settings.threshold,
        filtering=detector.enable_nli_filtering,
        entailment=detector.nli_entailment_threshold,
        max_windows=detection.max_windows,
    )
    return Explainer(
        encoder=loaded.encoder,
        batcher=_batcher(loaded, "explainer", detection, hooks),
        labels=_labels(settings.model, lambda: nli_ids(loaded.metadata.labels)),
        classes=len(loaded.metadata.labels),
        limits=limits,
        reader=_reader(settings.model, loaded),
    )


def _reader(model: str, loaded: Loaded) -> Reader:
    try:
        return Reader.of(loaded.metadata.scripts, loaded.metadata.languages, loaded.encoder.unknown_id)
    except ValueError as error:
        raise ModelError(model, str(error), "name scripts as Unicode does in vsr.json, such as Latin") from error
    except OSError as error:
        raise ModelError(
            model,
            f"what tells its languages apart does not load ({error.strerror or error})",
            "give the filter a writable temporary directory (TMPDIR), or mount one at /tmp",
        ) from error


def _labels(model: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except UnknownLabels as error:
        raise ModelError(
            model, str(error), "use a model of the right kind, or name its labels in config.json"
        ) from error


def _batcher(loaded: Loaded, name: Kind, detection: DetectionSettings, hooks: Hooks) -> Batcher:
    cores = usable_cores()
    # One prompt is too little work to share: a second thread costs more in waiting than it saves.
    threads = detection.torch_threads or (1 if name == "fact_check" else cores)
    return Batcher(
        on_threads(loaded.run, threads),
        name=name,
        queue_limit=detection.queue,
        batch_tokens=detection.batch_tokens,
        threads=detection.threads,
        hooks=hooks,
    )
