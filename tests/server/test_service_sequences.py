"""Hand-made protocol sequences against the gRPC port, with the real exchange: a proxy that does not do as told (C8),
messages that cannot come, and noise. Nothing reads as verified that was not read whole; the next exchange works."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
import pytest

from support.driving import EVIDENCE, WRONG, chat_request, chat_response, delta, policy, sse
from support.ext_proc import (
    Client,
    Stream,
    connect,
    header_map,
    request_body,
    request_headers,
    response_body,
    response_headers,
)
from support.scripted import Collected, ModelOf, RuntimeOf
from support.stack import check_479, says_yes
from vsr_hallucination.config.schema import Config, ServerSettings
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.replay.record import Lifecycle, Outcome
from vsr_hallucination.server.grpc_server import GrpcServer
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import Service
from vsr_hallucination.wire import ext_proc_pb2 as pb

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
POST = [(":method", "POST"), (":path", "/v1/chat/completions"), ("content-type", "application/json")]
OK_JSON = [(":status", "200"), ("content-type", "application/json")]
OK_SSE = [(":status", "200"), ("content-type", "text/event-stream")]
WHOLE = sse(delta(WRONG, finish="stop"), "[DONE]")


@dataclass
class Filter:
    client: Client
    out: Collected

    async def begin(self, response: Sequence[tuple[str, str]], *, stream: bool = False) -> Stream:
        """An exchange up to its response headers, each message answered."""
        call = self.client.open()
        for message in (
            request_headers(POST),
            request_body(chat_request(EVIDENCE, stream=stream)),
            response_headers(response),
        ):
            assert await call.ask(message) is not None
        return call

    async def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of the one exchange, once it has ended."""
        end = time.monotonic() + 5
        while True:
            done = [r for r in self.out.records if r.lifecycle is not Lifecycle.IN_PROGRESS]
            if done:
                return done[-1].outcomes
            assert time.monotonic() < end, "no final record"
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(config: Config | None = None) -> AsyncIterator[Filter]:
    used, out = config or policy(), Collected()
    slot = RuntimeSlot(RuntimeOf(used, ModelOf(classify=says_yes), ModelOf(check=check_479)))
    settings = ServerSettings(listen=("127.0.0.1:0",))
    server = GrpcServer(settings, used.filter.limits, Service(slot, Exchange, out, out.note))
    (address,) = await server.start()
    try:
        async with connect(address) as client:
            yield Filter(client, out)
    finally:
        await server.stop()


async def test_c8_streamed_override_ignored_the_whole_stream_in_one_body() -> None:
    async with running() as it:
        call = await it.begin(OK_SSE, stream=True)
        assert await call.ask(response_body(WHOLE)) is not None
        await call.finish()
        (outcome,) = await it.outcomes()
        assert (outcome.verdict, outcome.enforcement) == ("detected", "not_enforced_streaming")


async def test_c8_a_buffered_body_that_comes_in_chunks_is_never_clean() -> None:
    async with running() as it:
        call = await it.begin(OK_JSON)
        body = chat_response("Depot K7 shipped 412 crates.")
        for start in range(0, len(body), 40):
            piece = body[start : start + 40]
            answer = await call.ask(response_body(piece, end=start + 40 >= len(body)))
            assert answer is not None and not answer.response_body.response.body_mutation.body
        await call.finish()
        (outcome,) = await it.outcomes()
        assert outcome.verdict == "unavailable" and "override_ignored" in it.out.events()


