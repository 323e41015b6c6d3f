"""``python -m training.languages DATA``: how often a reader of English refuses English rows.

Answers and their evidence as the filter flattens it, at most ``--limit`` rows of each set, drawn by ``--seed``.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from pathlib import Path

from training.rows import read
from vsr_hallucination.cli.evidence import grounding_of
from vsr_hallucination.detection.language import Reader


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.languages", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20)
    args = parser.parse_args()
    reader = Reader.of(["Latin"], ["en"])
    total: Counter[str] = Counter()
    print("| set | rows | answers refused | evidence refused |\n|---|---|---|---|")
    began = time.perf_counter()
    for file in sorted(args.data.glob("*.jsonl.gz")):
        rows = [row for row in read(args.data, file.name[:-9]) if row["lang"] == "en" and row["answer"]]
        rows = random.Random(args.seed).sample(rows, min(len(rows), args.limit))
        if not rows:
            continue
        found = Counter(rows=len(rows))
        for row in rows:
            found["answers"] += not reader.reads(row["answer"], ())
            passages = grounding_of([("$", row["context"] or "")]).passages
            found["evidence"] += not reader.reads_evidence([passage.text for passage in passages])
        print(f"| {file.name[:-9]} | {found['rows']:,} | {found['answers']} | {found['evidence']} |")
        total += found
    seconds = time.perf_counter() - began
    print(f"| all | {total['rows']:,} | {total['answers']} ({total['answers'] / total['rows']:.3%}) | "
          f"{total['evidence']} ({total['evidence'] / total['rows']:.3%}) |")  # fmt: skip
    print(f"\n{seconds / total['rows'] * 1000:.2f} ms a row, reading and flattening included")


if __name__ == "__main__":
    main()
