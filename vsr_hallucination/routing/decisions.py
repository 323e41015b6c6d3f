"""Which decision a request gets: rule trees over signals, then one order over those that match. Pure.

Confidence of a tree, in the manner of fuzzy logic (Zadeh): AND is as sure as its least sure condition, OR as its
surest matching one. NOT is 1.0 where its child does not match: the absence of a signal has no score of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from vsr_hallucination.config.schema import Decision, Leaf, Node, Operator, Recipe, Strategy
from vsr_hallucination.routing.signals import Signal


def select(recipe: Recipe, signals: Mapping[Signal, float]) -> Decision | None:
    """The decision for a request with these matching signals; None where none matches.

    Strategy ``priority``: higher priority, then higher confidence, then name. ``confidence``: higher confidence,
    then higher priority, then name. If any decision that matches has a tier, lower tiers come before all that.
    """
    matching: list[tuple[Decision, float]] = []
    for decision in recipe.decisions:
        confidence = match(decision, signals) if decision.selectable else None
        if confidence is not None:
            matching.append((decision, confidence))
    if not matching:
        return None
    tiered = any(decision.tier > 0 for decision, _ in matching)

    def order(entry: tuple[Decision, float]) -> tuple[int, float, float, str]:
        decision, confidence = entry
        keys = (-float(decision.priority), -confidence)
        first, second = keys if recipe.strategy is Strategy.PRIORITY else (keys[1], keys[0])
        return (decision.tier if tiered else 0, first, second, decision.name)

    return min(matching, key=order)[0]


def match(decision: Decision, signals: Mapping[Signal, float]) -> float | None:
    """The confidence with which the decision matches, None where it does not. Without rules: always, at 0."""
    return 0.0 if decision.rules is None else evaluate(decision.rules, signals)


def evaluate(rules: Node | Leaf, signals: Mapping[Signal, float]) -> float | None:
    """The confidence with which a rule tree matches, None where it does not."""
    if isinstance(rules, Leaf):
        return signals.get((rules.type, rules.name))
    found = [evaluate(condition, signals) for condition in rules.conditions]
    matched = [confidence for confidence in found if confidence is not None]
    if rules.operator is Operator.AND:
        return min(matched, default=0.0) if len(matched) == len(found) else None
    if rules.operator is Operator.OR:
        return max(matched, default=None)
    return None if matched else 1.0
