"""``python -m training.sentence DATA``: fits the sentence model over the exported detector, writes it to ``vsr.json``.

First a line over the words alone, on some 4,000 rows that no model has to read; then a line over its log-odds and what
the model says, on rows the detector was not trained on (``sentence_fit.Stacked``); last a line over answers. Every
figure printed is cross-fitted: what scores a row saw no row over the same context. Threshold and span rule are chosen
on the same scores.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from training.base import MODELS, RUNS
from training.detector import ROWS, SEED, kept, trained_before
from training.detector_data import load
from training.detector_rows import DetectorRow
from training.sentence_data import JudgedRow, judged_rows, word_rows
from training.sentence_fit import (
    ANSWERS,
    PRIOR,
    SIGNS,
    Shape,
    Table,
    answer_matrix,
    cross_fitted,
    cross_fitted_answers,
    cross_fitted_sign,
    sign_line,
    solve_answers,
    stacked,
    table_of,
)
from training.sentence_readings import Seen, read_all, words_only
from vsr_hallucination.detection.embedded import METADATA
from vsr_hallucination.detection.lexical import novelty
from vsr_hallucination.detection.relations.check import RELATION_CHECK_CONFIDENCE
from vsr_hallucination.detection.sentence_features import FEATURES, Floats
from vsr_hallucination.detection.sentence_score import SentenceScores, Sign, SpanRule, pooled
from vsr_hallucination.detection.sentence_spans import mark_sentences
from vsr_hallucination.detection.spans import SpanLimits
from vsr_hallucination.detection.value_check import VALUE_CHECK_CONFIDENCE

SHARPNESS = 1.0
# Refusals are clean in every row here: within a set their share says nothing that could be trusted.
ANSWER = ("pooled", "worst", "novel_count", "novel_share", "value_flags")
# Answers that a model wrote and people judged count for more than made ones: the detector was trained to know made
# faults, and would be believed too much.
WEIGHTS = (("expertqa", 2.0), ("model answers", 2.0), ("passages", 0.25), ("records", 0.25), ("prose", 0.25))
SHAPES = (
    Shape(decay=0.01, sharpness=SHARPNESS, weights=WEIGHTS[:2]),
    Shape(decay=0.003, sharpness=SHARPNESS, weights=WEIGHTS),
)
ALLOWED_FLAGGED = 0.05
# Faults that signs are fitted to tell from clean answers; what was added or withheld is the first line's.
TURNED_KINDS = (
    "negation", "modality", "comparison", "order", "roles", "attribution", "condition", "elsewhere", "swap", "unit",
    "percentage", "duration", "number", "number words", "date", "name", "place", "range", "currency", "value",
)  # fmt: skip


def owners_of(table: Table) -> list[Any]:
    """Per row, the indexes of its sentences."""
    return [np.flatnonzero(table.owner == row) for row in range(len(table.group))]


def answer_scores(table: Table, logits: Floats, sharpness: float) -> Floats:
    """(rows,) pooled probability of each answer."""
    return np.array([pooled(logits[own], sharpness) if len(own) else 0.0 for own in owners_of(table)])


def report(name: str, table: Table, scores: Floats) -> dict[str, float]:
    """Prints and returns AUROC of answers: over all groups of ``ANSWERS`` together, and group by group."""
    from sklearn.metrics import roc_auc_score

    groups = np.array(table.group)
    known = table.faulty >= 0
    found = {}
    for group in sorted(set(table.group)):
        chosen = known & (groups == group)
        if 0 < table.faulty[chosen].sum() < chosen.sum():
            found[group] = float(roc_auc_score(table.faulty[chosen], scores[chosen]))
    chosen = known & np.isin(groups, ANSWERS)
    whole = roc_auc_score(table.faulty[chosen], scores[chosen])
    print(f"{name}: answers {whole:.3f} | " + ", ".join(f"{k} {v:.3f}" for k, v in found.items()), flush=True)
    return found


def report_kinds(rows: Sequence[JudgedRow], table: Table, worst: Floats, ruled: Any, threshold: float) -> None:
    """Prints, by kind of made fault, the share flagged as shipped; and where 5 % of the clean made answers are flagged,
    with the rules' checks (``ruled``: what they flag) and by the sentences alone (``worst``: their highest chance)."""
    families = ("passages", "prose", "records")
    group, kinds = np.array([row.group for row in rows]), np.array([row.kind for row in rows])
    sound = np.isin(group, families) & (table.faulty == 0)
    flagged = (worst >= threshold) | ruled
    alone = np.sort(worst[sound])[::-1]
    beside = np.sort(np.where(ruled, np.inf, worst)[sound])[::-1]
    at = int(ALLOWED_FLAGGED * len(alone))
    limited = (worst > beside[at]) | ruled
    shares = [f"{np.mean(what[sound]):.1%}" for what in (flagged, ruled, limited)]
    print(f"made faults by kind: of {len(alone)} clean made answers {shares[0]} are flagged as shipped,")
    print(f"  {shares[1]} by the rules alone, {shares[2]} at the limit of 5 %")
    for kind in sorted(set(kinds) - {""}):
        own = kinds == kind
        parts = [f"{name} {np.mean(flagged[fits]):.2f} of {int(fits.sum())}" for name in families
                 if (fits := own & (group == name)).any()]  # fmt: skip
        print(
            f"  {kind:14} rows {int(own.sum()):3}  as shipped {np.mean(flagged[own]):.3f} (" + ", ".join(parts) + ")"
            f"  at 5 % {np.mean(limited[own]):.3f}  sentences alone at 5 % {np.mean(worst[own] > alone[at]):.3f}"
        )


