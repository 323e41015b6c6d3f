"""``eval detector``: every row through a checker, as a filter behind Envoy would check it.

Rows count as needing grounding; a row's context is one passage at ``$.context``. Checks run side by side, at most
``concurrency`` of them; predictions come in the order of the rows and are written as they come, so that an interrupted
run leaves what it found.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from vsr_hallucination.detection.lexical import novelty
from vsr_hallucination.detection.types import Checker, CheckRequest, CheckResult, GateResult, Grounding
from vsr_hallucination.evaluation.detector_metrics import Case
from vsr_hallucination.evaluation.rows import Row
from vsr_hallucination.observation import ChoiceFacts, Observation, State, observe

PREDICTIONS = "predictions.jsonl"
CONTEXT_PATH = "$.context"
_NEEDED = GateResult(needs_fact_check=True, score=None)
_T = TypeVar("_T")
_U = TypeVar("_U")


@dataclass(frozen=True, slots=True)
class Options:
    """How rows are judged. ``grounded`` reads a context as the filter reads a tool's result."""

    grounded: Callable[[str], Grounding]
    to_json: Callable[[Observation], dict[str, Any]]  # the keys that ``check --json`` promises
    timeout: float = 120.0
    concurrency: int = 4


async def judge(checker: Checker, row: Row, options: Options) -> tuple[Case, dict[str, Any]]:
    """One row: the case to measure, and its line of predictions.jsonl."""
    grounding = await asyncio.to_thread(options.grounded, row.context)
    result: CheckResult | None = None
    if row.answer.strip() and grounding:
        result = await checker.check(
            CheckRequest(row.question, grounding, row.answer, deadline=options.timeout)
        )
    observation = observe(
        "eval",
        use_nli=False,
        gate=_NEEDED,
        grounded=bool(grounding),
        choices=[ChoiceFacts(0, row.answer, result)],
    )
    said = options.to_json(observation)
    line = {
        "id": row.id,
        "state": said["state"],
        "score": said["unsupported_score"],
        "confidence": said["confidence"],
        "spans": said["spans"],
        "error": said["error"],
        "reason": said["reason"],
        "faulty": row.faulty,
    }
    texts = [passage.text for passage in grounding.passages]
    counted = await asyncio.to_thread(novelty, row.answer, row.question, texts)
    score = observation.unsupported_score
    found = None if result is None else result.detection
    deciding = score if found is None or found.worst_part is None else found.worst_part
    case = Case(
        gold=row.faulty,
        flagged=None if observation.state is State.UNAVAILABLE else observation.state is State.DETECTED,
        score=None if score is None else min(1.0, max(0.0, score)),
        spans=tuple((span["start"], span["end"]) for span in said["spans"]),
        gold_spans=None if row.spans is None else tuple((span.start, span.end) for span in row.spans),
        kinds=tuple((span.type, (span.start, span.end)) for span in row.spans or ()),
        source=row.source,
        language=row.language,
        answer_length=len(row.answer),
        evidence_length=len(row.context),
        reason=said["reason"] or said["error"],
        seconds=None if result is None else result.seconds,
        new_words=counted.count,
        new_share=counted.share,
        lexical_score=counted.score,
        deciding=deciding,
    )
    return case, line | {"deciding": deciding}


async def judge_all(
    checker: Checker, rows: Sequence[Row], options: Options, out: Path, tick: Callable[[], None]
) -> list[Case]:
    """All rows, their predictions written to ``out``/predictions.jsonl; ``tick`` is called after each."""
    cases: list[Case] = []
    with (out / PREDICTIONS).open("w", encoding="utf-8", errors="backslashreplace") as file:
        async for case, line in in_order(lambda row: judge(checker, row, options), rows, options.concurrency):
            file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            cases.append(case)
            tick()
    return cases


async def in_order(
    work: Callable[[_T], Awaitable[_U]], items: Iterable[_T], concurrency: int
) -> AsyncIterator[_U]:
    """Results of ``work`` in the order of ``items``, at most ``concurrency`` under way; leaving early cancels them."""
    waiting: deque[asyncio.Future[_U]] = deque()
    try:
        for item in items:
            waiting.append(asyncio.ensure_future(work(item)))
            if len(waiting) >= concurrency:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for left in waiting:
            left.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
