"""The ``openai`` client through a real Envoy, in all its APIs: valid objects of its own types with every action."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio

from support import upstream as up
from support.clients import (
    ACTIONS,
    CHAT,
    PIECES,
    RESPONSES,
    Setup,
    chat,
    chat_events,
    completion,
    completion_events,
    response,
    response_events,
    serving,
)
from support.driving import EVIDENCE, QUESTION, WRONG
from vsr_hallucination.config.schema import Action

pytestmark = pytest.mark.asyncio(loop_scope="session")
WARNINGS = "x-vsr-response-warnings"
BODIES = {"chat": chat({"content": WRONG}), "completions": completion(), "responses": response()}
EVENTS = {"chat": chat_events(), "completions": completion_events(), "responses": response_events()}
KINDS = ("sync", "async")


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def setup(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Setup]:
    async with serving(tmp_path_factory.mktemp("openai")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def fresh(setup: Setup) -> None:
    await setup.stack.fresh()


def resource(client: Any, api: str) -> tuple[Any, dict[str, Any]]:
    """Where the client keeps an API, and what is asked of it."""
    if api == "chat":
        return client.chat.completions, {"messages": CHAT}
    if api == "completions":
        return client.completions, {"prompt": QUESTION, "extra_body": {"documents": [EVIDENCE]}}
    return client.responses, {"input": RESPONSES}


def text_of(answer: Any, api: str) -> str:
    if api == "responses":
        return str(answer.output_text)
    choice = answer.choices[0]
    return str(choice.message.content if api == "chat" else choice.text)


def piece_of(event: Any, api: str) -> str:
    if api == "responses":
        return str(event.delta) if event.type == "response.output_text.delta" else ""
    choice = event.choices[0]
    return str((choice.delta.content if api == "chat" else choice.text) or "")


async def create(setup: Setup, kind: str, api: str) -> Any:
    """One call with the raw response kept."""
    if kind == "async":
        async with openai.AsyncOpenAI(base_url=setup.base_url, api_key="k", max_retries=0) as aclient:
            place, asked = resource(aclient, api)
            return await place.with_raw_response.create(model="m", **asked)

    def call() -> Any:
        with openai.OpenAI(base_url=setup.base_url, api_key="k", max_retries=0) as client:
            place, asked = resource(client, api)
            return place.with_raw_response.create(model="m", **asked)

    return await asyncio.to_thread(call)


async def streamed(setup: Setup, kind: str, api: str) -> list[Any]:
    if kind == "async":
        async with openai.AsyncOpenAI(base_url=setup.base_url, api_key="k", max_retries=0) as aclient:
            place, asked = resource(aclient, api)
            return [event async for event in await place.create(model="m", stream=True, **asked)]

    def call() -> list[Any]:
        with openai.OpenAI(base_url=setup.base_url, api_key="k", max_retries=0) as client:
            place, asked = resource(client, api)
            return list(place.create(model="m", stream=True, **asked))

    return await asyncio.to_thread(call)


def assert_valid(value: Any) -> None:
    """As strict as the client's own types are: it constructs them without checking."""
    type(value).model_validate(value.model_dump(mode="json"))


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("api", BODIES)
@pytest.mark.parametrize("kind", KINDS)
async def test_every_action_gives_a_valid_object(setup: Setup, kind: str, api: str, action: Action) -> None:
    setup.use(action, up.plain(BODIES[api]))
    if action is Action.BLOCK:
        with pytest.raises(openai.PermissionDeniedError) as caught:
            await create(setup, kind, api)
        assert caught.value.code and "479" not in str(caught.value)
        assert caught.value.response.headers[WARNINGS] == "hallucination"
    else:
        raw = await create(setup, kind, api)
        answer = raw.parse()
        assert_valid(answer)
        text = text_of(answer, api)
        assert text.endswith(WRONG) and (text == WRONG) is (action is Action.HEADER)
        assert raw.headers.get(WARNINGS) == ("hallucination" if action is Action.HEADER else None)
    assert await setup.verdict() == ("detected", str(action), None)


@pytest.mark.parametrize("api", EVENTS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_stream_comes_byte_for_byte(setup: Setup, kind: str, api: str) -> None:
    setup.use(Action.BLOCK, up.sse(EVENTS[api]))
    events = await streamed(setup, kind, api)
    for event in events:
        if api != "completions":  # whose type has no room for the null that servers send before the end
            assert_valid(event)
    assert [piece for piece in (piece_of(event, api) for event in events) if piece] == list(PIECES)
    assert setup.relay.body() == b"".join(EVENTS[api])
    assert await setup.verdict() == ("detected", None, "not_enforced_streaming")
