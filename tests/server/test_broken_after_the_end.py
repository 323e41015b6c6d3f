"""Nonsense on the wire behind a stream that has ended: its check is given up, so its record must be closed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.driving import NEEDS_GROUNDING, WRONG, chat_request, delta, find_479, policy, sse
from support.ext_proc import Client, request_body, request_headers, response_body, response_headers
from support.scripted import Collected, ModelOf, RuntimeOf
from vsr_hallucination.config.schema import ServerSettings
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.server.grpc_server import GrpcServer
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import Service

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_nonsense_behind_a_stream_leaves_a_closed_record() -> None:
    async def classify(prompt: str) -> Any:
        return NEEDS_GROUNDING

    async def check(request: Any) -> Any:
        return find_479(request)

    config, out = policy(), Collected()
    service = Service(
        RuntimeSlot(RuntimeOf(config, ModelOf(classify=classify), ModelOf(check=check))), Exchange, out, out.note
    )
    settings = ServerSettings(listen=("127.0.0.1:0",), drain_wait=0.0, drain_timeout=0.3)
    server = GrpcServer(settings, config.filter.limits, service)
    (address,) = await server.start()
    try:
        stream = Client(address).open()
        await stream.ask(request_headers([(":method", "POST"), (":path", "/v1/chat/completions")]))
        await stream.ask(request_body(chat_request(stream=True)))
        await stream.ask(response_headers([(":status", "200"), ("content-type", "text/event-stream")]))
        await stream.ask(response_body(sse(delta(WRONG), delta(finish="stop"), "[DONE]")))
        assert await stream.ask(b"\xff\xff") is None
        await asyncio.sleep(1.0)
        assert out.records[-1].lifecycle != "in_progress"
    finally:
        await server.stop()
