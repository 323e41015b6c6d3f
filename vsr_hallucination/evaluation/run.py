"""Asking every item at every threshold once: workers over one iterator, so that memory does not grow with the run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from vsr_hallucination.evaluation.judge import Judge, settled
from vsr_hallucination.evaluation.prompts import question_prompt
from vsr_hallucination.evaluation.providers.base import Ask, Provider, Unavailable
from vsr_hallucination.evaluation.ratelimit import SlidingWindow
from vsr_hallucination.evaluation.retry import Retries, ask_with_retries
from vsr_hallucination.evaluation.runlog import RunLog
from vsr_hallucination.evaluation.scoring import TRANSIENT, Item, Kind, Outcome, State

_DETAIL = 200


class SetupFailure(Exception):
    """No request of the run was answered, and none can be before something is set right (key, model, URL)."""


@dataclass(frozen=True, slots=True)
class Work:
    """What to ask whom. ``window`` and ``retries`` hold for each request, a repeated one too."""

    items: Sequence[Item]
    thresholds: tuple[float, ...]
    provider: Provider
    judge: Judge
    window: SlidingWindow
    retries: Retries
    concurrency: int = 8
    max_tokens: int = 128


class Runner:
    """One run. ``on_outcome`` is called after each outcome that is settled, with it."""

    def __init__(
        self, work: Work, log: RunLog, on_outcome: Callable[[Outcome], None] = lambda _: None
    ) -> None:
        self._work, self._log, self._on_outcome = work, log, on_outcome
        self._answered = False

    async def run(self) -> None:
        """Until all is settled. Cancelled: the log is whole, and can be resumed. Raises SetupFailure."""
        todo = self._todo()
        count = max(1, min(self._work.concurrency, self._log.total))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(count):
                    group.create_task(self._worker(todo))
        except* SetupFailure as failures:
            raise _first(failures) from None

    def _todo(self) -> Iterator[tuple[Item, int]]:
        for item in self._work.items:
            for at in range(len(self._work.thresholds)):
                if not self._log.settled(item.row, at):
                    yield item, at

    async def _worker(self, todo: Iterator[tuple[Item, int]]) -> None:
        for item, at in todo:
            outcome = self._log.waiting(item.row, at) or await self._ask(item, at)
            if outcome.state is State.JUDGE_FAILED:  # answered, and not judged yet
                outcome = await self._judged(item, outcome)
            self._log.put(outcome)
            self._on_outcome(outcome)

    async def _ask(self, item: Item, at: int) -> Outcome:
        """The outcome, or, where a judge has to say, the answer as a JUDGE_FAILED that may yet be judged."""
        work = self._work
        ask = Ask(question_prompt(item.question, work.thresholds[at]), max_tokens=work.max_tokens)
        begun = time.monotonic()
        try:
            reply, attempts = await ask_with_retries(work.provider, ask, work.window, work.retries)
        except Unavailable as error:
            if error.setup and not self._answered:
                raise SetupFailure(error.detail) from None
            return _unavailable(item, at, error.kind, error.detail, error.attempts, time.monotonic() - begun)
        self._answered = True
        seconds = round(time.monotonic() - begun, 3)
        if reply.cut:
            detail = f"cut at {work.max_tokens} tokens (--max-tokens)"
            return _unavailable(item, at, Kind.TRUNCATED, detail, attempts, seconds, reply.text)
        state = settled(item, reply.text)
        outcome = Outcome(
            item.row, at, state or State.JUDGE_FAILED, reply.text, attempts=attempts, seconds=seconds,
            warnings=reply.warnings,
        )  # fmt: skip
        if state is None and work.judge.name != "exact":
            self._log.put(outcome, pending=True)
        return outcome

    async def _judged(self, item: Item, outcome: Outcome) -> Outcome:
        judgement = await self._work.judge.judge(item, outcome.pred)
        return Outcome(
            outcome.row, outcome.at, judgement.state, outcome.pred, None, judgement.detail[:_DETAIL],
            self._work.judge.name, outcome.attempts, outcome.seconds, outcome.warnings,
        )  # fmt: skip


def reopen(log: RunLog) -> int:
    """Makes a resumed run ask again for what failed in transit, and judge again what no judge could; how many."""
    again = [
        outcome
        for _, outcome in log.outcomes()
        if outcome.state is State.JUDGE_FAILED
        or (outcome.state is State.UNAVAILABLE and outcome.kind in TRANSIENT)
    ]
    for outcome in again:
        log.reopen(outcome.row, outcome.at, keep_answer=outcome.state is State.JUDGE_FAILED)
    return len(again)


def _unavailable(
    item: Item, at: int, kind: Kind, detail: str, attempts: int, seconds: float, text: str = ""
) -> Outcome:
    return Outcome(
        item.row, at, State.UNAVAILABLE, text, kind, detail[:_DETAIL], "", attempts, round(seconds, 3)
    )


def _first(group: BaseExceptionGroup[SetupFailure]) -> SetupFailure:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, SetupFailure)
    return error
