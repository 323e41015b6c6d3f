"""The benchmark's own parts: calls that fit, an upstream that does as told, a meter that notices a held loop."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vsr_hallucination.bench import calls
from vsr_hallucination.bench.__main__ import line
from vsr_hallucination.bench.client import BenchError, Call, Connection, in_turns, latencies, rate
from vsr_hallucination.bench.lag import LagMeter, longest_hold
from vsr_hallucination.bench.measures import Row, resident
from vsr_hallucination.bench.stage import without_filter
from vsr_hallucination.config import Config
from vsr_hallucination.demo.processes import Children, choose_ports, listening
from vsr_hallucination.envoy_config import bootstrap


@pytest.fixture
async def upstream(tmp_path: Path) -> AsyncIterator[int]:
    port = choose_ports((("upstream", 0),), {})["upstream"]
    async with Children(tmp_path) as children:
        await children.start("upstream", sys.executable, "-m", "vsr_hallucination.bench.upstream", str(port))
        await children.ready("upstream", lambda: listening(port), 30.0)
        yield port


async def test_the_upstream_answers_and_waits_as_told(upstream: int) -> None:
    assert min(await latencies(upstream, calls.plain(), 5)) < 0.05
    assert min(await latencies(upstream, calls.plain(delay_ms=50.0), 3)) >= 0.05
    assert await rate(upstream, calls.plain(), 4, 40) > 0


async def test_the_upstream_streams_as_told(upstream: int) -> None:
    async with await Connection.open(upstream) as connection:
        seen = await connection.stream(calls.streamed(5, 20.0))
        again = await connection.stream(calls.streamed(3, 1.0))
    assert len(seen.gaps) == 4
    assert seen.end >= 0.08
    assert len(again.gaps) <= 2


async def test_a_wrong_answer_is_no_figure() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n")

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        with pytest.raises(BenchError, match="503"):
            await latencies(server.sockets[0].getsockname()[1], Call(b"{}", "json 0 short"), 1)


async def test_the_meter_notices_a_held_loop() -> None:
    port = choose_ports((("lag", 0),), {})["lag"]
    meter = asyncio.create_task(LagMeter().run(port))
    while not await listening(port):
        await asyncio.sleep(0.01)
    time.sleep(0.2)
    await asyncio.sleep(0.05)
    assert await longest_hold(port) >= 0.19
    meter.cancel()


async def test_turns_change_from_round_to_round() -> None:
    order: list[str] = []

    async def measure(name: str) -> float:
        order.append(name)
        return 0.0

    await in_turns(("a", "b", "c"), 3, measure)
    assert order == list("abcbcacab")


def test_calls_are_json_and_the_creative_one_carries_no_evidence() -> None:
    assert json.loads(calls.streamed(3, 1.0).body)["stream"] is True
    assert 3_000 < len(calls.long().body) < 15_000
    assert calls.long().checked  # a check that ran into its deadline would hold nothing
    assert len(json.loads(calls.creative(30.0).body)["messages"]) == 1


def test_the_bare_envoy_differs_only_by_the_filter() -> None:
    text = json.dumps(without_filter(bootstrap(Config())))
    assert "envoy.filters.http.router" in text
    assert "envoy.filters.http.ext_proc" not in text.replace("FILTER_STATE(envoy.filters.http.ext_proc", "")


def test_a_row_says_whether_it_was_reached() -> None:
    assert line(Row("x", 1.2, 1.25)).startswith("reached")
    assert line(Row("x", 1.3, 1.25)).startswith("MISSED")
    assert line(Row("x", 0.9, 0.8, at_most=False)).startswith("reached")


def test_resident_memory_is_in_bytes() -> None:
    import os

    assert 5_000_000 < resident(os.getpid()) < 50_000_000_000


async def test_an_answer_that_was_not_checked_is_no_figure(upstream: int) -> None:
    with pytest.raises(BenchError, match="not checked"):
        await latencies(upstream, calls.plain(checked=True), 1)
