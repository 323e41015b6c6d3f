"""What recorded traffic would have looked like under another threshold. Pure: replay outcomes in, counts out.

A record keeps the spans that survived and the candidates that did not, so most answers can be judged again exactly. Two
things a record does not hold: whether a candidate that failed the threshold has enough words (or the explainer's word
on it), and stretches below ``min_span_confidence``. Answers that hang on these are counted as possible, not as certain,
and the truth lies between. Outcomes that are no verdict (``unavailable``, ``not_applicable``) are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vsr_hallucination.evaluation.statistics import wilson
from vsr_hallucination.observation import State
from vsr_hallucination.replay.record import Outcome, Record

_IDS = 20


@dataclass(frozen=True, slots=True)
class Rejudged:
    """One outcome under another threshold: ``certain`` implies ``possible``."""

    certain: bool
    possible: bool


def rejudge(outcome: Outcome, threshold: float) -> Rejudged:
    """Whether ``outcome`` would have been ``detected`` at ``threshold``. Only for verdicts."""
    known = dict(outcome.detector_thresholds)
    length = known.get("min_span_length")
    certain = possible = False
    for span in outcome.spans:
        if span.confidence < threshold:
            continue
        if span.survived:
            certain = True
        elif span.why == "threshold":
            possible = True
            certain = certain or (length is not None and length <= 1 and span.nli_label is None)
    unseen = known.get("min_span_confidence")
    if unseen is not None and threshold < unseen and (outcome.unsupported_score or 0.0) >= threshold:
        possible = True
    return Rejudged(certain, certain or possible)


@dataclass(slots=True)
class Tally:
    """One rule of one recipe over all records."""

    thresholds: Sequence[float]
    verdicts: Counter[str] = field(default_factory=Counter)
    recorded: Counter[float] = field(default_factory=Counter)  # the thresholds the records were judged with
    certain: Counter[float] = field(default_factory=Counter)
    possible: Counter[float] = field(default_factory=Counter)
    newly: dict[float, list[str]] = field(default_factory=dict)
    no_longer: dict[float, list[str]] = field(default_factory=dict)

    def add(self, record: Record, outcome: Outcome) -> None:
        self.verdicts[outcome.verdict] += 1
        if outcome.verdict not in (State.DETECTED, State.NOT_DETECTED):
            return
        used = dict(outcome.detector_thresholds).get("threshold")
        if used is not None:
            self.recorded[used] += 1
        was = outcome.verdict == State.DETECTED
        for t in self.thresholds:
            now = rejudge(outcome, t)
            self.certain[t] += now.certain
            self.possible[t] += now.possible
            changed = self.newly if now.certain and not was else self.no_longer if was and not now.possible else None
            if changed is not None and len(changed.setdefault(t, [])) < _IDS:
                changed[t].append(record.id)

    def to_json(self) -> dict[str, Any]:
        judged = self.verdicts[State.DETECTED] + self.verdicts[State.NOT_DETECTED]
        flagged = self.verdicts[State.DETECTED]
        rate = flagged / judged if judged else None
        interval = wilson(flagged, judged)
        return {
            "judged": judged,
            "not_judged": {v: n for v, n in sorted(self.verdicts.items()) if v not in ("detected", "not_detected")},
            "flagged": flagged,
            "rate": rate,
            "rate_interval": None if interval is None else list(interval),
            "recorded_thresholds": {f"{t:g}": n for t, n in sorted(self.recorded.items())},
            "at": [self._at(t, judged, rate) for t in self.thresholds],
        }

    def _at(self, t: float, judged: int, rate: float | None) -> dict[str, Any]:
        low, high = self.certain[t], self.possible[t]
        share = None if not judged else [low / judged, high / judged]
        change = None if share is None or rate is None else [share[0] - rate, share[1] - rate]
        return {
            "threshold": t,
            "flagged": [low, high],
            "rate": share,
            "change": change,
            "newly_flagged": self.newly.get(t, []),
            "no_longer_flagged": self.no_longer.get(t, []),
        }


def tally(
    records: Iterable[Record], thresholds: Sequence[float], *, recipe: str | None = None, rule: str | None = None
) -> dict[tuple[str, str], Tally]:
    """Tallies by (recipe, rule), of all of them or only those named."""
    found: dict[tuple[str, str], Tally] = {}
    for record in records:
        if recipe is not None and record.recipe != recipe:
            continue
        for outcome in record.outcomes:
            name = outcome.target_ref.removeprefix("hallucination:")
            if rule is None or rule == name:
                found.setdefault((record.recipe, name), Tally(thresholds)).add(record, outcome)
    return dict(sorted(found.items()))
