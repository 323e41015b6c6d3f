"""Event streams through a real Envoy: the client gets the upstream's bytes, at once, whatever they are; the record
says what was found. Cases of group A, C3 and C5."""

import asyncio
import gzip
import json
import random
import zlib
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import brotli
import pytest
import pytest_asyncio
import zstandard

from support import http1
from support import upstream as up
from support.driving import EVIDENCE, QUESTION, WRONG, chat_request, delta, policy, sse
from support.stack import Stack, running_stack
from vsr_hallucination.replay.record import Lifecycle, Record

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
STREAM = chat_request(EVIDENCE, stream=True)
DONE = sse("[DONE]")
HALF = sse(delta("Depot K7 shipped 479"))
REST = sse(delta(" crates in May.", finish="stop"))


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with running_stack(policy(), tmp_path_factory.mktemp("envoy")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def fresh(stack: Stack) -> None:
    await stack.fresh()


async def exchange(
    stack: Stack, chunks: Sequence[bytes], *, headers: up.Headers = up.SSE, gap: float = 0.0
) -> tuple[http1.Response, Record]:
    """One streamed answer: asserts that the bytes are the upstream's; returns response and record."""
    stack.upstream.answer = up.sse(chunks, headers=headers, gap=gap)
    response = await http1.send(stack.envoy.port, STREAM)
    assert response.complete and response.status == 200
    assert response.body == b"".join(chunks), "the client gets the upstream's bytes"
    (record,) = await stack.final()
    return response, record


def verdict(record: Record) -> str | None:
    """The state of the one rule; None: no outcome."""
    for outcome in record.outcomes:
        assert outcome.action is None
        assert outcome.enforcement == "not_enforced_streaming"
        return outcome.verdict
    return None


def cut(data: bytes, *places: int) -> list[bytes]:
    edges = [0, *places, len(data)]
    return [data[a:b] for a, b in pairwise(edges) if a < b]


def cut_at_random(data: bytes, seed: int, pieces: int = 9) -> list[bytes]:
    return cut(data, *sorted(random.Random(seed).sample(range(1, len(data)), min(pieces, len(data) - 1))))


def data(*bodies: Any) -> bytes:
    return b"".join(b"data: " + (b if isinstance(b, bytes) else json.dumps(b).encode()) + b"\n\n" for b in bodies)


NULLS = data({"choices": [{"index": 0, "delta": {"content": WRONG}, "finish_reason": None}]})
A2 = (
    b"\xef\xbb\xbfdata:" + json.dumps(delta("Depot K7 shipped 479")).encode() + b"\r\n\r\n"
    b"data:" + json.dumps(delta(" crates.", finish="stop")).encode() + b"\r\n\r\ndata:[DONE]\r\n\r\n"
)  # fmt: skip
A2_INSIDE_CRLF = [n + 1 for n in range(len(A2)) if A2[n : n + 2] == b"\r\n"]
A4 = data(
    {"id": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
    {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
    delta(WRONG[:30]), delta(WRONG[30:]),
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"check_offset": 44}}]},
    {"usage": {"completion_tokens": 9}}, b"[DONE]",
)  # fmt: skip
A8 = data(
    delta("Depot K7 shipped 412 crates in May at a cost of 9,5"),
    {"choices": [{"index": 0, "finish_reason": "stop",
                  "delta": {"reasoning_content": "ok", "content": "00 euros, not 479."}}]},
    b"[DONE]",
)  # fmt: skip
A9 = data(
    {"choices": [{"index": 0, "delta": {"content": "K7: 4"}}, {"index": 1, "delta": {"content": "Depot K7 shipped "}}]},
    delta("12 crates.", index=0, finish="stop"), delta("479 crates.", index=1, finish="stop"), b"[DONE]",
)  # fmt: skip


@pytest.mark.parametrize(
    ("chunks", "state"),
    [
        pytest.param([HALF, REST, DONE], "detected", id="plain"),
        pytest.param([sse(delta("K7: 412 crates", finish="stop")), DONE], "not_detected", id="good"),
        pytest.param(cut(A2, 1, 2), "detected", id="a2_bom_cut"),
        pytest.param(cut(A2, *A2_INSIDE_CRLF), "detected", id="a2_crlf_cut"),
        pytest.param([A4], "detected", id="a4_empty_chunks"),
        pytest.param(cut_at_random(A4, 4), "detected", id="a4_cut_at_random"),
        pytest.param([HALF, data({"error": {"message": "queue full", "code": None}}), DONE], None, id="a5a_error"),
        pytest.param([HALF, data({"error": "queue full"}), DONE], None, id="a5b_error_string"),
        pytest.param([HALF, b'event: error\ndata: {"message":"x"}\n\n', DONE], None, id="a5c_error_event"),
        pytest.param([HALF, REST], "detected", id="a6a_finish_no_done"),
        pytest.param([NULLS, DONE], "detected", id="a6b_nulls_done"),
        pytest.param([NULLS], None, id="a6c_nulls_eof"),
        pytest.param([NULLS, data({"choices": [], "usage": {"completion_tokens": 3}})], None, id="a6d_usage_eof"),
        pytest.param([A8], "detected", id="a8_text_beside_finish_and_reasoning"),
        pytest.param(cut_at_random(A9, 9), "detected", id="a9_interleaved"),
        pytest.param([b"data: {nonsense\n\n", REST, DONE], "unavailable", id="unreadable_event"),
        pytest.param([b": comment only\n\n"], None, id="no_event_at_all"),
    ],
)
async def test_bytes_same_and_state(stack: Stack, chunks: list[bytes], state: str | None) -> None:
    _, record = await exchange(stack, chunks)
    assert verdict(record) == state
    if state is None:
        assert record.lifecycle in (Lifecycle.ABORTED, Lifecycle.FAILED)


