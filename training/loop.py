"""A small training loop for two cores: token-budget batches, bf16 autocast, resumable checkpoints."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from tqdm import tqdm

IGNORED = -100
SOMEWHERE = -1
_DOUBTED = 4  # tokens of such an answer that must be doubted: about one word


@dataclass(frozen=True, slots=True)
class Example:
    """One encoded row. ``labels``: one class (sequence models) or one per token, ``IGNORED`` = not trained on.

    ``SOMEWHERE`` marks tokens of an answer of which only the whole is known: some token of it is unsupported.
    ``targets``: of a sequence, the probability that each class should get, in the place of ``labels``; all rows of a
    run have them, or none.
    """

    input_ids: tuple[int, ...]
    token_types: tuple[int, ...]
    labels: tuple[int, ...]
    weight: float = 1.0
    targets: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """Hyperparameters of one run. ``batch_tokens`` bounds padded tokens in a batch, ``max_steps`` the run.

    ``smoothing``: of the labels. ``average_from``: the weights handed back are the mean over the run from this share
    of its steps on (1: the last ones).
    """

    name: str
    learning_rate: float = 2e-4
    max_steps: int | None = None
    batch_tokens: int = 4096
    warmup: float = 0.06
    weight_decay: float = 0.01
    seed: int = 20
    threads: int = 2
    checkpoint_every: int = 50
    smoothing: float = 0.0
    average_from: float = 1.0


def batches(examples: Sequence[Example], batch_tokens: int, rng: random.Random) -> list[list[int]]:
    """Index batches of similar length, each at most ``batch_tokens`` padded tokens, in random order."""
    noisy = sorted(range(len(examples)), key=lambda i: len(examples[i].input_ids) + rng.random() * 8)
    result: list[list[int]] = []
    current: list[int] = []
    longest = 0
    for index in noisy:
        longest = max(longest, len(examples[index].input_ids))
        if current and longest * (len(current) + 1) > batch_tokens:
            result.append(current)
            current, longest = [], len(examples[index].input_ids)
        current.append(index)
    if current:
        result.append(current)
    rng.shuffle(result)
    return result


def collate(examples: Sequence[Example]) -> dict[str, Tensor]:
    """Right-padded tensors: input_ids, token_type_ids, attention_mask (batch, length), labels (or targets), weights."""
    longest = max(len(example.input_ids) for example in examples)
    per_token, soft = len(examples[0].labels) > 1, bool(examples[0].targets)

    def padded(values: Sequence[int], fill: int) -> list[int]:
        return [*values, *([fill] * (longest - len(values)))]

    return {
        "input_ids": torch.tensor([padded(e.input_ids, 0) for e in examples]),
        "token_type_ids": torch.tensor([padded(e.token_types, 0) for e in examples]),
        "attention_mask": torch.tensor([padded([1] * len(e.input_ids), 0) for e in examples]),
        "labels": torch.tensor(
            [e.targets if soft else padded(e.labels, IGNORED) if per_token else e.labels[0] for e in examples]
        ),
        "weights": torch.tensor([e.weight for e in examples]),
    }


def train(
    model: nn.Module,
    epochs: Sequence[Sequence[Example]],
    recipe: Recipe,
    directory: Path,
    class_weights: Sequence[float] | None = None,
) -> None:
    """Trains in place over the rows of each epoch; continues from ``directory/checkpoint.pt`` if it is there."""
    torch.set_num_threads(recipe.threads)
    directory.mkdir(parents=True, exist_ok=True)
    schedule: list[list[Example]] = []
    for epoch, examples in enumerate(epochs):
        for chosen in batches(examples, recipe.batch_tokens, random.Random(recipe.seed + epoch)):
            schedule.append([examples[i] for i in chosen])
    schedule = schedule[: recipe.max_steps]
    torch.manual_seed(recipe.seed)
    decayed = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": plain, "weight_decay": 0.0}],
        lr=recipe.learning_rate,
    )
    warm = max(1, int(recipe.warmup * len(schedule)))

    def factor(step: int) -> float:
        return min((step + 1) / warm, max(0.02, (len(schedule) - step) / max(1, len(schedule) - warm)))

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    checkpoint = directory / "checkpoint.pt"
    start = 0
    mean: dict[str, Tensor] = {}
    averaged = 0
    if checkpoint.is_file():
        state: dict[str, Any] = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        start = int(state["step"])
        mean, averaged = state.get("mean", {}), int(state.get("averaged", 0))
        torch.set_rng_state(state["rng"])
    weights = None if class_weights is None else torch.tensor(list(class_weights))
    loss_function = nn.CrossEntropyLoss(
        weight=weights, reduction="none", ignore_index=IGNORED, label_smoothing=recipe.smoothing
    )
    model.train()
    running = 0.0
    progress = tqdm(range(start, len(schedule)), initial=start, total=len(schedule), desc=recipe.name, mininterval=15)
    for step in progress:
        batch = collate(schedule[step])
        labels, row_weights = batch.pop("labels"), batch.pop("weights")
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(**batch).logits
        losses = row_losses(logits.float(), labels, loss_function)
        loss = (losses * row_weights).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        current = float(loss.detach())
        running = 0.97 * running + 0.03 * current if step > start else current
        progress.set_postfix(loss=f"{running:.4f}", refresh=False)
        if step >= recipe.average_from * len(schedule):
            averaged += 1
            for name, value in model.state_dict().items():
                if not value.is_floating_point():
                    continue
                kept = mean.get(name)
                mean[name] = value.clone() if kept is None else kept.lerp_(value, 1 / averaged)
        if (step + 1) % recipe.checkpoint_every == 0 or step + 1 == len(schedule):
            _save(checkpoint, model, optimizer, scheduler, step + 1, mean, averaged)
    if mean:
        model.load_state_dict(mean, strict=False)
    model.eval()


def row_losses(logits: Tensor, labels: Tensor, loss_function: nn.CrossEntropyLoss) -> Tensor:
    """(batch,) losses. Of a text or pair: its class's. Of a row of tokens: its labelled tokens' mean (less for few),
    and, where only the whole answer is known to be unsupported, the loss of its most doubted tokens' mean log-odds."""
    if labels.ndim == 1 or labels.is_floating_point():
        return cast(Tensor, loss_function(logits, labels))
    known = labels.masked_fill(labels == SOMEWHERE, IGNORED)
    losses = loss_function(logits.view(-1, logits.shape[-1]), known.view(-1)).view(labels.shape)
    # Mean per row first: a long answer must not outweigh ten short ones.
    counted = (known != IGNORED).sum(1).clamp(min=1)
    result = losses.sum(1) / counted.sqrt() / 6.0
    somewhere = labels == SOMEWHERE
    wholly = somewhere.any(1)
    if bool(wholly.any()):
        margins = (logits[..., 1] - logits[..., 0]).masked_fill(~somewhere, -1e4)[wholly]
        size = min(_DOUBTED, margins.shape[1])
        best = margins.topk(size, dim=1).values
        real = best > -1e3
        doubted = (best * real).sum(1) / real.sum(1).clamp(min=1)
        result = result.clone()
        result[wholly] = result[wholly] + nn.functional.softplus(-doubted)
    return cast(Tensor, result)


