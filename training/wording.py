"""Rows of judged sets chosen so that the words of an answer do not tell its label.

People who write claims write negations, "only" and "never" into the wrong ones (hypothesis-only bias: Gururangan et al.
2018, "Annotation artifacts in natural language inference data"). The sets hold more rows than are used, so those are
used whose words are as common under either label.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from training.detector_rows import DetectorRow
from training.rows import held_out

_NEGATION = re.compile(r"\b(?:not|no|never|none|nobody|nothing|neither|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_QUANTIFIER = re.compile(r"\b(?:only|all|always|every\w*|most|any\w*|least)\b", re.IGNORECASE)
_FOLDS = 4
_BIN = 60  # rows whose words are about equally suspicious


def suspicion(rows: Sequence[DetectorRow]) -> list[float]:
    """How much the words of each answer alone make a fault likely, by models fitted to rows over other contexts."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    if not rows:
        return []
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    matrix = words.fit_transform(row.answer for row in rows)
    faulty = np.array([bool(row.spans) for row in rows])
    fold = np.array([next((i for i in range(_FOLDS - 1) if held_out(r.key, 1 / (_FOLDS - i), f"fold {i}")), _FOLDS - 1)
                     for r in rows])  # fmt: skip
    result = np.zeros(len(rows))
    for i in range(_FOLDS):
        # Rows of one label, or over one context, cannot be compared: equally suspicious.
        if (fold == i).any() and len(set(faulty[fold != i])) == 2:
            model = LogisticRegression(max_iter=400).fit(matrix[fold != i], faulty[fold != i])
            result[fold == i] = model.decision_function(matrix[fold == i])
    return [float(score) for score in result]


def marker(answer: str) -> str:
    """Which of the words that claim writers put into wrong claims an answer holds: "negation", "quantifier" or ""."""
    return "negation" if _NEGATION.search(answer) else "quantifier" if _QUANTIFIER.search(answer) else ""


def alike(rows: Sequence[DetectorRow], rng: random.Random, count: int | None = None) -> list[DetectorRow]:
    """Of rows equally suspicious by their words, as many faulty as clean ones; shuffled.

    So too among those with a negation, and with a quantifier. ``count``: rows wanted at most; since right claims with
    a negation are rare, they and their like then come first, up to an eighth each.
    """
    scores = suspicion(rows)
    order = sorted(range(len(rows)), key=lambda i: scores[i])
    result: dict[str, list[DetectorRow]] = {}
    for name in ("negation", "quantifier", ""):
        mine = [rows[i] for i in order if marker(rows[i].answer) == name]
        pairs: list[tuple[DetectorRow, DetectorRow]] = []
        for start in range(0, len(mine), _BIN):
            part = mine[start : start + _BIN]
            rng.shuffle(part)
            pairs += zip([r for r in part if not r.spans], [r for r in part if r.spans], strict=False)
        rng.shuffle(pairs)
        result[name] = [row for pair in pairs for row in pair]
    rare = [row for name in ("negation", "quantifier") for row in result[name][: count and count // 8]]
    chosen = (rare + result[""])[:count]
    rng.shuffle(chosen)
    return chosen
