"""``python -m training.probe DATA``: can the training answers be told apart WITHOUT their evidence?

A linear model over words of the answer alone, and answer length alone. Far above 0.5 means the made faults have a
style of their own that a detector could learn instead of reading evidence.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from training.base import RUNS
from training.detector import ROWS, SEED, kept
from training.detector_data import load, trained_on
from training.rows import held_out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="directory of the training rows (*.jsonl.gz)")
    parser.add_argument("--run", default="detector", help="the detector's run, whose rows are read")
    options = parser.parse_args()
    rows = trained_on(kept(RUNS / options.run / ROWS, lambda: load(options.data, random.Random(SEED))))
    made = ("passages", "prose", "records", "tables")
    for group in ("", "made", *made, "summedits", "defacto"):
        wanted = made if group == "made" else group
        chosen = [row for row in rows if row.group.startswith(wanted)]
        train = [row for row in chosen if not held_out(row.key, 0.25, "probe")]
        test = [row for row in chosen if held_out(row.key, 0.25, "probe")]
        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        model = LogisticRegression(max_iter=400)
        model.fit(words.fit_transform(row.answer for row in train), [bool(row.spans) for row in train])
        truth = [bool(row.spans) for row in test]
        scores = model.predict_proba(words.transform(row.answer for row in test))[:, 1]
        length = roc_auc_score(truth, [len(row.answer) for row in test])
        words_alone = roc_auc_score(truth, scores)
        print(f"{group or 'all'}: {len(test)} rows  words alone {words_alone:.3f}  length alone {length:.3f}")


if __name__ == "__main__":
    main()
