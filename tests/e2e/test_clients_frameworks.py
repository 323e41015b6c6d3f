"""``langchain-openai`` and ``litellm`` as clients through a real Envoy: tool loops, streams, every action."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from support import upstream as up
from support.clients import (
    ACTIONS,
    CALL,
    CHAT,
    Setup,
    chat,
    chat_events,
    message,
    message_events,
    serving,
)
from support.driving import EVIDENCE, QUESTION, WRONG
from vsr_hallucination.config.schema import Action

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import fetches a price list
os.environ["LANGSMITH_TRACING"] = "false"
import langchain_openai
import litellm
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def setup(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Setup]:
    async with serving(tmp_path_factory.mktemp("frameworks")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def fresh(setup: Setup) -> None:
    await setup.stack.fresh()


# -- langchain ---------------------------------------------------------------------------------------------------


@tool
def depot_stats(depot: str) -> str:
    """What a depot shipped."""
    return EVIDENCE


async def agent(request: up.Request, wire: up.Wire) -> None:
    """Asks for the tool first, and answers once its result is there."""
    asked = any(m["role"] == "tool" for m in json.loads(request.body)["messages"])
    body = chat({"content": WRONG}) if asked else chat({"content": None, "tool_calls": [CALL]}, "tool_calls")
    await up.plain(body)(request, wire)


def langchain(setup: Setup) -> Any:
    return langchain_openai.ChatOpenAI(base_url=setup.base_url, api_key="k", model="m", max_retries=0)


@pytest.mark.parametrize("action", ACTIONS)
async def test_langchain_tool_loop(setup: Setup, action: Action) -> None:
    setup.use(action, agent)
    model = langchain(setup).bind_tools([depot_stats])
    messages: list[Any] = [HumanMessage(QUESTION)]
    first = await model.ainvoke(messages)
    messages.append(first)
    for call in first.tool_calls:
        messages.append(ToolMessage(depot_stats.invoke(call["args"]), tool_call_id=call["id"]))
    assert (await setup.verdict())[0] == "unavailable"  # tool calls alone have no text
    if action is Action.BLOCK:
        with pytest.raises(Exception, match="withheld") as caught:
            await model.ainvoke(messages)
        assert getattr(caught.value, "status_code", None) == 403
    else:
        answer = await model.ainvoke(messages)
        assert answer.content.endswith(WRONG) and (answer.content == WRONG) is (action is Action.HEADER)
        assert answer.usage_metadata["total_tokens"] == 16
    assert await setup.verdict() == ("detected", str(action), None)


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_langchain_stream(setup: Setup, kind: str) -> None:
    setup.use(Action.BLOCK, up.sse(chat_events()))
    model, messages = langchain(setup), [HumanMessage(QUESTION), *_history()]
    if kind == "async":
        chunks = [chunk async for chunk in model.astream(messages)]
    else:
        chunks = await asyncio.to_thread(lambda: list(model.stream(messages)))
    assert "".join(chunk.content for chunk in chunks) == WRONG
    assert setup.relay.body() == b"".join(chat_events())
    assert await setup.verdict() == ("detected", None, "not_enforced_streaming")


def _history() -> list[Any]:
    return [CHAT[1], ToolMessage(EVIDENCE, tool_call_id="call_a1")]


# -- litellm -----------------------------------------------------------------------------------------------------

ASKED: dict[str, dict[str, Any]] = {
    "chat": {"model": "openai/m", "messages": CHAT},
    # litellm makes the other API's blocks of the same messages
    "messages": {"model": "anthropic/claude-3-5-haiku-latest", "messages": CHAT, "max_tokens": 100},
}
BODIES = {"chat": chat({"content": WRONG}), "messages": message()}
EVENTS = {"chat": chat_events(), "messages": message_events()}


async def ask(setup: Setup, kind: str, api: str, **more: Any) -> Any:
    base = setup.base_url if api == "chat" else setup.relay.url
    words: dict[str, Any] = {**ASKED[api], "api_base": base, "api_key": "k", "num_retries": 0, **more}
    if kind == "async":
        return await litellm.acompletion(**words)
    return await asyncio.to_thread(lambda: litellm.completion(**words))


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("api", BODIES)
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_litellm_sees_every_action(setup: Setup, kind: str, api: str, action: Action) -> None:
    setup.use(action, up.plain(BODIES[api]))
    if action is Action.BLOCK:
        with pytest.raises(Exception, match="withheld") as caught:
            await ask(setup, kind, api)
        assert getattr(caught.value, "status_code", None) == 403
    else:
        answer = await ask(setup, kind, api)
        text = answer.choices[0].message.content
        assert text.endswith(WRONG) and (text == WRONG) is (action is Action.HEADER)
    assert await setup.verdict() == ("detected", str(action), None)


@pytest.mark.parametrize("api", EVENTS)
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_litellm_streams(setup: Setup, kind: str, api: str) -> None:
    setup.use(Action.BLOCK, up.sse(EVENTS[api]))
    stream = await ask(setup, kind, api, stream=True)
    chunks = [chunk async for chunk in stream] if kind == "async" else await asyncio.to_thread(lambda: list(stream))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == WRONG
    assert setup.relay.body() == b"".join(EVENTS[api])
    assert await setup.verdict() == ("detected", None, "not_enforced_streaming")
