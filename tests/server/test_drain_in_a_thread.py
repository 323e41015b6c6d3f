"""A drain that ends while a thread reads a body: the exchange's record must be closed all the same."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from support.driving import WRONG, chat_response
from support.ext_proc import response_body
from support.rig import JSON, rig
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.wire.messages import Message, ResponseBody

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Slow(Exchange):
    """Reads a body for as long as a large one takes on a busy machine."""

    def receive(self, message: Message, at: float) -> Any:
        if isinstance(message, ResponseBody):
            time.sleep(0.8)
        return super().receive(message, at)


@pytest.mark.parametrize("how", ["drain", "stop"])
async def test_a_body_that_outlasts_the_drain_leaves_a_closed_record(how: str) -> None:
    async with rig(new_exchange=Slow, drain_timeout=0.3) as r:
        stream = await r.asked(JSON)
        await stream.send(response_body(chat_response(WRONG + "x" * 5000)))
        await asyncio.sleep(0.1)
        await (r.server.drain() if how == "drain" else r.server.stop())
        await asyncio.sleep(1.0)
        assert r.out.records[-1].lifecycle != "in_progress"
