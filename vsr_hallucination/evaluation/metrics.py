"""The figures of a run, per threshold. Undefined figures are None. Definitions:

- coverage: answers / (answers + abstentions). A request that failed is in neither.
- accuracy_conditioned_on_answering: right / (right + wrong). An answer that no judge judged is in neither.
- hallucination_rate_among_answers: wrong / (right + wrong).
- avg_expected_score: mean of +1, −t/(1−t), 0 over right, wrong and abstained.
- bounds: the same had everything unavailable or unjudged been right, or wrong (coverage: answered, or abstained).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vsr_hallucination.evaluation.scoring import Item, Kind, Outcome, State, penalty
from vsr_hallucination.evaluation.statistics import Interval, newcombe, sign_test, wilson

FEW_ANSWERS = 30  # fewer answers than this: a point is drawn faint
NOISE = 0.05  # a violation counts if chance alone would show it more rarely than this


@dataclass(slots=True)
class Tally:
    """Counts at one threshold."""

    t: float
    states: Counter[State] = field(default_factory=Counter)
    kinds: Counter[Kind] = field(default_factory=Counter)
    answerable: Counter[State] = field(default_factory=Counter)  # of the items that have an answer
    judge_failed_ids: list[str] = field(default_factory=list)

    def add(self, item: Item, outcome: Outcome) -> None:
        self.states[outcome.state] += 1
        if outcome.kind is not None:
            self.kinds[outcome.kind] += 1
        if not item.unknown_ok:
            self.answerable[outcome.state] += 1
        if outcome.state is State.JUDGE_FAILED:
            self.judge_failed_ids.append(item.id)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a tally says."""

    t: float
    n: int
    right: int
    wrong: int
    abstentions: int
    unavailable: int
    judge_failed: int
    kinds: tuple[tuple[Kind, int], ...]
    answerable: tuple[int, int, int]  # answered, abstained, right of the items that have an answer
    judge_failed_ids: tuple[str, ...]

    @classmethod
    def of(cls, tally: Tally) -> Figures:
        s, a = tally.states, tally.answerable
        return cls(
            tally.t, s.total(), s[State.RIGHT], s[State.WRONG], s[State.ABSTAINED], s[State.UNAVAILABLE],
            s[State.JUDGE_FAILED], tuple(sorted(tally.kinds.items())),
            (a[State.RIGHT] + a[State.WRONG] + a[State.JUDGE_FAILED], a[State.ABSTAINED], a[State.RIGHT]),
            tuple(tally.judge_failed_ids),
        )  # fmt: skip

    @property
    def answered(self) -> int:
        return self.graded + self.judge_failed

    @property
    def graded(self) -> int:
        return self.right + self.wrong

    @property
    def replies(self) -> int:
        return self.answered + self.abstentions

    @property
    def coverage(self) -> float | None:
        return _share(self.answered, self.replies)

    @property
    def accuracy(self) -> float | None:
        return _share(self.right, self.graded)

    @property
    def accuracy_interval(self) -> Interval | None:
        return wilson(self.right, self.graded)

    @property
    def expected_score(self) -> float | None:
        scored = self.graded + self.abstentions
        return (self.right - penalty(self.t) * self.wrong) / scored if scored else None

    @property
    def unknown(self) -> int:
        """How many outcomes nobody knows."""
        return self.unavailable + self.judge_failed

    @property
    def accuracy_bounds(self) -> Interval | None:
        total = self.graded + self.unknown
        return (self.right / total, (self.right + self.unknown) / total) if total else None

    @property
    def coverage_bounds(self) -> Interval | None:
        return (self.answered / self.n, (self.answered + self.unavailable) / self.n) if self.n else None

    def to_json(self) -> dict[str, Any]:
        """The fields of ``metrics.json``; intervals are [low, high] at 95 % (Wilson)."""
        answered, abstained, right = self.answerable
        return {
            "t": self.t,
            "n": self.n,
            "answered": self.answered,
            "abstentions": self.abstentions,
            "coverage": self.coverage,
            "coverage_interval": _pair(wilson(self.answered, self.replies)),
            "accuracy_conditioned_on_answering": self.accuracy,
            "accuracy_interval": _pair(self.accuracy_interval),
            "hallucination_rate_among_answers": _share(self.wrong, self.graded),
            "hallucination_rate_interval": _pair(wilson(self.wrong, self.graded)),
            "avg_expected_score": self.expected_score,
            "penalty": penalty(self.t),
            "correct": self.right,
            "wrong": self.wrong,
            "graded": self.graded,
            "unavailable": self.unavailable,
            "unavailable_by_kind": {str(kind): count for kind, count in self.kinds},
            "judge_failed": self.judge_failed,
            "judge_failed_ids": list(self.judge_failed_ids),
            "bounds": {
                "accuracy_conditioned_on_answering": _pair(self.accuracy_bounds),
                "coverage": _pair(self.coverage_bounds),
            },
            "answerable": {
                "answered": answered,
                "abstentions": abstained,
                "coverage": _share(answered, answered + abstained),
                "accuracy_conditioned_on_answering": _share(right, answered),
            },
        }


