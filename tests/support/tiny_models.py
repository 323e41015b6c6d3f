"""Small real models for tests: a WordPiece tokenizer built here, BERTs whose weights are set by hand, no hub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vsr_hallucination.detection.batching import Floats, Row
from vsr_hallucination.detection.pairs import PairEncoder

WORDS = (
    "how many crates did depot ship in may and at what cost shipped of euros month the a an was is to by from with "
    "founded rent elm court rooms days weather lab vials route rail boats fish other town towns north south gate opens "
    "nine ten when does who built it not been over per year company people city report wrote named since km"
)


def tokenizer() -> Any:
    """A WordPiece tokenizer: the words above whole, all else in characters; pairs as BERT has them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    characters = [chr(code) for code in range(33, 127)] + list("äöüßéèáíóúñćžđ–—’“”€")
    vocab += characters + ["##" + char for char in characters]
    vocab += [word for word in dict.fromkeys(WORDS.split()) if len(word) > 1]
    made = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocab)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def encoder(max_length: int = 64, novelty_type: int | None = None) -> PairEncoder:
    return PairEncoder(tokenizer(), max_length, novelty_type=novelty_type)


def copy_model(rows: Sequence[Row]) -> Sequence[Floats]:
    """A detector by hand: an answer token is supported if the same token stands in the first text of its row."""
    out: list[Floats] = []
    for row in rows:
        evidence = set(row.ids[row.types == 0].tolist())
        unsupported = np.array(
            [0.98 if token not in evidence else 0.02 for token in row.ids.tolist()], dtype=np.float32
        )
        out.append(np.stack([1 - unsupported, unsupported], axis=1))
    return out


def novelty_detector(directory: Path, **metadata: object) -> Path:
    """A directory with a real BERT of no layers that says "unsupported" of token type 2 alone (about 0.99 to 0.01)."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    made = tokenizer()
    config = BertConfig(
        vocab_size=made.get_vocab_size(), hidden_size=8, num_hidden_layers=0, num_attention_heads=1,
        intermediate_size=8, type_vocab_size=3, max_position_embeddings=128,
        id2label={0: "supported", 1: "unsupported"},
        label2id={"supported": 0, "unsupported": 1},
    )  # fmt: skip
    model = BertForTokenClassification(config)
    with torch.no_grad():
        embeddings = model.bert.embeddings
        for table in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings):
            table.weight.zero_()
        for kind in range(3):
            embeddings.token_type_embeddings.weight[kind, kind] = 1.0
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        # LayerNorm makes the hot feature about 2.6 and the others about -0.4.
        model.classifier.weight[1, 2] = 3.0
        model.classifier.bias[1] = -3.4
    return _save(
        directory, model, made, {"kind": "detector", "encoding": {"novelty_token_type": 2, "max_length": 96}} | metadata
    )


def random_classifier(directory: Path, labels: Sequence[str], kind: str, seed: int = 3) -> Path:
    """A directory with a small BERT for sequence classification, random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    made = tokenizer()
    config = BertConfig(
        vocab_size=made.get_vocab_size(), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=64, id2label=dict(enumerate(labels)),
        label2id={name: n for n, name in enumerate(labels)},
        initializer_range=0.8,
    )  # fmt: skip
    return _save(directory, BertForSequenceClassification(config), made, {"kind": kind, "encoding": {"max_length": 48}})


def word_gate(directory: Path, word: str, labels: Sequence[str] = ("no_fact_check_needed", "needs_fact_check")) -> Path:
    """A fact-check directory that looks at one word: the second label wins where ``word`` is the first token."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    made = tokenizer()
    config = BertConfig(
        vocab_size=made.get_vocab_size(), hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=64, id2label=dict(enumerate(labels)),
        label2id={name: n for n, name in enumerate(labels)},
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "LayerNorm.weight" not in name:
                parameter.zero_()
        embeddings = model.bert.embeddings
        embeddings.word_embeddings.weight[:, 0] = 1.0
        embeddings.word_embeddings.weight[made.token_to_id(word)] = torch.tensor([0.0, 1.0] + [0.0] * 6)
        layer = model.bert.encoder.layer[0]
        # Attention with equal weights: the first token sees the mean of all features.
        layer.attention.self.value.weight.copy_(torch.eye(8))
        layer.attention.output.dense.weight.copy_(20 * torch.eye(8))
        model.bert.pooler.dense.weight.copy_(torch.eye(8))
        model.classifier.weight[1, 1] = 6.0
        model.classifier.weight[0, 0] = 3.0
    return _save(directory, model, made, {"kind": "fact_check", "encoding": {"max_length": 32}})


def _save(directory: Path, model: Any, made: Any, metadata: dict[str, object]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(str(directory), safe_serialization=True)
    made.save(str(directory / "tokenizer.json"))
    (directory / "vsr.json").write_text(json.dumps({"format": 1, **metadata}))
    return directory
