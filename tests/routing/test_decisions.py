"""Rule trees and the order among decisions that match."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from vsr_hallucination.config.schema import Decision, Leaf, Node, Operator, Recipe, Strategy
from vsr_hallucination.routing.decisions import evaluate, match, select

A, B, C = Leaf("keyword", "a"), Leaf("keyword", "b"), Leaf("fact_check", "c")
SIGNALS: Mapping[tuple[str, str], float] = {("keyword", "a"): 0.9, ("fact_check", "c"): 0.6}


def node(operator: str, *conditions: Node | Leaf) -> Node:
    return Node(Operator(operator), conditions)


@pytest.mark.parametrize(
    ("rules", "confidence"),
    [
        (A, 0.9),
        (B, None),
        (Leaf("fact_check", "a"), None),
        (node("AND", A, C), 0.6),
        (node("AND", A, B), None),
        (node("AND", A), 0.9),
        (node("OR", A, C), 0.9),
        (node("OR", B, C), 0.6),
        (node("OR", B), None),
        (node("NOT", A), None),
        (node("NOT", B), 1.0),
        (node("NOT", node("NOT", A)), 1.0),
        (node("AND", A, node("NOT", B)), 0.9),
        (node("AND", node("OR", B, C), node("NOT", node("AND", A, B))), 0.6),
        (node("AND", A, node("NOT", C)), None),
    ],
)
def test_trees(rules: Node | Leaf, confidence: float | None) -> None:
    assert evaluate(rules, SIGNALS) == confidence


def test_a_signal_that_matches_at_confidence_zero_matches() -> None:
    assert evaluate(node("AND", A), {("keyword", "a"): 0.0}) == 0.0
    assert evaluate(node("NOT", A), {("keyword", "a"): 0.0}) is None


def test_without_rules_a_decision_always_matches_at_zero() -> None:
    assert match(Decision("d"), {}) == 0.0


def chosen(*decisions: Decision, strategy: Strategy = Strategy.PRIORITY) -> str | None:
    """The same whatever the order in the file."""
    names = {
        found.name if found is not None else None
        for order in (decisions, decisions[::-1])
        for found in [select(Recipe(decisions=order, strategy=strategy), SIGNALS)]
    }
    (name,) = names
    return name


def test_priority_then_confidence_then_name() -> None:
    assert chosen(Decision("low", 1, rules=A), Decision("high", 2, rules=C)) == "high"
    assert chosen(Decision("sure", 1, rules=A), Decision("less", 1, rules=C)) == "sure"
    assert chosen(Decision("b", 1, rules=A), Decision("a", 1, rules=A)) == "a"
    assert chosen(Decision("rules", 1, rules=C), Decision("always", 2)) == "always"


def test_confidence_then_priority_then_name() -> None:
    by = Strategy.CONFIDENCE
    assert chosen(Decision("sure", 1, rules=A), Decision("high", 9, rules=C), strategy=by) == "sure"
    assert chosen(Decision("low", 1, rules=A), Decision("high", 2, rules=A), strategy=by) == "high"
    assert chosen(Decision("b", 1, rules=A), Decision("a", 1, rules=A), strategy=by) == "a"
    assert chosen(Decision("rules", 1, rules=C), Decision("always", 99), strategy=by) == "rules"


def test_tiers_come_before_all_else_if_a_matching_decision_has_one() -> None:
    assert chosen(Decision("first", 1, tier=1, rules=C), Decision("second", 9, tier=2, rules=A)) == "first"
    assert chosen(Decision("untiered", 1, rules=C), Decision("tiered", 9, tier=2, rules=A)) == "untiered"
    assert chosen(Decision("x", 1, rules=C), Decision("y", 9, rules=A), Decision("z", 1, tier=1, rules=B)) == "y"
    assert chosen(Decision("p", 1, tier=1, rules=C), Decision("q", 2, tier=1, rules=A)) == "q"


def test_negative_priorities_are_below_the_default() -> None:
    assert chosen(Decision("usual", rules=A), Decision("last", -5, rules=A)) == "usual"


def test_nothing_matches() -> None:
    assert chosen(Decision("d", rules=B)) is None
    assert select(Recipe(), SIGNALS) is None


def test_unselectable_decisions_are_passed_over_even_if_they_would_match() -> None:
    foreign = Decision("foreign", 9, rules=node("NOT", Leaf("domain", "law")), selectable=False)
    assert chosen(foreign, Decision("usual", 1, rules=A)) == "usual"
    assert chosen(foreign) is None
