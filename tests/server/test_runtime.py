"""The slot: a reload swaps the runtime; what began with the old one keeps it, and its last user closes it."""

import asyncio

from support.scripted import RuntimeOf
from vsr_hallucination.config.schema import Config
from vsr_hallucination.server.runtime import RuntimeSlot


async def test_an_unused_runtime_is_closed_at_once() -> None:
    old, new = RuntimeOf(Config()), RuntimeOf(Config())
    slot = RuntimeSlot(old)
    slot.swap(new)
    await asyncio.sleep(0)
    assert old.closed and not new.closed and slot.current is new


async def test_a_used_runtime_is_closed_by_its_last_user() -> None:
    old, new = RuntimeOf(Config()), RuntimeOf(Config())
    slot = RuntimeSlot(old)
    first, second = slot.take(), slot.take()
    slot.swap(new)
    third = slot.take()
    assert first.runtime is second.runtime is old and third.runtime is new
    slot.give_back(first)
    await asyncio.sleep(0)
    assert not old.closed
    slot.give_back(second)
    await asyncio.sleep(0)
    assert old.closed
    slot.give_back(third)
    await asyncio.sleep(0)
    assert not new.closed
    await slot.aclose()
    assert new.closed


async def test_a_runtime_that_cannot_be_closed_does_no_harm() -> None:
    class Stuck(RuntimeOf):
        async def aclose(self) -> None:
            raise OSError

    slot = RuntimeSlot(Stuck(Config()))
    slot.swap(RuntimeOf(Config()))
    await asyncio.sleep(0.01)
    await slot.aclose()
