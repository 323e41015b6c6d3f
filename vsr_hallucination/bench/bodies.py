"""How long reading and rewriting a large answer holds the event loop, against the standard JSON parser's time for it.

The filter reads bodies of that size in a worker thread, as here; what holds the loop then is the interpreter's lock.
A thread that wants it waits a switch interval (5 ms) at least, so where the parser is faster than that, the interval is
what the hold is measured by. The work itself is given beside it: how much longer than ``json.loads`` it takes in all.
From a checkout, every answer of the tests' corpus is measured too, its text grown to the same size.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vsr_hallucination.apis.base import Api
from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.bench.measures import Row, Size, Stage

SIZE = 1 << 20
CORPUS = Path(__file__).resolve().parents[2] / "tests" / "corpus"  # not in an installed package
_SENTENCE = 'Depot D%d shipped %d crates in May; its "tour" cost 9\u202f500 €.\n'
_NOTICE = "> This answer says more than its evidence does.\n\n"


def chat_body(size: int) -> bytes:
    """A chat answer of at least ``size`` bytes: one long text, and token probabilities in the same measure."""
    sentences: list[str] = []
    tokens: list[dict[str, object]] = []
    total = 0
    while total < size:
        number = len(sentences)
        sentences.append(_SENTENCE % (number, 300 + 7 * number))
        tokens.append({"token": f"D{number}", "logprob": -0.25 * (number % 9), "top_logprobs": []})
        total += len(json.dumps(sentences[-1])) + len(json.dumps(tokens[-1]))
    message = {"role": "assistant", "content": "".join(sentences)}
    choice = {"index": 0, "message": message, "logprobs": {"content": tokens}, "finish_reason": "stop"}
    return json.dumps({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}).encode()


def anthropic_body(size: int) -> bytes:
    """A message of at least ``size`` bytes in text blocks of a paragraph each, as citations cut them."""
    blocks: list[dict[str, object]] = []
    total = 0
    while total < size:
        number = len(blocks)
        blocks.append({"type": "text", "text": _SENTENCE % (number, 300 + 7 * number) * 20})
        total += len(json.dumps(blocks[-1]))
    message = {"id": "m", "type": "message", "role": "assistant", "content": blocks, "stop_reason": "end_turn"}
    return json.dumps(message).encode()


def corpus_bodies(folder: Path, size: int) -> Iterator[tuple[str, Api, bytes]]:
    """(case, API, body) of each answer of the corpus that has text: its first text is ``size`` bytes longer."""
    long = (_SENTENCE % (7, 412)) * (size // len((_SENTENCE % (7, 412)).encode()) + 1)
    for file in sorted(folder.glob("*.json")):
        case = json.loads(file.read_text("utf-8"))
        api, response = api_for_path(case["path"]), case.get("response")
        if api is None or response is None:
            continue
        told = next((answer for answer in api.read_response(response.encode()).answers if answer.text), None)
        if told is not None:
            yield file.stem, api, api.prepend(response.encode(), {told.index: long})


def read_and_rewrite(api: Api, body: bytes) -> bytes:
    """All that the filter does with an answer's bytes: read it, and put a notice in front."""
    view = api.read_response(body)
    return api.prepend(body, {answer.index: _NOTICE for answer in view.answers}, view)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds, medians: the parser alone, our work, and the longest that our work held the loop."""

    parser: float
    work: float
    held: float


async def cost(api: Api, body: bytes, rounds: int) -> Cost:
    """The parser and our work in turns, so that both have the same load."""
    parser, work, held = [], [], []
    for _ in range(rounds):
        parser.append(_timed(lambda: json.loads(body)))
        done = asyncio.ensure_future(asyncio.to_thread(_timed, lambda: read_and_rewrite(api, body)))
        longest, before = 0.0, time.perf_counter()
        while not done.done():
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, before = max(longest, now - before), now
        work.append(await done)
        held.append(longest)
    return Cost(statistics.median(parser), statistics.median(work), statistics.median(held))


async def bodies(stage: Stage, size: Size) -> list[Row]:
    """Reading and rewriting 1 MB holds the loop no longer than the standard parser would, twice over."""
    made = (("/v1/chat/completions", chat_body), ("/v1/messages", anthropic_body))
    rows: list[Row] = []
    for path, build in made:
        api = api_for_path(path)
        assert api is not None  # both are built in
        found = await cost(api, build(SIZE), 3 * size.rounds)
        facts = {
            "held_ms": 1000 * found.held,
            "json_loads_ms": 1000 * found.parser,
            "work_ms": 1000 * found.work,
            "work_ratio": found.work / found.parser,
        }
        name = f"1 MB answer read and rewritten ({api.name}): loop held, against json.loads"
        rows.append(Row(name, _share(found), 2.0, facts=facts))
    shapes = [await cost(api, body, size.rounds) for _, api, body in corpus_bodies(CORPUS, SIZE)]
    if shapes:
        worst = max(shapes, key=_share)
        facts = {"shapes": len(shapes), "held_ms": 1000 * worst.held, "json_loads_ms": 1000 * worst.parser}
        facts["work_ratio"] = max(one.work / one.parser for one in shapes)
        name = "1 MB answer in each shape of the corpus: loop held at worst, against json.loads"
        rows.append(Row(name, _share(worst), 2.0, facts=facts))
    return rows


def _share(found: Cost) -> float:
    return found.held / max(found.parser, sys.getswitchinterval())


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
