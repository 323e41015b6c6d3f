"""Rows for the sentence model, as near to RAG answers as there are, none of them trained on.

``judged_rows`` go through the model: the held-out side of every set of the detector, answers made over held-out
passages (some for every kind of fault), answers of LLMs put together from judged sentences. ``word_rows`` never meet
the model, their words are counted: many more of the same kinds, trained on or not.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from training import annotated, prose
from training.detector_data import HELD_OUT, is_held_out, prose_row, record_rows
from training.detector_rows import DetectorRow
from training.passages import KINDS, Passages
from training.records import make
from training.rows import held_out

_DEAREST = 24  # inputs of one row
# Inputs (windows × answer pieces) that each group may cost.
GROUPS = {
    "passages": 900, "expertqa": 700, "model answers": 300, "records": 200, "prose": 250, "tables": 150, "refusal": 40,
    "spans": 600, "begin": 200, "q2_dialogue": 150, "factcheck_gpt_nli": 250, "summac_bench": 400,
    "halueval_summarization": 500, "dialfact_small": 80, "fm2": 300,
}  # fmt: skip
PER_KIND = 66  # rows of each kind of made fault
_DEAR = 5  # inputs of one of them
# Rows of each group whose words are counted.
WORD_ROWS = {
    "passages": 1500, "model answers": 600, "spans": 300, "records": 300, "prose": 200, "tables": 150, "refusal": 80,
    "begin": 200, "q2_dialogue": 200, "factcheck_gpt_nli": 250, "dialfact_small": 100, "summac_bench": 200, "fm2": 200,
    "halueval_summarization": 200, "expertqa": 400,
}  # fmt: skip
REFUSAL_LEADS = (
    "I'm sorry, but the documents do not say", "The text does not mention", "The passages do not specify",
    "There is no information on", "I could not find", "Unfortunately, the context does not state",
    "It is not stated in the documents", "Based on the given passages, I cannot say",
)  # fmt: skip
RECORD_KINDS = ("value", "swap", "invented")
_FAMILIES = ("passages", "prose", "records", "tables", "refusal", "expertqa", "inference")


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """``whole``: only the answer as a whole is labelled (then its span covers all of it, or there is none).

    ``kind``: of the fault made, "" elsewhere.
    """

    row: DetectorRow
    group: str
    whole: bool = False
    kind: str = ""


def group_of(row: DetectorRow) -> str:
    if row.group == "model answers" or row.group in annotated.CLAIMS:
        return row.group
    first = row.group.split(" ")[0]
    return first if first in _FAMILIES else "spans"


def kind_of(row: DetectorRow) -> str:
    """The kind of a made fault; "" for clean rows, several faults, and rows that people labelled."""
    family, _, kind = row.group.partition(" ")
    return kind if row.spans and family in ("passages", "prose", "records") and "+" not in kind else ""


def judged_rows(
    data: Path, rows: Sequence[DetectorRow], trained: Collection[str], budget: float = 1.0
) -> list[JudgedRow]:
    """All rows, shuffled, cut to ``budget`` × the inputs allowed. ``rows``: the detector's; ``trained``: digests."""
    rng = random.Random(29)
    passages = Passages(data, rng)
    found = [r for r in rows if is_held_out(r) and group_of(r) not in ("inference", *annotated.CLAIMS)]
    for name in annotated.CLAIMS:
        found += [r for r in annotated.claim_rows(data, rng, name) if is_held_out(r)]
    found += [r for r in annotated.expertqa_rows(data, rng, trained) if is_held_out(r) and not r.whole]
    found += _clean(passages, rng)
    found = [r for r in found if r.answer.strip() and r.context.strip() and r.digest() not in trained]
    rng.shuffle(found)
    # Kinds first: a figure for each needs some sixty rows.
    counts: dict[str, int] = defaultdict(int)
    kept = []
    for row in _by_kind(passages, rng):
        kind = kind_of(row)
        if counts[kind] < PER_KIND * budget and inputs_of(row) <= _DEAR:
            counts[kind] += 1
            kept.append(JudgedRow(row, group_of(row), kind=kind))
    spent: dict[str, float] = defaultdict(float)
    for row in found:
        cost, group = inputs_of(row), group_of(row)
        if spent[group] + cost <= GROUPS[group] * budget and cost <= _DEAREST:
            spent[group] += cost
            kept.append(JudgedRow(row, group, row.whole, kind_of(row)))
    rng.shuffle(kept)
    return [JudgedRow(row, "refusal") for row in _refusals(passages, random.Random(31))] + kept


