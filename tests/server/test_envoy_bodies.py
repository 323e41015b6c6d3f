"""Buffered answers through a real Envoy: what the client sees for each policy, limit and fault. B7, C1, C2, C4."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
import pytest_asyncio

from support import http1
from support import upstream as up
from support.driving import GOOD, WRONG, chat_request, chat_response, policy
from support.scripted import ModelOf, RuntimeOf
from support.stack import Stack, check_479, running_stack
from vsr_hallucination.config.schema import Action, Config, DetectionSettings, FilterSettings, Limits
from vsr_hallucination.detection.types import GateResult
from vsr_hallucination.replay.record import Lifecycle

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
LIMITS = Limits(check=4 << 20)
FILTER = FilterSettings(limits=LIMITS, detection=DetectionSettings(deadline=2.0))
WARNINGS = "x-vsr-response-warnings"


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with running_stack(policy(filter_settings=FILTER), tmp_path_factory.mktemp("envoy")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def fresh(stack: Stack) -> None:
    await stack.fresh()
    use(stack, Action.HEADER)


def use(stack: Stack, action: Action, **ours: Any) -> None:
    """Puts a policy in force, as a reload does."""
    current = stack.slot.current
    settings = replace(FILTER, **ours)
    config: Config = replace(policy(action, action, filter_settings=settings, details=True))
    stack.slot.swap(RuntimeOf(config, current.gate("default"), current.checker("default")))  # type: ignore[arg-type]


async def ask(stack: Stack, body: bytes | None = None, **how: Any) -> http1.Response:
    return await http1.send(stack.envoy.port, chat_request() if body is None else body, **how)


async def verdicts(stack: Stack, count: int = 1) -> list[str]:
    return [outcome.verdict for record in await stack.final(count) for outcome in record.outcomes]


# -- C1: headers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [Action.HEADER, Action.BODY, Action.BLOCK])
async def test_c1_every_header_of_ours_arrives_with_its_value(stack: Stack, action: Action) -> None:
    use(stack, action)
    stack.upstream.answer = up.plain(chat_response(WRONG))
    response = await ask(stack, headers=[("x-vsr-debug", " True ")])
    ours = {name: value for name, value in response.headers if name.startswith("x-vsr-")}
    assert {"x-vsr-selected-recipe", "x-vsr-selected-decision", "x-vsr-replay-id", "x-vsr-hallucination"} <= set(ours)
    assert all(ours.values()), ours
    assert ours["x-vsr-matched-hallucination"] == "grounded"
    assert response.status == (403 if action is Action.BLOCK else 200)


async def test_c1_bytes_that_are_not_utf8_do_no_harm(stack: Stack) -> None:
    stack.upstream.answer = up.plain(chat_response(WRONG), headers=[*up.JSON, ("x-odd", "caf\xe9\xff")])
    body = chat_request()
    odd = http1.head("POST", "/v1/chat/completions", [("x-odd", "\xff\xfe\x80")], length=len(body)) + body
    response = await http1.raw(stack.envoy.port, odd)
    assert response.status == 200 and response.header(WARNINGS) == "hallucination"
    assert response.header("x-odd") == "caf\xe9\xff" and stack.upstream.requests[0].header("x-odd") == "\xff\xfe\x80"


# -- C2: a changed body ------------------------------------------------------------------------------------------

VALIDATORS = (("etag", '"abc"'), ("content-md5", "abc=="), ("digest", "sha-256=abc"), ("accept-ranges", "bytes"))


@pytest.mark.parametrize("coding", ["identity", "gzip"])
@pytest.mark.parametrize("framing", ["chunked", "length"])
@pytest.mark.parametrize("client", ["1.0", "1.1", "2"])
@pytest.mark.parametrize("action", [Action.BODY, Action.BLOCK])
async def test_c2_a_replaced_body_has_no_old_headers(
    stack: Stack, coding: str, framing: str, client: str, action: Action
) -> None:
    use(stack, action)
    body = chat_response(WRONG)
    sent = gzip.compress(body) if coding == "gzip" else body
    coded = [("content-encoding", "gzip")] if coding == "gzip" else []
    headers = [*up.JSON, *coded, *VALIDATORS]
    middle = len(sent) // 2
    stack.upstream.answer = (
        up.plain(sent, headers=headers)
        if framing == "length"
        else up.chunked([sent[:middle], sent[middle:]], headers=headers)
    )
    if client == "2":
        async with httpx.AsyncClient(http1=False, http2=True) as h2:
            answer = await h2.post(f"{stack.envoy.url}/v1/chat/completions", content=chat_request())
        status, content, fields = answer.status_code, answer.content, dict(answer.headers)
    else:
        raw = await ask(stack, version=client)
        assert raw.complete
        status, content, fields = raw.status, raw.body, dict(raw.headers)
    assert int(fields["content-length"]) == len(content)
    assert not {"etag", "content-md5", "digest", "content-encoding"} & set(fields)
    found = json.loads(content)
    assert fields["x-vsr-replay-id"] and fields["content-type"] == "application/json"
    if action is Action.BLOCK:
        assert status == 403 and fields[WARNINGS] and "error" in found
    else:
        text = found["choices"][0]["message"]["content"]
        assert status == 200 and text.endswith(WRONG) and text != WRONG


async def test_c3_an_empty_body_that_claims_to_be_gzip(stack: Stack) -> None:
    stack.upstream.answer = up.plain(b"", headers=[*up.JSON, ("content-encoding", "gzip")])
    response = await ask(stack)
    assert response.status == 200 and response.body == b"" and response.header("content-encoding") == "gzip"
    assert await verdicts(stack) == ["unavailable"]


async def test_a_clean_answer_passes_byte_for_byte(stack: Stack) -> None:
    for action in (Action.HEADER, Action.BODY, Action.BLOCK):
        use(stack, action)
        body = b" " + chat_response(GOOD) + b"\n"
        stack.upstream.answer = up.plain(body, headers=[*up.JSON, *VALIDATORS])
        response = await ask(stack)
        assert response.body == body and response.header("etag") == '"abc"' and response.header(WARNINGS) is None


# -- C4: limits --------------------------------------------------------------------------------------------------


def padded_request(size: int) -> bytes:
    body = chat_request(user="")
    return chat_request(user="x" * (size - len(body)))


def padded_response(size: int, text: str = WRONG) -> bytes:
    body = json.loads(chat_response(text))
    pad = size - len(json.dumps({**body, "pad": ""}))
    return json.dumps({**body, "pad": "x" * pad}).encode()


SIZES = [32_767, 32_768, 32_769, (4 << 20) - 1, 4 << 20]


@pytest.mark.parametrize("size", SIZES)
async def test_c4_bodies_up_to_the_limit_are_checked(stack: Stack, size: int) -> None:
    use(stack, Action.BODY)
    request, answer = padded_request(size), padded_response(size)
    assert len(request) == len(answer) == size
    stack.upstream.answer = up.plain(answer)
    response = await ask(stack, request)
    assert response.status == 200 and len(stack.upstream.requests[0].body) == size
    assert len(response.body) > size, "the reply is larger than the body, and arrives"
    assert json.loads(response.body)["choices"][0]["message"]["content"].endswith(WRONG)
    assert await verdicts(stack) == ["detected"]


@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_c4_an_answer_over_the_limit_passes_unchecked_and_says_so(stack: Stack, framing: str) -> None:
    size = LIMITS.check + 1
    answer = padded_response(size)
    pieces = [answer[: 1 << 20], answer[1 << 20 :]]
    stack.upstream.answer = up.plain(answer) if framing == "length" else up.chunked(pieces)
    response = await ask(stack)
    assert response.status == 200 and response.body == answer
    assert response.header(WARNINGS) == "hallucination_unchecked"
    (record,) = await stack.final()
    assert [(o.verdict, o.reason) for o in record.outcomes] == [("unavailable", "too_large")]


@pytest.mark.parametrize("direction", ["request", "response"])
async def test_c4_what_lies_between_limit_and_edge_passes(stack: Stack, direction: str) -> None:
    """No content-length announces it, so Envoy and gRPC carry it whole: their limits are the edge."""
    size = LIMITS.edge - 4096
    request = padded_request(size) if direction == "request" else chat_request()
    answer = padded_response(size) if direction == "response" else chat_response(WRONG)
    stack.upstream.answer = up.chunked([answer])
    head = http1.head("POST", "/v1/chat/completions", [("transfer-encoding", "chunked")])
    response = await http1.raw(stack.envoy.port, head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(request), request))
    assert response.status == 200 and response.body == answer and stack.upstream.requests[0].body == request
    (record,) = await stack.final()
    assert [(o.verdict, o.reason) for o in record.outcomes] == [("unavailable", "too_large")]
    (note,) = [n for n in stack.out.notes if n.event == "too_large"]
    assert note.fields["limit"] == LIMITS.check and note.fields["edge"] == direction


@pytest.mark.parametrize("chunked", [False, True])
async def test_c4_a_request_over_the_limit_passes_unchecked_and_says_so(stack: Stack, chunked: bool) -> None:
    stack.upstream.answer = up.plain(chat_response(WRONG))
    body = padded_request(LIMITS.check + 1)
    if chunked:
        head = http1.head("POST", "/v1/chat/completions", [("transfer-encoding", "chunked")])
        response = await http1.raw(stack.envoy.port, head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
    else:
        response = await ask(stack, body)
    assert response.status == 200 and stack.upstream.requests[0].body == body
    assert response.body == chat_response(WRONG)
    (record,) = await stack.final()
    assert [(o.verdict, o.reason) for o in record.outcomes] == [("unavailable", "too_large")]


async def test_c4_a_large_upload_on_another_route_is_none_of_our_business(stack: Stack) -> None:
    body = b"x" * (LIMITS.edge + 1)
    stack.upstream.answer = up.plain(b"stored", headers=())
    response = await ask(stack, body, path="/files")
    assert response.status == 200 and response.body == b"stored" and stack.upstream.requests[0].body == body
    assert stack.out.records == []


# -- B7: control a client can forge ------------------------------------------------------------------------------


async def test_b7_forged_headers_go_in_both_directions(stack: Stack) -> None:
    stack.upstream.answer = up.plain(
        chat_response(WRONG),
        headers=[*up.JSON, (WARNINGS, ""), ("X-VSR-Matched-Hallucination", "other"), ("x-vsr-selected-recipe", "lax")],
    )
    forged = [("x-vsr-decision", "none"), ("X-Vsr-Recipe", "lax"), ("x-vsr-hallucination", "clean")]
    response = await ask(stack, headers=forged)
    assert not [name for name, _ in stack.upstream.requests[0].headers if name.startswith("x-vsr-")]
    assert response.all(WARNINGS) == ["hallucination"]
    assert response.header("x-vsr-matched-hallucination") is None
    assert response.all("x-vsr-selected-recipe") == ["default"]
    assert await verdicts(stack) == ["detected"]


@pytest.mark.parametrize(
    "path",
    """
    /v1/chat/completions?x=1 /v1//chat/completions /v1/x/../chat/completions /v1/chat%2Fcompletions
    /v1/chat%5Ccompletions /v1/%63hat/completions /v1/chat/completions/ /v1/chat/completions// /v1/chat/completions%2F
    /v1/chat/completions/. /v1/chat/completions;a=1 /v1;a/chat;b/completions /v1/chat/completions%3Ba=1
    http://host/v1/chat/completions
    """.split(),
)
async def test_b7_no_spelling_of_the_path_walks_around_the_filter(stack: Stack, path: str) -> None:
    stack.upstream.answer = up.plain(chat_response(WRONG))
    response = await ask(stack, path=path)
    assert response.header(WARNINGS) == "hallucination"


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/completions/", "/v1/responses;a=1", "/v1//messages"])
async def test_the_other_apis_are_checked_without_a_setting(stack: Stack, path: str) -> None:
    stack.upstream.answer = up.plain(chat_response(WRONG))  # not in their shape: told, so it was seen
    response = await ask(stack, path=path)
    assert response.header(WARNINGS) == "hallucination_unchecked"


# -- what is not checked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [204, 304])
async def test_bodiless_answers_pass(stack: Stack, status: int) -> None:
    stack.upstream.answer = up.head_only(status, [("etag", '"x"')])
    response = await ask(stack)
    assert response.status == status and response.header("etag") == '"x"' and response.body == b""
    (record,) = await stack.final()
    assert record.outcomes == ()


async def test_head_passes(stack: Stack) -> None:
    stack.upstream.answer = up.plain(b"12345")
    response = await http1.raw(stack.envoy.port, http1.head("HEAD", "/v1/chat/completions"), method="HEAD")
    assert response.status == 200 and response.header("content-length") == "5"


async def test_an_upstream_error_passes_byte_for_byte(stack: Stack) -> None:
    body = b'{"error":{"message":"boom"}}'
    stack.upstream.answer = up.plain(body, status=500)
    response = await ask(stack)
    assert response.status == 500 and response.body == body
    (record,) = await stack.final()
    assert record.lifecycle is Lifecycle.FAILED and record.outcomes == ()


@pytest.mark.parametrize("reset", [True, False])
async def test_an_upstream_that_breaks_off_mid_body(stack: Stack, reset: bool) -> None:
    stack.upstream.answer = up.cut(chat_response(WRONG), 20, reset=reset)
    response = await ask(stack)
    assert response.status >= 500 or not response.complete  # Envoy's own answer, as without us
    (record,) = await stack.final()
    assert record.lifecycle is Lifecycle.ABORTED and record.outcomes == ()
    stack.clear()
    stack.upstream.answer = up.plain(chat_response(WRONG))
    assert (await ask(stack)).header(WARNINGS) == "hallucination"


async def test_trailers_after_a_buffered_body(stack: Stack) -> None:
    stack.upstream.answer = up.chunked([chat_response(WRONG)], trailers=(("x-checksum", "abc"),))
    response = await ask(stack, headers=[("te", "trailers")])
    assert response.status == 200 and response.body == chat_response(WRONG)
    assert response.header(WARNINGS) == "hallucination" and dict(response.trailers) == {"x-checksum": "abc"}
    assert await verdicts(stack) == ["detected"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b'{"messages": "' + b"[" * 50, b"[" * 100_000])
async def test_a_request_that_cannot_be_read_reaches_upstream_as_it_is(stack: Stack, body: bytes) -> None:
    stack.upstream.answer = up.plain(chat_response(WRONG))
    response = await ask(stack, body)
    assert response.status == 200 and stack.upstream.requests[0].body == body
    assert response.body == chat_response(WRONG)
    assert await verdicts(stack) == ["unavailable"]


async def test_the_verdict_is_in_the_access_log(stack: Stack) -> None:
    for action in (Action.HEADER, Action.BLOCK):
        use(stack, action)
        stack.upstream.answer = up.plain(chat_response(WRONG))
        await ask(stack)
        (record, *_) = (await stack.final())[-1:]
        for _ in range(40):
            entries = [e for e in await stack.envoy.access_log() if e["replay_id"] == record.id]
            if entries:
                break
            await asyncio.sleep(0.05)
        assert entries[0]["verdict"] == "detected" and entries[0]["rules"] == ["grounded=detected"]
        assert entries[0]["recipe"] == "default" and entries[0]["decision"] == "d"


# -- row 4 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [True, False], ids=["whole", "chunked"])
async def test_an_exempt_answer_passes_as_it_came(stack: Stack, length: bool) -> None:
    async def spared(prompt: str) -> GateResult:
        return GateResult(False, 0.1)

    use(stack, Action.BLOCK)
    current = stack.slot.current
    stack.slot.swap(RuntimeOf(current.config, ModelOf(classify=spared), ModelOf(check=check_479)))
    body = chat_response(WRONG + "x" * 200_000)
    stack.upstream.answer = up.plain(body, delay=0.2) if length else up.chunked((body[:9], body[9:]), gap=0.2)
    response = await ask(stack)
    assert (response.status, response.body) == (200, body)
    assert response.header("content-length") == (str(len(body)) if length else None)
    (record,) = await stack.final()
    assert [(o.verdict, o.gate_score) for o in record.outcomes] == [("not_applicable", 0.1)]
    assert (record.lifecycle, record.streaming) == (Lifecycle.COMPLETED, False)