def report_relations(rows: Sequence[JudgedRow], related: Any) -> None:
    """Prints what the relation check flags by itself, group by group."""
    groups, faulty = np.array([row.group for row in rows]), np.array([bool(row.row.spans) for row in rows])
    parts = []
    for group in sorted(set(groups)):
        own = groups == group
        shares = [f"{int(related[own & kind].sum())} of {int((own & kind).sum())}" for kind in (faulty, ~faulty)]
        parts.append(f"{group} {shares[0]} faulty, {shares[1]} clean")
    print("relation check alone: " + "; ".join(parts))


def calibration_error(table: Table, chances: Floats, bins: int = 10) -> float:
    """ECE of the answers' scores over ``ANSWERS`` where faulty ones weigh as if ``PRIOR`` of the answers were."""
    kept = np.isin(np.array(table.group), ANSWERS) & (table.faulty >= 0)
    chances, truth = chances[kept], table.faulty[kept].astype(np.float64)
    heavy = np.where(truth > 0, PRIOR / truth.sum(), (1 - PRIOR) / (1 - truth).sum())
    total = 0.0
    for i in range(bins):
        inside = (chances > i / bins) & (chances <= (i + 1) / bins)
        if inside.any():
            total += abs(float((heavy * (chances - truth))[inside].sum()))
    return total


def worst_logits(table: Table, logits: Floats) -> Floats:
    """(rows,) the highest of each answer's sentences, -inf where it claims nothing."""
    return np.array([logits[own].max() if len(own) else -np.inf for own in owners_of(table)])


def sign_limit(table: Table, logits: Floats, share: float) -> float:
    """The log-odds that at most ``share`` of the clean answers reach."""
    clean = (table.faulty == 0) & np.isin(np.array(table.group), ANSWERS)
    ranked = np.sort(worst_logits(table, logits)[clean])[::-1]
    return float(ranked[int(share * len(ranked))]) + 1e-3


def choose_threshold(table: Table, logits: Floats, valued: Any) -> float:
    """The sentence probability at which at most 5 % of the clean answers are flagged, those that the value check flags
    under any threshold counted among them."""
    worst = worst_logits(table, logits)
    clean = (table.faulty == 0) & np.isin(np.array(table.group), ANSWERS)
    ranked = np.sort(np.where(valued, np.inf, worst)[clean])[::-1]
    at = ranked[max(int(ALLOWED_FLAGGED * len(ranked)), int(valued[clean].sum()))]
    return float(min(0.94, np.ceil(1000 / (1 + np.exp(-at)) + 0.5) / 1000))


