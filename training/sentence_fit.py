"""Fitting the sentence model: one loss over sentences and over pooled answers, in two steps, cross-fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from training.rows import held_out
from training.sentence_data import JudgedRow
from training.sentence_readings import Seen
from vsr_hallucination.detection.sentence_features import FEATURES, Floats
from vsr_hallucination.detection.sentence_score import ANSWER_FEATURES, Line, Sign, SpanRule, answer_features

FOLDS = 5
# What an answer over evidence looks like: these rows set bias and threshold; the others only help the fit.
ANSWERS = ("passages", "expertqa", "model answers", "records", "tables", "refusal", "spans")
# Of the answers a filter sees, one in five says something unsupported, or so RAG benchmarks of real answers find;
# the rows here are faulty in one of two.
PRIOR = 0.2
TURNED = ("crossed", "misplaced", "inverted", "substituted", "reworded")
# What speaks seldom and then clearly has lines of its own: in one sum with the others it adds noise to paraphrase.
# Beside each, the share of clean answers it may flag.
SIGNS = ((TURNED, 0.015),)
# What the second line reads itself: the model, and what kind of sentence it is (a refusal in new words claims nothing,
# whatever the tokens say).
MODEL = ("logit_max", "logit_mean", "refusal", "courtesy")
WORDS = tuple(
    name
    for name in FEATURES
    if "logit" not in name and "prob" not in name and name not in (*MODEL, *TURNED, "copied")
)
_MODEL_AT = [FEATURES.index(name) for name in MODEL]
_WORDS_AT = [FEATURES.index(name) for name in WORDS]
_CLIP = 6.0


@dataclass(frozen=True, slots=True)
class Shape:
    """How a line is fitted: how much it is held back, what pooled answers weigh against single sentences."""

    decay: float = 0.02
    answer_loss: float = 1.0
    sharpness: float = 1.0
    weights: tuple[tuple[str, float], ...] = ()  # of a group's rows, 1 where it is not named


@dataclass(frozen=True, slots=True)
class Table:
    """All claim sentences of all rows. ``owner``: row of each; ``truth``: 1 unsupported, 0 supported, -1 not known."""

    matrix: Floats
    owner: Any
    truth: Any
    faulty: Any  # per row; -1 where parts of it are not known
    group: tuple[str, ...]
    fold: Any


def table_of(rows: Sequence[JudgedRow], seen: Sequence[Seen]) -> Table:
    """Sentences with their labels: one that a fault touches is unsupported."""
    parts, owner, truth, faulty = [], [], [], []
    for n, (judged, one) in enumerate(zip(rows, seen, strict=True)):
        row = judged.row
        faulty.append(1 if row.spans else -1 if row.ignored else 0)
        for (start, end), claims, features in zip(
            one.described.spans, one.described.claims, one.described.matrix, strict=True
        ):
            if not claims:
                continue
            parts.append(features)
            owner.append(n)
            if judged.whole and row.spans and len(one.described.spans) > 1:
                truth.append(-1)
            else:
                truth.append(sentence_truth(row.answer, start, end, row.spans, row.ignored))
    folds = [
        next((f for f in range(FOLDS) if held_out(r.row.key[:200], (f + 1) / FOLDS, "fold")), FOLDS - 1) for r in rows
    ]
    return Table(
        np.stack(parts),
        np.array(owner),
        np.array(truth),
        np.array(faulty),
        tuple(r.group for r in rows),
        np.array(folds),
    )


def sentence_truth(
    answer: str, start: int, end: int, spans: Sequence[tuple[int, int]], ignored: Sequence[tuple[int, int]]
) -> int:
    """1 where a span has a letter or digit in [start, end), -1 where an unknown part lies in it, else 0."""
    for a, b in spans:
        if any(map(str.isalnum, answer[max(a, start) : max(max(a, start), min(b, end))])):
            return 1
    return -1 if any(a < end and start < b for a, b in ignored) else 0


def solve(columns: Floats, table: Table, use: Any, shape: Shape) -> Line:
    """Fits ``columns`` (sentences, k) on the rows where ``use`` (rows,) is true: logistic loss of its sentences plus
    that of its answers, whose odds are the pooled odds of their sentences."""
    rows = np.flatnonzero(use)
    inside = np.flatnonzero(np.asarray(use)[table.owner])
    raw = columns[inside]
    mean, scale = raw.mean(axis=0), np.maximum(raw.std(axis=0), 1e-3)
    z = torch.tensor(np.clip((raw - mean) / scale, -_CLIP, _CLIP), dtype=torch.float64)
    place = {int(row): n for n, row in enumerate(rows)}
    owner = torch.tensor([place[int(row)] for row in table.owner[inside]])
    truth = torch.tensor(table.truth[inside], dtype=torch.float64)
    faulty = torch.tensor(table.faulty[rows], dtype=torch.float64)
    heavy = dict(shape.weights)
    per_row = torch.tensor([heavy.get(table.group[int(row)], 1.0) for row in rows], dtype=torch.float64)
    counts = torch.bincount(owner, minlength=len(rows))
    per_sentence = torch.where(truth >= 0, per_row[owner] / counts.clamp(min=1).double().sqrt()[owner], 0.0)
    known = torch.where((faulty >= 0) & (counts > 0), per_row, 0.0)
    names = sorted({table.group[int(row)] for row in rows})
    group = torch.tensor([names.index(table.group[int(row)]) for row in rows])
    # Sets differ in how many of their rows are faulty: with a bias for each, no weight has to tell sets apart.
    biases = torch.zeros(len(names), dtype=torch.float64, requires_grad=True)
    weights = torch.zeros(raw.shape[1], dtype=torch.float64, requires_grad=True)
    binary = torch.nn.functional.binary_cross_entropy_with_logits
    optimizer = torch.optim.LBFGS([biases, weights], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        values = (z @ weights + biases[group[owner]]).clamp(-12, 12)
        total = torch.zeros(len(rows), dtype=torch.float64).index_add(0, owner, (values * shape.sharpness).exp())
        answers = total.clamp(min=1e-30).log() / shape.sharpness
        single = binary(values, truth.clamp(min=0), weight=per_sentence, reduction="sum") / per_sentence.sum()
        whole = binary(answers, faulty.clamp(min=0), weight=known, reduction="sum") / known.sum()
        loss = single + shape.answer_loss * whole + shape.decay * ((weights**2).sum() + 0.1 * (biases**2).sum())
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    typical = torch.tensor([table.group[int(row)] in ANSWERS for row in rows])
    bias = biases.detach()[group[typical if bool(typical.any()) else slice(None)]].mean()
    return Line(tuple(range(raw.shape[1])), mean, scale, weights.detach().numpy(), float(bias))


@dataclass(frozen=True, slots=True)
class Stacked:
    """Two lines: one over the words alone, fitted on many rows that no model has to read; one over its log-odds and
    what the model says (``MODEL``), fitted on rows the detector was not trained on. Together they are linear."""

    words: Line
    joint: Line

    def logits(self, matrix: Floats) -> Floats:
        return self.joint.logits(self.columns(matrix))

    def columns(self, matrix: Floats) -> Floats:
        return np.column_stack([self.words.logits(matrix[:, _WORDS_AT]), matrix[:, _MODEL_AT]])

    def block(self, sharpness: float, rule: SpanRule, answer: Line, signs: Sequence[Sign] = ()) -> dict[str, Any]:
        """The ``"sentence"`` block of ``vsr.json``; numbers rounded to what they are worth."""
        slope = self.joint.weights / self.joint.scale
        bias = self.joint.bias + slope[0] * (self.words.bias - self.joint.mean[0])
        return {
            "features": [*WORDS, *MODEL],
            "mean": short(np.concatenate([self.words.mean, self.joint.mean[1:]])),
            "scale": short(np.concatenate([self.words.scale, self.joint.scale[1:]])),
            "weights": short(np.concatenate([slope[0] * self.words.weights, self.joint.weights[1:]])),
            "bias": round(float(bias), 5),
            "answer": {
                "sharpness": sharpness,
                "features": [ANSWER_FEATURES[at] for at in answer.columns],
                "mean": short(answer.mean),
                "scale": short(answer.scale),
                "weights": short(answer.weights),
                "bias": round(answer.bias, 5),
            },
            "signs": [
                {
                    "features": [FEATURES[at] for at in sign.line.columns],
                    "mean": short(sign.line.mean),
                    "scale": short(sign.line.scale),
                    "weights": short(sign.line.weights),
                    "bias": round(sign.line.bias, 5),
                    "from": sign.least,
                }
                for sign in signs
            ],
            "spans": {"novel_bonus": rule.novel_bonus, "whole_share": rule.whole_share, "gap_words": rule.gap_words},
        }


def short(values: Floats) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def stacked(many: Table, few: Table, shapes: tuple[Shape, Shape], fold: int | None = None) -> Stacked:
    """``many``: rows for the words, ``few``: rows with readings. ``fold``: leave out the rows of that fold."""
    words = solve(many.matrix[:, _WORDS_AT], many, many.fold != fold, shapes[0])
    columns = np.column_stack([words.logits(few.matrix[:, _WORDS_AT]), few.matrix[:, _MODEL_AT]])
    return Stacked(words, solve(columns, few, few.fold != fold, shapes[1]))


def answer_matrix(seen: Sequence[Seen], table: Table, logits: Floats, sharpness: float) -> Floats:
    """(rows, len(ANSWER_FEATURES)); a row that claims nothing is all zeros."""
    result = np.zeros((len(seen), len(ANSWER_FEATURES)))
    for n, one in enumerate(seen):
        own = logits[table.owner == n]
        if len(own):
            result[n] = answer_features(one.described, own, sharpness)
    return result


def solve_answers(matrix: Floats, table: Table, use: Any, names: Sequence[str], decay: float = 0.003) -> Line:
    """The line over ``names`` of ``ANSWER_FEATURES`` that ranks the answers within each group best (a bias for each,
    every group as heavy as its root of rows), its level and slope then set on ``ANSWERS`` for ``PRIOR`` faulty ones.

    New words never speak for an answer: their weights are not below 0.
    """
    columns = tuple(ANSWER_FEATURES.index(name) for name in names)
    rows = np.flatnonzero(np.asarray(use) & (table.faulty >= 0) & (np.abs(matrix).sum(axis=1) > 0))
    raw = matrix[rows][:, columns]
    mean, scale = raw.mean(axis=0), np.maximum(raw.std(axis=0), 1e-3)
    z = np.clip((raw - mean) / scale, -_CLIP, _CLIP)
    truth = table.faulty[rows].astype(np.float64)
    groups = np.array(table.group)[rows]
    known = sorted(set(groups))
    member = np.stack([groups == name for name in known], axis=1).astype(np.float64)
    heavy = (member / np.sqrt(member.sum(axis=0))).sum(axis=1)
    heavy /= heavy.sum()
    at_least = torch.tensor([name.startswith("novel") or name == "pooled" for name in names])
    inputs, target = torch.tensor(z), torch.tensor(truth)
    shares, weight = torch.tensor(member), torch.tensor(heavy)
    biases = torch.zeros(len(known), dtype=torch.float64, requires_grad=True)
    free = torch.full((len(columns),), 0.3, dtype=torch.float64, requires_grad=True)

    def loss() -> torch.Tensor:
        weights = torch.where(at_least, free**2, free)
        values = inputs @ weights + shares @ biases
        cost = torch.nn.functional.binary_cross_entropy_with_logits(values, target, weight=weight, reduction="sum")
        return cost + decay * (weights**2).sum()

    _minimise(loss, [free, biases])
    weights = torch.where(at_least, free**2, free).detach().numpy()
    slope, bias = _levelled(z @ weights, truth, np.isin(groups, ANSWERS))
    return Line(columns, mean, scale, weights * slope, bias)


def _minimise(loss: Callable[[], torch.Tensor], parameters: list[torch.Tensor]) -> None:
    optimizer = torch.optim.LBFGS(parameters, max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(closure)  # type: ignore[no-untyped-call]


def _levelled(values: Floats, truth: Floats, typical: Any) -> tuple[float, float]:
    """(slope, bias) that make ``values`` calibrated log-odds where ``PRIOR`` of the answers are faulty."""
    values, truth = values[typical], truth[typical]
    heavy = torch.tensor(np.where(truth > 0, PRIOR / truth.sum(), (1 - PRIOR) / (1 - truth).sum()))
    inputs, target = torch.tensor(values), torch.tensor(truth)
    slope = torch.ones((), dtype=torch.float64, requires_grad=True)
    bias = torch.full((), -1.0, dtype=torch.float64, requires_grad=True)
    _minimise(
        lambda: torch.nn.functional.binary_cross_entropy_with_logits(
            inputs * slope + bias, target, weight=heavy, reduction="sum"
        ),
        [slope, bias],
    )
    return max(0.05, float(slope.detach())), float(bias.detach())


SIGN_SHAPE = Shape(decay=0.003, answer_loss=0.3)


def sign_line(table: Table, names: Sequence[str], use: Any) -> Line:
    """The line over ``names`` of ``FEATURES``, fitted on the rows where ``use`` (rows,) is true."""
    columns = tuple(FEATURES.index(name) for name in names)
    line = solve(table.matrix[:, columns], table, use, SIGN_SHAPE)
    return Line(columns, line.mean, line.scale, line.weights, line.bias)


def cross_fitted_sign(table: Table, names: Sequence[str], use: Any) -> Floats:
    """(sentences,) log-odds by lines that saw no row over the same context, on the level of the line over all."""
    level = sign_line(table, names, use).logits(table.matrix).mean()
    result = np.zeros(len(table.matrix))
    for fold in range(FOLDS):
        found = sign_line(table, names, use & (table.fold != fold)).logits(table.matrix)
        chosen = np.flatnonzero(table.fold[table.owner] == fold)
        result[chosen] = (found - found.mean() + level)[chosen]
    return result


def cross_fitted_answers(
    many: Table, few: Table, seen: Sequence[Seen], shapes: tuple[Shape, Shape], names: Sequence[str]
) -> Floats:
    """(rows,) log-odds of each answer by models that saw no row over its context."""
    result = np.zeros(len(few.group))
    for fold in range(FOLDS):
        logits = stacked(many, few, shapes, fold).logits(few.matrix)
        matrix = answer_matrix(seen, few, logits, shapes[1].sharpness)
        line = solve_answers(matrix, few, few.fold != fold, names)
        chosen = few.fold == fold
        result[chosen] = line.logits(matrix[chosen])
    return result


def cross_fitted(many: Table, few: Table, shapes: tuple[Shape, Shape]) -> tuple[Floats, Floats]:
    """(sentences,) log-odds of each sentence of ``few`` by a model that saw no row over its context: of the words
    alone, and of words and model."""
    whole = stacked(many, few, shapes)
    level = whole.words.logits(few.matrix[:, _WORDS_AT]).mean(), whole.logits(few.matrix).mean()
    words, joint = np.zeros(len(few.matrix)), np.zeros(len(few.matrix))
    for fold in range(FOLDS):
        model = stacked(many, few, shapes, fold)
        chosen = np.flatnonzero(few.fold[few.owner] == fold)
        # Folds differ in level by chance alone; ranks across folds need one level.
        for out, found, mean in (
            (words, model.words.logits(few.matrix[:, _WORDS_AT]), level[0]),
            (joint, model.logits(few.matrix), level[1]),
        ):
            out[chosen] = (found - found.mean() + mean)[chosen]
    return words, joint
