"""Which projections this filter can evaluate: those that read nothing but keywords and the fact-check signal.

What reads another family, or a method of the router's that is not known here, is left out, and with it all that
reads it; ``Evaluable.foreign`` says why, for those who read it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from vsr_hallucination.config.projection_schema import Mapping, Partition, Score, ScoreInput, ValueSource
from vsr_hallucination.config.projection_schema import Projections as Evaluated
from vsr_hallucination.config.projections import WEIGHTED_SUM, Input, Projections, fold
from vsr_hallucination.config.references import scores_of
from vsr_hallucination.config.rules import EVALUATED
from vsr_hallucination.config.signals import FACT_CHECK_NAMES, Signals

_Reasons = dict[str, tuple[str, ...]]
_MOST_REASONS = 4  # of one projection, told


@dataclass(frozen=True, slots=True)
class Evaluable:
    """``projections`` for the recipe; ``foreign``: folded output → what keeps it from being evaluated."""

    projections: Evaluated
    foreign: dict[str, tuple[str, ...]]


def evaluable(found: Projections, signals: Signals) -> Evaluable:
    """Scores that read each other in a circle are an error elsewhere, and evaluate to nothing here."""
    try:
        order = tuple(TopologicalSorter(_read_by_scores(found)).static_order())
    except CycleError:
        return Evaluable(Evaluated(), {})
    by_source: dict[str, list[str]] = {}
    for key, draft in found.mappings.items():
        by_source.setdefault(fold(draft.source), []).append(key)
    by_mapping: dict[str, list[str]] = {}
    for output, key in found.outputs.items():
        by_mapping.setdefault(key, []).append(output)
    steps: list[Score | Mapping] = []
    scores: _Reasons = {}  # score → what keeps it from being evaluated; () for nothing
    outputs: _Reasons = {}
    for key in order:
        score = found.scores[key]
        reasons = [] if score.method == WEIGHTED_SUM else [f"score method {score.method[:40]}"]
        for item in score.inputs:
            reasons += _reasons(item, found, signals, scores, outputs)
        scores[key] = tuple(dict.fromkeys(reasons))[:_MOST_REASONS]
        if not reasons:
            steps.append(Score(score.name, tuple(_input(item, found) for item in score.inputs)))
        for name in by_source.get(key, ()):
            draft = found.mappings[name]
            why = scores[key] if draft.method is not None else (*scores[key], "a mapping method of the router's own")
            outputs |= dict.fromkeys(by_mapping.get(name, ()), why)
            if not why and draft.method is not None:
                steps.append(Mapping(draft.name, score.name, draft.bands, draft.method, draft.slope, draft.top_k))
    partitions = tuple(p for p in (_partition(draft.name, found, signals) for draft in found.partitions.values()) if p)
    return Evaluable(Evaluated(partitions, tuple(steps)), {name: why for name, why in outputs.items() if why})


def _read_by_scores(found: Projections) -> dict[str, list[str]]:
    return {
        key: [read for item in score.inputs for read in scores_of(found, item)] for key, score in found.scores.items()
    }


def _reasons(item: Input, found: Projections, signals: Signals, scores: _Reasons, outputs: _Reasons) -> Iterable[str]:
    key = fold(item.name)
    if item.type == "projection":
        if key in found.scores:
            return scores.get(key, ())
        return outputs.get(key, (f"projection:{item.name[:60]}",))
    if item.type not in EVALUATED:
        return (item.type[:60],)
    if item.type == "keyword" and item.name in signals.patterns:
        return ("keyword by regular expressions",)
    return () if item.source is not None else (f"{item.type} by a value_source of the router's own",)


def _input(item: Input, found: Projections) -> ScoreInput:
    name, source = item.name, item.source or ValueSource.BINARY
    if item.type == "projection":
        key = fold(name)
        if key in found.scores:
            name, source = found.scores[key].name, ValueSource.SCORE
        else:
            name = found.spelt[key]
    return ScoreInput(item.type, name, item.weight, source, item.match, item.miss)


def _partition(name: str, found: Projections, signals: Signals) -> Partition | None:
    """The router partitions domains and embeddings; here, what is all keywords or all fact_check is one too."""
    draft = found.partitions[fold(name)]
    families: tuple[tuple[str, Collection[str]], ...] = (
        ("keyword", signals.keyword_names - signals.patterns),
        ("fact_check", FACT_CHECK_NAMES),
    )
    for family, names in families:
        if draft.members and not signals.elsewhere & {*draft.members} and all(each in names for each in draft.members):
            if draft.default is not None and draft.default not in draft.members:
                draft.at.error(f"`{draft.default[:60]}` is no member of partition `{name}`", "name one of its members")
            return Partition(name, family, draft.members, draft.default, draft.temperature)
    return None
