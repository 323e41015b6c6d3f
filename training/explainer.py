"""``python -m training.explainer DATA``: trains, calibrates and exports the three-class NLI explainer."""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import torch

from training.base import MODELS, RUNS, base_directory
from training.loop import Recipe, load_checkpoint
from training.nli_data import ENTAILMENT, LABELS, epochs_of, load, split, taught
from training.sequence import Pair, best_temperature, build_model, expected_calibration_error, export, fit, logits_of

TRAIN_LENGTH = 128
MAX_LENGTH = 256
# A span is dropped on entailment alone, so entailment must rarely be wrong.
WRONG_ENTAILMENT = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="directory of the training rows (*.jsonl.gz)")
    parser.add_argument("--base", type=Path, help="directory of the base model")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--steps", type=int, help="stop the schedule after so many steps")
    parser.add_argument("--rate", type=float, default=2e-4, help="highest learning rate")
    parser.add_argument("--run", default="explainer")
    parser.add_argument("--out", type=Path, default=MODELS / "explainer")
    parser.add_argument("--start", type=Path, help="checkpoint.pt of a detector or explainer to begin from")
    parser.add_argument("--taught", type=Path, help="taught.pt of training.teacher: learn what the teacher thinks, too")
    parser.add_argument("--finish", action="store_true", help="do not train: calibrate and export the run's checkpoint")
    options = parser.parse_args()
    base = base_directory(options.base)
    pairs = load(options.data, random.Random(6))
    run = RUNS / options.run
    trained, tuning, test = split(pairs)
    if options.taught is not None:
        trained = taught(trained, torch.load(options.taught, weights_only=True))
    epochs = epochs_of(trained, options.epochs, random.Random(31))
    print("rows of an epoch", len(epochs[0]), sorted(Counter(p.group for p in epochs[0]).items()))
    if options.finish:
        torch.set_num_threads(2)
        model = build_model(base, LABELS)
        print("checkpoint of step", load_checkpoint(model, run))
    else:
        recipe = Recipe(
            "explainer",
            learning_rate=options.rate,
            max_steps=options.steps,
            batch_tokens=2048,
            checkpoint_every=100,
            smoothing=0.05,
            average_from=0.75,
        )
        model = fit(base, LABELS, epochs, recipe, TRAIN_LENGTH, run, options.start)
    report(model, base, tuning, test, options.out)


def entailment_threshold(probabilities: torch.Tensor, labels: torch.Tensor) -> float:
    """Lowest threshold at which at most 5 % of pairs called entailment are something else."""
    for step in range(50, 100):
        called = probabilities[:, ENTAILMENT] >= step / 100
        if bool(called.any()) and float((labels[called] != ENTAILMENT).float().mean()) <= WRONG_ENTAILMENT:
            return step / 100
    return 0.99


def report(model: Any, base: Path, tuning: list[Pair], test: list[Pair], out: Path) -> None:
    """Calibrates on ``tuning``, prints figures on ``test``, exports."""
    labels = torch.tensor([p.label for p in tuning])
    logits = logits_of(model, base, tuning, MAX_LENGTH)
    temperature = best_temperature(logits, labels)
    threshold = entailment_threshold(torch.softmax(logits / temperature, -1), labels)
    probabilities = torch.softmax(logits_of(model, base, test, MAX_LENGTH) / temperature, -1)
    truth = torch.tensor([p.label for p in test])
    right = probabilities.argmax(-1).eq(truth)
    print(f"temperature {temperature}  entailment threshold {threshold}  test rows {len(test)}")
    ece = expected_calibration_error(probabilities.max(-1).values, right)
    print(f"accuracy {float(right.float().mean()):.3f}  ECE {ece:.3f}")
    called = probabilities[:, ENTAILMENT] >= threshold
    share, precise = float(called.float().mean()), float((truth[called] == ENTAILMENT).float().mean())
    print(f"called entailed {share:.3f} of pairs, right in {precise:.3f}")
    groups: dict[str, list[bool]] = defaultdict(list)
    for pair, good in zip(test, right.tolist(), strict=True):
        groups[pair.group].append(good)
    for group, values in sorted(groups.items()):
        print(f"  {group}: {sum(values) / len(values):.3f} of {len(values)}")
    export(
        model,
        base,
        out,
        {
            "format": 1,
            "kind": "explainer",
            "encoding": {"novelty_token_type": None, "max_length": MAX_LENGTH},
            "thresholds": {"nli_entailment_threshold": threshold},
            "temperature": temperature,
            "scripts": ["Latin"],
            "languages": ["en"],
            "labels": dict(enumerate(LABELS)),
        },
    )


if __name__ == "__main__":
    main()
