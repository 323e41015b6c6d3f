from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from support.postgres import PASSWORD, postgres_server
from support.records import SPAN, outcome, record
from vsr_hallucination.config.schema import ReplaySettings
from vsr_hallucination.replay.memory import MemoryStore
from vsr_hallucination.replay.opening import open_store, open_writer
from vsr_hallucination.replay.record import Lifecycle, Record
from vsr_hallucination.replay.sql import SqlStore
from vsr_hallucination.replay.store import Query, Store, StoreUnavailable
from vsr_hallucination.replay.writer import NoHooks, ReplayWriter, WriterSettings

QUICK = {"linger": 0.01, "first_pause": 0.02, "longest_pause": 0.05, "give_up_after": 30.0}


class Counts(NoHooks):
    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self.batches: list[int] = []
        self.pruned = 0

    def replay_written(self, count: int, seconds: float) -> None:
        self.batches.append(count)

    def replay_lost(self, count: int, why: str) -> None:
        self.lost[why] += count

    def replay_pruned(self, count: int) -> None:
        self.pruned += count


@asynccontextmanager
async def running(
    store: Store, hooks: Counts | None = None, **settings: object
) -> AsyncIterator[ReplayWriter]:
    writer = ReplayWriter(store, WriterSettings(**{**QUICK, **settings}), hooks)  # type: ignore[arg-type]
    writer.start()
    try:
        yield writer
    finally:
        await writer.aclose(5.0)


async def until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.01)


async def test_records_are_written_behind_in_groups(tmp_path: Path) -> None:
    hooks = Counts()
    store = SqlStore(f"sqlite:///{tmp_path}/replay.db")
    async with running(store, hooks) as writer:
        for n in range(300):
            writer.put(record(f"r{n}", float(n)))
        assert await writer.flush(10.0)
        assert (await writer.query(Query())).total == 300
        assert sum(hooks.batches) == 300 and len(hooks.batches) <= 3
        assert writer.backlog == 0 and not hooks.lost


async def test_in_progress_and_completed_of_one_exchange_become_one_row() -> None:
    hooks = Counts()
    async with running(MemoryStore(), hooks) as writer:
        writer.put(record(lifecycle=Lifecycle.IN_PROGRESS, outcomes=()))
        writer.put(record())
        assert await writer.flush(5.0)
        assert hooks.batches == [1]
        assert await writer.get("r1") == record()


async def test_a_record_can_be_read_before_it_is_written() -> None:
    async with running(MemoryStore(), linger=5.0) as writer:
        writer.put(record())
        assert await writer.get("r1") == record()
        assert await writer.get("r2") is None


