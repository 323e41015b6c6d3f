"""``python -m training.detector DATA``: trains, calibrates and exports the span detector."""

from __future__ import annotations

import argparse
import json
import pickle
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from training.base import MODELS, RUNS, base_directory, load_tokenizer
from training.detector_data import describe, is_held_out, load, trained_on
from training.detector_rows import DetectorRow
from training.loop import IGNORED, SOMEWHERE, Example, Recipe, load_checkpoint, predict, train
from training.rows import held_out
from training.sequence import export
from vsr_hallucination.detection.encoding import (
    ANSWER_TYPE,
    EVIDENCE_TYPE,
    EvidenceWords,
    answer_pieces,
    readings,
    token_types,
)

LABELS = ("supported", "unsupported")
TRAINED = "trained.txt"  # digests of the rows a run was trained on
ROWS = "rows.pkl"
SEED = 17  # of the rows made
# Claims of the inference sets are short and unlike answers: they teach opposites, and count half.
WEIGHTS = {"inference": 0.5, "fm2": 0.5, "tables claim": 0.7}
NOVEL_TYPE = 2
MAX_LENGTH, MAX_ANSWER, MAX_QUESTION = 320, 96, 48
ALLOWED_FLAGGED = 0.05
_MAX_CONTEXT = 12_000
_WHOLE_ANSWER = 160  # tokens of an answer read in one piece where only the whole has a label


@dataclass(frozen=True, slots=True)
class Piece:
    """One encoded (window, answer piece): ``offsets`` of its answer tokens, the first at ``answer_at``."""

    example: Example
    answer_at: int
    offsets: tuple[tuple[int, int], ...]


class Encoder:
    """Turns rows into inputs exactly as at run time (see ``vsr_hallucination.detection.encoding``)."""

    def __init__(self, directory: Path) -> None:
        self.tokenizer = load_tokenizer(directory)
        self.cls, self.sep = (self.tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]"))

    def pieces(self, row: DetectorRow, every_window: bool) -> list[list[Piece]]:
        """Per answer piece: its inputs, one per window, or only the window that shares most words with it."""
        context = row.context[:_MAX_CONTEXT]
        evidence = EvidenceWords.from_texts([context, row.question])
        answer = self.tokenizer.encode(row.answer, add_special_tokens=False)
        types = token_types(answer.offsets, evidence.words(row.answer), NOVEL_TYPE)
        labels = self._labels(answer.offsets, row)
        asked = self.tokenizer.encode(row.question + "\n", add_special_tokens=False).ids[:MAX_QUESTION]
        passage = self.tokenizer.encode(context, add_special_tokens=False)
        result: list[list[Piece]] = []
        wide = row.whole and not every_window
        for first, last in answer_pieces(answer.offsets, row.answer, _WHOLE_ANSWER if wide else MAX_ANSWER):
            room = MAX_LENGTH - 3 - len(asked) - (last - first)
            windows = windows_of(len(passage.ids), room)
            text = row.answer[answer.offsets[first][0] : answer.offsets[last - 1][1]]
            if not every_window and len(windows) > 1:
                windows = [best_window(windows, passage.offsets, context, text)]
            inputs = []
            for a, b in windows:
                ids = [self.cls, *asked, *passage.ids[a:b], self.sep, *answer.ids[first:last], self.sep]
                at = 2 + len(asked) + b - a
                kinds = [EVIDENCE_TYPE] * at + types[first:last] + [ANSWER_TYPE]
                marks = [IGNORED] * at + labels[first:last] + [IGNORED]
                if not every_window and b - a < len(passage.ids):
                    seen = EvidenceWords.from_texts(
                        [context[passage.offsets[a][0] : passage.offsets[b - 1][1]], row.question]
                    )
                    marks = self._unseen(marks, at, answer.offsets[first:last], row.answer, evidence, seen)
                example = Example(tuple(ids), tuple(kinds), tuple(marks))
                inputs.append(Piece(example, at, tuple(answer.offsets[first:last])))
            result.append(inputs)
        return result

    @staticmethod
    def _labels(offsets: Sequence[tuple[int, int]], row: DetectorRow) -> list[int]:
        wrong = SOMEWHERE if row.whole and len(offsets) > 3 else 1

        def label(start: int, end: int) -> int:
            if not any(map(str.isalnum, row.answer[start:end])):
                return IGNORED if row.whole and row.spans else inside(start, end)
            return inside(start, end)

        def inside(start: int, end: int) -> int:
            if any(a < end and start < b for a, b in row.spans):
                return wrong
            return IGNORED if any(a < end and start < b for a, b in row.ignored) else 0

        return [label(start, end) for start, end in offsets]

    @staticmethod
    def _unseen(
        marks: list[int],
        at: int,
        offsets: Sequence[tuple[int, int]],
        answer: str,
        whole: EvidenceWords,
        seen: EvidenceWords,
    ) -> list[int]:
        """What this window does not hold: numbers and names are unsupported by it, other words undecided."""
        absent = [w for w in seen.words(answer) if w.novel and not whole.novel(answer[w.start : w.end])]
        result = list(marks)
        for i, (start, end) in enumerate(offsets):
            word = next((w for w in absent if w.start < end and start < w.end), None)
            if word is not None and result[at + i] == 0:
                strong = answer[word.start].isdigit() or (answer[word.start].isupper() and word.start > 0)
                result[at + i] = 1 if strong else IGNORED
        return result


