"""The loop and the detector's inputs, with small real models."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from training.detector import Encoder, calibrate, decode, token_scores, windows_of
from training.detector_rows import DetectorRow
from training.loop import (
    IGNORED,
    SOMEWHERE,
    Example,
    Recipe,
    batches,
    load_checkpoint,
    predict,
    row_losses,
    train,
)
from training.rows import held_out, split

WORDS = "how many boxes were sent there 412 479 it sent and to the town of york . hub : a".split()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    path = tmp_path_factory.mktemp("tokenizer")
    vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def tiny(seed: int = 1) -> Any:
    from transformers import BertConfig, BertForTokenClassification

    torch.manual_seed(seed)
    config = BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
                        type_vocab_size=3, num_labels=2, attention_probs_dropout_prob=0.0)  # fmt: skip
    return BertForTokenClassification(config)


def examples(count: int) -> list[Example]:
    rng = random.Random(1)
    made = []
    for _ in range(count):
        ids = tuple(rng.randrange(4, 20) for _ in range(rng.randrange(4, 12)))
        made.append(Example(ids, (1,) * len(ids), tuple(int(i > 11) for i in ids)))
    return made


def test_batches_hold_every_row_once_within_the_budget() -> None:
    rows = examples(200)
    found = batches(rows, 64, random.Random(1))
    assert sorted(i for batch in found for i in batch) == list(range(200))
    assert all(len(batch) * max(len(rows[i].input_ids) for i in batch) <= 64 for batch in found)


def test_training_learns_and_resumes_where_it_stopped(tmp_path: Path) -> None:
    recipe = Recipe("test", learning_rate=5e-3, batch_tokens=256, threads=1, checkpoint_every=1)
    rows = examples(200)
    model = tiny()
    train(model, [rows] * 3, recipe, tmp_path)
    right = [
        float((logits.argmax(-1) == torch.tensor(row.labels)).float().mean())
        for row, logits in zip(rows, predict(model, rows), strict=True)
    ]
    assert sum(right) / len(right) > 0.95
    again = tiny(seed=2)
    train(again, [rows] * 3, recipe, tmp_path)  # nothing left to do: the finished run is taken up
    ours, theirs = model.state_dict(), again.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_the_weights_handed_back_are_the_mean_over_the_end_of_the_run(tmp_path: Path) -> None:
    rows = examples(60)
    recipe = Recipe("test", learning_rate=5e-3, batch_tokens=128, threads=1, average_from=0.5)
    model, last = tiny(), tiny()
    train(model, [rows], recipe, tmp_path / "mean")
    train(last, [rows], replace(recipe, average_from=1.0), tmp_path / "last")
    assert not torch.equal(model.classifier.weight, last.classifier.weight)
    loaded = tiny(seed=3)
    load_checkpoint(loaded, tmp_path / "mean")
    assert torch.equal(loaded.classifier.weight, model.classifier.weight)


def test_an_answer_wrong_somewhere_is_learnt_by_its_most_doubted_tokens() -> None:
    logits = torch.zeros(2, 6, 2)
    logits[0, 4, 1] = 8.0
    labels = torch.full((2, 6), SOMEWHERE)
    labels[:, 0] = IGNORED
    losses = row_losses(logits, labels, torch.nn.CrossEntropyLoss(reduction="none", ignore_index=IGNORED))
    assert losses[0] < 0.2 < losses[1] == pytest.approx(0.6931, abs=1e-3)


def test_windows_overlap_and_end_flush() -> None:
    assert windows_of(10, 20) == [(0, 10)]
    found = windows_of(95, 20)
    assert found[0] == (0, 20) and found[-1] == (75, 95)
    assert all(b[0] < a[1] for a, b in pairwise(found))


def test_the_novel_token_gets_the_third_type_and_the_faulty_one_the_label(directory: Path) -> None:
    row = DetectorRow("hub : a boxes 412", "how many boxes", "it sent 479 boxes", ((8, 11),), "test")
    [[piece]] = Encoder(directory).pieces(row, every_window=False)
    at = piece.answer_at
    assert [row.answer[a:b] for a, b in piece.offsets] == ["it", "sent", "479", "boxes"]
    assert piece.example.token_types[at : at + 4] == (1, 2, 2, 1)
    assert piece.example.labels[at : at + 4] == (0, 0, 1, 0)
    assert set(piece.example.labels[:at]) == {-100} and set(piece.example.token_types[:at]) == {0}


def test_of_a_faulty_claim_only_the_whole_is_known(directory: Path) -> None:
    row = DetectorRow("hub : a boxes 412", "how many boxes", "it sent 479 boxes", ((0, 17),), "test", whole=True)
    [[piece]] = Encoder(directory).pieces(row, every_window=False)
    at = piece.answer_at
    assert set(piece.example.labels[at : at + 4]) == {SOMEWHERE}


def test_scores_are_one_per_answer_token_and_the_least_over_windows(directory: Path) -> None:
    rows = [DetectorRow("boxes 412 " * 400, "how many boxes", "it sent 479 boxes to york .", (), "test")]
    model = tiny().eval()
    model.bert.embeddings.position_embeddings = torch.nn.Embedding(512, 32)
    encoder = Encoder(directory)
    [windows] = encoder.pieces(rows[0], every_window=True)
    assert len(windows) > 2
    margins = []
    for piece, logits in zip(windows, predict(model, [p.example for p in windows]), strict=True):
        part = logits[piece.answer_at : piece.answer_at + len(piece.offsets)]
        margins.append(part[:, 1] - part[:, 0])
    [scored] = token_scores(model, encoder, rows)
    assert len(scored) == 7
    assert torch.allclose(torch.tensor([m for _, m in scored]), torch.stack(margins).min(0).values, atol=1e-5)


def test_decode_joins_over_punctuation_and_drops_weak_runs() -> None:
    answer = "a b, c d"
    scored = [((0, 1), -5.0), ((2, 3), 3.0), ((5, 6), 1.0), ((7, 8), -5.0)]
    [(start, end, confidence)] = decode(scored, answer, 1.0, 0.6, 0.8)
    assert answer[start:end] == "b, c" and confidence == pytest.approx(0.9526, abs=1e-3)
    assert decode(scored, answer, 1.0, 0.6, 0.99) == []


def test_calibration_keeps_clean_answers_under_five_percent() -> None:
    rng = random.Random(1)
    rows, scores = [], []
    for i in range(400):
        faulty = i % 2 == 0
        rows.append(DetectorRow("e", "q", "word", ((0, 4),) if faulty else (), "test"))
        scores.append([((0, 4), rng.gauss(3 if faulty else -3, 2))])
    numbers = calibrate(scores, rows)
    flagged = [
        bool(decode(s, r.answer, numbers["temperature"], numbers["min_span_confidence"], numbers["threshold"]))
        for s, r in zip(scores, rows, strict=True)
        if not r.spans
    ]
    assert sum(flagged) / len(flagged) <= 0.05


def test_held_out_rows_share_no_context_with_the_others() -> None:
    rows = [{"context": f"c{i % 50}", "n": i} for i in range(500)]
    train_rows, kept = split(rows, 0.2, lambda row: row["context"])
    assert kept and not {r["context"] for r in kept} & {r["context"] for r in train_rows}
    assert held_out("x", 1.0) and not held_out("x", 0.0)
