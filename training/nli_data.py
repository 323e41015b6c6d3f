"""Premise and hypothesis pairs for the explainer: annotated sets, and generated contradictions of values."""

from __future__ import annotations

import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from training.records import as_read, make
from training.rows import Row, held_out, read
from training.sequence import Pair
from training.values import wrong_number

LABELS = ("entailment", "neutral", "contradiction")
ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
# Rows of one epoch, drawn anew for each; None: all. The two large sets teach inference, the others what the premises
# of this filter look like. FoolMeTwice's adversarial claims are beyond a model of this size: few of them.
PER_EPOCH: dict[str, int | None] = {
    "nli_mnli_dev": None,
    "nli_snli_dev": None,
    "nli_scitail_test": None,
    "infotabs": 1200,
    "fm2": 300,
    "factcheck_gpt_nli": 400,
    "dialfact_small": 277,
    "generated records": 600,
    "generated numbers": 300,
    "nli_mnli_dev siblings": 9000,  # labelled by the teacher (``training.teacher``)
    "nli_snli_dev siblings": 4500,
}
_SPARED = 0.08  # of premises
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")


def premise_of(row: Row) -> str:
    """The premise as text; tables as the run time flattens JSON: one ``key: value`` per line."""
    text: str = row["context"]
    if row["meta"].get("context_format") == "json":
        table = json.loads(text)
        return as_read({k: v[0] if len(v) == 1 else v for k, v in table.items()})
    return text


def annotated(data: Path) -> list[Pair]:
    """All rows of the annotated sets."""
    pairs: list[Pair] = []
    for name in PER_EPOCH:
        if name.startswith("generated") or name.endswith("siblings"):
            continue
        for row in read(data, name):
            if row.get("label") in LABELS and row["context"].strip() and row["answer"].strip():
                pairs.append(Pair(premise_of(row), row["answer"].strip(), LABELS.index(row["label"]), name))
    return pairs


def epochs_of(pairs: Sequence[Pair], count: int, rng: random.Random) -> list[list[Pair]]:
    """The rows of each epoch: of every set as many as ``PER_EPOCH`` says, its classes equally often."""
    groups: dict[str, dict[int, list[Pair]]] = defaultdict(lambda: defaultdict(list))
    for pair in pairs:
        groups[pair.group][pair.label].append(pair)
    epochs = []
    for _ in range(count):
        rows: list[Pair] = []
        for name, labels in sorted(groups.items()):
            wanted = PER_EPOCH[name]
            for _, found in sorted(labels.items()):
                rows += found if wanted is None else rng.sample(found, min(len(found), wanted // len(labels)))
        rng.shuffle(rows)
        epochs.append(rows)
    return epochs


def record_pairs(rng: random.Random, count: int) -> list[Pair]:
    """Records and one sentence each: true (entailment), a wrong value (contradiction), invented (neutral)."""
    faults = {"clean": ENTAILMENT, "value": CONTRADICTION, "invented": NEUTRAL}
    pairs: list[Pair] = []
    while len(pairs) < count:
        fault = rng.choice(("clean", "value", "value", "invented"))
        made = make(rng, fault)
        if made.fault != fault or len(made.context) > 700:
            continue
        if fault == "invented":
            start, end = made.spans[0]
            hypothesis = made.answer[start:end]
        else:
            hypothesis = made.answer
            if "\n" in hypothesis or len(hypothesis) > 220:
                continue
        pairs.append(Pair(made.context, hypothesis, faults[fault], "generated records"))
    return pairs


def passage_pairs(data: Path, rng: random.Random, count: int) -> list[Pair]:
    """A sentence of a passage (entailment) and the same with a number changed (contradiction)."""
    rows = read(data, "dolly_grounded")
    rng.shuffle(rows)
    pairs: list[Pair] = []
    for row in rows:
        sentences = [s.strip() for s in re.split(r"(?<=[.!?])\s+", row["context"]) if 30 < len(s) < 250]
        numbered = [i for i, s in enumerate(sentences) if _NUMBER.search(s)]
        if not numbered or len(pairs) >= count:
            continue
        i = rng.choice(numbered)
        premise = " ".join(sentences[max(0, i - 1) : i + 2])
        match = rng.choice(list(_NUMBER.finditer(sentences[i])))
        plain = match.group().replace(",", "")
        new = wrong_number(rng, float(plain) if "." in plain else int(plain))
        shown = f"{new:,}" if "," in match.group() else str(new)
        changed = sentences[i][: match.start()] + shown + sentences[i][match.end() :]
        if re.search(rf"(?<![\w.,]){re.escape(shown)}(?![\w])", premise):
            continue
        pairs.append(Pair(premise, sentences[i], ENTAILMENT, "generated numbers"))
        pairs.append(Pair(premise, changed, CONTRADICTION, "generated numbers"))
    return pairs[:count]


def taught(pairs: Sequence[Pair], answers: Sequence[tuple[str, str, str, list[float]]]) -> list[Pair]:
    """The pairs with ``targets`` for each class: of a labelled one half its label, half what the teacher thinks; and
    after them those that the teacher alone labels. ``answers``: (premise, hypothesis, group, logits)."""
    thought = {(first, second): softmax(logits) for first, second, _, logits in answers}
    found = []
    for pair in pairs:
        told = tuple(float(pair.label == each) for each in range(len(LABELS)))
        other = thought.get((pair.first, pair.second), told)
        found.append(replace(pair, targets=tuple((a + b) / 2 for a, b in zip(told, other, strict=True))))
    for first, second, group, _ in answers:
        if group.endswith("siblings"):
            targets = thought[first, second]
            found.append(Pair(first, second, targets.index(max(targets)), group, targets=targets))
    return found


def split(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """(trained on, for temperature and thresholds, reported), by premise."""
    trained = [pair for pair in pairs if not held_out(pair.first, _SPARED)]
    spared = [pair for pair in pairs if held_out(pair.first, _SPARED)]
    tuning = [pair for pair in spared if held_out(pair.first, 0.5, "half")]
    return trained, tuning, [pair for pair in spared if not held_out(pair.first, 0.5, "half")]


def softmax(logits: Sequence[float]) -> tuple[float, ...]:
    """Probabilities."""
    powers = [math.exp(value - max(logits)) for value in logits]
    return tuple(power / sum(powers) for power in powers)


def load(data: Path, rng: random.Random) -> list[Pair]:
    """All pairs, shuffled."""
    pairs = annotated(data) + record_pairs(rng, 3000) + passage_pairs(data, rng, 1600)
    rng.shuffle(pairs)
    return pairs
