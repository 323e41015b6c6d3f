"""The filter's gRPC port without an Envoy: real gRPC, service and exchange; the gate says what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from support.driving import NEEDS_GROUNDING, chat_request, find_479, policy
from support.ext_proc import Client, request_body, request_headers, response_headers
from support.scripted import Collected, ModelOf, RuntimeOf
from vsr_hallucination.config.schema import ServerSettings
from vsr_hallucination.detection.types import CheckRequest, CheckResult, GateResult
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.server.grpc_server import GrpcServer
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import NewExchange, Service

ASKED = [(":method", "POST"), (":path", "/v1/chat/completions"), ("content-type", "application/json")]
JSON = [(":status", "200"), ("content-type", "application/json")]
EVENTS = [(":status", "200"), ("content-type", "text/event-stream")]


@dataclass
class Rig:
    client: Client
    server: GrpcServer
    service: Service
    out: Collected

    async def asked(self, headers: list[tuple[str, str]], body: bytes | None = None) -> Any:
        """A stream up to and with the response headers."""
        stream = self.client.open()
        await stream.ask(request_headers(ASKED))
        await stream.ask(request_body(body or chat_request()))
        await asyncio.sleep(0.05)  # the gate has spoken
        await stream.ask(response_headers(headers))
        return stream


@asynccontextmanager
async def rig(
    gate: GateResult = NEEDS_GROUNDING, *, new_exchange: NewExchange = Exchange, drain_timeout: float = 1.0
) -> AsyncIterator[Rig]:
    async def classify(prompt: str) -> GateResult:
        return gate

    async def check(request: CheckRequest) -> CheckResult:
        return find_479(request)

    config, out = policy(), Collected()
    slot = RuntimeSlot(RuntimeOf(config, ModelOf(classify=classify), ModelOf(check=check)))
    service = Service(slot, new_exchange, out, out.note)
    settings = ServerSettings(listen=("127.0.0.1:0",), drain_wait=0.0, drain_timeout=drain_timeout)
    server = GrpcServer(settings, config.filter.limits, service)
    (address,) = await server.start()
    try:
        yield Rig(Client(address), server, service, out)
    finally:
        await server.stop()
