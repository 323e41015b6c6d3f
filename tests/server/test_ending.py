"""Whatever the end of the server cuts off, each exchange has its last record before it is over, and no end fails."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Any

import pytest

from support.driving import WRONG, chat_response
from support.ext_proc import response_body
from support.rig import JSON, Rig, rig
from vsr_hallucination.config.schema import Config
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.orders import Note
from vsr_hallucination.wire.messages import Message, ResponseBody

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Late(Exchange):
    """Has said what is to be done, and is slow to come back from its thread."""

    def receive(self, message: Message, at: float) -> Any:
        orders = super().receive(message, at)
        if isinstance(message, ResponseBody):
            time.sleep(0.3)
        return orders


def unended(r: Rig) -> list[str]:
    last = {record.id: record.lifecycle for record in r.out.records}
    return [id for id, lifecycle in last.items() if lifecycle == "in_progress"]


@pytest.mark.parametrize("how", ["drain", "stop"])
async def test_what_is_cut_off_is_recorded_when_the_end_is_over(how: str) -> None:
    async with rig(drain_timeout=0.0) as r:
        await asyncio.gather(*(r.asked(JSON) for _ in range(60)))
        await (r.server.drain() if how == "drain" else r.server.stop())
        assert (len({record.id for record in r.out.records}), unended(r)) == (60, [])
        assert r.service.open_exchanges == 0


@pytest.mark.parametrize("how", ["drain", "stop"])
async def test_the_record_that_a_thread_made_last_is_not_lost(how: str) -> None:
    async with rig(new_exchange=Late, drain_timeout=0.0) as r:
        streams = [await r.asked(JSON) for _ in range(2)]
        for stream in streams:
            await stream.send(response_body(b"{" + chat_response(WRONG + "x" * 5000)))  # no JSON: nothing to check
        await asyncio.sleep(0.1)
        await (r.server.drain() if how == "drain" else r.server.stop())
        assert unended(r) == []


@pytest.mark.parametrize("turns", range(0, 24, 2))
async def test_a_drain_may_be_cut_short_at_any_moment(turns: int) -> None:
    async with rig(drain_timeout=0.0) as r:
        await asyncio.gather(*(r.asked(JSON) for _ in range(10)))
        draining = asyncio.create_task(r.server.drain())
        for _ in range(turns):
            await asyncio.sleep(0)
        draining.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await draining
        await r.server.stop()
        assert unended(r) == []


async def test_an_exchange_that_cannot_be_closed_keeps_no_other_open() -> None:
    class Broken(Exchange):
        def closed(self, at: float) -> Any:
            raise RuntimeError

    def made(config: Config, *, id: str, metadata: Mapping[str, str]) -> Exchange:
        return (Exchange if started else Broken)(config, id=id, metadata=metadata)

    def notes(note: Note) -> None:
        if note.event == "exchange_failed":
            raise RuntimeError

    started: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    try:
        async with rig(new_exchange=made) as r:
            r.service.notes = notes
            for _ in range(6):
                started.append(await r.asked(JSON))
            await asyncio.gather(*(stream.finish() for stream in started[:5]))
            await asyncio.sleep(0.2)
            assert len(unended(r)) == 2  # the broken one, and the one that is open
    finally:
        asyncio.get_running_loop().set_exception_handler(None)