async def test_a9_spans_name_their_choice(stack: Stack) -> None:
    _, record = await exchange(stack, [A9])
    assert [(s.choice, s.start, s.end) for s in record.outcomes[0].spans] == [(1, 17, 20)]


async def test_a5_an_upstream_error_is_counted(stack: Stack) -> None:
    _, record = await exchange(stack, [HALF, data({"error": "queue full"}), DONE])
    assert record.lifecycle is Lifecycle.FAILED and "upstream_error" in stack.out.events()


async def test_chunks_come_at_once_and_the_check_delays_nothing(stack: Stack) -> None:
    async def slow(_: Any) -> Any:
        await asyncio.sleep(2.5)
        raise RuntimeError

    model = stack.slot.current.checker("default")
    original, model._check = model._check, slow  # type: ignore[union-attr,attr-defined]
    try:
        chunks = [*[sse(delta(f"word {n} ")) for n in range(8)], sse(delta("479", finish="stop")), DONE]
        stack.upstream.answer = up.sse(chunks, gap=0.05)
        response = await http1.send(stack.envoy.port, STREAM)
        times = [at for at, _ in response.pieces]
        assert len(times) == len(chunks), "no two chunks were held back and sent as one"
        assert times[-1] < 2.4, "the end does not wait for the check"
        (record,) = await stack.final()
        assert record.outcomes[0].reason == "detector_failed"
    finally:
        model._check = original  # type: ignore[union-attr,attr-defined]


async def test_a6e_a_finished_stream_that_idles_is_checked_once(stack: Stack) -> None:
    async def idle(request: up.Request, wire: up.Wire) -> None:
        await wire.head(200, [*up.SSE, ("transfer-encoding", "chunked")])
        await wire.chunk(HALF + REST)
        await asyncio.sleep(0.6)
        await wire.chunk(DONE)
        await wire.end()

    stack.upstream.answer = idle
    response = await http1.send(stack.envoy.port, STREAM)
    assert response.body == HALF + REST + DONE
    (record,) = await stack.final()
    assert verdict(record) == "detected"
    assert len([r for r in stack.out.records if r.lifecycle is Lifecycle.COMPLETED]) == 1


async def test_a_client_that_leaves_at_done_is_still_checked(stack: Stack) -> None:
    whole = HALF + REST + DONE

    async def stays_open(request: up.Request, wire: up.Wire) -> None:
        await wire.head(200, [*up.SSE, ("transfer-encoding", "chunked")])
        await wire.chunk(whole)
        await wire.closed()
        wire.close_after = True

    stack.upstream.answer = stays_open
    response = await http1.send(stack.envoy.port, STREAM, leave_after=len(whole))
    assert response.body == whole
    (record,) = await stack.final()
    assert verdict(record) == "detected"


async def test_a_client_that_leaves_before_the_end_has_no_outcome(stack: Stack) -> None:
    async def stays_open(request: up.Request, wire: up.Wire) -> None:
        await wire.head(200, [*up.SSE, ("transfer-encoding", "chunked")])
        await wire.chunk(HALF)
        await wire.closed()
        wire.close_after = True

    stack.upstream.answer = stays_open
    await http1.send(stack.envoy.port, STREAM, leave_after=len(HALF))
    (record,) = await stack.final()
    assert record.lifecycle is Lifecycle.ABORTED and record.outcomes == ()


async def test_an_upstream_that_breaks_off_has_no_outcome(stack: Stack) -> None:
    async def breaks(request: up.Request, wire: up.Wire) -> None:
        await wire.head(200, [*up.SSE, ("transfer-encoding", "chunked")])
        await wire.chunk(HALF)
        await asyncio.sleep(0.1)
        wire.reset()
        wire.close_after = True

    stack.upstream.answer = breaks
    response = await http1.send(stack.envoy.port, STREAM)
    assert not response.complete and response.body == HALF
    (record,) = await stack.final()
    assert record.lifecycle is Lifecycle.ABORTED and record.outcomes == ()
    stack.clear()
    _, record = await exchange(stack, [HALF, REST, DONE])
    assert verdict(record) == "detected"


