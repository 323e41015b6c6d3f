"""A model, its tokenizer and its numbers, from an embedded, local or hub directory; typed errors for people.

Hub ids go through transformers with ``trust_remote_code=False``; ``HF_HUB_OFFLINE`` / ``TRANSFORMERS_OFFLINE`` in the
environment keep it to the local cache. Loading blocks: call it in a thread.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vsr_hallucination.config.paths import model_directory
from vsr_hallucination.detection.batching import Floats, Model, Row
from vsr_hallucination.detection.deadline import DetectionError
from vsr_hallucination.detection.embedded import (
    Kind,
    ModelDirectoryError,
    ModelMetadata,
    embedded_dir,
    load_model,
    read_metadata,
    weights_sha256,
)
from vsr_hallucination.detection.pairs import PairEncoder, pad
from vsr_hallucination.detection.precision import bfloat16_pays, narrow
from vsr_hallucination.detection.types import Reason

MAX_LENGTH = 512  # tokens of an input where the model's metadata names none; longer costs more than it finds


class ModelError(Exception):
    """A model cannot be provisioned: where it was looked for, what is wrong, and what to do."""

    def __init__(self, path: str, what: str, remedy: str) -> None:
        super().__init__(f"{path}: {what}; {remedy}")
        self.path = path
        self.what = what
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Loaded:
    """A provisioned model. ``run`` maps rows to probabilities (temperature applied, softmax over the last axis).

    ``precision``: what its weights are computed with, ``float32`` or ``bfloat16``.
    """

    name: str
    metadata: ModelMetadata
    encoder: PairEncoder
    run: Model
    sha256: str
    precision: str = "float32"


def load(model: str, kind: Kind, *, use_cpu: bool = True, exact: bool = False) -> Loaded:
    """Loads ``embedded``, a local directory or a hub id. ``exact``: in float32 in any case. Raises ModelError."""
    from transformers.utils import logging as transformers_logging

    # A service has no terminal to draw on.
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    directory = locate(model, kind)
    try:
        metadata = read_metadata(directory, kind)
        network: Any = load_model(directory, kind)
        sha256 = weights_sha256(directory)
    except ModelDirectoryError as error:
        raise ModelError(str(error.directory), error.problem, error.remedy) from error
    tokenizer, tokenizer_limit = _tokenizer(directory)
    limits = [n for n in (metadata.max_length or MAX_LENGTH, tokenizer_limit, _positions(network.config)) if n]
    try:
        encoder = PairEncoder(tokenizer, min(limits), novelty_type=metadata.novelty_token_type)
    # A tokenizer without a pair template raises whatever its parts raise.
    except Exception as error:
        raise ModelError(
            str(directory), f"its tokenizer cannot encode a pair ({type(error).__name__})", "use an encoder model"
        ) from error
    run, precision = _runner(network, metadata, use_cpu), "float32"
    if not exact and next(network.parameters()).device.type == "cpu" and bfloat16_pays():
        some = encoder.tokens("The gate opens at nine.").ids
        if narrow(network, lambda: list(run([encoder.pair(some, some)])), encoder.max_length):
            precision = "bfloat16"
        else:
            run = _runner(load_model(directory, kind), metadata, use_cpu)
    name = f"{kind}:embedded" if model == "embedded" else model
    return Loaded(name, metadata, encoder, run, sha256, precision)


def locate(model: str, kind: Kind) -> Path:
    """The directory of a model. A hub id is fetched (or found in the cache). Raises ModelError."""
    if model == "embedded":
        try:
            return embedded_dir(kind)
        except ModelDirectoryError as error:
            raise ModelError(str(error.directory), error.problem, error.remedy) from error
    path = model_directory(model)
    if path is not None:
        return path
    if model.startswith((".", "/", "~")) or model.count("/") != 1:
        raise ModelError(model, "no such directory", "check model_id / model_ref, or mount the model there")
    from huggingface_hub import snapshot_download

    wanted = ["*.json", "*.safetensors", "*.txt", "*.model"]
    try:
        return Path(snapshot_download(model, allow_patterns=wanted))
    # Network, cache, authentication and name errors share no base class worth naming here.
    except Exception as error:
        raise ModelError(
            model,
            f"neither a local directory nor fetched from the hub ({type(error).__name__})",
            "mount the model and give its directory, or check the name and the network",
        ) from error


def _tokenizer(directory: Path) -> tuple[Any, int | None]:
    from tokenizers import Tokenizer

    try:
        if (directory / "tokenizer.json").is_file():
            return Tokenizer.from_file(str(directory / "tokenizer.json")), None
        from transformers import AutoTokenizer

        wrapped = AutoTokenizer.from_pretrained(str(directory), trust_remote_code=False, local_files_only=True)
        limit = wrapped.model_max_length if wrapped.model_max_length < 1_000_000 else None
        return wrapped.backend_tokenizer, limit
    # As with weights: many unrelated types, one fact.
    except Exception as error:
        raise ModelError(
            str(directory),
            f"its tokenizer does not load ({type(error).__name__})",
            "download the whole model directory",
        ) from error


def _positions(config: Any) -> int | None:
    """Positions a model has room for; RoBERTa-like ones keep the first ``pad_token_id`` + 1 to themselves."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        return None
    if "roberta" in str(getattr(config, "model_type", "")):
        return positions - int(getattr(config, "pad_token_id", 1) or 0) - 1
    return positions


def _runner(network: Any, metadata: ModelMetadata, use_cpu: bool) -> Model:
    import torch

    device = torch.device("cuda" if not use_cpu and torch.cuda.is_available() else "cpu")
    network.to(device)
    accepted = inspect.signature(network.forward).parameters
    type_rows = int(getattr(network.config, "type_vocab_size", 0) or 0)
    with_types = "token_type_ids" in accepted and type_rows > 1
    pad_id = int(getattr(network.config, "pad_token_id", 0) or 0)
    temperature = metadata.temperature

    def run(rows: Sequence[Row]) -> list[Floats]:
        ids, mask, types = pad(rows, pad_id)
        inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        if with_types:
            inputs["token_type_ids"] = torch.from_numpy(types)
        with torch.inference_mode():
            logits = network(**{name: value.to(device) for name, value in inputs.items()}).logits
            probabilities = torch.softmax(logits.float() / temperature, dim=-1).cpu().numpy()
        if probabilities.ndim == 2:
            return [probabilities[n] for n in range(len(rows))]
        return [probabilities[n, : len(row.ids)] for n, row in enumerate(rows)]

    return run


def trusted(output: Floats, shape: tuple[int, ...], name: str) -> Floats:
    """``output`` if it is what a model must give: that shape, finite, within 0..1. Raises DetectionError otherwise."""
    found = np.asarray(output)
    if found.shape != shape:
        raise DetectionError(Reason.DETECTOR_FAILED, f"{name} gave an output of shape {found.shape}, not {shape}")
    # NaN fails both comparisons, so it can never pass as a low probability.
    if not bool(np.all((found >= -1e-6) & (found <= 1 + 1e-6))):
        raise DetectionError(Reason.DETECTOR_FAILED, f"{name} gave values that are no probabilities")
    return found
