"""Recipes and entrypoints: top-level ``routing`` is the recipe ``default``, ``recipes[]`` adds named ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from vsr_hallucination.config import models, references
from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.evaluable import Evaluable, evaluable
from vsr_hallucination.config.models import Models, System
from vsr_hallucination.config.problems import listed, nearest, words
from vsr_hallucination.config.projections import Projections, fold, read_projections
from vsr_hallucination.config.reach import Foreign, tell_unenforced, tell_unreachable
from vsr_hallucination.config.rules import EVALUATED, Draft, read_decision, read_name
from vsr_hallucination.config.schema import Decision, DecisionSource, Entrypoint, Leaf, Node, Recipe, Strategy
from vsr_hallucination.config.signals import FACT_CHECK_NAMES, Signals, read_signals, repeated

DEFAULT = "default"
_POLICY = frozenset({"signals", "projections", "decisions", "strategy"})
_SHARED = words("modelCards model_bindings candidate_requirements data_policy fallback session_states")
_ROUTING = _POLICY | _SHARED
_RECIPE = _ROUTING | {
    "name",
    "id",
    "version",
    "description",
    "annotations",
    "metadata",
    "routing",
    "hallucination_mitigation",
}
_ENTRYPOINT = words(
    """
    name description model_names models model recipe assignments decisions id revision rules api source
    """
)
_STRATEGIES: Mapping[str, Strategy] = {strategy.value: strategy for strategy in Strategy}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a recipe is read within: the models of ``global``, and the settings that bear on routing."""

    models: Models
    system: System
    strategy: Strategy
    decision_source: DecisionSource


def read_recipes(root: Fields, around: Surroundings) -> tuple[Recipe, ...]:
    """All recipes, ``default`` first."""
    seen: dict[str, Cursor] = {}
    top = root.sub("routing", _ROUTING)
    if _POLICY & top.entries.keys():  # shared model cards alone make no recipe
        seen[DEFAULT] = top.at
    default = _recipe(DEFAULT, top, around, around.models)
    named: list[Recipe] = []
    for entry in root.each("recipes"):
        fields = entry.fields(_RECIPE)
        name = read_name(fields, "a recipe")
        if name is not None and repeated(name, fields.place("name"), seen, "recipe"):
            continue
        body = _body(fields)
        own = models.read_models(fields.get("hallucination_mitigation"), around.system, around.models)
        recipe = _recipe(name or "", body, around, own)
        if name == DEFAULT:
            default = recipe
        elif name is not None:
            named.append(recipe)
    return (default, *named)


def read_entrypoints(root: Fields, recipes: Iterable[Recipe]) -> tuple[Entrypoint, ...]:
    """``entrypoints[]``: which ``model`` names of requests lead to which recipe."""
    names = tuple(dict.fromkeys(recipe.name for recipe in recipes))
    entrypoints: list[Entrypoint] = []
    claimed: dict[str, Cursor] = {}
    for entry in root.each("entrypoints"):
        fields = entry.fields(_ENTRYPOINT)
        keys = [key for key in ("model_names", "models", "model") if key in fields]
        wanted = tuple(word for key in keys for word in fields.texts(key))
        if not wanted:
            fields.place("model_names").error("names no model", "list the model names that lead to the recipe")
        recipe = fields.text("recipe", None)
        if recipe is None:
            if "recipe" not in fields:
                fields.place("recipe").error("is missing", f"name one of: {listed(names)}")
            continue
        if recipe not in names:
            guess = nearest(recipe, names)
            fields.place("recipe").error(
                f"no recipe is named `{recipe[:60]}`",
                f"did you mean `{guess}`?" if guess else f"name one of: {listed(names)}",
            )
            continue
        for word in wanted:
            first = claimed.setdefault(word, entry)
            if first is not entry:
                line, column = first.mark
                entry.error(
                    f"the model `{word[:60]}` leads to a recipe already, at {line}:{column}",
                    "keep it in one entrypoint",
                )
        entrypoints.append(Entrypoint(wanted, recipe))
    return tuple(entrypoints)


def _body(fields: Fields) -> Fields:
    """A recipe's policy: under ``routing``, or beside ``name``; not both."""
    nested = fields.get("routing")
    if nested is None:
        return fields
    for key in sorted(_POLICY & fields.entries.keys()):
        fields.place(key).error("stands beside `routing`, which holds the recipe's policy", "move it into `routing`")
    return nested.fields(_ROUTING)