async def test_trailers_of_a_stream_pass(stack: Stack) -> None:
    stack.upstream.answer = up.chunked([HALF, REST], headers=up.SSE, trailers=(("x-checksum", "abc"),))
    response = await http1.send(stack.envoy.port, STREAM, headers=[("te", "trailers")])
    assert response.body == HALF + REST and dict(response.trailers).get("x-checksum") == "abc"
    (record,) = await stack.final()
    assert verdict(record) == "detected"


def flushed(events: Sequence[bytes], kind: str) -> list[bytes]:
    """Each event compressed and flushed on its own, as a server does that compresses a stream."""
    if kind == "gzip":
        packer = zlib.compressobj(wbits=31)
        return [*(packer.compress(e) + packer.flush(zlib.Z_SYNC_FLUSH) for e in events), packer.flush()]
    if kind == "deflate":
        packer = zlib.compressobj()
        return [*(packer.compress(e) + packer.flush(zlib.Z_SYNC_FLUSH) for e in events), packer.flush()]
    if kind == "br":
        coder = brotli.Compressor()
        return [*(coder.process(e) + coder.flush() for e in events), coder.finish()]
    squeezer = zstandard.ZstdCompressor().compressobj()
    return [
        *(squeezer.compress(e) + squeezer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for e in events),
        squeezer.flush(),
    ]


EVENTS = (HALF, REST, DONE)


@pytest.mark.parametrize("kind", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("seed", [0, 1])
async def test_c3_compressed_streams_are_read_on_the_side(stack: Stack, kind: str, seed: int) -> None:
    packed = b"".join(flushed(EVENTS, kind))
    headers = [*up.SSE, ("content-encoding", kind)]
    response, record = await exchange(stack, cut_at_random(packed, seed), headers=headers)
    assert verdict(record) == "detected" and response.header("content-encoding") == kind


async def test_c3_two_members_and_a_truncated_one(stack: Stack) -> None:
    headers = [*up.SSE, ("content-encoding", "gzip")]
    _, record = await exchange(stack, [gzip.compress(HALF), gzip.compress(REST + DONE)], headers=headers)
    assert verdict(record) == "detected"
    stack.clear()
    _, record = await exchange(stack, [gzip.compress(HALF + REST + DONE)[:-12]], headers=headers)
    assert verdict(record) in (None, "unavailable", "detected")


@pytest.mark.parametrize(
    "content_type",
    [
        "Text/Event-Stream;Charset=UTF-8",
        'text/event-stream ; charset="utf-8"',
        "text/event-stream\r\ncontent-type: text/event-stream",
    ],
    ids=["case", "quoted", "twice"],
)
async def test_c5_however_the_stream_is_named_it_streams(stack: Stack, content_type: str) -> None:
    headers = [("content-type", content_type)]
    response, record = await exchange(stack, EVENTS, headers=headers, gap=0.15)
    assert verdict(record) == "detected" and len(response.pieces) == 3
    assert response.pieces[-1][0] - response.pieces[0][0] > 0.15, "the first did not wait for the last"


async def test_c5_ndjson_of_an_unknown_api_passes_unbuffered(stack: Stack) -> None:
    lines = [b'{"message":{"content":"479"},"done":false}\n', b'{"done":true}']
    stack.upstream.answer = up.chunked(lines, headers=[("content-type", "application/x-ndjson")], gap=0.1)
    response = await http1.send(stack.envoy.port, STREAM)
    assert response.body == b"".join(lines) and len(response.pieces) == 2
    (record,) = await stack.final()
    assert all(o.verdict != "not_detected" for o in record.outcomes)


async def test_many_streams_at_once_each_get_their_own_bytes(stack: Stack) -> None:
    async def own(request: up.Request, wire: up.Wire) -> None:
        number = request.header("x-number") or ""
        chunks = [sse(delta(f"{number}:{n} ")) for n in range(5)] + [sse(delta("479", finish="stop")), DONE]
        await up.sse(chunks, gap=0.01)(request, wire)

    stack.upstream.answer = own
    sent = [http1.send(stack.envoy.port, STREAM, headers=[("x-number", str(n))]) for n in range(12)]
    responses = await asyncio.gather(*sent)
    for number, response in enumerate(responses):
        assert [f"{number}:{n} ".encode() in response.body for n in range(5)] == [True] * 5
    assert {verdict(record) for record in await stack.final(12)} == {"detected"}


async def test_prompt_text_never_reaches_the_access_log(stack: Stack) -> None:
    await exchange(stack, EVENTS)
    (*_, entry) = await stack.envoy.access_log()
    assert QUESTION not in json.dumps(entry)
    assert entry["verdict"] == "streaming" and entry["enforcement"] == "not_enforced_streaming"
