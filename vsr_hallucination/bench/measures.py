"""The figures. Each compares alternatives that took turns in the same run; ``Row.value`` is a ratio."""

from __future__ import annotations

import asyncio
import os
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vsr_hallucination.bench import calls
from vsr_hallucination.bench.client import Call, Connection, Streamed, in_turns, latencies, rate
from vsr_hallucination.bench.lag import longest_hold
from vsr_hallucination.bench.stage import Alternative

Stage = Mapping[str, Alternative]
_SETTLE = (
    0.3  # seconds: the check of a stream runs on after its end, and must not weigh on whose turn is next
)
_NOT_LATER = 1.005  # half a per cent of a stream is what two runs of the same server differ by


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured. ``rounds``: how often each alternative has its turn."""

    rounds: int = 9
    calls: int = 150
    slow_calls: int = 25
    throughput_calls: int = 1500
    streams: int = 4
    chunks: int = 30
    gap_ms: float = 15.0
    long_rounds: int = 9
    checks: int = 96
    exchanges: int = 5000
    speed_checks: int = 200


QUICK = Size(3, 40, 8, 300, 2, 12, 15.0, 1, 32, 600, 10)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``at_most``: the figure must not be above ``limit``; else not below."""

    name: str
    value: float
    limit: float
    at_most: bool = True
    facts: Mapping[str, float] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit


async def no_policy(stage: Stage, size: Size) -> list[Row]:
    """A recipe with no rule and no plugin against the no-op server in the same mode."""
    names = ("bare", "noop-none", "none")
    p50 = await _p50(stage, names, size.rounds, calls.plain(), size.calls)
    bare, noop, ours = (p50[name] for name in names)
    speed = await in_turns(
        ("noop-none", "none"),
        size.rounds,
        lambda name: rate(stage[name].envoy, calls.plain(), 16, size.throughput_calls),
    )
    there, here = statistics.median(speed["noop-none"]), statistics.median(speed["none"])
    return [
        _added("no rule, no plugin: added p50, 1 client, against no-op", bare, noop, ours),
        Row(
            "no rule, no plugin: throughput, 16 clients, against no-op",
            here / there,
            0.8,
            at_most=False,
            facts={"noop_per_s": there, "ours_per_s": here},
        ),
    ]


async def not_applicable(stage: Stage, size: Size) -> list[Row]:
    """The gate runs while a 30 ms upstream works."""
    names = ("bare", "noop", "full")
    p50 = await _p50(stage, names, size.rounds, calls.creative(30.0), size.slow_calls)
    return [_added("not_applicable behind 30 ms: added p50 against no-op", *(p50[name] for name in names))]


async def streams(stage: Stage, size: Size) -> list[Row]:
    """Event streams against no filter, and against empty replies. Medians over all streams of an alternative."""
    names = ("bare", "noop", "full")
    seen: dict[str, list[Streamed]] = {name: [] for name in names}
    call = calls.streamed(size.chunks, size.gap_ms)

    async def measure(name: str) -> float:
        async with await Connection.open(stage[name].envoy) as connection:
            for _ in range(size.streams):
                seen[name].append(await connection.stream(call))
                await asyncio.sleep(_SETTLE)
        return 0.0

    await in_turns(names, size.rounds, measure)
    gap = {name: statistics.median(g for each in seen[name] for g in each.gaps) for name in names}
    worst = {name: statistics.median(max(each.gaps) for each in seen[name]) for name in names}
    first = {name: statistics.median(each.first for each in seen[name]) for name in names}
    end = {name: statistics.median(each.end for each in seen[name]) for name in names}
    return [
        Row("SSE: gap between chunks against no filter", gap["full"] / gap["bare"], 1.05, facts=_ms(gap)),
        Row(
            "SSE: longest gap of a stream against no filter",
            worst["full"] / worst["bare"],
            1.05,
            facts=_ms(worst),
        ),
        Row("SSE: first byte against empty replies", first["full"] / first["noop"], 1.25, facts=_ms(first)),
        Row(
            "SSE: end of stream against empty replies",
            end["full"] / end["noop"],
            _NOT_LATER,
            facts=_ms(end),
        ),
    ]


async def held_loop(stage: Stage, size: Size) -> list[Row]:
    """16 long checks at once; both servers' loops are measured in the same seconds, so under the same load."""
    ours, noop = [], []
    for _ in range(size.long_rounds):
        await asyncio.gather(longest_hold(stage["full"].lag), longest_hold(stage["noop"].lag))
        await rate(stage["full"].envoy, calls.long(), 16, 16)
        here, there = await asyncio.gather(longest_hold(stage["full"].lag), longest_hold(stage["noop"].lag))
        ours.append(here)
        noop.append(there)
    held, other = statistics.median(ours), statistics.median(noop)
    name = "longest hold of the event loop, 16 long checks, against no-op"
    return [Row(name, held / other, 2.0, facts=_ms({"ours": held, "noop": other}))]


async def batching(stage: Stage, size: Size) -> list[Row]:
    """Checks a second, all of them real: evidence, answer, model."""
    port = stage["full"].envoy
    speed = await in_turns(
        ("1", "16"),
        max(2, size.rounds // 3),
        lambda clients: rate(port, calls.plain(checked=True), int(clients), size.checks),
    )
    one, many = statistics.median(speed["1"]), statistics.median(speed["16"])
    facts = {"at_1_per_s": one, "at_16_per_s": many}
    return [Row("checks a second, 16 clients against one", many / one, 1.5, at_most=False, facts=facts)]


async def memory(stage: Stage, size: Size) -> list[Row]:
    """Resident memory of the filter after a tenth of the exchanges, and after all of them."""
    full = stage["full"]
    assert full.pid is not None
    early = size.exchanges // 10
    await rate(full.envoy, calls.plain(checked=True), 16, early)
    before = resident(full.pid)
    await rate(full.envoy, calls.plain(checked=True), 16, size.exchanges - early)
    after = resident(full.pid)
    name = f"resident memory after {size.exchanges:,} exchanges against after {early:,}"
    return [Row(name, after / before, 1.05, facts={"before_mb": before / 1e6, "after_mb": after / 1e6})]


def resident(pid: int) -> int:
    """Bytes of a process in memory (proc(5), statm)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def _p50(
    stage: Stage, names: tuple[str, ...], rounds: int, call: Call, count: int
) -> dict[str, list[float]]:
    """The median latency of each round, by alternative, in seconds."""

    async def measure(name: str) -> float:
        return statistics.median((await latencies(stage[name].envoy, call, count))[2:])

    return await in_turns(names, rounds, measure)


def _added(name: str, bare: list[float], noop: list[float], ours: list[float]) -> Row:
    """What each adds to the bare Envoy, paired by round; the ratio of the medians of that."""
    theirs = statistics.median(n - b for n, b in zip(noop, bare, strict=True))
    added = statistics.median(o - b for o, b in zip(ours, bare, strict=True))
    facts = _ms({"bare_p50": statistics.median(bare), "noop_added": theirs, "ours_added": added})
    return Row(name, added / theirs, 1.25, facts=facts)


def _ms(seconds: Mapping[str, float]) -> dict[str, float]:
    return {f"{name}_ms": value * 1000 for name, value in seconds.items()}
