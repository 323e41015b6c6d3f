"""What a few bytes on the wire may make of the event loop: a compressed body, an exempt answer's end, many choices."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from support.driving import EVIDENCE, WRONG, chat_request, chat_response, delta, sse
from support.ext_proc import header_map, request_body, request_headers, response_body
from support.rig import ASKED, EVENTS, JSON, rig
from vsr_hallucination import reading, streaming
from vsr_hallucination.apis.encoding import Decoder
from vsr_hallucination.detection.types import GateResult
from vsr_hallucination.wire import ext_proc_pb2 as pb

pytestmark = pytest.mark.asyncio(loop_scope="session")
GZIP = [*JSON, ("content-encoding", "gzip")]
SMALL = 64 << 10  # bytes that may be read on the loop, generously


@pytest.fixture
def on_loop(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of what was decoded on the event loop's own thread."""
    sizes: list[int] = []
    real_body, real_feed = reading.read_body, Decoder.feed

    def note(size: int) -> None:
        if threading.current_thread() is threading.main_thread():
            sizes.append(size)

    def body(api: Any, data: bytes, encoding: str | None, limit: int) -> Any:
        found = real_body(api, data, encoding, limit)
        note(max(len(data), len(found.plain)))
        return found

    def feed(self: Decoder, data: bytes) -> bytes:
        plain = real_feed(self, data)
        note(len(plain))
        return plain

    monkeypatch.setattr("vsr_hallucination.response.read_body", body)
    monkeypatch.setattr(streaming, "read_body", body)
    monkeypatch.setattr(Decoder, "feed", feed)
    return sizes


async def test_a_small_compressed_body_is_read_off_the_loop(on_loop: list[int]) -> None:
    # 3.6 KB on the wire, 3.6 MB of JSON: 0.4 s on the loop.
    body = b'{"choices":[{"index":0,"message":{"content":"479 a"}}],"z":[' + b"[]," * 1_200_000 + b"[]]}"
    packed = gzip.compress(body, 9)
    assert len(packed) < 4 << 10
    async with rig() as r:
        stream = await r.asked(GZIP)
        assert await stream.ask(response_body(packed)) is not None
    assert max(on_loop, default=0) <= SMALL


async def test_a_small_compressed_chunk_is_read_off_the_loop(on_loop: list[int]) -> None:
    # 4 KB on the wire hold 70,000 events: a second on the loop, with every other stream waiting.
    packed = gzip.compress(sse({"choices": []}) * 70_000 + sse(delta(WRONG), delta(finish="stop"), "[DONE]"), 9)[:4000]
    async with rig() as r:
        stream = await r.asked(
            [*EVENTS, ("content-encoding", "gzip")]
        )
        assert await stream.ask(response_body(packed, end=False)) is not None
        await asyncio.sleep(0.3)
    assert max(on_loop, default=0) <= SMALL


def _trailers() -> pb.ProcessingRequest:
    message = pb.ProcessingRequest()
    message.response_trailers.trailers.CopyFrom(header_map([("x-end", "1")]))
    return message


async def test_an_exempt_answer_that_ends_with_trailers_is_read_off_the_loop(on_loop: list[int]) -> None:
    async with rig(GateResult(False, 0.1)) as r:
        stream = await r.asked(JSON)
        assert await stream.ask(response_body(chat_response("word " * 400_000), end=False)) is not None
        assert await stream.ask(_trailers()) is not None
        await stream.finish()
    assert max(on_loop, default=0) <= SMALL


async def test_an_exempt_answer_that_was_cut_off_is_not_read_at_all(on_loop: list[int]) -> None:
    async with rig(GateResult(False, 0.1)) as r:
        stream = await r.asked(JSON)
        assert await stream.ask(response_body(chat_response("word " * 400_000), end=False)) is not None
        stream.call.cancel()
        await _until(lambda: bool(r.out.records) and r.out.records[-1].lifecycle == "aborted")
    assert on_loop == []


async def test_an_answer_of_countless_choices_is_refused(on_loop: list[int]) -> None:
    # 2.8 KB compressed (or 1.1 MB plain) of 40,000 choices: as many checks at once, and a loop held for seconds.
    one = json.dumps({"message": {"content": "a"}})
    body = ('{"choices":[' + ",".join([one] * 40_000) + "]}").encode()
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            await asyncio.sleep(0.002)
            most = max(most, len(asyncio.all_tasks()))

    async with rig() as r:
        stream = await r.asked(JSON)
        before = len(asyncio.all_tasks())
        watcher = asyncio.create_task(watch())
        assert await stream.ask(response_body(body), timeout=60) is not None
        watcher.cancel()
        (outcome,) = r.out.records[-1].outcomes
    assert (outcome.verdict, outcome.reason) == ("unavailable", "too_large")
    assert most <= before + 20, "no task for each choice"
    assert max(on_loop, default=0) <= SMALL


async def test_one_pathological_request_does_not_hold_up_all_the_others() -> None:
    # Under 1 MiB: 8,000 arrays 62 deep in a tool result take 3.5 s on the only thread that reads texts. Three of them
    # and every exchange over 4 KiB waits 8 s; four, and Envoy's patience (10 s) is over: all pass unchecked.
    deep = "[" + ",".join(["[" * 62 + "1" + "]" * 62] * 8_000) + "]"
    evil = chat_request(deep)
    assert len(evil) < 1 << 20
    async with rig() as r:
        stream = r.client.open()
        await stream.ask(request_headers(ASKED))
        await stream.ask(request_body(evil))
        began = time.monotonic()
        honest = await r.asked(JSON, chat_request(EVIDENCE + "x" * 5000))
        assert await honest.ask(response_body(chat_response(WRONG)), timeout=60) is not None
        assert time.monotonic() - began < 1.0


async def _until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        await asyncio.sleep(0.01)
