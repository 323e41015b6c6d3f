"""Micro-batching: cost, fairness, overload, deadlines, departed callers, models that misbehave, several loops."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from vsr_hallucination.detection.batching import Batcher, Floats, Hooks, Model, Row
from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.types import Reason


def row(length: int, first: int = 0) -> Row:
    return Row(np.full(length, first, dtype=np.int64), np.zeros(length, dtype=np.int64))


def echo(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.array([r.ids[0]], dtype=np.float32) for r in rows]


@pytest.fixture
def make() -> Iterator[Callable[..., Batcher]]:
    made: list[Batcher] = []

    def build(model: Model = echo, **options: object) -> Batcher:
        settings: dict[str, object] = {"name": "test", "queue_limit": 64, "batch_tokens": 256} | options
        made.append(Batcher(model, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield build
    for batcher in made:
        batcher.close(timeout=0.2)


class Gate:
    """A model that waits to be let on, and remembers its batches."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.batches: list[list[int]] = []

    def __call__(self, rows: Sequence[Row]) -> Sequence[Floats]:
        self.batches.append([len(r.ids) for r in rows])
        self.open.wait(10)
        return echo(rows)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.002)


async def test_results_come_back_in_the_callers_order(make: Callable[..., Batcher]) -> None:
    batcher = make(batch_tokens=40)
    rows = [row(1 + n % 7, n) for n in range(50)]
    out = await batcher.run(rows, Deadline.after(5))
    assert [int(value[0]) for value in out] == list(range(50))
    assert await batcher.run([], Deadline.after(5)) == []


