"""``python -m training.fact_check DATA``: trains, calibrates and exports the fact-check classifier."""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path

import torch

from training.base import MODELS, RUNS, base_directory
from training.loop import Recipe
from training.prompts import LABELS, NEEDS, load
from training.rows import held_out
from training.sequence import Pair, best_temperature, expected_calibration_error, export, fit, logits_of

MAX_LENGTH = 64
FALSE_NEEDS = 0.05


def threshold_for(scores: list[float], labels: list[int], allowed: float) -> float:
    """The lowest threshold that calls at most ``allowed`` of the no-need prompts needing."""
    negatives = sorted((s for s, label in zip(scores, labels, strict=True) if label != NEEDS), reverse=True)
    return min(0.9, max(0.2, round(negatives[int(allowed * len(negatives))] + 0.005, 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="directory of the training rows (*.jsonl.gz)")
    parser.add_argument("--base", type=Path, help="directory of the base model")
    parser.add_argument("--rows", type=int, default=100_000, help="at most so many training rows")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--run", default="fact_check")
    parser.add_argument("--out", type=Path, default=MODELS / "fact_check")
    options = parser.parse_args()
    base = base_directory(options.base)
    pairs = load(options.data, random.Random(5))
    kept = [p for p in pairs if held_out(p.first.lower(), 0.1)]
    trained = [p for p in pairs if not held_out(p.first.lower(), 0.1)][: options.rows]
    print("training rows", len(trained), Counter(LABELS[p.label] for p in trained), Counter(p.group for p in trained))
    recipe = Recipe("fact_check", learning_rate=1.5e-4, batch_tokens=2048, checkpoint_every=200)
    model = fit(base, LABELS, [trained] * options.epochs, recipe, MAX_LENGTH, RUNS / options.run)
    # One half of the held-out prompts sets temperature and threshold, the other half is reported.
    tuning = [p for p in kept if held_out(p.first.lower(), 0.5, "half")]
    report(model, base, tuning, [p for p in kept if not held_out(p.first.lower(), 0.5, "half")], options.out)


def report(model: object, base: Path, tuning: list[Pair], test: list[Pair], out: Path) -> None:
    """Calibrates on ``tuning``, prints figures on ``test``, exports."""
    labels = torch.tensor([p.label for p in tuning])
    logits = logits_of(model, base, tuning, MAX_LENGTH)
    temperature = best_temperature(logits, labels)
    scores = torch.softmax(logits / temperature, -1)[:, NEEDS].tolist()
    threshold = threshold_for(scores, labels.tolist(), FALSE_NEEDS)
    probabilities = torch.softmax(logits_of(model, base, test, MAX_LENGTH) / temperature, -1)
    needs = probabilities[:, NEEDS] >= threshold
    truth = torch.tensor([p.label == NEEDS for p in test])
    ece = expected_calibration_error(
        probabilities.max(-1).values, probabilities.argmax(-1).eq(torch.tensor([p.label for p in test]))
    )
    print(f"temperature {temperature}  threshold {threshold}  test rows {len(test)}")
    accuracy, recall = float((needs == truth).float().mean()), float(needs[truth].float().mean())
    false = float(needs[~truth].float().mean())
    print(
        f"balanced accuracy {(recall + 1 - false) / 2:.3f}  accuracy {accuracy:.3f}  recall(needs) {recall:.3f}  "
        f"false needs {false:.3f}  ECE {ece:.3f}"
    )
    groups: dict[str, list[bool]] = defaultdict(list)
    for pair, called, right in zip(test, needs.tolist(), truth.tolist(), strict=True):
        groups[pair.group].append(called == right)
    for group, values in sorted(groups.items()):
        print(f"  {group}: {sum(values) / len(values):.3f} of {len(values)}")
    export(
        model,
        base,
        out,
        {
            "format": 1,
            "kind": "fact_check",
            "encoding": {"novelty_token_type": None, "max_length": MAX_LENGTH},
            "thresholds": {"threshold": threshold},
            "temperature": temperature,
            "scripts": ["Latin"],
            "languages": ["en"],
            "labels": dict(enumerate(LABELS)),
        },
    )


if __name__ == "__main__":
    main()
