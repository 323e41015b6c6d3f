"""Model directories: int8 round trip, metadata, and errors that say what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vsr_hallucination.detection.embedded import (
    INT8_WEIGHTS,
    METADATA,
    ModelDirectoryError,
    embedded_dir,
    load_model,
    read_metadata,
    save_int8,
    weights_sha256,
)

LABELS = {0: "supported", 1: "unsupported"}


@pytest.fixture(scope="module")
def model() -> Any:
    import torch
    from transformers import BertConfig, BertForTokenClassification

    torch.manual_seed(1)
    config = BertConfig(vocab_size=600, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=64, type_vocab_size=3, num_labels=2, id2label=LABELS)  # fmt: skip
    return BertForTokenClassification(config).eval()


@pytest.fixture
def directory(model: Any, tmp_path: Path) -> Path:
    save_int8(model, tmp_path)
    return tmp_path


def logits(model: Any) -> Any:
    import torch

    ids = torch.arange(1, 40)[None]
    with torch.inference_mode():
        return model(input_ids=ids, token_type_ids=(ids % 3)).logits


def test_int8_directory_gives_nearly_the_same_model(model: Any, directory: Path) -> None:
    difference = (logits(load_model(directory, "detector")) - logits(model)).abs().max()
    assert 0 < float(difference) < 0.02


def test_int8_is_about_a_quarter_of_fp32(model: Any, directory: Path, tmp_path: Path) -> None:
    stored = (directory / INT8_WEIGHTS).stat().st_size
    assert stored < 0.6 * sum(p.numel() * 4 for p in model.parameters())


def test_stock_directory_loads_unchanged(model: Any, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    assert float((logits(load_model(tmp_path, "detector")) - logits(model)).abs().max()) == 0


def test_saving_twice_gives_the_same_hash_and_a_change_another(model: Any, tmp_path: Path) -> None:
    save_int8(model, tmp_path / "a")
    save_int8(model, tmp_path / "b")
    assert weights_sha256(tmp_path / "a") == weights_sha256(tmp_path / "b")
    data = bytearray((tmp_path / "b" / INT8_WEIGHTS).read_bytes())
    data[-1] ^= 1
    (tmp_path / "b" / INT8_WEIGHTS).write_bytes(data)
    assert weights_sha256(tmp_path / "a") != weights_sha256(tmp_path / "b")


def test_plain_directory_has_plain_metadata(directory: Path) -> None:
    metadata = read_metadata(directory, "detector")
    assert metadata.novelty_token_type is None and metadata.temperature == 1.0
    assert dict(metadata.labels) == LABELS


def test_metadata_is_read(directory: Path) -> None:
    (directory / METADATA).write_text(json.dumps({
        "format": 1, "kind": "detector", "encoding": {"novelty_token_type": 2, "max_length": 320, "max_answer": 96},
        "thresholds": {"threshold": 0.7}, "temperature": 1.4, "scripts": ["Latin"], "languages": ["en"],
    }))  # fmt: skip
    metadata = read_metadata(directory, "detector")
    assert (metadata.novelty_token_type, metadata.max_length, metadata.max_answer) == (2, 320, 96)
    assert metadata.threshold("threshold", 0.8) == 0.7
    assert metadata.threshold("min_span_confidence", 0.6) == 0.6


def test_a_key_of_another_version_is_passed_over(directory: Path) -> None:
    known = {"format": 1, "kind": "detector", "temperature": 1.4}
    (directory / METADATA).write_text(json.dumps(known))
    metadata = read_metadata(directory, "detector")
    (directory / METADATA).write_text(json.dumps(known | {"second_reading": None}))
    assert read_metadata(directory, "detector") == metadata


@pytest.mark.parametrize("content", [
    "{", "[]", "{}", '{"format": 2, "kind": "detector"}', '{"format": 1, "kind": "explainer"}', "[" * 100_000,
    '{"format": 1, "kind": "detector", "temperature": 0}',
    '{"format": 1, "kind": "detector", "encoding": {"max_length": "x"}}',
    '{"format": 1, "kind": "detector", "thresholds": {"threshold": "high"}}',
])  # fmt: skip
def test_bad_metadata_names_file_and_remedy(directory: Path, content: str) -> None:
    (directory / METADATA).write_text(content)
    with pytest.raises(ModelDirectoryError) as caught:
        read_metadata(directory, "detector")
    assert str(directory) in str(caught.value) and METADATA in str(caught.value) and caught.value.remedy


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        *(({"thresholds": {"threshold": bad}}, "thresholds.threshold")
          for bad in (float("nan"), float("inf"), 5, -1, 10**400, True, "0.5", None)),
        *(({"thresholds": {"threshold": 0.7, "min_span_confidence": bad}}, "thresholds.min_span_confidence")
          for bad in (float("nan"), 2)),
        *(({"temperature": bad}, "temperature") for bad in (float("nan"), float("inf"), -1, 1e308, 1e-320)),
        *(({"encoding": {key: bad}}, f"encoding.{key}")
          for key in ("max_length", "max_answer", "max_question", "novelty_token_type")
          for bad in (-1, 10**9, 1.5)),
        ({"encoding": {"max_length": 0}}, "encoding.max_length"),
        ({"sentence": []}, "sentence"),
        ({"sentence": {"features": ["length"], "mean": [0], "scale": [float("nan")]}}, "sentence.scale"),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_named_with_file_and_range(
    directory: Path, changes: dict[str, object], named: str
) -> None:
    (directory / METADATA).write_text(json.dumps({"format": 1, "kind": "detector", **changes}))
    with pytest.raises(ModelDirectoryError) as caught:
        read_metadata(directory, "detector")
    assert all(part in str(caught.value) for part in (str(directory), METADATA, named))


@pytest.mark.parametrize("kind", ["detector", "fact_check", "explainer"])
def test_the_embedded_models_numbers_are_in_range(kind: Any) -> None:
    assert read_metadata(embedded_dir(kind), kind).thresholds


def test_missing_directory_and_missing_weights_say_so(tmp_path: Path, model: Any) -> None:
    with pytest.raises(ModelDirectoryError, match="no such directory"):
        load_model(tmp_path / "none", "detector")
    model.config.save_pretrained(tmp_path)
    with pytest.raises(ModelDirectoryError, match="no weights"):
        load_model(tmp_path, "detector")
    with pytest.raises(ModelDirectoryError, match="no weights"):
        weights_sha256(tmp_path)


def test_pickled_weights_are_not_loaded(model: Any, tmp_path: Path) -> None:
    import torch

    model.config.save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelDirectoryError, match="no weights"):
        load_model(tmp_path, "detector")


@pytest.mark.parametrize("keep", [0, 7, 100, 5000])
def test_truncated_weights_are_corrupt(directory: Path, keep: int) -> None:
    path = directory / INT8_WEIGHTS
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelDirectoryError, match="does not load"):
        load_model(directory, "detector")


def test_weights_of_another_architecture_are_corrupt(directory: Path) -> None:
    config = json.loads((directory / "config.json").read_text())
    config["num_hidden_layers"] = 2
    (directory / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelDirectoryError, match="does not load"):
        load_model(directory, "detector")


def test_weights_that_are_not_numbers_are_corrupt(model: Any, tmp_path: Path) -> None:
    import copy

    broken = copy.deepcopy(model)
    broken.classifier.bias.data[0] = float("nan")
    save_int8(broken, tmp_path)
    with pytest.raises(ModelDirectoryError, match="NaN"):
        load_model(tmp_path, "detector")


def test_code_in_a_directory_is_not_run(directory: Path) -> None:
    config = json.loads((directory / "config.json").read_text())
    config["auto_map"] = {"AutoModelForTokenClassification": "evil.Model", "AutoConfig": "evil.Config"}
    (directory / "config.json").write_text(json.dumps(config))
    marker = directory / "ran"
    (directory / "evil.py").write_text(f"open({str(marker)!r}, 'w')\n")
    load_model(directory, "detector")
    assert not marker.exists()


def test_unknown_kind_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="unknown model kind"):
        embedded_dir("poet")  # type: ignore[arg-type]
