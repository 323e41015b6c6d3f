"""Which rows train the detector, how many of each, and which are held out."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from training import annotated, prose
from training.detector_rows import CLOSERS, HEADERS, OPENERS, DetectorRow, Span
from training.passages import Passages
from training.records import Text, make
from training.rows import held_out
from training.wording import alike

HELD_OUT = 0.07
_KEY = 200  # characters of a context that tell it from others: sets cut the same text differently
# Small judged sets keep more back: their figures would mean nothing on a handful of rows.
_HELD_OUT = {
    "expertqa": 0.2, "factcheck_gpt_nli": 0.15, "summac_bench": 0.25, "dialfact_small": 0.25, "q2_dialogue": 0.2,
    "begin": 0.1, "fm2": 0.1, "inference": 0.08,
}  # fmt: skip
# Rows a run is trained on at most, by family: as many as two cores read in an hour. Those not named: all.
TRAINED = {
    "passages": 6000, "prose": 2800, "records": 2800, "tables": 700, "summedits": 900, "defacto": 900, "bump": 600,
    "begin": 600, "factcheck_gpt_nli": 700, "fm2": 500, "summac_bench": 450, "halueval_summarization": 450,
    "q2_dialogue": 400, "inference": 2000,
}  # fmt: skip
# Rows drawn of a large set, of which those are used whose words do not tell their label; and the judged sets in which
# the words told it (the others' do not, or they are too small to leave rows out).
_POOL = {"tables": 20_000, "inference": 9500}
_ALIKE = ("begin", "factcheck_gpt_nli", "halueval_summarization", "summac_bench")
# Answers longer than the next mark are another class of length; within a class, faulty and clean are equally common.
_LENGTHS = (0, 30, 60, 90, 120, 160, 210, 280, 380, 520, 800, 1400)


def is_held_out(row: DetectorRow) -> bool:
    """Whether a row's context (or question) is kept from training."""
    key = row.key if row.group == "model answers" else row.key[:_KEY]
    return held_out(key, _HELD_OUT.get(row.group.split(" ")[0], HELD_OUT))


def trained_on(rows: Iterable[DetectorRow]) -> list[DetectorRow]:
    """The rows that are not held out, in order, as many of each family as ``TRAINED`` allows."""
    counts: dict[str, int] = defaultdict(int)
    result = []
    for row in rows:
        family = row.group.split(" ")[0]
        if not is_held_out(row) and counts[family] < TRAINED.get(family, 1_000_000):
            counts[family] += 1
            result.append(row)
    return result


def record_rows(rng: random.Random, count: int) -> list[DetectorRow]:
    """Generated tool results."""
    made = [make(rng) for _ in range(count)]
    return [DetectorRow(m.context, m.question, m.answer, m.spans, f"records {m.fault}", key=m.context) for m in made]


def prose_row(rng: random.Random, kind: str = "") -> DetectorRow:
    """An answer about one of the facts of a generated passage; ``kind``: its fault, "" = none.

    A clean answer is drawn as a faulty one is, and the passage is one it is right about: words alone tell nothing.
    """
    drawn = kind or rng.choice(prose.KINDS)
    fact = prose.statement(rng, drawn)
    others = [prose.statement(rng) for _ in range(rng.randint(1, 5))]
    # Another fact of the same sort keeps the model from going by what sort a statement is.
    others.append(prose.statement(rng, drawn))
    at = rng.randrange(len(fact.wrong))
    wording = fact.wrong[at][1]
    right = [other.right(rng) for other in others]
    told = [fact.told if kind else fact.made_true[at], *(sentence for sentence, _ in right)]
    rng.shuffle(told)
    text = " ".join(told)
    if rng.random() < 0.3:
        header = rng.choice(HEADERS[2:])
        text = "\n\n".join(header.replace("{i}", str(i)) + s for i, s in enumerate(told, 1))
    parts: list[Text] = []
    main = Text()
    for piece in wording.split(prose.OPEN):
        bad, closed, after = piece.partition(prose.CLOSE)
        main.add(bad, bad=bool(closed and kind))
        main.add(after)
    parts.append(main)
    for _, said in rng.sample(right, min(len(right), rng.choice((0, 0, 0, 1, 2)))):
        extra = Text()
        extra.add(said)
        parts.insert(rng.randint(0, len(parts)), extra)
    answer = Text()
    answer.add(rng.choice(OPENERS[:5]) if rng.random() < 0.12 else "")
    bullet = rng.choice(("- ", "* ", "")) if len(parts) > 1 and rng.random() < 0.2 else ""
    for i, part in enumerate(parts):
        answer.add(("\n" if bullet else " ") if i else "")
        answer.add(bullet)
        answer.extend(part)
    answer.add(rng.choice(CLOSERS) if rng.random() < 0.08 else "")
    group = f"prose {kind or 'clean'}"
    return DetectorRow(text, fact.ask, answer.text(), tuple(answer.spans), group, key=text)


