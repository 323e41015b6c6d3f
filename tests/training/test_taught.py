"""What a teacher thinks of pairs, as the explainer's targets."""

from __future__ import annotations

import random

import pytest
import torch

from training.loop import IGNORED, Example, collate, row_losses
from training.nli_data import CONTRADICTION, ENTAILMENT, NEUTRAL, epochs_of, taught
from training.sequence import Pair
from training.teacher import siblings

UNDER = [
    Pair("A man sleeps.", "He rests.", ENTAILMENT, "nli_snli_dev"),
    Pair("A man sleeps.", "He runs.", CONTRADICTION, "nli_snli_dev"),
    Pair("A man sleeps.", "He is tired.", NEUTRAL, "nli_snli_dev"),
]


def test_texts_under_one_premise_are_paired_with_each_other_and_turned_round() -> None:
    found = siblings([*UNDER, Pair("A table.", "It is round.", NEUTRAL, "infotabs")])
    pairs = {(pair.first, pair.second) for pair in found}
    assert len(found) == len(pairs) == 9, "three texts and their premise, in every order that has no label"
    assert ("He runs.", "He rests.") in pairs and ("He runs.", "A man sleeps.") in pairs
    assert ("A man sleeps.", "He runs.") not in pairs
    assert {(pair.group, pair.label) for pair in found} == {("nli_snli_dev siblings", -1)}


def test_a_label_counts_as_much_as_the_teacher_and_a_pair_without_one_is_the_teacher_s() -> None:
    other = Pair("A table.", "It is round.", NEUTRAL, "infotabs")
    answers = [
        ("A man sleeps.", "He rests.", "nli_snli_dev", [0.0, 0.0, 0.0]),
        ("He rests.", "He runs.", "nli_snli_dev siblings", [-50.0, 0.0, 50.0]),
    ]
    known, untold, made = taught([UNDER[0], other], answers)
    assert known.targets == pytest.approx((2 / 3, 1 / 6, 1 / 6)) and known.label == ENTAILMENT
    assert untold.targets == (0.0, 1.0, 0.0)
    assert made.label == CONTRADICTION and made.targets == pytest.approx((0.0, 0.0, 1.0))
    assert made in epochs_of([known, made, *[made] * 9000], 1, random.Random(1))[0]


def test_targets_are_what_the_loss_is_taken_from() -> None:
    rows = [Example((1, 2), (0, 1), (0,), targets=(0.5, 0.0, 0.5)), Example((1,), (0,), (1,), targets=(0.0, 1.0, 0.0))]
    batch = collate(rows)
    logits = torch.tensor([[2.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    losses = row_losses(logits, batch["labels"], torch.nn.CrossEntropyLoss(reduction="none", ignore_index=IGNORED))
    log = torch.log_softmax(logits, -1)
    assert losses.tolist() == pytest.approx([float(-(log[0, 0] + log[0, 2]) / 2), float(-log[1, 1])])
