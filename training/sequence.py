"""Shared by the two sequence models: encoding, training, export, held-out figures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from training.base import load_tokenizer
from training.loop import Example, Recipe, predict, train


@dataclass(frozen=True, slots=True)
class Pair:
    """A text, or (premise, hypothesis); ``label`` is the class index, ``targets`` each class's probability if known."""

    first: str
    second: str
    label: int
    group: str
    weight: float = 1.0
    targets: tuple[float, ...] = ()


def encode(tokenizer: Any, pair: Pair, max_length: int) -> Example:
    """[CLS] first [SEP] (second [SEP]); the first text gives way when the pair is too long."""
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    second = tokenizer.encode(pair.second, add_special_tokens=False).ids[: max_length // 2] if pair.second else []
    room = max_length - 2 - (len(second) + 1 if second else 0)
    first = tokenizer.encode(pair.first[: max_length * 12], add_special_tokens=False).ids[:room]
    ids = [cls, *first, sep, *([*second, sep] if second else [])]
    types = [0] * (len(first) + 2) + [1] * (len(ids) - len(first) - 2)
    return Example(tuple(ids), tuple(types), (pair.label,), pair.weight, pair.targets)


def build_model(base: Path, labels: Sequence[str]) -> Any:
    """The base encoder with a fresh classification head, no attention dropout (slow on a CPU)."""
    from transformers import BertForSequenceClassification

    torch.manual_seed(11)
    return BertForSequenceClassification.from_pretrained(
        str(base),
        local_files_only=True,
        num_labels=len(labels),
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",  # twice as fast as the fused kernel on a CPU at these lengths
        id2label=dict(enumerate(labels)),
        label2id={name: i for i, name in enumerate(labels)},
    )


def warm_start(model: Any, checkpoint: Path) -> None:
    """Takes over what fits of an earlier run: the encoder of a detector, which has learnt to compare two texts, or the
    whole of a run of the same kind."""
    saved = torch.load(checkpoint, weights_only=True)
    state: dict[str, torch.Tensor] = saved["model"] | saved.get("mean", {})
    own = model.state_dict()
    types = "bert.embeddings.token_type_embeddings.weight"
    state[types] = state[types][:2]
    fitting = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    lacking = model.load_state_dict(fitting, strict=False)
    if any(".encoder." in name for name in lacking.missing_keys):
        raise SystemExit(f"{checkpoint}: not the encoder expected ({lacking})")


def fit(
    base: Path,
    labels: Sequence[str],
    epochs: Sequence[Sequence[Pair]],
    recipe: Recipe,
    max_length: int,
    run: Path,
    start: Path | None = None,
) -> Any:
    """Trains (or continues) a run and returns the model. ``start``: checkpoint of an earlier run to begin from."""
    tokenizer = load_tokenizer(base)
    model = build_model(base, labels)
    if start is not None:
        warm_start(model, start)
    known: dict[Pair, Example] = {}
    for pairs in epochs:
        known |= {pair: encode(tokenizer, pair, max_length) for pair in pairs if pair not in known}
    train(model, [[known[pair] for pair in pairs] for pairs in epochs], recipe, run)
    return model


def logits_of(model: Any, base: Path, pairs: Sequence[Pair], max_length: int) -> torch.Tensor:
    """(rows, classes) fp32."""
    tokenizer = load_tokenizer(base)
    return torch.stack(predict(model, [encode(tokenizer, pair, max_length) for pair in pairs]))


def best_temperature(logits: torch.Tensor, labels: torch.Tensor) -> float:
    """The temperature of least negative log-likelihood on held-out rows (Guo et al. 2017), by grid."""
    grid = [0.5 + 0.05 * i for i in range(71)]
    losses = [float(torch.nn.functional.cross_entropy(logits / t, labels)) for t in grid]
    return round(grid[losses.index(min(losses))], 2)


def expected_calibration_error(confidence: torch.Tensor, correct: torch.Tensor, bins: int = 10) -> float:
    """ECE over equal-width confidence bins."""
    total = 0.0
    for i in range(bins):
        inside = (confidence > i / bins) & (confidence <= (i + 1) / bins)
        if bool(inside.any()):
            gap = float(confidence[inside].mean() - correct[inside].float().mean())
            total += abs(gap) * float(inside.float().mean())
    return total


def export(model: Any, base: Path, directory: Path, metadata: dict[str, Any]) -> None:
    """Writes the int8 directory: config, weights, tokenizer, vsr.json (the model card is kept if there)."""
    from vsr_hallucination.detection.embedded import METADATA, save_int8

    save_int8(model, directory)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copyfile(base / name, directory / name)
    (directory / METADATA).write_text(json.dumps(metadata, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
