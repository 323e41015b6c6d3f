"""Rows for the sentence model, as near to RAG answers as there are.

``judged_rows`` go through the model: answers made over held-out passages, answers of LLMs put together from their
judged sentences (ExpertQA), the held-out side of the detector's own sets, and sets it never saw. No context was
trained on. ``word_rows`` never meet the model, their words are counted: many more of the same kinds, trained on or not.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from training.detector_data import DetectorRow, Passages, load
from training.rows import Row, held_out, read

HELD_OUT = 0.07  # the detector's own split (``training.detector``)
_CONTEXT_CHARS = 4000
_DEAREST = 24  # inputs of one row
# Inputs (windows × answer pieces) that each group may cost.
GROUPS = {
    "passages": 1200, "expertqa": 700, "model answers": 150, "records": 150, "tables": 60, "refusal": 30, "spans": 450,
    "begin": 150, "q2_dialogue": 150, "factcheck_gpt_nli": 150, "summac_bench": 200, "halueval_summarization": 250,
    "dialfact_small": 60, "fm2": 60,
}  # fmt: skip
# Rows of each kind whose words are counted.
WORD_ROWS = {
    "passages": 1500, "model answers": 600, "spans": 300, "records": 300, "tables": 150, "refusal": 80, "begin": 200,
    "q2_dialogue": 200, "factcheck_gpt_nli": 250, "dialfact_small": 100, "summac_bench": 80,
}  # fmt: skip
_CLAIMS = ("begin", "q2_dialogue", "factcheck_gpt_nli", "summac_bench", "dialfact_small", "fm2")


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """``whole``: only the answer as a whole is labelled (then its span covers all of it, or there is none)."""

    row: DetectorRow
    group: str
    whole: bool = False


def judged_rows(data: Path, budget: float = 1.0) -> list[JudgedRow]:
    """All rows, shuffled, cut to ``budget`` × the inputs that ``GROUPS`` allows each group."""
    rng = random.Random(29)
    known = load(data, random.Random(7))
    seen = {row.key for row in known if not held_out(row.key, HELD_OUT)}
    # Contexts the detector read in any shape: some keys are only a passage's beginning.
    begun = {key[:120] for key in seen}
    rows = [JudgedRow(row, _group(row)) for row in known if held_out(row.key, HELD_OUT)]
    rows += _made(data, rng)
    rows += _expertqa(data, {(row.context, row.answer) for row in known if not held_out(row.key, HELD_OUT)}, rng)
    for name in _CLAIMS:
        rows += [_whole(row, name) for row in read(data, name) if row["context"][:120] not in begun]
    rows += [
        _whole({**row, "context": row["context"][:_CONTEXT_CHARS]}, "halueval_summarization")
        for row in read(data, "halueval_summarization")
        if row["context"][:120] not in begun
    ]
    rows = [judged for judged in rows if judged.row.answer.strip() and judged.row.context.strip()]
    rng.shuffle(rows)
    spent: dict[str, float] = defaultdict(float)
    kept = []
    for judged in rows:
        cost = inputs_of(judged.row)
        if spent[judged.group] + cost <= GROUPS[judged.group] * budget and cost <= _DEAREST:
            spent[judged.group] += cost
            kept.append(judged)
    return kept


def word_rows(data: Path) -> list[JudgedRow]:
    """Rows for the words alone, shuffled."""
    rng = random.Random(5)
    kinds: dict[str, list[JudgedRow]] = defaultdict(list)
    for row in load(data, random.Random(7)):
        # One-liners say little about answers; ExpertQA's sentences come back below as answers.
        if (
            len(row.context) < 5000
            and row.group != "expertqa"
            and (len(row.answer) > 90 or "passages" not in row.group)
        ):
            kinds[_group(row)].append(JudgedRow(row, _group(row)))
    for name in _CLAIMS:
        kinds[name] = [_whole(row, name) for row in read(data, name)]
    rows = _expertqa(data, set(), rng)
    for name, count in WORD_ROWS.items():
        rows += rng.sample(kinds[name], min(count, len(kinds[name])))
    rows = [judged for judged in rows if judged.row.answer.strip() and judged.row.context.strip()]
    rng.shuffle(rows)
    return rows


def inputs_of(row: DetectorRow) -> int:
    """Model inputs a row costs, roughly."""
    return math.ceil(len(row.context) / 4.2 / 150) * math.ceil(len(row.answer) / 380)


def _group(row: DetectorRow) -> str:
    first = row.group.split(" ")[0]
    known = {"passages": "passages", "records": "records", "tables": "tables", "refusal": "refusal"}
    return "model answers" if row.group == "model answers" else known.get(first, "spans")


def _made(data: Path, rng: random.Random) -> list[JudgedRow]:
    """Passage answers of several sentences over held-out passages, each clean and with faults."""
    passages = Passages(data, rng)
    rows = []
    for index, source in enumerate(passages.rows):
        if held_out(source["context"].strip()[:200], HELD_OUT) and len(source["answer"]) > 120:
            for faulty in (False, False, True):
                made = passages.make(rng, index, faulty)
                if made is not None:
                    rows.append(JudgedRow(made, "passages"))
    return rows


def _expertqa(data: Path, trained: set[tuple[str, str]], rng: random.Random) -> list[JudgedRow]:
    """LLM answers put together from sentences whose support was judged one by one, over all their evidence."""
    grouped: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in read(data, "expertqa_claims"):
        if (row["context"], row["answer"]) not in trained and len(row["context"]) <= 2500:
            grouped[row["question"], row["meta"]["system"]].append(row)
    result = []
    for (question, _), claims in grouped.items():
        while claims:
            part, claims = claims[: rng.randint(2, 5)], claims[5:]
            context = "\n\n".join(dict.fromkeys(row["context"] for row in part))
            if len(context) > _CONTEXT_CHARS:
                part = part[:2]
                context = "\n\n".join(dict.fromkeys(row["context"] for row in part))
            answer, spans = "", []
            for row in part:
                start = len(answer)
                answer += row["answer"].strip()
                if row["label"] != "supported":
                    spans.append((start, len(answer)))
                answer += " "
            made = DetectorRow(context, question, answer.rstrip(), tuple(spans), "expertqa", key=question)
            result.append(JudgedRow(made, "expertqa"))
    return result


def _whole(row: Row, group: str) -> JudgedRow:
    answer = row["answer"]
    spans = () if row["label"] in ("supported", "entailment") else ((0, len(answer)),)
    made = DetectorRow(row["context"], row["question"], answer, spans, group, key=row["context"])
    return JudgedRow(made, group, whole=True)
