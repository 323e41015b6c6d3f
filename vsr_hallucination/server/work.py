"""Carries out what an exchange orders from the models. Guarded: whatever a model does, a result comes back in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from vsr_hallucination.config.schema import Config
from vsr_hallucination.detection.types import (
    CheckFailure,
    CheckRequest,
    CheckResult,
    DetectorIdentity,
    GateResult,
    Reason,
)
from vsr_hallucination.orders import Check, Classify
from vsr_hallucination.server.runtime import Runtime

log = logging.getLogger(__name__)

# A model keeps its own deadline; this is what we wait beyond it before we give it up.
GRACE = 0.25

T = TypeVar("T")


class _TimedOut(Exception):
    pass


async def classify(runtime: Runtime, order: Classify) -> GateResult:
    """The gate's word on the prompt, or why there is none. Raises only ``asyncio.CancelledError``."""
    gate = runtime.gate(order.recipe)
    if gate is None:
        return gate_failure(Reason.NOT_PROVISIONED, f"no fact-check classifier for recipe {order.recipe!r}")
    deadline = runtime.config.filter.detection.deadline
    try:
        result: object = await _guarded(lambda: gate.classify(order.prompt, deadline), deadline + GRACE)
    except _TimedOut:
        return gate_failure(Reason.TIMEOUT, f"the fact-check classifier took over {deadline:g} s")
    except Exception as problem:
        log.warning("fact_check_raised: %s at %s", type(problem).__name__, where(problem))
        return gate_failure(Reason.FACT_CHECK_FAILED, type(problem).__name__)
    if not isinstance(result, GateResult):
        return gate_failure(Reason.FACT_CHECK_FAILED, f"a {type(result).__name__} is no result")
    return result


async def check(runtime: Runtime, order: Check) -> tuple[CheckResult, ...]:
    """One result a request, in order; all are checked at the same time. Raises only ``asyncio.CancelledError``."""
    checker = runtime.checker(order.recipe)
    if checker is None:
        what = f"no detector for recipe {order.recipe!r}"
        return check_failures(runtime, order, Reason.NOT_PROVISIONED, what)

    async def one(request: CheckRequest) -> CheckResult:
        try:
            result: object = await _guarded(lambda: checker.check(request), request.deadline + GRACE)
        except _TimedOut:
            failure = CheckFailure(Reason.TIMEOUT, f"the detector took over {request.deadline:g} s")
        except Exception as problem:
            log.warning("detector_raised: %s at %s", type(problem).__name__, where(problem))
            failure = CheckFailure(Reason.DETECTOR_FAILED, type(problem).__name__)
        else:
            if isinstance(result, CheckResult):
                return result
            failure = CheckFailure(Reason.DETECTOR_FAILED, f"a {type(result).__name__} is no result")
        return CheckResult(checker.identity, failure=failure)

    if len(order.requests) == 1:
        return (await one(order.requests[0]),)
    return tuple(await asyncio.gather(*map(one, order.requests)))


def gate_failure(reason: Reason, message: str) -> GateResult:
    return GateResult(needs_fact_check=False, score=None, failure=CheckFailure(reason, message))


def check_failures(runtime: Runtime, order: Check, reason: Reason, message: str) -> tuple[CheckResult, ...]:
    """A failed result for each request of ``order``."""
    checker = runtime.checker(order.recipe)
    identity = checker.identity if checker is not None else _configured(runtime.config, order.recipe)
    return (CheckResult(identity, failure=CheckFailure(reason, message)),) * len(order.requests)


def where(problem: BaseException) -> str:
    """``file:line`` where ``problem`` was raised: what a log may say of an exception that may quote a prompt."""
    place, trace = "?", problem.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _configured(config: Config, recipe: str) -> DetectorIdentity:
    found = config.recipe(recipe)
    if found is None:
        return DetectorIdentity(name="none", backend="none")
    return DetectorIdentity(name=found.detector.model, backend=found.detector.backend)


async def _guarded(start: Callable[[], Awaitable[T]], seconds: float) -> T:
    """The awaited result; ``_TimedOut`` after ``seconds``. Never waits for a task that ignores its cancellation."""
    task = asyncio.ensure_future(start())
    try:
        done, _ = await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        _abandon(task)
        raise
    if not done:
        _abandon(task)
        raise _TimedOut
    if task.cancelled():
        raise RuntimeError("the model cancelled its own work")
    return task.result()


def _abandon(task: asyncio.Future[T]) -> None:
    task.add_done_callback(lambda t: t.cancelled() or t.exception())  # read, so that it is not reported as unseen
    task.cancel()