def load_checkpoint(model: nn.Module, directory: Path) -> int:
    """Weights of a run as far as it got (averaged, if the run has begun to); returns the step they are from."""
    state: dict[str, Any] = torch.load(directory / "checkpoint.pt", weights_only=True)
    model.load_state_dict(state["model"] | state.get("mean", {}))
    model.eval()
    return int(state["step"])


def _save(
    path: Path,
    model: nn.Module,
    optimizer: Any,
    scheduler: Any,
    step: int,
    mean: dict[str, Tensor],
    averaged: int,
) -> None:
    partial = path.with_suffix(".partial")
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "rng": torch.get_rng_state(),
            "step": step,
            "mean": mean,
            "averaged": averaged,
        },
        partial,
    )
    partial.replace(path)


def predict(model: nn.Module, examples: Sequence[Example], batch_tokens: int = 8192) -> list[Tensor]:
    """Logits per example, fp32: (classes,) for sequence models, (tokens, classes) for token models."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].input_ids))
    results: dict[int, Tensor] = {}
    model.eval()
    start = 0
    with torch.inference_mode():
        while start < len(order):
            end = start + 1
            while end < len(order) and len(examples[order[end]].input_ids) * (end + 1 - start) <= batch_tokens:
                end += 1
            chosen = order[start:end]
            batch = collate([examples[i] for i in chosen])
            batch.pop("labels")
            batch.pop("weights")
            logits = model(**batch).logits.float()
            for row, index in enumerate(chosen):
                value = logits[row]
                results[index] = value[: len(examples[index].input_ids)] if value.ndim == 2 else value
            start = end
    return [results[i] for i in range(len(examples))]
