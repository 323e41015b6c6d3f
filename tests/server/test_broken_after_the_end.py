"""Nonsense on the wire behind a stream that has ended: its check is given up, so its record must be closed."""

from __future__ import annotations

import asyncio

import pytest

from support.driving import WRONG, chat_request, delta, sse
from support.ext_proc import response_body
from support.rig import EVENTS, rig

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_nonsense_behind_a_stream_leaves_a_closed_record() -> None:
    async with rig(drain_timeout=0.3) as r:
        stream = await r.asked(EVENTS, chat_request(stream=True))
        await stream.ask(response_body(sse(delta(WRONG), delta(finish="stop"), "[DONE]")))
        assert await stream.ask(b"\xff\xff") is None
        await asyncio.sleep(1.0)
        assert r.out.records[-1].lifecycle != "in_progress"
