"""Upstream, Envoy and filter together: real HTTP, Envoy, gRPC and exchange; the models are given by the test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from support.driving import find_479
from support.envoy import Envoy, on_ports, running_envoy
from support.scripted import Collected, ModelOf, RuntimeOf
from support.upstream import Upstream, running_upstream
from vsr_hallucination.config.schema import Config
from vsr_hallucination.detection.types import CheckRequest, CheckResult, GateResult
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.replay.record import Lifecycle, Record
from vsr_hallucination.server.grpc_server import GrpcServer
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import NewExchange, Service

GATED = GateResult(True, 0.9)
TRUSTED_HEADER = "x-rag-context"
Check = Callable[[CheckRequest], Awaitable[CheckResult]]


async def check_479(request: CheckRequest) -> CheckResult:
    return find_479(request)


async def says_yes(prompt: str) -> GateResult:
    return GATED


@dataclass
class Stack:
    """A running set-up. Replace ``upstream.answer`` and ``models`` parts between requests as a test needs."""

    config: Config
    upstream: Upstream
    envoy: Envoy
    filter: GrpcServer
    service: Service
    slot: RuntimeSlot
    out: Collected

    async def final(self, count: int = 1, timeout: float = 5.0) -> list[Record]:
        """The records of finished exchanges, once there are ``count`` of them (newest state of each)."""
        end = time.monotonic() + timeout
        while True:
            latest = {record.id: record for record in self.out.records}
            done = [r for r in latest.values() if r.lifecycle is not Lifecycle.IN_PROGRESS]
            if len(done) >= count:
                return done
            if time.monotonic() > end:
                raise AssertionError(f"{len(done)} finished records, not {count}: {self.out.events()}")
            await asyncio.sleep(0.02)

    async def fresh(self) -> None:
        """Waits until nothing of the test before is under way, then forgets what it left."""
        end = time.monotonic() + 5
        while (self.service.open_exchanges or self.service.unheld) and time.monotonic() < end:
            await asyncio.sleep(0.01)
        self.clear()

    def clear(self) -> None:
        self.out.records.clear()
        self.out.notes.clear()
        self.upstream.requests.clear()


@asynccontextmanager
async def running_stack(
    config: Config,
    folder: Path,
    *,
    check: Check = check_479,
    classify: Callable[[str], Awaitable[GateResult]] = says_yes,
    new_exchange: NewExchange = Exchange,
) -> AsyncIterator[Stack]:
    out = Collected()
    slot = RuntimeSlot(RuntimeOf(config, ModelOf(classify=classify), ModelOf(check=check)))
    service = Service(slot, new_exchange, out, out.note)
    server = replace(config.filter.server, listen=("127.0.0.1:0",), drain_wait=0.0, drain_timeout=1.0)
    grpc_server = GrpcServer(server, config.filter.limits, service)
    (address,) = await grpc_server.start()
    await grpc_server.set_serving(True)
    try:
        async with running_upstream() as upstream:
            placed = on_ports(config, filter_address=address, upstream=upstream.address)
            # Envoy hands on only the headers its configuration names: this one for tests that put it in force later.
            grounding = replace(placed.filter.grounding, header=TRUSTED_HEADER)
            told = replace(placed, filter=replace(placed.filter, grounding=grounding))
            async with running_envoy(told, folder) as envoy:
                yield Stack(placed, upstream, envoy, grpc_server, service, slot, out)
    finally:
        await grpc_server.stop()
