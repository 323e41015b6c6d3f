"""``python -m training.moved DATA``: does a verdict stay the same wherever in the evidence its support stands?

Held-out grounded answers (Dolly) are checked over their own passage alone, then over the same passage among others: at
the start, the middle and the end of about 6,000 characters, across the border of a window, and in the middle of 100,000
characters. The detector as it ships, value check included. Short passages, so that the others are most of the text.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tokenizers import Tokenizer

from training.detector_data import HELD_OUT
from training.rows import Row, held_out, read
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.embedded import embedded_dir, read_metadata
from vsr_hallucination.detection.factory import make_checker
from vsr_hallucination.detection.types import Checker, CheckRequest, Grounding, Passage

PLACES = ("start", "middle", "end", "border", "far")
_AMONG, _FAR = 6_000, 100_000  # characters
_PASSAGE = (200, 1_000)
_KEY = 200  # as detector_data splits


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.moved", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--far", type=int, default=60, help="rows that are also read among 100,000 characters")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    rows, others = chosen(read(args.data, "dolly_grounded"), args.rows, args.seed)
    checker = make_checker(DetectorSettings(), None, DetectionSettings(torch_threads=args.threads, deadline=300.0))
    same, total, began = asyncio.run(_run(checker, rows, others, args.far))
    print("| place | rows | verdict unchanged |\n|---|---|---|")
    for place in PLACES:
        if total[place]:
            print(f"| {place} | {total[place]} | {same[place] / total[place]:.3f} |")
    print(f"| all | {total.total()} | {same.total() / max(1, total.total()):.3f} |\n\n{time.monotonic() - began:.0f} s")


def chosen(rows: Sequence[Row], count: int, seed: int) -> tuple[list[Row], list[str]]:
    """Rows of the held-out split with a short passage, and the passages of others."""
    kept = [row for row in rows if held_out(row["context"][:_KEY], HELD_OUT)]
    fit = [row for row in kept if _PASSAGE[0] <= len(row["context"]) <= _PASSAGE[1]]
    draw = random.Random(seed)
    return draw.sample(fit, min(count, len(fit))), [row["context"] for row in rows if len(row["context"]) > 300]


async def _run(
    checker: Checker, rows: Sequence[Row], others: Sequence[str], far: int
) -> tuple[Counter[str], Counter[str], float]:
    began, same, total = time.monotonic(), Counter[str](), Counter[str]()
    try:
        for n, row in enumerate(rows):
            alone = await detected(checker, row, row["context"])
            for place, evidence in moved(row, others, random.Random(n), far=_FAR if n < far else 0):
                total[place] += 1
                same[place] += (stays := await detected(checker, row, evidence) == alone)
                if not stays:
                    print(f"{row['id']} {place}: {'flagged' if alone else 'clean'} alone only", flush=True)
    finally:
        await checker.aclose()
    return same, total, began


def moved(
    row: Row, others: Sequence[str], draw: random.Random, *, among: int = _AMONG, far: int = _FAR
) -> Iterator[tuple[str, str]]:
    """The row's passage at each place among those of others: ``among`` characters, ``far`` of them (0: left out)."""
    own: str = row["context"]
    filler = _filler(own, others, draw, among)
    half = filler.find("\n", len(filler) // 2)
    yield "start", f"{own}\n{filler}"
    yield "middle", f"{filler[:half]}\n{own}\n{filler[half:]}"
    yield "end", f"{filler}\n{own}"
    yield "border", f"{filler[: _before_border(row)]}\n{own}\n{filler}"
    if far:
        long = _filler(own, others, draw, far)
        half = long.find("\n", len(long) // 2)
        yield "far", f"{long[:half]}\n{own}\n{long[half:]}"


def _filler(own: str, others: Sequence[str], draw: random.Random, size: int) -> str:
    parts: list[str] = []
    while size > 0:
        part = draw.choice(others)
        if part != own:
            parts.append(part)
            size -= len(part)
    return "\n".join(parts)


def _before_border(row: Row) -> int:
    """Characters of filler after which the first window ends in the midst of the passage."""
    tokenizer = Tokenizer.from_file(str(embedded_dir("detector") / "tokenizer.json"))
    tokenizer.no_truncation()
    texts = {name: row[name] or "" for name in ("question", "answer")}
    size = {name: len(tokenizer.encode(text, add_special_tokens=False).ids) for name, text in texts.items()}
    metadata = read_metadata(embedded_dir("detector"), "detector")
    window = (metadata.max_length or 512) - min(size["question"], metadata.max_question or 64)
    window -= min(size["answer"], metadata.max_answer or 128) + 3
    return max(0, int(window * 4.4) - len(row["context"]) // 2)


async def detected(checker: Checker, row: Row, evidence: str) -> bool:
    """Whether the answer is flagged over ``evidence``. Raises RuntimeError where it was not checked."""
    request = CheckRequest(row["question"] or "", Grounding((Passage(evidence, "$"),)), row["answer"], deadline=300.0)
    result = await checker.check(request)
    if result.detection is None or result.failure is not None:
        raise RuntimeError(f"{row['id']} was not checked: {result.failure}")
    return bool(result.detection.spans)


if __name__ == "__main__":
    main()
