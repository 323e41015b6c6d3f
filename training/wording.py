"""Rows of judged sets chosen so that the words of an answer do not tell its label.

People who write claims write negations, "only" and "never" into the wrong ones (hypothesis-only bias: Gururangan et al.
2018, "Annotation artifacts in natural language inference data"). The sets hold more rows than are used, so those are
used whose words are as common under either label.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from training.detector_rows import DetectorRow
from training.rows import held_out

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


def alike(rows: Sequence[DetectorRow], rng: random.Random) -> list[DetectorRow]:
    """Of rows equally suspicious by their words, as many faulty as clean ones; shuffled."""
    scores = suspicion(rows)
    order = sorted(range(len(rows)), key=lambda i: scores[i])
    result: list[DetectorRow] = []
    for start in range(0, len(order), _BIN):
        part = [rows[i] for i in order[start : start + _BIN]]
        rng.shuffle(part)
        clean, faulty = [r for r in part if not r.spans], [r for r in part if r.spans]
        count = min(len(clean), len(faulty))
        result += clean[:count] + faulty[:count]
    rng.shuffle(result)
    return result
