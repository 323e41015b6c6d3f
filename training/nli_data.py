"""Premise and hypothesis pairs for the explainer: annotated sets, and generated contradictions of values."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

from training.records import as_read, make
from training.rows import Row, read
from training.sequence import Pair
from training.values import wrong_number

LABELS = ("entailment", "neutral", "contradiction")
ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
CAPS = {
    "nli_mnli_dev": 8000,
    "nli_snli_dev": 5500,
    "infotabs": 5500,
    "fm2": 2000,
    "factcheck_gpt_nli": 1300,
    "nli_scitail_test": 1200,
    "dialfact_small": 299,
}
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")


def premise_of(row: Row) -> str:
    """The premise as text; tables as the run time flattens JSON: one ``key: value`` per line."""
    text: str = row["context"]
    if row["meta"].get("context_format") == "json":
        table = json.loads(text)
        return as_read({k: v[0] if len(v) == 1 else v for k, v in table.items()})
    return text


def annotated(data: Path, rng: random.Random) -> list[Pair]:
    """Rows of the NLI sets, capped, keeping the classes of one set balanced."""
    pairs: list[Pair] = []
    for name, cap in CAPS.items():
        rows = [
            r for r in read(data, name) if r.get("label") in LABELS and r["context"].strip() and r["answer"].strip()
        ]
        by_label = {label: [r for r in rows if r["label"] == label] for label in LABELS}
        used = [label for label in LABELS if by_label[label]]
        for label in used:
            chosen = rng.sample(by_label[label], min(len(by_label[label]), cap // len(used)))
            pairs += [Pair(premise_of(r), r["answer"].strip(), LABELS.index(label), name) for r in chosen]
    return pairs


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


def load(data: Path, rng: random.Random) -> list[Pair]:
    """All pairs, shuffled."""
    pairs = annotated(data, rng) + record_pairs(rng, 3000) + passage_pairs(data, rng, 1600)
    rng.shuffle(pairs)
    return pairs