async def test_a_locked_database_delays_nobody_and_loses_nothing(tmp_path: Path) -> None:
    hooks = Counts()
    store = SqlStore(f"sqlite:///{tmp_path}/replay.db")
    async with running(store, hooks) as writer:
        writer.put(record("first"))
        assert await writer.flush(5.0)
        lock = sqlite3.connect(tmp_path / "replay.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        longest = 0.0
        for n in range(200):
            began = time.perf_counter()
            writer.put(record(f"r{n}"))
            longest = max(longest, time.perf_counter() - began)
            await asyncio.sleep(0)
        assert longest < 0.1
        assert not await writer.flush(0.2)
        assert (await writer.query(Query())).total == 1  # readers go on
        lock.execute("ROLLBACK")
        lock.close()
        assert await writer.flush(10.0)
        assert (await writer.query(Query())).total == 201
    assert not hooks.lost


async def test_a_server_that_restarts_gets_the_records_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    hooks = Counts()
    with postgres_server() as server:
        async with running(SqlStore(server.url()), hooks) as writer:
            writer.put(record("before"))
            assert await writer.flush(10.0)
            server.stop()
            for n in range(50):
                writer.put(record(f"r{n}"))
            with pytest.raises(StoreUnavailable):
                await writer.query(Query())
            assert not await writer.flush(0.3)
            server.start()
            assert await writer.flush(20.0)
            assert (await writer.query(Query())).total == 51
    assert not hooks.lost
    assert "replay_store_unavailable" in caplog.text and PASSWORD not in caplog.text


async def test_a_store_that_stays_down_costs_its_records_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hooks = Counts()
    async with running(
        SqlStore("postgresql://replay:secret@127.0.0.1:1/x"), hooks, give_up_after=0.2
    ) as writer:
        writer.put(record("r1"))
        writer.put(record("r2"))
        assert await writer.flush(10.0)
        assert hooks.lost == {"unavailable": 2}
        lines = [r for r in caplog.records if r.message == "replay_gave_up"]
        assert lines and lines[0].count == 2  # type: ignore[attr-defined]
        writer.put(record("r3"))  # it goes on trying for the next ones
        assert writer.backlog == 1


async def test_the_backlog_is_bounded_and_what_does_not_fit_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hooks = Counts()
    with caplog.at_level(logging.ERROR):
        async with running(MemoryStore(), hooks, queue=10, linger=0.2) as writer:
            for n in range(1000):
                writer.put(record(f"r{n}"))
            writer.put(
                record("r3", lifecycle=Lifecycle.ABORTED)
            )  # a record that waits can still be completed
            assert hooks.lost == {"overflow": 990}
            assert await writer.flush(5.0)
            found = await writer.get("r3")
            assert found is not None and found.lifecycle is Lifecycle.ABORTED
            assert (await writer.query(Query())).total == 10
    lines = [r for r in caplog.records if r.message == "replay_records_lost"]
    assert sum(line.count for line in lines) == 990  # type: ignore[attr-defined]
    assert len(lines) <= 2  # not a line a record


async def test_details_that_wait_are_bounded_in_size() -> None:
    hooks = Counts()
    plain = record(outcomes=(), evidence=(), unread_evidence=())
    many = tuple((f"$.messages[{n}].content", "tool", "tool") for n in range(100))
    async with running(MemoryStore(), hooks, queue_chars=1000, linger=0.1) as writer:
        for n in range(3):
            writer.put(replace(plain, id=f"r{n}", response_body="x" * 400))
        writer.put(replace(plain, id="r3", evidence=many))
        assert await writer.flush(5.0)
        kept = [await writer.get(f"r{n}") for n in range(4)]
        assert [r is not None and r.response_body is not None for r in kept] == [True, True, False, False]
        assert kept[3] is not None and kept[3].evidence == ()
        assert hooks.lost == {"details": 2}
        writer.put(replace(plain, id="r9", response_body="x" * 900))  # what was written makes room again
        writer.put(replace(plain, id="r9", response_body="y" * 900))  # so does what is replaced
        assert await writer.flush(5.0)
        found = await writer.get("r9")
        assert found is not None and found.response_body == "y" * 900
        writer.put(replace(record("r10"), outcomes=(outcome(spans=(SPAN,) * 50),)))  # spans are never thinned
        assert hooks.lost == {"details": 2, "overflow": 1}


async def test_one_record_a_store_refuses_does_not_cost_the_others(postgres_url: str) -> None:
    hooks = Counts()
    async with running(SqlStore(postgres_url), hooks) as writer:
        for n in range(9):
            writer.put(record(f"r{n}", status=10**30 if n == 4 else 200))
        assert await writer.flush(10.0)
        assert (await writer.query(Query())).total == 8
        assert hooks.lost == {"rejected": 1}


async def test_retention_runs_by_itself() -> None:
    hooks = Counts()
    async with running(MemoryStore(), hooks, max_records=5, prune_every=0.1) as writer:
        for n in range(20):
            writer.put(record(f"r{n}", time.time() + n))
        await writer.flush(5.0)
        await until(lambda: hooks.pruned >= 15)
        assert (await writer.query(Query())).total == 5


async def test_closing_writes_what_waits(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/replay.db"
    hooks = Counts()
    async with running(SqlStore(url), hooks, linger=0.3) as writer:
        writer.put(record())
    assert SqlStore(url).get("r1") == record()
    writer.put(record("late"))
    assert hooks.lost == {"closed": 1}


async def test_closing_does_not_wait_for_ever_on_a_store_that_is_down() -> None:
    hooks = Counts()
    writer = ReplayWriter(SqlStore("postgresql://r@127.0.0.1:1/x"), WriterSettings(), hooks)
    writer.start()
    writer.put(record())
    began = time.monotonic()
    await writer.aclose(0.3)
    assert time.monotonic() - began < 2.0
    assert hooks.lost == {"closed": 1}


def test_the_configuration_opens_the_right_store(tmp_path: Path) -> None:
    assert isinstance(open_store(ReplaySettings()), MemoryStore)
    assert isinstance(open_store(ReplaySettings(url=f"sqlite:///{tmp_path}/x.db")), SqlStore)


async def test_a_configured_writer_works_end_to_end(tmp_path: Path) -> None:
    writer = open_writer(ReplaySettings(url=f"sqlite:///{tmp_path}/x.db", queue=1))
    writer.start()
    writer.put(Record(id="a", created_at=time.time(), recipe="default"))
    assert await writer.flush(5.0)
    assert (await writer.query(Query())).total == 1
    await writer.aclose()