def word_rows(rows: Sequence[DetectorRow]) -> list[JudgedRow]:
    """Rows for the words alone, shuffled."""
    rng = random.Random(5)
    kinds: dict[str, list[JudgedRow]] = defaultdict(list)
    for row in rows:
        # One-liners say little about answers.
        if len(row.context) < 5000 and (len(row.answer) > 90 or not row.group.startswith("passages")):
            kinds[group_of(row)].append(JudgedRow(row, group_of(row), row.whole))
    result: list[JudgedRow] = []
    for name, count in WORD_ROWS.items():
        result += rng.sample(kinds[name], min(count, len(kinds[name])))
    rng.shuffle(result)
    return result


def inputs_of(row: DetectorRow) -> int:
    """Model inputs a row costs, roughly."""
    return math.ceil(len(row.context) / 4.2 / 150) * math.ceil(len(row.answer) / 380)


def _kept_passages(passages: Passages) -> list[int]:
    """Indexes of passages no detector was trained on."""
    return [i for i, row in enumerate(passages.rows) if held_out(row["context"][:200], HELD_OUT)]


def _clean(passages: Passages, rng: random.Random) -> list[DetectorRow]:
    """Right answers of several sentences over held-out passages, and over generated ones."""
    rows = [passages.make(rng, i, False) for i in _kept_passages(passages) if len(passages.rows[i]["answer"]) > 120]
    made = [prose_row(rng) for _ in range(250)] + [r for r in record_rows(rng, 400) if not r.spans]
    return [row for row in rows if row is not None] + made


def _refusals(passages: Passages, rng: random.Random) -> list[DetectorRow]:
    """What the documents do not say, told in the words of another question: new words that claim nothing."""
    order = _kept_passages(passages)
    rows = []
    for _ in range(140):
        row, other = passages.rows[rng.choice(order)], passages.rows[rng.choice(order)]
        asked = other["question"].strip().rstrip("?.! ")
        first = asked.split(" ")[0].lower()
        if first not in ("who", "what", "when", "where", "why", "how", "which") or len(asked) > 90:
            continue
        lead = rng.choice(REFUSAL_LEADS)
        answer = f"{lead} {first}{asked[len(first):]}."
        context = row["context"][:2000]
        rows.append(DetectorRow(context, other["question"], answer, (), "refusal", key=row["context"][:200]))
    return rows


def _by_kind(passages: Passages, rng: random.Random) -> list[DetectorRow]:
    """Faulty answers, a hundred or so of every kind: over held-out passages where they offer a place for it."""
    rows: list[DetectorRow] = []
    order = _kept_passages(passages)
    for kind in KINDS:
        rng.shuffle(order)
        found: list[DetectorRow] = []
        for index in order:
            made = passages.make(rng, index, True, kind)
            if made is not None and made.spans:
                found.append(made)
            if len(found) == 60:
                break
        rows += found
        if kind in prose.KINDS:
            rows += [prose_row(rng, kind) for _ in range(50)]
    for kind in RECORD_KINDS:
        for _ in range(90):
            made_record = make(rng, kind)
            rows.append(
                DetectorRow(
                    made_record.context, made_record.question, made_record.answer, made_record.spans,
                    f"records {made_record.fault}", key=made_record.context,
                )
            )  # fmt: skip
    rng.shuffle(rows)
    return [row for row in rows if row.spans]