def windows_of(total: int, room: int) -> list[tuple[int, int]]:
    """Token ranges over the evidence, half overlapping, the last one flush with the end."""
    if total <= room:
        return [(0, total)]
    step = max(1, room // 2)
    starts = [*range(0, total - room, step), total - room]
    return [(start, start + room) for start in starts]


def best_window(
    windows: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]], context: str, text: str
) -> tuple[int, int]:
    """The window that holds most of the answer's distinct words."""
    wanted = {form for word in set(text.split()) for form in readings(word.strip(".,;:!?()\"'*"))}

    def shared(window: tuple[int, int]) -> int:
        part = context[offsets[window[0]][0] : offsets[window[1] - 1][1]]
        return len(wanted & EvidenceWords.from_texts([part]).readings)

    return max(windows, key=shared)


def build_model(base: Path) -> Any:
    """The base encoder with a token head and a third token type, begun as a copy of the second."""
    from transformers import BertForTokenClassification

    torch.manual_seed(11)
    model = BertForTokenClassification.from_pretrained(
        str(base),
        local_files_only=True,
        num_labels=2,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",  # faster than the fused kernel on a CPU
        id2label=dict(enumerate(LABELS)),
        label2id={name: i for i, name in enumerate(LABELS)},
    )
    old = model.bert.embeddings.token_type_embeddings.weight.data
    wider = torch.nn.Embedding(3, old.shape[1])
    wider.weight.data[:2] = old
    wider.weight.data[2] = old[1]
    model.bert.embeddings.token_type_embeddings = wider
    model.config.type_vocab_size = 3
    return model


def token_scores(
    model: Any, encoder: Encoder, rows: Sequence[DetectorRow]
) -> list[list[tuple[tuple[int, int], float]]]:
    """Per row, each answer token's (offsets, logit margin): the least over windows, so any window may support it."""
    inputs: list[Piece] = []
    owners: list[tuple[int, int]] = []
    for r, row in enumerate(rows):
        for p, windows in enumerate(encoder.pieces(row, every_window=True)):
            inputs += windows
            owners += [(r, p)] * len(windows)
    logits = predict(model, [piece.example for piece in inputs])
    merged: dict[tuple[int, int], torch.Tensor] = {}
    offsets: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
    for piece, owner, value in zip(inputs, owners, logits, strict=True):
        part = value[piece.answer_at : piece.answer_at + len(piece.offsets)]
        margin = part[:, 1] - part[:, 0]
        merged[owner] = torch.minimum(merged[owner], margin) if owner in merged else margin
        offsets[owner] = piece.offsets
    result: list[list[tuple[tuple[int, int], float]]] = [[] for _ in rows]
    for owner in sorted(merged):
        result[owner[0]] += list(zip(offsets[owner], merged[owner].tolist(), strict=True))
    return result


def decode(
    scored: Sequence[tuple[tuple[int, int], float]],
    answer: str,
    temperature: float,
    span_confidence: float,
    threshold: float,
) -> list[tuple[int, int, float]]:
    """(start, end, confidence): runs of tokens at or above ``span_confidence``; a run's confidence is its highest
    token's, and runs below ``threshold`` are dropped. Gaps of blanks or punctuation do not end a run."""
    spans: list[tuple[int, int, float]] = []
    for (start, end), margin in scored:
        probability = float(torch.sigmoid(torch.tensor(margin / temperature)))
        if probability < span_confidence or end <= start:
            continue
        if spans and not any(c.isalnum() for c in answer[spans[-1][1] : start]):
            spans[-1] = (spans[-1][0], end, max(spans[-1][2], probability))
        else:
            spans.append((start, end, probability))
    return [span for span in spans if span[2] >= threshold and any(c.isalnum() for c in answer[span[0] : span[1]])]


