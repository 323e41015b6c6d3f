"""One check as it ships against the same weights in float32, window after window; on one core, taking turns.

Generated pairs of about 512 tokens: lines of records as evidence, an answer that restates some of them, rightly or not.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vsr_hallucination.bench.measures import Row, Size, Stage
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.embedded import embedded_dir
from vsr_hallucination.detection.factory import make_checker
from vsr_hallucination.detection.types import Checker, CheckRequest, Grounding, Passage

TOKENS = 512  # of evidence, question and answer
SEED = 7  # the same checks in every run
_QUESTION = "What happened at the depots?"
_PLACES = "Alton Berwick Corby Dunmore Esk Falkirk Galway Hawick Irvine Jarrow Kelso Largs Melrose Nairn Oban".split()
_GOODS = ("crates of tea", "barrels of oil", "boxes of lamps", "rolls of cloth", "sacks of rye", "coils of rope")
_MONTHS = "January February March April May June July August September October November December".split()
_ADDED = (
    "The manager praised the crew for it.",
    "Most of it was stolen on the way.",
    "No other depot in the region did better.",
)


async def check_speed(stage: Stage, size: Size) -> list[Row]:
    """``stage`` is not used. Process time, so that other processes weigh little."""
    detection = DetectionSettings(torch_threads=1, deadline=300.0, value_check=False, relation_check=False)
    one_by_one = replace(detection, batch_tokens=1)
    ours = await asyncio.to_thread(make_checker, DetectorSettings(), None, detection)
    exact = await asyncio.to_thread(lambda: make_checker(DetectorSettings(), None, one_by_one, exact=True))
    try:
        return await _compared(ours, exact, list(pairs(size.speed_checks)))
    finally:
        await ours.aclose()
        await exact.aclose()


async def _compared(ours: Checker, exact: Checker, wanted: Sequence[CheckRequest]) -> list[Row]:
    spent = {"ours": 0.0, "float32": 0.0}
    same = detected = 0
    for warm in (ours, exact):
        await warm.check(wanted[0])
    for n, request in enumerate(wanted):
        states: dict[str, bool] = {}
        turns = [("ours", ours), ("float32", exact)]
        for name, checker in turns if n % 2 else turns[::-1]:
            began = time.process_time()
            result = await checker.check(request)
            spent[name] += time.process_time() - began
            if result.detection is None or result.failure is not None:
                raise RuntimeError(f"a generated answer was not checked: {result.failure}")
            states[name] = bool(result.detection.spans)
        same += states["ours"] == states["float32"]
        detected += states["float32"]
    facts = {f"{name}_ms": total / len(wanted) * 1000 for name, total in spent.items()}
    return [
        Row("a check of 512 tokens, one core: times as fast as float32 one by one", spent["float32"] / spent["ours"],
            1.5, at_most=False, facts=facts),
        Row("share of checks with the same state as in float32", same / len(wanted), 0.99, at_most=False,
            facts={"checks": len(wanted), "seed": SEED, "detected": detected}),
    ]  # fmt: skip


def pairs(count: int, seed: int = SEED) -> Iterator[CheckRequest]:
    """Generated checks, two in five of them with a fault."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(embedded_dir("detector") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    draw = random.Random(seed)
    for n in range(count):
        facts = [_fact(draw) for _ in range(3)]
        said = [_sentence(*fact) for fact in facts]
        if n % 5 == 1:
            place, number, goods, month = facts[1]
            said[1] = _sentence(place, number + draw.choice((-40, 9, 70)), goods, draw.choice(_MONTHS))
        elif n % 5 == 3:
            said.append(draw.choice(_ADDED))
        answer = " ".join(said)
        lines = [f"{p}: {n} {g}, shipped in {m}." for p, n, g, m in facts]
        room = TOKENS - len(tokenizer.encode("\n".join((_QUESTION, answer, *lines))).ids)
        while room > 0:
            place, number, goods, month = _fact(draw)
            line = f"{place}: {number} {goods}, shipped in {month}."
            room -= len(tokenizer.encode(line, add_special_tokens=False).ids)
            lines.append(line)
        draw.shuffle(lines)
        grounding = Grounding((Passage("\n".join(lines), "$"),))
        yield CheckRequest(_QUESTION, grounding, answer, deadline=300.0)


def _fact(draw: random.Random) -> tuple[str, int, str, str]:
    return draw.choice(_PLACES), draw.randint(50, 999), draw.choice(_GOODS), draw.choice(_MONTHS)


def _sentence(place: str, number: int, goods: str, month: str) -> str:
    return f"In {month}, {place} shipped {number} {goods}."