@dataclass(frozen=True, slots=True)
class Violation:
    """A figure that moved the wrong way from one threshold to the next. ``beyond_noise``: chance is no explanation."""

    figure: str
    t_from: float
    t_to: float
    value_from: float
    value_to: float
    p_value: float | None
    beyond_noise: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "figure": self.figure,
            "t_from": self.t_from,
            "t_to": self.t_to,
            "from": self.value_from,
            "to": self.value_to,
            "p_value": self.p_value,
            "beyond_noise": self.beyond_noise,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. ``pairs``: for each neighbouring pair of thresholds, the items that went from IDK to an
    answer, and those that went from an answer to IDK."""

    figures: tuple[Figures, ...]
    pairs: tuple[tuple[int, int], ...]
    categories: tuple[tuple[str, tuple[Figures, ...]], ...]
    total: int

    @property
    def settled(self) -> int:
        return sum(f.n for f in self.figures)

    @property
    def unknown(self) -> int:
        return sum(f.unknown for f in self.figures)

    @property
    def complete(self) -> bool:
        return self.settled == self.total and not self.unknown

    def violations(self) -> tuple[Violation, ...]:
        """Coverage that rises with t (exact sign test on the items that changed), accuracy that falls with t
        (Newcombe interval of the difference): each with whether it is beyond noise."""
        found = []
        for n, (one, two) in enumerate(zip(self.figures, self.figures[1:], strict=False)):
            if one.coverage is not None and two.coverage is not None and two.coverage > one.coverage:
                p = sign_test(*self.pairs[n])
                found.append(Violation("coverage", one.t, two.t, one.coverage, two.coverage, p, p < NOISE))
            if one.accuracy is not None and two.accuracy is not None and two.accuracy < one.accuracy:
                apart = newcombe((one.right, one.graded), (two.right, two.graded))
                beyond = apart is not None and apart[0] > 0
                found.append(
                    Violation(
                        "accuracy_conditioned_on_answering",
                        one.t,
                        two.t,
                        one.accuracy,
                        two.accuracy,
                        None,
                        beyond,
                    )
                )
        return tuple(found)


def summarise(
    outcomes: Iterable[tuple[Item, Outcome]],
    thresholds: Sequence[float],
    items: int,
    *,
    categories: bool = True,
) -> Summary:
    """Reads the outcomes once, in the order of items and rising thresholds."""
    tallies = [Tally(t) for t in thresholds]
    per_category: dict[str, list[Tally]] = {}
    pairs = [[0, 0] for _ in thresholds[1:]]
    row, last = -1, -1
    before: State | None = None
    for item, outcome in outcomes:
        tallies[outcome.at].add(item, outcome)
        if categories and item.category:
            per_category.setdefault(item.category, [Tally(t) for t in thresholds])[outcome.at].add(
                item, outcome
            )
        if row == outcome.row and last == outcome.at - 1 and before is not None:
            change = _change(before, outcome.state)
            if change is not None:
                pairs[last][change] += 1
        row, last, before = outcome.row, outcome.at, outcome.state
    return Summary(
        tuple(Figures.of(tally) for tally in tallies),
        tuple((more, fewer) for more, fewer in pairs),
        tuple((name, tuple(map(Figures.of, found))) for name, found in sorted(per_category.items())),
        items * len(thresholds),
    )


def _change(before: State, after: State) -> int | None:
    """0: an abstention became an answer; 1: an answer became an abstention; None: neither."""
    answers = (State.RIGHT, State.WRONG, State.JUDGE_FAILED)
    if before is State.ABSTAINED and after in answers:
        return 0
    return 1 if before in answers and after is State.ABSTAINED else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