def fit_temperature(scores: Sequence[Sequence[tuple[tuple[int, int], float]]], rows: Sequence[DetectorRow]) -> float:
    """Temperature of least token log-loss on held-out rows."""
    margins: list[float] = []
    truth: list[float] = []
    for scored, row in zip(scores, rows, strict=True):
        for (start, end), margin in scored:
            if not any(a < end and start < b for a, b in row.ignored):
                margins.append(margin)
                truth.append(float(any(a < end and start < b for a, b in row.spans)))
    values, labels = torch.tensor(margins), torch.tensor(truth)
    grid = [0.6 + 0.05 * i for i in range(60)]
    losses = [float(torch.nn.functional.binary_cross_entropy_with_logits(values / t, labels)) for t in grid]
    return round(grid[losses.index(min(losses))], 2)


def answer_scores(
    scores: Sequence[Sequence[tuple[tuple[int, int], float]]], rows: Sequence[DetectorRow], temperature: float
) -> list[float]:
    """The unsupported score of each answer: its highest word-bearing token's probability."""
    result = []
    for scored, row in zip(scores, rows, strict=True):
        kept = [m for (s, e), m in scored if any(c.isalnum() for c in row.answer[s:e])]
        result.append(float(torch.sigmoid(torch.tensor(max(kept, default=-20.0) / temperature))))
    return result


def calibrate(
    scores: Sequence[Sequence[tuple[tuple[int, int], float]]], rows: Sequence[DetectorRow]
) -> dict[str, float]:
    """Temperature, and the threshold at which at most 5 % of held-out clean answers are flagged."""
    temperature = fit_temperature(scores, rows)
    clean = sorted(
        (
            s
            for s, r in zip(answer_scores(scores, rows, temperature), rows, strict=True)
            if not r.spans and not r.ignored and not r.whole
        ),
        reverse=True,
    )
    threshold = min(0.98, max(0.5, round(clean[int(ALLOWED_FLAGGED * len(clean))] + 0.005, 2)))
    best = max(
        (s / 20 for s in range(4, int(threshold * 20) + 1)),
        key=lambda c: span_f1(scores, rows, temperature, c, threshold)[2],
    )
    return {"temperature": temperature, "threshold": threshold, "min_span_confidence": round(best, 2)}


def span_f1(
    scores: Sequence[Sequence[tuple[tuple[int, int], float]]],
    rows: Sequence[DetectorRow],
    temperature: float,
    span_confidence: float,
    threshold: float,
) -> tuple[float, float, float]:
    """Character-level precision, recall, F1 of spans, over all rows together."""
    hit = said = true = 0
    for scored, row in zip(scores, rows, strict=True):
        marked = {i for a, b in row.spans for i in range(a, b)}
        called = {
            i for a, b, _ in decode(scored, row.answer, temperature, span_confidence, threshold) for i in range(a, b)
        }
        called -= {i for a, b in row.ignored for i in range(a, b)}
        hit, said, true = hit + len(marked & called), said + len(called), true + len(marked)
    precision, recall = hit / max(1, said), hit / max(1, true)
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def report(
    name: str,
    scores: Sequence[Sequence[tuple[tuple[int, int], float]]],
    rows: Sequence[DetectorRow],
    numbers: dict[str, float],
) -> dict[str, float]:
    """Prints and returns answer-level and span-level figures."""
    from sklearn.metrics import roc_auc_score

    answers = answer_scores(scores, rows, numbers["temperature"])
    faulty = [bool(r.spans) for r in rows]
    flagged = [a >= numbers["threshold"] for a in answers]
    precision, recall, f1 = span_f1(
        scores, rows, numbers["temperature"], numbers["min_span_confidence"], numbers["threshold"]
    )
    caught = sum(f and t for f, t in zip(flagged, faulty, strict=True)) / max(1, sum(faulty))
    false = sum(f and not t for f, t in zip(flagged, faulty, strict=True)) / max(1, len(rows) - sum(faulty))
    auroc = float(roc_auc_score(faulty, answers)) if 0 < sum(faulty) < len(rows) else float("nan")
    print(
        f"{name}: rows {len(rows)}  AUROC {auroc:.3f}  faulty flagged {caught:.3f}  clean flagged {false:.3f}  "
        f"span P {precision:.3f} R {recall:.3f} F1 {f1:.3f}",
        flush=True,
    )
    return {"auroc": auroc, "faulty_flagged": caught, "clean_flagged": false, "span_f1": f1}