def span_f1(
    rows: Sequence[JudgedRow], seen: Sequence[Seen], chances: Sequence[Floats], rule: SpanRule, limits: SpanLimits
) -> tuple[float, float, float]:
    """Character-level precision, recall and F1 over all rows with span labels."""
    hit = said = true = 0
    for judged, one, chance in zip(rows, seen, chances, strict=True):
        if judged.whole:
            continue
        row = judged.row
        marked = mark_sentences(
            row.answer, one.described, SentenceScores(chance, 0.0), one.tokens, one.words, one.flagged, rule, limits
        )
        wrong = {i for a, b in row.spans for i in range(a, b)}
        called = {i for span in marked.spans for i in range(span.start, span.end)}
        called |= {i for a, b in (*one.flagged, *one.turned) for i in range(a, b)}
        called -= {i for a, b in row.ignored for i in range(a, b)}
        hit, said, true = hit + len(wrong & called), said + len(called), true + len(wrong)
    precision, recall = hit / max(1, said), hit / max(1, true)
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def chances_of(seen: Sequence[Seen], table: Table, logits: Floats) -> list[Floats]:
    """Per row, (sentences,) probabilities of all its sentences, 0 for those without a claim."""
    result = []
    for one, own in zip(seen, owners_of(table), strict=True):
        chance = np.zeros(len(one.described.spans))
        chance[one.described.claims] = 1 / (1 + np.exp(-logits[own]))
        result.append(chance)
    return result


def choose_rule(
    rows: Sequence[JudgedRow], seen: Sequence[Seen], chances: Sequence[Floats], threshold: float
) -> tuple[SpanRule, float]:
    """(span rule, min_span_confidence) of the best character F1 over answers of several sentences."""
    chosen = [n for n, row in enumerate(rows) if row.group in ANSWERS]
    few, read = [rows[n] for n in chosen], [seen[n] for n in chosen]
    judged = [chances[n] for n in chosen]
    best: tuple[float, SpanRule, float] | None = None
    for bonus, whole, gap, least in product((0.0, 0.2, 0.4), (0.35, 0.5, 0.7), (1, 3), (0.3, 0.5, 0.7)):
        rule = SpanRule(bonus, whole, gap)
        figure = span_f1(few, read, judged, rule, SpanLimits(threshold, least, 2))[2]
        if best is None or figure > best[0] + 1e-6:
            best = (figure, rule, least)
    if best is None:
        raise SystemExit("no rows to choose the span rule on")
    return best[1], best[2]


