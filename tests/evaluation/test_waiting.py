"""Limits and retries, on a clock of the test's own."""

from __future__ import annotations

import asyncio
import email.utils
import random

import pytest

from vsr_hallucination.evaluation.providers.base import Ask, Reply, Unavailable
from vsr_hallucination.evaluation.ratelimit import SlidingWindow
from vsr_hallucination.evaluation.retry import Retries, ask_with_retries, backoff, retry_after
from vsr_hallucination.evaluation.scoring import Kind


class Clock:
    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@pytest.mark.parametrize("way", [0.0, 0.5, 4.0])
async def test_no_window_of_a_minute_holds_more_arrivals_than_the_limit(way: float) -> None:
    """Requests take up to ``way`` seconds to arrive, the first ones longest: the server's count is what matters."""
    clock = Clock()
    window = SlidingWindow(10, now=clock.now, sleep=clock.sleep)
    arrivals: list[float] = []

    async def depart(n: int) -> None:
        departed = await window.acquire()
        arrivals.append(clock.time + (way if n < 10 else 0.0))
        clock.time = max(clock.time, arrivals[-1])
        window.release(departed)

    await asyncio.gather(*(depart(n) for n in range(95)))
    assert len(arrivals) == 95
    assert all(sum(start <= t < start + 60 for t in arrivals) <= 10 for start in arrivals)
    assert max(arrivals) < 9 * 60 * 1.1  # ten in the first moment, then ten a minute


async def test_an_answer_that_takes_long_costs_little() -> None:
    clock = Clock()
    window = SlidingWindow(1, now=clock.now, sleep=clock.sleep)
    departed = await window.acquire()
    clock.time += 50  # it had arrived after five seconds at the latest
    window.release(departed)
    assert await window.acquire() == 65


async def test_a_request_that_waited_for_its_connection_counts_from_when_it_was_sent() -> None:
    clock = Clock()
    window = SlidingWindow(1, now=clock.now, sleep=clock.sleep)
    turn = await window.turn()
    clock.time += 8  # no connection yet
    turn.sent()
    clock.time += 20
    turn.release()
    turn.release()  # once is enough
    assert await window.acquire() == 73


async def test_another_request_in_ones_place_waits_for_its_own_turn() -> None:
    clock = Clock()
    window = SlidingWindow(1, now=clock.now, sleep=clock.sleep)
    turn = await window.turn()
    await turn.again()
    assert clock.time == 60
    turn.release()


async def test_with_all_under_way_the_next_waits_for_an_answer() -> None:
    clock = Clock()
    window = SlidingWindow(1, now=clock.now, sleep=clock.sleep)
    first = await window.acquire()
    second = asyncio.ensure_future(window.acquire())
    await asyncio.sleep(0.01)
    assert not second.done()
    window.release(first)
    assert await second == 60


async def test_no_limit_never_waits() -> None:
    clock = Clock()
    window = SlidingWindow(None, now=clock.now, sleep=clock.sleep)
    for _ in range(1000):
        window.release(await window.acquire())
    assert clock.slept == []
    with pytest.raises(ValueError, match="nothing through"):
        SlidingWindow(0)


def test_backoff_grows_with_jitter_up_to_a_minute() -> None:
    dice = random.Random(1)
    waits = [[backoff(attempt, dice) for _ in range(200)] for attempt in range(1, 12)]
    for attempt, found in enumerate(waits, 1):
        middle = min(60.0, 2.0 ** (attempt - 1))
        assert all(0.8 * middle <= wait <= min(60.0, 1.2 * middle) for wait in found)
    assert len(set(waits[0])) > 100
    assert backoff(10_000, dice) <= 60


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({}, {"error": {"details": [{"@type": "x"}, RETRY_INFO]}}, 12.5),
        ({}, [{"error": {"details": [RETRY_INFO]}}], 12.5),
        (
            {},
            {"error": {"details": [{**RETRY_INFO, "retryDelay": {"seconds": "3", "nanos": 500000000}}]}},
            3.5,
        ),
        ({"retry-after": "7"}, {"error": {"details": [RETRY_INFO]}}, 12.5),
        ({"retry-after": "7"}, None, 7),
        ({"retry-after-ms": "250", "retry-after": "1"}, None, 0.25),
        ({"retry-after": email.utils.formatdate(1_000_030, usegmt=True)}, None, 30),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, None, 0),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after": "-5"}, None, None),
        ({}, {"error": {"details": [{**RETRY_INFO, "retryDelay": "long"}]}}, None),
        ({}, {"error": "text"}, None),
        ({}, [[[[[[[[[RETRY_INFO]]]]]]]]], None),
    ],
)
def test_what_the_server_asks_for(headers: dict[str, str], body: object, seconds: float | None) -> None:
    assert retry_after(headers, body, now=lambda: 1_000_000) == seconds


class Failing:
    """Fails as told, then answers."""

    notes = ()

    def __init__(self, *failures: Unavailable) -> None:
        self.failures = list(failures)
        self.asked = 0

    async def complete(self, ask: Ask) -> Reply:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return Reply("ok")

    async def aclose(self) -> None:
        pass


async def test_waits_as_told_else_exponentially_never_over_a_minute() -> None:
    clock = Clock()
    limited = [Unavailable(Kind.RATE_LIMITED, "429", retry_after=s) for s in (0.5, 3600.0, None)]
    provider = Failing(*limited, Unavailable(Kind.SERVER_ERROR, "500"), Unavailable(Kind.TIMEOUT, "slow"))
    reply, attempts = await ask_with_retries(
        provider, Ask("q"), SlidingWindow(None), Retries(6, clock.sleep, random.Random(2))
    )
    assert (reply.text, attempts) == ("ok", 6)
    assert clock.slept[:2] == [0.5, 60.0]
    assert [round(wait / 2**n) for wait, n in zip(clock.slept[2:], (2, 3, 4), strict=True)] == [1, 1, 1]


async def test_gives_up_after_the_last_retry() -> None:
    clock = Clock()
    provider = Failing(*(Unavailable(Kind.RATE_LIMITED, "429") for _ in range(9)))
    with pytest.raises(Unavailable) as caught:
        await ask_with_retries(provider, Ask("q"), SlidingWindow(None), Retries(2, clock.sleep))
    assert caught.value.attempts == provider.asked == 3
    assert len(clock.slept) == 2


async def test_what_is_final_is_not_asked_again() -> None:
    clock = Clock()
    for kind in (Kind.REFUSED, Kind.TRUNCATED, Kind.BLOCKED, Kind.EMPTY):
        provider = Failing(Unavailable(kind, ""))
        with pytest.raises(Unavailable):
            await ask_with_retries(provider, Ask("q"), SlidingWindow(None), Retries(6, clock.sleep))
        assert provider.asked == 1
    assert clock.slept == []


async def test_repeated_requests_count_against_the_limit() -> None:
    clock = Clock()
    window = SlidingWindow(2, now=clock.now, sleep=clock.sleep)
    provider = Failing(*(Unavailable(Kind.RATE_LIMITED, "429", retry_after=0.0) for _ in range(3)))
    await ask_with_retries(provider, Ask("q"), window, Retries(6, clock.sleep))
    assert provider.asked == 4
    assert clock.time >= 60
