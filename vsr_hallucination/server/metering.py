"""What stands between the server and what it drives, only to count: models by time, records by outcome."""

from __future__ import annotations

import time
from typing import Protocol

from vsr_hallucination.detection.types import (
    Checker,
    CheckRequest,
    CheckResult,
    DetectorIdentity,
    Gate,
    GateResult,
)
from vsr_hallucination.replay.record import Record
from vsr_hallucination.telemetry import Telemetry


class MeteredChecker:
    """A ``Checker`` that reports each check. A check that is cancelled reports nothing: nobody waited for it."""

    def __init__(self, checker: Checker, telemetry: Telemetry) -> None:
        self._checker = checker
        self._telemetry = telemetry

    @property
    def identity(self) -> DetectorIdentity:
        return self._checker.identity

    async def check(self, request: CheckRequest) -> CheckResult:
        began = time.perf_counter()
        result = await self._checker.check(request)
        self._telemetry.checked(result, time.perf_counter() - began)
        return result

    async def probe(self) -> None:
        await self._checker.probe()

    async def aclose(self) -> None:
        await self._checker.aclose()


class MeteredGate:
    """A ``Gate`` that reports each classification."""

    def __init__(self, gate: Gate, telemetry: Telemetry) -> None:
        self._gate = gate
        self._telemetry = telemetry

    async def classify(self, prompt: str, deadline: float) -> GateResult:
        began = time.perf_counter()
        result = await self._gate.classify(prompt, deadline)
        self._telemetry.gated(result, time.perf_counter() - began)
        return result

    async def probe(self) -> None:
        await self._gate.probe()

    async def aclose(self) -> None:
        await self._gate.aclose()


class Writer(Protocol):
    """The write-behind writer of the replay store."""

    def put(self, record: Record) -> None: ...


class Records:
    """Where ``Save`` orders go: counted, then written where replay is enabled (``writer`` None: it is not)."""

    def __init__(self, telemetry: Telemetry, writer: Writer | None) -> None:
        self._telemetry = telemetry
        self._writer = writer

    def put(self, record: Record) -> None:
        self._telemetry.recorded(record)
        if self._writer is not None:
            self._writer.put(record)
