"""What upstreams and clients do beside the usual, through a real Envoy: ranges, trailers over HTTP/2, a stream nobody
asked for, stacked codings, and bodies at every edge of the limits that one setting gives."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import brotli
import httpx
import pytest
import pytest_asyncio
import zstandard

from support import http1
from support import upstream as up
from support.driving import GOOD, WRONG, chat_request, chat_response, delta, policy, sse
from support.scripted import RuntimeOf
from support.stack import Stack, running_stack
from vsr_hallucination.config.evidence_schema import GroundingSettings
from vsr_hallucination.config.schema import Action, FilterSettings, Limits
from vsr_hallucination.replay.record import Outcome

pytestmark = pytest.mark.asyncio(loop_scope="session")
LIMITS = Limits(check=64 << 10)
FILTER = FilterSettings(limits=LIMITS)
WARNINGS = "x-vsr-response-warnings"
PATH = "/v1/chat/completions"
EVENTS = sse(delta("Depot K7 shipped 479"), delta(" crates.", finish="stop"), "[DONE]")


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with running_stack(policy(filter_settings=FILTER), tmp_path_factory.mktemp("envoy")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def fresh(stack: Stack) -> None:
    await stack.fresh()
    use(stack, Action.HEADER)


def use(stack: Stack, action: Action, **ours: object) -> None:
    current = stack.slot.current
    config = policy(action, action, filter_settings=replace(FILTER, **ours))  # type: ignore[arg-type]
    stack.slot.swap(RuntimeOf(config, current.gate("default"), current.checker("default")))  # type: ignore[arg-type]


async def outcome(stack: Stack) -> Outcome:
    (record,) = await stack.final()
    (found,) = record.outcomes
    return found


# -- evidence beside the body ------------------------------------------------------------------------------------


async def test_a_trusted_header_carries_evidence(stack: Stack) -> None:
    stack.upstream.answer = up.plain(chat_response(WRONG))
    sent = [("content-type", "application/json"), ("X-Rag-Context", '["K7 May: 412 crates"]')]
    trusting = GroundingSettings(header="x-rag-context")
    for settings, state in ((GroundingSettings(), "unavailable"), (trusting, "detected")):
        stack.clear()
        use(stack, Action.HEADER, grounding=settings)
        await http1.send(stack.envoy.port, chat_request(None), headers=sent)
        assert (await outcome(stack)).verdict == state
        assert stack.upstream.requests[0].header("x-rag-context") == '["K7 May: 412 crates"]'
    (record,) = await stack.final()
    assert record.evidence == (("header:x-rag-context", "header", "header"),)


# -- ranges ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [chat_response(WRONG), chat_response(WRONG)[:40]], ids=["whole", "part"])
@pytest.mark.parametrize("action", [Action.HEADER, Action.BODY, Action.BLOCK])
async def test_a_range_is_never_read_as_an_answer(stack: Stack, body: bytes, action: Action) -> None:
    use(stack, action)
    ranged = ("content-range", f"bytes 0-{len(body) - 1}/999")
    stack.upstream.answer = up.plain(body, status=206, headers=[*up.JSON, ranged])
    response = await http1.send(stack.envoy.port, chat_request())
    assert (response.status, response.body, response.header("content-range")) == (206, body, ranged[1])
    assert response.header(WARNINGS) == "hallucination_unchecked"
    found = await outcome(stack)
    assert (found.verdict, found.reason) == ("unavailable", "response_unreadable")


# -- HTTP/2 and trailers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True])
async def test_trailers_behind_an_http2_client(stack: Stack, streamed: bool) -> None:
    body = EVENTS if streamed else chat_response(WRONG)
    headers = up.SSE if streamed else up.JSON
    stack.upstream.answer = up.chunked([body[:30], body[30:]], headers=headers, trailers=(("x-checksum", "abc"),))
    async with httpx.AsyncClient(http1=False, http2=True) as client:
        response = await client.post(stack.envoy.url + PATH, content=chat_request(), headers={"te": "trailers"})
    assert (response.http_version, response.status_code, response.content) == ("HTTP/2", 200, body)
    assert response.headers.get(WARNINGS) == (None if streamed else "hallucination")
    found = await outcome(stack)
    assert (found.verdict, found.enforcement) == ("detected", "not_enforced_streaming" if streamed else None)


# -- what was not asked for --------------------------------------------------------------------------------------


async def test_a_stream_answers_a_request_that_asked_for_none(stack: Stack) -> None:
    use(stack, Action.BLOCK)
    stack.upstream.answer = up.sse([EVENTS[:50], EVENTS[50:]])
    response = await http1.send(stack.envoy.port, chat_request(stream=False))
    assert (response.status, response.body) == (200, EVENTS)
    found = await outcome(stack)
    assert (found.verdict, found.enforcement) == ("detected", "not_enforced_streaming")


@pytest.mark.parametrize("action", [Action.BODY, Action.BLOCK])
async def test_a_body_answers_a_request_that_asked_for_a_stream(stack: Stack, action: Action) -> None:
    use(stack, action)
    stack.upstream.answer = up.plain(chat_response(WRONG))
    response = await http1.send(stack.envoy.port, chat_request(stream=True))
    found = await outcome(stack)
    assert (found.verdict, found.action, found.enforcement) == ("detected", str(action), None)
    if action is Action.BLOCK:
        assert response.status == 403
    else:
        assert json.loads(response.body)["choices"][0]["message"]["content"].endswith(WRONG)


async def test_events_under_the_name_of_json_are_never_clean(stack: Stack) -> None:
    stack.upstream.answer = up.plain(EVENTS)
    response = await http1.send(stack.envoy.port, chat_request(stream=True))
    assert response.body == EVENTS and response.header(WARNINGS) == "hallucination_unchecked"
    assert (await outcome(stack)).reason == "response_unreadable"


# -- stacked codings ---------------------------------------------------------------------------------------------

CODINGS = {
    "gzip, br": lambda data: brotli.compress(gzip.compress(data)),
    "zstd, gzip": lambda data: gzip.compress(zstandard.compress(data)),
    "identity, gzip": gzip.compress,
}


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("action", [Action.HEADER, Action.BODY])
async def test_stacked_codings_of_a_body(stack: Stack, coding: str, action: Action) -> None:
    use(stack, action)
    body = CODINGS[coding](chat_response(WRONG))
    stack.upstream.answer = up.plain(body, headers=[*up.JSON, ("content-encoding", coding)])
    response = await http1.send(stack.envoy.port, chat_request())
    if action is Action.HEADER:
        assert (response.body, response.header("content-encoding")) == (body, coding)
        assert response.header(WARNINGS) == "hallucination"
    else:
        assert response.header("content-encoding") is None
        assert json.loads(response.body)["choices"][0]["message"]["content"].endswith(WRONG)
    assert (await outcome(stack)).verdict == "detected"


@pytest.mark.parametrize("coding", CODINGS)
async def test_stacked_codings_of_a_stream(stack: Stack, coding: str) -> None:
    body = CODINGS[coding](EVENTS)
    pieces = [body[:7], body[7:31], body[31:]]
    stack.upstream.answer = up.sse(pieces, headers=[*up.SSE, ("content-encoding", coding)])
    response = await http1.send(stack.envoy.port, chat_request(stream=True))
    assert response.body == body
    assert (await outcome(stack)).verdict == "detected"


async def test_a_bomb_is_refused_and_passes(stack: Stack) -> None:
    body = gzip.compress(chat_response("x" * (LIMITS.check + 1)))
    assert len(body) < 1000
    stack.upstream.answer = up.plain(body, headers=[*up.JSON, ("content-encoding", "gzip")])
    response = await http1.send(stack.envoy.port, chat_request())
    assert response.body == body
    assert (await outcome(stack)).reason == "too_large"


# -- every edge of the limits ------------------------------------------------------------------------------------


def padded_request(size: int) -> bytes:
    return chat_request(user="x" * (size - len(chat_request(user=""))))


def padded_response(size: int, text: str = WRONG) -> bytes:
    body = json.loads(chat_response(text))
    pad = size - len(json.dumps({**body, "pad": ""}))
    return json.dumps({**body, "pad": "x" * pad}).encode()


def chunked_request(body: bytes) -> bytes:
    head = http1.head("POST", PATH, [("transfer-encoding", "chunked")])
    return head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


CHECKED = [LIMITS.check - 1, LIMITS.check]
PASSED = [LIMITS.check + 1, LIMITS.edge - 1, LIMITS.edge]
BEYOND = LIMITS.edge + 1


@pytest.mark.parametrize("size", CHECKED + PASSED + [BEYOND, 2 * LIMITS.edge])
async def test_c4_announced_answers_at_each_edge(stack: Stack, size: int) -> None:
    answer = padded_response(size)
    assert len(answer) == size
    stack.upstream.answer = up.plain(answer)
    response = await http1.send(stack.envoy.port, chat_request())
    assert (response.status, response.body == answer) == (200, True)
    found = await outcome(stack)
    assert (found.verdict, found.reason) == (("detected", None) if size in CHECKED else ("unavailable", "too_large"))


@pytest.mark.parametrize("size", CHECKED + PASSED)
async def test_c4_unannounced_answers_at_each_edge(stack: Stack, size: int) -> None:
    answer = padded_response(size)
    stack.upstream.answer = up.chunked([answer[:1000], answer[1000:]])
    response = await http1.send(stack.envoy.port, chat_request())
    assert (response.status, response.body == answer) == (200, True)
    found = await outcome(stack)
    assert (found.verdict, found.reason) == (("detected", None) if size in CHECKED else ("unavailable", "too_large"))


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("size", CHECKED + PASSED)
async def test_c4_requests_at_each_edge(stack: Stack, size: int, framing: str) -> None:
    body = padded_request(size)
    stack.upstream.answer = up.plain(chat_response(GOOD))
    if framing == "length":
        response = await http1.send(stack.envoy.port, body)
    else:
        response = await http1.raw(stack.envoy.port, chunked_request(body))
    assert response.status == 200 and stack.upstream.requests[0].body == body
    found = await outcome(stack)
    checked = size in CHECKED
    assert (found.verdict, found.reason) == (("not_detected", None) if checked else ("unavailable", "too_large"))


async def test_c4_an_announced_request_beyond_the_edge_passes(stack: Stack) -> None:
    body = padded_request(2 * LIMITS.edge)
    stack.upstream.answer = up.plain(chat_response(WRONG))
    response = await http1.send(stack.envoy.port, body)
    assert response.status == 200 and stack.upstream.requests[0].body == body
    assert (await outcome(stack)).reason == "too_large"


async def test_c4_unannounced_beyond_the_edge_is_answered_by_envoy(stack: Stack) -> None:
    """Documented: nobody could know in time. Never called checked, and the next exchange works."""
    far = 4 << 20  # Envoy itself holds at least a megabyte of an answer
    stack.upstream.answer = up.chunked([padded_response(far)])
    assert (await http1.send(stack.envoy.port, chat_request())).status == 500
    stack.upstream.answer = up.plain(chat_response(WRONG))
    response = await http1.raw(stack.envoy.port, chunked_request(padded_request(far)))
    assert response.status == 413
    assert not [o for record in await stack.final(2) for o in record.outcomes]
    stack.clear()
    assert (await http1.send(stack.envoy.port, chat_request())).header(WARNINGS) == "hallucination"
