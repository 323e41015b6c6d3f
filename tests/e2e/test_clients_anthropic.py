"""The ``anthropic`` client through a real Envoy: valid messages with every action, streams byte for byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest
import pytest_asyncio

from support import upstream as up
from support.clients import ACTIONS, MESSAGES, Setup, message, message_events, serving
from support.driving import WRONG
from vsr_hallucination.config.schema import Action

pytestmark = pytest.mark.asyncio(loop_scope="session")
WARNINGS = "x-vsr-response-warnings"
ASKED: dict[str, Any] = {"model": "m", "max_tokens": 100, "messages": MESSAGES}
KINDS = ("sync", "async")


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def setup(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Setup]:
    async with serving(tmp_path_factory.mktemp("anthropic")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def fresh(setup: Setup) -> None:
    await setup.stack.fresh()


async def create(setup: Setup, kind: str) -> tuple[Any, Any]:
    """The raw response and what the client makes of it."""
    if kind == "async":
        async with anthropic.AsyncAnthropic(base_url=setup.relay.url, api_key="k", max_retries=0) as aclient:
            raw = await aclient.messages.with_raw_response.create(**ASKED)
            return raw, await raw.parse()

    def call() -> tuple[Any, Any]:
        with anthropic.Anthropic(base_url=setup.relay.url, api_key="k", max_retries=0) as client:
            raw = client.messages.with_raw_response.create(**ASKED)
            return raw, raw.parse()

    return await asyncio.to_thread(call)


async def streamed(setup: Setup, kind: str) -> tuple[list[str], Any]:
    """The pieces of text, and the message that the client makes of its events."""
    if kind == "async":
        async with (
            anthropic.AsyncAnthropic(base_url=setup.relay.url, api_key="k", max_retries=0) as aclient,
            aclient.messages.stream(**ASKED) as stream,
        ):
            return [piece async for piece in stream.text_stream], await stream.get_final_message()

    def call() -> tuple[list[str], Any]:
        with (
            anthropic.Anthropic(base_url=setup.relay.url, api_key="k", max_retries=0) as client,
            client.messages.stream(**ASKED) as stream,
        ):
            return list(stream.text_stream), stream.get_final_message()

    return await asyncio.to_thread(call)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", KINDS)
async def test_every_action_gives_a_valid_message(setup: Setup, kind: str, action: Action) -> None:
    setup.use(action, up.plain(message()))
    if action is Action.BLOCK:
        with pytest.raises(anthropic.PermissionDeniedError) as caught:
            await create(setup, kind)
        body: Any = caught.value.body
        assert body["type"] == "error" and body["error"]["message"] and "479" not in str(caught.value)
        assert caught.value.response.headers[WARNINGS] == "hallucination"
    else:
        raw, answer = await create(setup, kind)
        type(answer).model_validate(answer.model_dump(mode="json"))
        texts = [block.text for block in answer.content]
        assert texts[-1] == WRONG and len(texts) == (1 if action is Action.HEADER else 2)
        assert raw.headers.get(WARNINGS) == ("hallucination" if action is Action.HEADER else None)
    assert await setup.verdict() == ("detected", str(action), None)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_stream_comes_byte_for_byte(setup: Setup, kind: str) -> None:
    setup.use(Action.BLOCK, up.sse(message_events()))
    pieces, answer = await streamed(setup, kind)
    assert "".join(pieces) == WRONG and answer.content[0].text == WRONG and answer.stop_reason == "end_turn"
    assert setup.relay.body() == b"".join(message_events())
    assert await setup.verdict() == ("detected", None, "not_enforced_streaming")