def _recipe(name: str, body: Fields, around: Surroundings, own: Models) -> Recipe:
    signals = read_signals(body)
    found = read_projections(body)
    references.check_references(found, signals)
    evaluated = evaluable(found, signals)
    drafts: list[Draft] = []
    seen: dict[str, Cursor] = {}
    for entry in body.each("decisions"):
        draft = read_decision(entry)
        if draft is None:
            continue
        if not repeated(draft.decision.name, draft.name_at, seen, "decision"):
            drafts.append(draft)
    checked = [_checked(draft, signals, found, evaluated) for draft in drafts]
    decisions = tuple(decision for decision, _ in checked)
    recipe = Recipe(
        name=name,
        hallucination=signals.hallucination,
        keywords=signals.keywords,
        projections=evaluated.projections,
        decisions=decisions,
        strategy=body.choice("strategy", around.strategy, _STRATEGIES),
        detector=own.detector,
        fact_check=own.fact_check,
        explainer=own.explainer,
    )
    foreign = [why for _, why in checked]
    tell_unreachable(body, signals, list(zip(drafts, foreign, strict=True)), around.decision_source)
    tell_unenforced(name, signals, drafts, decisions, around.decision_source)
    if own.disabled is not None and recipe.needs_models:
        own.disabled.warn(
            f"does not switch the check off: recipe `{name}` declares a rule or enables the plugin, "
            "which provisions the models",
            "remove the rules and plugins to switch it off, or remove this line",
        )
    return recipe


def _checked(draft: Draft, signals: Signals, found: Projections, evaluated: Evaluable) -> tuple[Decision, Foreign]:
    """The decision, marked unselectable where it reads what this filter does not evaluate, and what that is."""
    decision = draft.decision
    told: dict[str, None] = {}
    families: dict[str, None] = {}
    for leaf, at in draft.leaves:
        if not _check_stage(decision.name, leaf, at, signals, found):
            continue
        if not _check_defined(leaf, at, signals, found):
            continue
        if leaf.type == "projection":
            why = tuple(f"`{each}`" for each in evaluated.foreign.get(fold(leaf.name), ()))
            if why:
                told[f"`projection:{leaf.name}` (over {listed(why, 'and')})"] = None
                families |= dict.fromkeys(why)
        elif leaf.type == "keyword" and leaf.name in signals.patterns:
            told[f"`keyword:{leaf.name}` (regular expressions)"] = None
            families["regular expressions"] = None
        elif leaf.type not in EVALUATED:
            told[f"`{leaf.type}`"] = families[f"`{leaf.type}`"] = None
    if not told:
        return replace(decision, rules=_respelt(decision.rules, found)), Foreign()
    return replace(decision, selectable=False), Foreign(tuple(told), tuple(families))


def _respelt(rules: Node | Leaf | None, found: Projections) -> Node | Leaf | None:
    """The tree with outputs of mappings spelt as declared: a condition may differ from them in case."""
    if isinstance(rules, Leaf):
        spelt = found.spelt.get(fold(rules.name)) if rules.type == "projection" else None
        return rules if spelt is None or spelt == rules.name else Leaf(rules.type, spelt)
    if rules is None:
        return None
    inner = (_respelt(condition, found) for condition in rules.conditions)
    return Node(rules.operator, tuple(condition for condition in inner if condition is not None))


def _check_stage(name: str, leaf: Leaf, at: Cursor, signals: Signals, found: Projections) -> bool:
    """False, and an error with the whole chain, where the leaf reads a response-stage rule."""
    if leaf.type == "hallucination":
        chain: list[str] | None = [f"`hallucination:{leaf.name}`"]
    else:
        chain = references.chain_to_rule(found, signals, leaf.name) if leaf.type == "projection" else None
    if chain is None:
        return True
    at.error(
        f"a decision cannot read a hallucination rule, which is observed after the model has answered: "
        f"{' → '.join([f'decision `{name}`', *chain])}",
        "remove the condition; the decision's hallucination plugin acts on what the rule observes",
    )
    return False


def _check_defined(leaf: Leaf, at: Cursor, signals: Signals, found: Projections) -> bool:
    """False, and an error, where the leaf reads something the recipe does not declare."""
    if leaf.type == "keyword":
        names: Collection[str] = signals.keyword_names
        missing = leaf.name not in names
    elif leaf.type == "fact_check":
        names = FACT_CHECK_NAMES
        missing = leaf.name not in names
        if not missing and leaf.name not in signals.fact_check:
            at.error(
                f"reads `fact_check:{leaf.name}`, which the recipe does not declare",
                f"add `- name: {leaf.name}` under signals.fact_check",
            )
            return False
    elif leaf.type == "projection":
        names = tuple(found.spelt.values())
        missing = not found.knows(leaf.name)
        if not missing and fold(leaf.name) not in found.outputs:
            at.error(
                f"reads `projection:{leaf.name[:60]}`, which is no output of a mapping",
                f"name an output: {listed(sorted(names)[:10])}" if names else "declare a mapping over it",
            )
            return False
    else:
        return True
    if missing:
        guess = nearest(leaf.name, sorted(names))
        at.error(
            f"reads `{leaf.type}:{leaf.name[:60]}`, which is not declared",
            f"did you mean `{guess}`?" if guess else "declare it in this recipe, or remove the condition",
        )
    return not missing