def _counted(rows: list[JudgedRow]) -> tuple[list[JudgedRow], list[Seen]]:
    return rows, [words_only(judged.row) for judged in tqdm(rows, desc="words", mininterval=10)]


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """The options that say which rows are read, and by which model."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", type=Path, help="directory of the training rows (*.jsonl.gz)")
    parser.add_argument("--model", type=Path, default=MODELS / "detector", help="directory of the exported detector")
    parser.add_argument("--run", default="detector", help="the detector's run: its rows, and what it was trained on")
    parser.add_argument("--limit", type=int, default=3000, help="rows to read (about 2 model inputs each)")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def held_out_rows(options: argparse.Namespace) -> tuple[list[DetectorRow], list[JudgedRow], list[Seen]]:
    """The detector's rows, and of the held-out ones so many, with what its model reads in them."""
    run = RUNS / options.run
    cache = run / "sentence"
    known = kept(run / ROWS, lambda: load(options.data, random.Random(SEED)))
    trained = trained_before(run)
    rows = kept(cache / "judged.pkl", lambda: judged_rows(options.data, known, trained))[: options.limit]
    return known, rows, read_all([judged.row for judged in rows], options.model, cache, options.threads)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--dry", action="store_true", help="report only: leave vsr.json as it is")
    options = parser.parse_args()
    known, rows, seen = held_out_rows(options)
    # Made anew in each run, as the features of the rows that were read: both change with the code.
    many = _counted(word_rows(known))
    table, counted = table_of(rows, seen), table_of(*many)
    print(f"rows {len(rows)}, sentences {len(table.matrix)}; counted {len(many[0])}, sentences {len(counted.matrix)}")
    owners = owners_of(table)
    counts = [
        novelty(j.row.answer, j.row.question, [j.row.context]) for j in tqdm(rows, desc="counter", mininterval=10)
    ]
    line = report("word counter", table, np.array([float(found.count) for found in counts]))
    report("its share of words", table, np.array([found.share for found in counts]))
    tokens = table.matrix[:, FEATURES.index("logit_max")]
    report("highest token", table, np.array([tokens[own].max() if len(own) else -10.0 for own in owners]))
    words, logits = cross_fitted(counted, table, SHAPES)
    report("words alone", table, answer_scores(table, words, SHARPNESS))
    report("sentences pooled", table, answer_scores(table, logits, SHARPNESS))
    odds = cross_fitted_answers(counted, table, seen, SHAPES, ANSWER)
    final = report("answer model", table, odds)
    below = {name: f"{value:.3f} < {line[name]:.3f}" for name, value in final.items() if value < line[name]}
    print("sets below the word counter:", below or "none")
    valued = np.array([bool(one.flagged) for one in seen])
    related = np.array([bool(one.turned) for one in seen])
    ruled = valued | related
    kinds = np.array([row.kind for row in rows])
    use = (table.faulty == 0) | np.isin(kinds, TURNED_KINDS)
    said_by = [cross_fitted_sign(table, names, use) for names, _ in SIGNS]
    least = [sign_limit(table, found, share) for found, (_, share) in zip(said_by, SIGNS, strict=True)]
    turned = np.zeros(len(rows), dtype=np.bool_)
    for found, limit in zip(said_by, least, strict=True):
        turned |= worst_logits(table, found) >= limit
    clean = (table.faulty == 0) & np.isin(np.array(table.group), ANSWERS)
    faulty = np.isin(kinds, TURNED_KINDS)
    print(f"signs: {turned[clean].mean():.3f} of clean answers, {turned[faulty].mean():.3f} of turned ones")
    report_relations(rows, related)
    threshold = choose_threshold(table, logits, ruled | turned)
    # A sign speaks from its limit on, and what it says there is the threshold.
    shifts = [math.log(threshold / (1 - threshold)) - limit for limit in least]
    heard = logits.copy()
    for found, limit, shift in zip(said_by, least, shifts, strict=True):
        heard = np.where(found >= limit, np.maximum(heard, found + shift), heard)
    chances = chances_of(seen, table, heard)
    rule, least_token = choose_rule(rows, seen, chances, threshold)
    limits = SpanLimits(threshold, least_token, 2)
    typical = np.isin(np.array(table.group), ANSWERS)
    worst = np.array([chance.max(initial=0.0) for chance in chances])
    flagged = (worst >= threshold) | ruled
    for name, chosen in (("faulty", typical & (table.faulty == 1)), ("clean", typical & (table.faulty == 0))):
        print(f"{name} answers flagged: {flagged[chosen].mean():.3f} of {int(chosen.sum())}")
    print("threshold", threshold, "rule", rule, "min_span_confidence", least_token)
    print("span P R F1", [round(x, 3) for x in span_f1(rows, seen, chances, rule, limits)])
    # As at run time: never below the confidence of a span.
    said = np.maximum(1 / (1 + np.exp(-odds)), np.where(worst >= threshold, worst, 0.0))
    said = np.maximum(said, np.where(related, RELATION_CHECK_CONFIDENCE, 0.0))
    said = np.maximum(said, np.where(valued, VALUE_CHECK_CONFIDENCE, 0.0))
    print(f"calibration error of the answers' scores at {PRIOR:.0%} faulty: {calibration_error(table, said):.3f}")
    report("as said", table, said)
    report_kinds(rows, table, worst, ruled, threshold)
    final_fit = stacked(counted, table, SHAPES)
    matrix = answer_matrix(seen, table, final_fit.logits(table.matrix), SHARPNESS)
    answers = solve_answers(matrix, table, np.ones(len(rows), dtype=np.bool_), ANSWER)
    lines = [sign_line(table, names, use) for names, _ in SIGNS]
    signs = [
        Sign(replace(line, bias=line.bias + shift), threshold) for line, shift in zip(lines, shifts, strict=True)
    ]
    block = final_fit.block(SHARPNESS, rule, answers, signs)
    for part in (block, block["answer"], *block["signs"]):
        print("  ".join(f"{n} {w:+.2f}" for n, w in zip(part["features"], part["weights"], strict=True)))
    if not options.dry:
        target = options.model / METADATA
        metadata = json.loads(target.read_text(encoding="utf-8"))
        metadata["thresholds"] = {"threshold": threshold, "min_span_confidence": least_token}
        metadata["sentence"] = block
        target.write_text(json.dumps(metadata, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        print("written", target)


if __name__ == "__main__":
    main()
