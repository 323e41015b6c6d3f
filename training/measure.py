"""``python -m training.measure DEV``: the exported models, as shipped, on the development sets. Chooses nothing.

The detector's token model is read from its int8 directory and run over every window (minimum over windows), without
value check, sentence model or explainer: ``vsr-hallucination eval detector`` measures the whole. Thresholds are the
ones in ``vsr.json``. Beside it stands the share of novel content words alone, as the baseline that needs no model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from sklearn.metrics import roc_auc_score

from training.base import MODELS
from training.detector import Encoder, answer_scores, decode, report, token_scores
from training.detector_data import DetectorRow
from training.faults import content_novelty
from training.rows import Row, read
from vsr_hallucination.detection.embedded import load_model, read_metadata, weights_sha256
from vsr_hallucination.detection.encoding import EvidenceWords

SETS = ("ragtruth_qa", "lfqa_verification", "halueval_qa")

# Not in the training data: other domains, keys and templates. (evidence, question, right answer, wrong part -> wrong)
ACCEPTANCE = (
    ("depot: K7\nmonth: May\ncrates: 412\ncost_eur: 9500",
     "How many crates did depot K7 ship in May, and at what cost?",
     "Depot K7 shipped 412 crates in May at a cost of 9,500 euros.", "412", "479"),
    ("ferry: MS Alba\nday: Monday\ncars: 138\nfare_total_gbp: 4210", "How many cars crossed with MS Alba on Monday?",
     "On Monday, MS Alba took 138 cars across and collected £4,210 in fares.", "138", "183"),
    ("bakery: Nord\nloaves_baked: 960\nleftover: 44\nflour_kg: 710", "How did the Nord bakery do?",
     "The Nord bakery baked 960 loaves, 44 of which were left over, and used 710 kg of flour.", "44", "64"),
    ("track: Night Drive\nartist: Lena Moor\nplays: 88214\nduration: 3:41",
     "Who made Night Drive and how often was it played?",
     "Night Drive by **Lena Moor** has been played **88,214** times.", "88,214", "82,814"),
    ("telescope: T2\nexposures: 75\nseeing_arcsec: 0.8\nnight: 2025-02-11", "What did T2 do that night?",
     "- Exposures: 75\n- Seeing: 0.8 arcsec\n- Night: 11 February 2025", "75", "57"),
)  # fmt: skip
ADDED = " The depot was founded in 1987 by Karl Brandt."


def as_row(row: Row) -> DetectorRow:
    """A development row; where only the answer as a whole is labelled, the whole answer is the span."""
    spans = tuple(sorted((s["start"], s["end"]) for s in row.get("labels") or ()))
    if row["task"] == "claim" and row["label"] != "supported":
        spans = ((0, len(row["answer"])),)
    return DetectorRow(row["context"], row["question"], row["answer"], spans, row["source"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dev", type=Path, help="directory of the development rows (*.jsonl.gz)")
    parser.add_argument("--model", type=Path, default=MODELS / "detector")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--threshold", type=float, help="threshold of single tokens, where vsr.json's is for sentences")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = load_model(options.model, "detector")
    metadata = read_metadata(options.model, "detector")
    numbers = {"temperature": metadata.temperature, **dict(metadata.thresholds)}
    if options.threshold is not None:
        numbers["threshold"] = options.threshold
    print("weights", weights_sha256(options.model), numbers)
    encoder = Encoder(options.model)
    acceptance(model, encoder, numbers)
    for name in options.sets:
        rows = [as_row(row) for row in read(options.dev, name)]
        scores = token_scores(model, encoder, rows)
        report(name, scores, rows, numbers)
        shares = []
        for row in rows:
            evidence = EvidenceWords.from_texts([row.context, row.question])
            shares.append(content_novelty(row.answer, evidence)[0])
        faulty = [bool(row.spans) for row in rows]
        mine = answer_scores(scores, rows, numbers["temperature"])
        ranks = [a + b for a, b in zip(_ranks(mine), _ranks(shares), strict=True)]
        print(
            f"  novel-word share alone: AUROC {roc_auc_score(faulty, shares):.3f}; "
            f"rank-averaged with the model: {roc_auc_score(faulty, ranks):.3f}",
            flush=True,
        )


def acceptance(model: torch.nn.Module, encoder: Encoder, numbers: dict[str, float]) -> bool:
    """Prints each acceptance example: right answers clean, wrong values flagged with their probability."""
    rows: list[DetectorRow] = []
    for evidence, question, right, value, wrong in ACCEPTANCE:
        rows.append(DetectorRow(evidence, question, right, (), "right"))
        at = right.index(value)
        rows.append(DetectorRow(evidence, question, right.replace(value, wrong, 1), ((at, at + len(wrong)),), "wrong"))
    first = rows[0]
    added = ((len(first.answer) + 1, len(first.answer + ADDED)),)
    rows.append(DetectorRow(first.context, first.question, first.answer + ADDED, added, "added"))
    passed = True
    for row, scored in zip(rows, token_scores(model, encoder, rows), strict=True):
        found = decode(scored, row.answer, numbers["temperature"], numbers["min_span_confidence"], numbers["threshold"])
        good = bool(found) == bool(row.spans) and all(
            any(a < end and start < b for a, b, _ in found) for start, end in row.spans
        )
        passed = passed and good
        highest = answer_scores([scored], [row], numbers["temperature"])[0]
        told = ", ".join(f"{row.answer[a:b]!r} {c:.3f}" for a, b, c in found) or f"clean (highest token {highest:.3f})"
        print(f"{'ok  ' if good else 'MISS'} {row.group}: {row.answer[:70]!r}: {told}")
    return passed


def _ranks(values: list[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    for rank, index in enumerate(order):
        ranks[index] = rank / len(values)
    return ranks


if __name__ == "__main__":
    main()