def finish(model: Any, base: Path, kept: list[DetectorRow], out: Path) -> None:
    """Calibrates on one half of the held-out rows, reports the other, exports."""
    encoder = Encoder(base)
    tuning = [r for r in kept if held_out(r.key, 0.5, "half")]
    test = [r for r in kept if not held_out(r.key, 0.5, "half")]
    numbers = calibrate(token_scores(model, encoder, tuning), tuning)
    print(json.dumps(numbers))
    scores = token_scores(model, encoder, test)
    report("held out", scores, test, numbers)
    for group in sorted({r.group.split(" ")[0] for r in test}):
        chosen = [i for i, r in enumerate(test) if r.group.split(" ")[0] == group]
        report(f"  {group}", [scores[i] for i in chosen], [test[i] for i in chosen], numbers)
    for group in sorted({r.group for r in test if r.spans and "+" not in r.group}):
        chosen = [i for i, r in enumerate(test) if r.group == group and r.spans]
        report(f"  {group} (faulty)", [scores[i] for i in chosen], [test[i] for i in chosen], numbers)
    export(
        model,
        base,
        out,
        {
            "format": 1,
            "kind": "detector",
            "encoding": {
                "novelty_token_type": NOVEL_TYPE,
                "max_length": MAX_LENGTH,
                "max_answer": MAX_ANSWER,
                "max_question": MAX_QUESTION,
            },
            "thresholds": {"threshold": numbers["threshold"], "min_span_confidence": numbers["min_span_confidence"]},
            "temperature": numbers["temperature"],
            "scripts": ["Latin"],
            "languages": ["en"],
            "labels": dict(enumerate(LABELS)),
        },
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="directory of the training rows (*.jsonl.gz)")
    parser.add_argument("--base", type=Path, help="directory of the base model")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (quick runs)")
    parser.add_argument("--seed", type=int, default=SEED, help="of the rows made")
    parser.add_argument("--start", type=Path, help="checkpoint.pt of an earlier run to begin from")
    parser.add_argument("--rate", type=float, default=2e-4, help="highest learning rate")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, help="stop the schedule after so many steps")
    parser.add_argument("--run", default="detector")
    parser.add_argument("--out", type=Path, default=MODELS / "detector")
    parser.add_argument("--blend", type=Path, help="checkpoint.pt whose weights are averaged with the run's (--finish)")
    parser.add_argument("--finish", action="store_true", help="do not train: calibrate and export the run's checkpoint")
    options = parser.parse_args()
    base, run = base_directory(options.base), RUNS / options.run
    rows = kept(run / ROWS, lambda: load(options.data, random.Random(options.seed), options.scale))
    known = trained_before(options.start.parent if options.start else run)
    held = [r for r in rows if is_held_out(r) and not r.whole and r.digest() not in known][:360]
    model = build_model(base)
    if options.finish:
        torch.set_num_threads(2)
        print("checkpoint of step", load_checkpoint(model, run))
        if options.blend:
            blend(model, options.blend)
        finish(model, base, held, options.out)
        return
    trained = trained_on(rows)
    print(json.dumps(describe(trained)))
    (run / TRAINED).write_text("".join(f"{name}\n" for name in sorted(known | {r.digest() for r in trained})))
    if options.start:
        model.load_state_dict(torch.load(options.start, weights_only=True)["model"])
    examples = kept(run / "examples.pkl", lambda: encoded(Encoder(base), trained))
    print("inputs", len(examples), "tokens", sum(len(e.input_ids) for e in examples), flush=True)
    recipe = Recipe(
        "detector", learning_rate=options.rate, max_steps=options.steps, batch_tokens=4096, average_from=0.75
    )
    train(model, [examples] * options.epochs, recipe, run, class_weights=(1.0, 1.5))
    finish(model, base, held, options.out)


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """What ``make`` gives, from disk if it was made before."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(make()))
    return pickle.loads(path.read_bytes())


def blend(model: Any, checkpoint: Path) -> None:
    """Takes the mean of the model's weights and those of the run it continued, which knows things it has unlearnt.

    Weights of one lineage may be averaged (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models").
    """
    earlier = torch.load(checkpoint, weights_only=True)["model"]
    own = model.state_dict()
    mean = {name: value.lerp(earlier[name], 0.5) for name, value in own.items() if value.is_floating_point()}
    model.load_state_dict(mean, strict=False)


def trained_before(run: Path) -> frozenset[str]:
    """Digests of the rows that a run, and those it continued, were trained on."""
    path = run / TRAINED
    return frozenset(path.read_text().split()) if path.is_file() else frozenset()


def encoded(encoder: Encoder, rows: Sequence[DetectorRow]) -> list[Example]:
    """Inputs of all rows; two pieces of a long answer are enough, those with a fault first."""
    examples = []
    for row in tqdm(rows, desc="encoding", mininterval=15):
        pieces = encoder.pieces(row, every_window=False)
        pieces.sort(key=lambda piece: 1 not in piece[0].example.labels)
        weight = WEIGHTS.get(row.group, 1.0) / (len(pieces[:2]) if row.whole else 1)
        examples += [
            replace(piece[0].example, weight=weight)
            for piece in pieces[:2]
            if any(m != IGNORED for m in piece[0].example.labels)
        ]
    return examples


if __name__ == "__main__":
    main()
