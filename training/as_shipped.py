"""``python -m training.as_shipped DATA``: the shipped detector, as it is, on held-out rows as they are made now.

``training.sentence`` fits its lines anew and reports what those give, cross-fitted; here ``vsr.json`` is taken as it
stands, with both checks by rule. Nothing is written.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from training.sentence import held_out_rows, parser_of, report, report_kinds
from training.sentence_fit import ANSWERS, table_of
from vsr_hallucination.detection.embedded import read_metadata
from vsr_hallucination.detection.relations.check import RELATION_CHECK_CONFIDENCE
from vsr_hallucination.detection.value_check import VALUE_CHECK_CONFIDENCE


def main() -> None:
    options = parser_of(__doc__).parse_args()
    _, rows, seen = held_out_rows(options)
    metadata = read_metadata(options.model, "detector")
    if metadata.sentence is None:
        raise SystemExit(f"{options.model}: no sentence model in vsr.json; run training.sentence first")
    table = table_of(rows, seen)
    scores = [metadata.sentence.score(one.described) for one in seen]
    worst = np.array([one.sentence.max(initial=0.0) for one in scores])
    threshold = metadata.threshold("threshold", 0.5)
    valued = np.array([bool(one.flagged) for one in seen])
    related = np.array([bool(one.turned) for one in seen])
    flagged = (worst >= threshold) | valued | related
    for name, truth in (("clean", 0), ("faulty", 1)):
        chosen = np.isin(np.array(table.group), ANSWERS) & (table.faulty == truth)
        shares = [found[chosen].mean() for found in (worst >= threshold, valued, related, flagged)]
        print(f"{name} answers, {int(chosen.sum())}: flagged by the model {shares[0]:.3f}, the value check "
              f"{shares[1]:.3f}, the relation check {shares[2]:.3f}, any {shares[3]:.3f}")  # fmt: skip
    groups: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for group, truth, one in zip(table.group, table.faulty.tolist(), flagged.tolist(), strict=True):
        groups[group, truth].append(one)
    for (group, truth), values in sorted(groups.items()):
        if truth >= 0:
            print(f"  {group} {'faulty' if truth else 'clean'}: {np.mean(values):.3f} of {len(values)}")
    said = np.maximum([one.answer for one in scores], np.where(worst >= threshold, worst, 0.0))
    said = np.maximum(said, np.where(related, RELATION_CHECK_CONFIDENCE, 0.0))
    report("as said", table, np.maximum(said, np.where(valued, VALUE_CHECK_CONFIDENCE, 0.0)))
    report_kinds(rows, table, worst, valued | related, threshold)


if __name__ == "__main__":
    main()
