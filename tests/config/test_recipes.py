"""Recipes, entrypoints, and the checks across their parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from vsr_hallucination.config import ConfigError, load, loads
from vsr_hallucination.config.schema import Entrypoint, Strategy

FOLDER = Path(__file__).parents[1] / "configs"
FOREIGN = """
routing:
  signals: {hallucination: [{name: a}], domains: [{name: law}]}
  decisions:
    - {name: legal, rules: {type: domain, name: law}, plugins: [{type: hallucination, configuration: {enabled: true}}]}
"""


def test_recipes_are_scoped() -> None:
    made = load(FOLDER / "valid" / "recipes_and_entrypoints.yaml").config
    default, strict, loose = made.recipes
    assert [recipe.name for recipe in made.recipes] == ["default", "strict", "loose"]
    assert [[rule.name for rule in recipe.hallucination] for recipe in made.recipes] == [["a"], ["a"], ["b"]]
    assert (default.needs_explainer, strict.needs_explainer) == (False, True)
    assert (default.strategy, strict.strategy) == (Strategy.PRIORITY, Strategy.CONFIDENCE)
    assert (strict.detector.threshold, loose.detector.threshold) == (None, 0.95)


def test_entrypoints_lead_models_to_recipes() -> None:
    made = load(FOLDER / "valid" / "recipes_and_entrypoints.yaml").config
    assert made.entrypoints[0] == Entrypoint(("acme/strict", "acme/careful"), "strict")
    found = [made.recipe_for_model(m).name for m in ("acme/careful", "acme/loose", "acme/usual", "other", None)]
    assert found == ["strict", "loose", "default", "default", "default"]


def test_a_default_recipe_may_stand_in_the_list_where_top_level_routing_sets_no_policy() -> None:
    recipes = "recipes: [{name: r}, {name: default, signals: {hallucination: [{name: a}]}}]\n"
    for text in (recipes, recipes + "routing: {modelCards: [{name: m}]}"):
        made = loads(text).config
        assert [(r.name, len(r.hallucination)) for r in made.recipes] == [("default", 1), ("r", 0)]


def test_names_resolve_inside_their_own_recipe() -> None:
    text = """
routing: {signals: {hallucination: [{name: a}], keywords: [{name: k, keywords: [x]}]}}
recipes: [{name: r, decisions: [{name: d, rules: {type: keyword, name: k}}]}]
"""
    with pytest.raises(ConfigError, match="keyword:k`, which is not declared"):
        loads(text)


def test_the_routers_own_strategy_is_the_default_for_recipes() -> None:
    text = "routing: {signals: {hallucination: [{name: a}]}}\nglobal: {router: {strategy: confidence}}"
    assert loads(text).config.recipes[0].strategy is Strategy.CONFIDENCE


def test_decisions_over_foreign_families_are_never_selected_and_told() -> None:
    loaded = loads(FOREIGN)
    assert [d.selectable for d in loaded.config.recipes[0].decisions] == [False]
    unenforced, never = loaded.warnings
    assert "`domain`" in never.message and "can be selected here" in unenforced.message


@pytest.mark.parametrize("source", ["route", "upstream"])
def test_no_word_of_it_where_decisions_come_from_elsewhere(source: str) -> None:
    loaded = loads(FOREIGN + f"filter: {{decision_source: {source}}}")
    assert loaded.warnings == () and not loaded.config.recipes[0].decisions[0].selectable


def test_the_compatibility_path_is_an_enabled_plugin_without_rules() -> None:
    recipe = load(FOLDER / "warning" / "plugin_without_rule.yaml").config.recipes[0]
    assert recipe.hallucination == () and recipe.needs_models and recipe.needs_explainer


def test_a_long_chain_of_scores_is_followed_to_its_end() -> None:
    count = 3000
    scores = "".join(
        f"      - {{name: s{i}, inputs: [{{type: projection, name: s{i + 1}, weight: 1}}]}}\n" for i in range(count)
    )
    text = f"""
routing:
  signals: {{hallucination: [{{name: deep}}]}}
  projections:
    scores:
{scores}      - {{name: s{count}, inputs: [{{type: hallucination, name: deep, weight: 1}}]}}
    mappings: [{{name: m, source: s0, outputs: [{{name: out, gte: 0.5}}]}}]
  decisions: [{{name: d, rules: {{type: projection, name: out}}}}]
"""
    with pytest.raises(ConfigError) as caught:
        loads(text)
    (problem,) = caught.value.errors
    assert problem.message.count(" → ") == count + 4 and "score `s2999`" in problem.message


def test_scores_that_fan_out_are_visited_once() -> None:
    layers = "".join(
        f"      - {{name: s{i}, inputs: [{', '.join([f'{{type: projection, name: s{i + 1}, weight: 1}}'] * 8)}]}}\n"
        for i in range(60)
    )
    text = f"""
routing:
  signals: {{hallucination: [{{name: a}}]}}
  projections:
    scores:
{layers}      - {{name: s60, inputs: [{{type: embedding, name: e, weight: 1}}]}}
    mappings: [{{name: m, source: s0, outputs: [{{name: out, gte: 0.5}}]}}]
  decisions: [{{name: d, rules: {{type: projection, name: out}}}}]
"""
    assert any("`projection:out` (over `embedding`)" in warning.message for warning in loads(text).warnings)