async def test_a_batch_is_cut_by_its_padded_cost(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    seen: list[tuple[int, int]] = []
    batcher = make(gate, batch_tokens=64, hooks=Hooks(batch=lambda name, rows, padded: seen.append((rows, padded))))
    gate.open.set()
    await batcher.run([row(8) for _ in range(20)] + [row(32)], Deadline.after(5))
    assert all(padded <= 64 for _, padded in seen)
    assert sum(rows for rows, _ in seen) == 21
    assert all(max(batch) * len(batch) <= 64 for batch in gate.batches)


async def test_a_row_longer_than_the_budget_runs_alone(make: Callable[..., Batcher]) -> None:
    out = await make(batch_tokens=16).run([row(100, 7)], Deadline.after(5))
    assert int(out[0][0]) == 7


async def test_waiting_callers_share_a_batch_and_a_long_check_starves_nobody(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    batcher = make(gate, batch_tokens=64)
    first = asyncio.create_task(batcher.run([row(8)], Deadline.after(5)))
    await until(lambda: len(gate.batches) == 1)
    both = [
        asyncio.create_task(batcher.run(rows, Deadline.after(5))) for rows in ([row(8) for _ in range(200)], [row(9)])
    ]
    await asyncio.sleep(0.02)
    gate.open.set()
    _, long, _ = await asyncio.gather(first, *both)
    assert len(long) == 200
    assert 9 in gate.batches[1] + gate.batches[2]


async def test_a_full_queue_refuses_at_once(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    dropped: list[str] = []
    batcher = make(gate, queue_limit=2, hooks=Hooks(dropped=lambda name, why: dropped.append(why)))
    waiting = [asyncio.create_task(batcher.run([row(4)], Deadline.after(5))) for _ in range(2)]
    await until(lambda: batcher.size == 2)
    with pytest.raises(DetectionError) as error:
        await batcher.run([row(4)], Deadline.after(5))
    assert error.value.reason is Reason.OVERLOADED
    assert dropped == ["overloaded"]
    gate.open.set()
    await asyncio.gather(*waiting)
    assert batcher.size == 0


async def test_a_hung_model_does_not_keep_the_caller_waiting(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    batcher = make(gate)
    started = time.monotonic()
    with pytest.raises(DetectionError) as error:
        await batcher.run([row(4)], Deadline.after(0.1))
    assert error.value.reason is Reason.TIMEOUT
    assert time.monotonic() - started < 1
    gate.open.set()


async def test_no_work_is_done_for_the_departed_and_the_late(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    dropped: list[str] = []
    batcher = make(gate, hooks=Hooks(dropped=lambda name, why: dropped.append(why)))
    first = asyncio.create_task(batcher.run([row(4)], Deadline.after(5)))
    await until(lambda: len(gate.batches) == 1)
    gone = asyncio.create_task(batcher.run([row(5)], Deadline.after(5)))
    await until(lambda: batcher.size == 2)
    gone.cancel()
    with pytest.raises(DetectionError):
        await batcher.run([row(6)], Deadline.after(0.05))
    gate.open.set()
    await first
    await batcher.run([row(7)], Deadline.after(5))
    assert gate.batches == [[4], [7]]
    assert len(dropped) == 2
    assert batcher.size == 0


async def test_those_who_gave_up_do_not_pile_up_behind_a_hung_model(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    batcher = make(gate, queue_limit=4)
    for _ in range(30):
        with pytest.raises(DetectionError):
            await batcher.run([row(4)], Deadline.after(0.005))
    gate.open.set()
    await batcher.run([row(9)], Deadline.after(5))
    assert len(gate.batches) <= 3


async def test_a_model_that_raises_fails_its_batch_and_lives_on(make: Callable[..., Batcher]) -> None:
    def model(rows: Sequence[Row]) -> Sequence[Floats]:
        if any(r.ids[0] == 13 for r in rows):
            raise RuntimeError("out of memory: the answer was ...")
        return echo(rows)

    batcher = make(model)
    with pytest.raises(DetectionError) as error:
        await batcher.run([row(4, 13)], Deadline.after(5))
    assert error.value.reason is Reason.DETECTOR_FAILED
    assert "answer" not in str(error.value)
    assert int((await batcher.run([row(4, 1)], Deadline.after(5)))[0][0]) == 1


async def test_too_few_results_are_a_failure(make: Callable[..., Batcher]) -> None:
    with pytest.raises(DetectionError) as error:
        await make(lambda rows: echo(rows)[:-1]).run([row(4), row(4)], Deadline.after(5))
    assert error.value.reason is Reason.DETECTOR_FAILED


async def test_hooks_see_size_and_wait(make: Callable[..., Batcher]) -> None:
    sizes: list[int] = []
    waits: list[float] = []
    hooks = Hooks(queue_size=lambda name, size: sizes.append(size), wait=lambda name, seconds: waits.append(seconds))
    await make(hooks=hooks).run([row(4), row(5)], Deadline.after(5))
    assert sizes == [1, 0]
    assert len(waits) == 1
    assert waits[0] >= 0


async def test_a_closed_batcher_says_so(make: Callable[..., Batcher]) -> None:
    batcher = make()
    batcher.close()
    with pytest.raises(DetectionError) as error:
        await batcher.run([row(4)], Deadline.after(5))
    assert error.value.reason is Reason.NOT_PROVISIONED


def test_several_event_loops_share_one_batcher(make: Callable[..., Batcher]) -> None:
    batcher = make(batch_tokens=64, threads=2)
    wrong: list[object] = []

    async def many(base: int) -> None:
        async def one(n: int) -> None:
            out = await batcher.run([row(3, n), row(5, n + 1)], Deadline.after(10))
            if [int(value[0]) for value in out] != [n, n + 1]:
                wrong.append(out)

        await asyncio.gather(*(one(base + n) for n in range(20)))

    threads = [threading.Thread(target=lambda base=base: asyncio.run(many(base))) for base in (0, 1000, 2000)]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not wrong
    assert batcher.size == 0


def test_a_loop_that_closed_meanwhile_does_no_harm(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    batcher = make(gate)

    async def leave() -> None:
        left = asyncio.create_task(batcher.run([row(4)], Deadline.after(5)))
        await until(lambda: len(gate.batches) == 1)
        assert not left.done()

    asyncio.run(leave())
    gate.open.set()
    out = asyncio.run(batcher.run([row(4, 3)], Deadline.after(5)))
    assert int(out[0][0]) == 3


async def test_a_metric_that_fails_ends_nothing(make: Callable[..., Batcher]) -> None:
    def broken(*facts: object) -> None:
        raise RuntimeError("no such metric")

    batcher = make(hooks=Hooks(broken, broken, broken, broken))
    for n in range(3):
        assert int((await batcher.run([row(4, n)], Deadline.after(5)))[0][0]) == n


async def test_sixteen_callers_at_once_need_few_batches(make: Callable[..., Batcher]) -> None:
    gate = Gate()
    batcher = make(gate, batch_tokens=8192)
    calls = [asyncio.create_task(batcher.run([row(60, n)], Deadline.after(5))) for n in range(16)]
    await until(lambda: batcher.size == 16 and len(gate.batches) == 1)
    gate.open.set()
    assert [int(out[0][0]) for out in await asyncio.gather(*calls)] == list(range(16))
    assert len(gate.batches) <= 3
