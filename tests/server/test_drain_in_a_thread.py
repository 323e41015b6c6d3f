"""A drain that ends while a thread reads a body: the exchange's record must be closed all the same."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from support.driving import NEEDS_GROUNDING, WRONG, chat_request, chat_response, find_479, policy
from support.ext_proc import Client, request_body, request_headers, response_body, response_headers
from support.scripted import Collected, ModelOf, RuntimeOf
from vsr_hallucination.config.schema import ServerSettings
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.server.grpc_server import GrpcServer
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import Service
from vsr_hallucination.wire.messages import Message, ResponseBody

pytestmark = pytest.mark.asyncio(loop_scope="session")
ASKED = [(":method", "POST"), (":path", "/v1/chat/completions"), ("content-type", "application/json")]


class Slow(Exchange):
    """Reads a body for as long as a large one takes on a busy machine."""

    def receive(self, message: Message, at: float) -> Any:
        if isinstance(message, ResponseBody):
            time.sleep(0.8)
        return super().receive(message, at)


@pytest.mark.parametrize("how", ["drain", "stop"])
async def test_a_body_that_outlasts_the_drain_leaves_a_closed_record(how: str) -> None:
    async def classify(prompt: str) -> Any:
        return NEEDS_GROUNDING

    async def check(request: Any) -> Any:
        return find_479(request)

    config, out = policy(), Collected()
    slot = RuntimeSlot(RuntimeOf(config, ModelOf(classify=classify), ModelOf(check=check)))
    service = Service(slot, Slow, out, out.note)
    settings = ServerSettings(listen=("127.0.0.1:0",), drain_wait=0.0, drain_timeout=0.3)
    server = GrpcServer(settings, config.filter.limits, service)
    (address,) = await server.start()
    stream = Client(address).open()
    await stream.ask(request_headers(ASKED))
    await stream.ask(request_body(chat_request()))
    await stream.ask(response_headers([(":status", "200"), ("content-type", "application/json")]))
    await stream.send(response_body(chat_response(WRONG + "x" * 5000)))
    await asyncio.sleep(0.1)
    await (server.drain() if how == "drain" else server.stop())
    await asyncio.sleep(1.0)
    assert out.records[-1].lifecycle != "in_progress"