def load(data: Path, rng: random.Random, scale: float = 1.0) -> list[DetectorRow]:
    """All rows, shuffled, the length of faulty and clean ones balanced. ``scale`` shrinks every part alike."""
    passages = Passages(data, rng)
    made = record_rows(rng, int(4200 * scale))
    made += alike(annotated.table_rows(data, rng, _POOL["tables"]), rng, int(1500 * scale))
    made += [prose_row(rng, rng.choice(prose.KINDS) if rng.random() < 0.5 else "") for _ in range(int(4200 * scale))]
    order = list(range(len(passages.rows)))
    rng.shuffle(order)
    for index in order[: int(len(order) * scale)]:
        for faulty in (False, True) if rng.random() < 0.75 else (False, True, False, True):
            row = passages.make(rng, index, faulty)
            if row is not None:
                made.append(row)
    judged = annotated.span_rows(data, rng) + annotated.model_answer_rows(data) + annotated.expertqa_rows(data, rng)
    for name, (good, bad) in annotated.CLAIMS.items():
        rows = annotated.claim_rows(data, rng, name)
        rows = alike(rows, rng, good + bad) if name in _ALIKE else rows
        judged += [r for r in rows if not r.spans][:good] + [r for r in rows if r.spans][:bad]
    judged += alike(annotated.inference_rows(data, rng, _POOL["inference"]), rng, 3000)
    rows = balanced(made, rng) + rng.sample(judged, int(len(judged) * scale))
    rows += [passages.refusal(rng) for _ in range(int(250 * scale))]
    rng.shuffle(rows)
    return [replace(r, spans=_merged(r.spans)) for r in rows if r.answer.strip() and r.context.strip()]


def balanced(rows: Iterable[DetectorRow], rng: random.Random) -> list[DetectorRow]:
    """Of every family and class of length, as many faulty answers as clean ones: length alone then tells nothing."""
    classes: dict[tuple[str, int, bool], list[DetectorRow]] = defaultdict(list)
    for row in rows:
        size = sum(len(row.answer) >= mark for mark in _LENGTHS)
        classes[row.group.split(" ")[0], size, bool(row.spans)].append(row)
    result: list[DetectorRow] = []
    for family, size, faulty in sorted(classes):
        mine, other = classes[family, size, faulty], classes.get((family, size, not faulty), [])
        rng.shuffle(mine)
        result += mine[: max(len(other), 1)]
    return result


def _merged(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        elif end > start:
            result.append((start, end))
    return tuple(result)


def describe(rows: list[DetectorRow]) -> dict[str, Any]:
    """Counts by group, and mean answer length of clean and faulty rows (the length artefact to watch)."""
    groups: dict[str, int] = defaultdict(int)
    for row in rows:
        groups[row.group] += 1
    clean = [len(r.answer) for r in rows if not r.spans]
    faulty = [len(r.answer) for r in rows if r.spans]
    return {
        "rows": len(rows),
        "clean": len(clean),
        "faulty": len(faulty),
        "mean length clean": sum(clean) // max(1, len(clean)),
        "mean length faulty": sum(faulty) // max(1, len(faulty)),
        "groups": dict(sorted(groups.items())),
    }