async def test_c8_half_a_body_and_nothing_more_is_never_clean() -> None:
    async with running() as it:
        call = await it.begin(OK_JSON)
        body = chat_response("Depot K7 shipped 412 crates.")
        assert await call.ask(response_body(body[: len(body) // 2], end=False)) is not None
        await call.finish()
        (outcome,) = await it.outcomes()
        assert outcome.verdict == "unavailable" and outcome.reason in ("too_large", "response_unreadable")


async def test_c8_bodies_come_though_none_were_wanted() -> None:
    async with running() as it:
        call = it.client.open()
        other = [(":method", "POST"), (":path", "/v1/other")]
        answer = await call.ask(request_headers(other))
        assert answer is not None and answer.mode_override.response_body_mode == pb.ProcessingMode.NONE
        for message in (request_body(b"x"), response_headers(OK_JSON), response_body(chat_response(WRONG))):
            assert await call.ask(message) is not None
        assert await call.finish() is grpc.StatusCode.OK


async def test_c1_a_proxy_that_fills_only_value() -> None:
    def by_value(items: Sequence[tuple[str, str]]) -> pb.HeaderMap:
        return pb.HeaderMap(headers=[pb.HeaderValue(key=n.encode(), value=v.encode()) for n, v in items])

    async with running() as it:
        call = it.client.open()
        assert await call.ask(pb.ProcessingRequest(request_headers=pb.HttpHeaders(headers=by_value(POST))))
        assert await call.ask(request_body(chat_request()))
        assert await call.ask(pb.ProcessingRequest(response_headers=pb.HttpHeaders(headers=by_value(OK_JSON))))
        answer = await call.ask(response_body(chat_response(WRONG)))
        assert answer is not None
        fields = answer.response_body.response.header_mutation.set_headers
        assert b"x-vsr-response-warnings" in [f.header.key for f in fields]
        assert all(f.header.raw_value and not f.header.value for f in fields)


@pytest.mark.parametrize(
    "messages",
    [
        [response_body(b"{}")],
        [request_body(b"{}"), request_body(b"{}")],
        [request_headers(POST), request_headers(POST)],
        [request_headers(POST), request_body(chat_request()), response_body(b"{}")],
        [response_headers(OK_JSON), request_headers(POST)],
        [pb.ProcessingRequest(request_trailers=pb.HttpTrailers(trailers=header_map([])))],
    ],
    ids=["body_first", "bodies_first", "headers_twice", "body_without_headers", "backwards", "trailers_first"],
)
async def test_sequences_that_cannot_be_end_normally_and_the_next_works(messages: list[pb.ProcessingRequest]) -> None:
    async with running() as it:
        call = it.client.open()
        for message in messages:
            if await call.ask(message) is None:
                break
        else:
            await call.call.done_writing()
        assert await call.call.code() is grpc.StatusCode.OK
        call = await it.begin(OK_JSON)
        assert await call.ask(response_body(chat_response(WRONG))) is not None
        await call.finish()
        (outcome,) = await it.outcomes()
        assert outcome.verdict == "detected"


@pytest.mark.parametrize("seed", range(4))
async def test_noise_breaks_nothing(seed: int) -> None:
    rng = random.Random(seed)
    pieces: list[pb.ProcessingRequest | bytes] = [
        request_headers(POST), request_headers([]), request_body(chat_request()), request_body(b"\xff" * 9, end=False),
        response_headers(OK_JSON), response_headers(OK_SSE), response_headers([(":status", "x" * 99)], end=True),
        response_body(WHOLE, end=False), response_body(chat_response(WRONG)), response_body(b""),
        pb.ProcessingRequest(response_trailers=pb.HttpTrailers()), b"\x00", rng.randbytes(40),
    ]  # fmt: skip
    async with running() as it:
        for _ in range(25):
            call = it.client.open()
            for message in rng.choices(pieces, k=5):
                try:
                    await call.send(message)
                except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                    break  # ended meanwhile
            call.call.cancel()
        await asyncio.sleep(0.1)
        assert not {o.verdict for r in it.out.records for o in r.outcomes} & {"not_detected"}
        it.out.records.clear()
        call = await it.begin(OK_JSON)
        answer = await call.ask(response_body(chat_response(WRONG)))
        assert answer is not None and answer.response_body.response.header_mutation.set_headers
