"""Sentences of answers against their nearest evidence lines, as the detector's second reading sees them.

Every sentence of a row becomes a pair: premise by ``detection.near``, as at run time; label by the fault that touches
it. What an edit turned (a value, a name, an order, a negation, who did what) contradicts the evidence; what was added
is neutral to it; where people only said "unsupported" the pair counts as not entailed.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from training import prose
from training.detector_data import is_held_out, prose_row, record_rows
from training.detector_rows import DetectorRow
from training.passages import Passages
from training.sentence_fit import sentence_truth
from training.sequence import NOT_FIRST, Pair
from vsr_hallucination.detection.near import few, near_units, premise_of, veiled
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.sentence_features import SENTENCE_CHARS
from vsr_hallucination.detection.text import sentences, split_long
from vsr_hallucination.detection.types import Grounding, Passage

GROUP = "relations"
_MADE = ("passages", "prose", "records")
_ADDED = ("foreign", "withheld", "phrase", "invented")
_ENTAILED, _NEUTRAL, _CONTRADICTED = 0, 1, 2
_PER_ROW = 2  # sentences of one row, those a fault touches first
_TURNED = ("negation", "modality", "comparison", "order", "roles", "attribution", "condition", "elsewhere", "unit",
           "percentage", "duration", "place", "name")  # fmt: skip


def pairs_of(row: DetectorRow, rng: random.Random) -> list[Pair]:
    """At most two sentences of a row with what their nearest lines say of them."""
    if not row.context.strip() or row.group == "records refusal":
        return []
    index = EvidenceIndex.build(Grounding((Passage(row.context, "$"),)))
    asked = index.terms(row.question)
    found: list[tuple[int, Pair]] = []
    for start, end in split_long(row.answer, sentences(row.answer), SENTENCE_CHARS):
        text = row.answer[start:end].strip()
        truth = sentence_truth(row.answer, start, end, row.spans, row.ignored)
        terms = index.terms(text)
        if truth < 0 or not terms:
            continue
        premise = premise_of(index, near_units(index, terms, asked), row.question, few(terms))
        if premise:
            family = row.group.split(" ")[0]
            premise, text = veiled(premise, text)
            found.append((truth, Pair(premise, text, _label(row, truth), f"{GROUP} {family}")))
    if row.whole and len(found) > 1:
        return []
    rng.shuffle(found)
    found.sort(key=lambda one: -one[0])
    return [pair for _, pair in found[:_PER_ROW]]


def _label(row: DetectorRow, truth: int) -> int:
    family, _, kind = row.group.partition(" ")
    if not truth:
        return _ENTAILED
    if family not in _MADE or "+" in kind:
        return NOT_FIRST
    return _NEUTRAL if kind in _ADDED else _CONTRADICTED


def relation_pairs(rows: Sequence[DetectorRow], rng: random.Random, caps: dict[str, int]) -> list[Pair]:
    """Pairs of rows that are not held out, ``caps`` pairs of each family at most, shuffled."""
    counts: dict[str, int] = defaultdict(int)
    pairs: list[Pair] = []
    for row in tqdm(rng.sample(list(rows), len(rows)), desc="relations", mininterval=10):
        family = row.group.split(" ")[0]
        if is_held_out(row) or counts[family] >= caps.get(family, 0):
            continue
        made = pairs_of(row, rng)
        counts[family] += len(made)
        pairs += made
    rng.shuffle(pairs)
    return pairs


def more_rows(rng: random.Random, count: int) -> list[DetectorRow]:
    """New generated rows, ``count`` of each of the two families whose answers never copy their evidence."""
    kinds = [rng.choice(prose.KINDS) if rng.random() < 0.55 else "" for _ in range(count)]
    return [prose_row(rng, kind) for kind in kinds] + record_rows(rng, count)


def turned_rows(data: Path, rng: random.Random, passes: int) -> list[DetectorRow]:
    """More rows of the kinds a copied sentence hides best: what turns a relation in words the evidence has."""
    passages = Passages(data, rng)
    rows: list[DetectorRow] = []
    for _ in range(passes):
        for index in tqdm(range(len(passages.rows)), desc="turned", mininterval=10):
            for kind in rng.sample(_TURNED, 2):
                made = passages.make(rng, index, True, kind)
                if made is not None:
                    rows.append(made)
                    break
    return rows
