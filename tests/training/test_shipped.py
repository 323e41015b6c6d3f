"""The shipped directories: complete, small, and right on examples that no training row resembles."""

from __future__ import annotations

from typing import Any, get_args

import pytest
import torch

from training.base import load_tokenizer
from training.loop import predict
from training.measure import acceptance
from training.prompts import LABELS as PROMPT_LABELS
from training.sequence import Pair, encode
from vsr_hallucination.detection.embedded import Kind, embedded_dir, load_model, read_metadata, weight_files

KINDS: tuple[Kind, ...] = get_args(Kind)


@pytest.mark.parametrize("kind", KINDS)
def test_directory_is_complete_and_readable_by_everyone(kind: Kind) -> None:
    directory = embedded_dir(kind)
    names = {path.name for path in directory.iterdir()}
    assert {"README.md", "config.json", "tokenizer.json", "vsr.json", "model.int8.safetensors"} <= names
    metadata = read_metadata(directory, kind)
    assert metadata.labels and metadata.scripts == ("Latin",) and metadata.thresholds
    assert all(path.stat().st_mode & 0o004 for path in directory.iterdir())


def test_all_weights_together_stay_under_75_megabytes() -> None:
    assert sum(path.stat().st_size for kind in KINDS for path in weight_files(embedded_dir(kind))) < 75_000_000


def test_detector_passes_the_acceptance_examples() -> None:
    from training.detector import Encoder

    directory = embedded_dir("detector")
    metadata = read_metadata(directory, "detector")
    numbers = {"temperature": metadata.temperature, **dict(metadata.thresholds)}
    assert acceptance(load_model(directory, "detector"), Encoder(directory), numbers)


@pytest.fixture(scope="module")
def gate() -> Any:
    directory = embedded_dir("fact_check")
    model, metadata = load_model(directory, "fact_check"), read_metadata(directory, "fact_check")
    tokenizer = load_tokenizer(directory)

    def needs(prompt: str) -> bool:
        [logits] = predict(model, [encode(tokenizer, Pair(prompt, "", 0, ""), 64)])
        score = float(torch.softmax(logits / metadata.temperature, -1)[PROMPT_LABELS.index("needs_fact_check")])
        return score >= metadata.threshold("threshold", 0.6)

    return needs


@pytest.mark.parametrize("prompt", [
    "How tall is Mount Kesh?", "When did the Orla war end?", "What is the boiling point of xenol?",
    "Population of Vantaa district?", "Who built the Tarn bridge?", "How many crates did depot K7 ship in May?",
])  # fmt: skip
def test_d13_short_factual_questions_need_a_check(gate: Any, prompt: str) -> None:
    assert gate(prompt)


@pytest.mark.parametrize("prompt", ["Write a poem about Mount Kesh", "thanks!", "fix my regex"])
def test_d13_poems_thanks_and_code_do_not(gate: Any, prompt: str) -> None:
    assert not gate(prompt)
