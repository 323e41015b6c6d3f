"""The table's rows for the file, its recipes and their signals, projections and decisions."""

from __future__ import annotations

from typing import Final

from vsr_hallucination.config import loading, projections, recipes, rules, signals
from vsr_hallucination.config.projection_schema import SLOPE, MappingMethod
from vsr_hallucination.config.reference import (
    Block,
    Key,
    Kind,
    block,
    blocks,
    choice,
    flag,
    integer,
    number,
    router,
    strategy,
    text,
    texts,
)
from vsr_hallucination.config.schema import (
    Action,
    Decision,
    HallucinationPlugin,
    HallucinationRule,
    KeywordRule,
    Operator,
)

_LARGE = 1_000_000_000
_ACTIONS = tuple(each.value for each in Action)
_OPERATORS = tuple(each.value for each in Operator)
_name = text("name", "Its name.", required=True)
_policy = (
    block("signals", "What is observed of request and answer.", "signals"),
    block("projections", "Signals combined.", "projections"),
    blocks("decisions", "Policies, one of which is selected for a request.", "decision"),
    strategy("What counts first among decisions that match."),
)
_description = text("description", "For people.", default="")

ROUTING_BLOCKS: Final = (
    Block(
        "file",
        "The file. Top-level keys that begin with `x-` are free for anchors.",
        (
            text("version", "Version of the file's layout: `v0.3` (or `0.3`); any other is refused.", default="v0.3"),
            block("routing", "The recipe `default`.", "routing"),
            blocks("recipes", "Further routing profiles.", "recipe"),
            blocks("entrypoints", "Which model names of requests lead to which recipe.", "entrypoint"),
            block("global", "What all recipes share; what it leaves out keeps its default.", "global"),
            block("filter", "What is this filter's alone.", "filter"),
        ),
        tolerated=loading._TOP - {"version", "routing", "recipes", "entrypoints", "global", "filter"},
    ),
    router(
        "routing",
        "Signals, projections and decisions of a recipe.",
        recipes._ROUTING,
        _policy,
    ),
    router(
        "recipe",
        "A routing profile of its own: its policy stands under `routing`, or beside `name`.",
        recipes._RECIPE,
        (
            _name,
            block("routing", "The policy.", "routing"),
            *_policy,
            block("hallucination_mitigation", "The recipe's own models, over those of `global`.", "mitigation"),
        ),
    ),
    router(
        "entrypoint",
        "Model names that lead to a recipe.",
        recipes._ENTRYPOINT,
        (
            texts("model_names", "Values of a request's `model`.", default=()),
            texts("models", "The same.", default=()),
            texts("model", "The same.", default=()),
            text("recipe", "The recipe they lead to.", required=True),
        ),
    ),
    router(
        "signals",
        "Families read here; the router's others are tolerated.",
        signals.FAMILY_KEYS,
        (
            blocks("hallucination", "Rules: what is checked of each answer.", "rule"),
            blocks("fact_check", "needs_fact_check and no_fact_check_needed.", "fact_check_signal"),
            blocks("keywords", "Words in the prompt.", "keyword"),
        ),
    ),
    Block(
        "rule",
        "Checks answers against the evidence their request carried.",
        (_name, flag("use_nli", "Label each span with the explainer."), _description),
        owned=True,
        made=HallucinationRule,
    ),
    Block(
        "fact_check_signal",
        "One of the two names.",
        (text("name", "The signal.", words=signals.FACT_CHECK_NAMES, required=True),),
        tolerated=frozenset({"description"}),
    ),
    router(
        "keyword",
        "Matches words as they are written.",
        signals._KEYWORD,
        (
            _name,
            Key("operator", Kind.WORD, "Any, all or none of them.", words=tuple(signals._OPERATORS)),
            texts("keywords", "The words.", required=True),
            flag("case_sensitive", "Whether case counts."),
            text("method", "Methods other than plain words are not evaluated here.", default=""),
            flag("fuzzy_match", "Not evaluated here.", default=False),
        ),
        KeywordRule,
    ),
    Block(
        "projections",
        "Evaluated as far as keywords and the fact-check signal feed them.",
        (
            blocks("partitions", "Of several signals at most one is left.", "partition"),
            blocks("scores", "Weighted sums.", "score"),
            blocks("mappings", "Names for ranges of a score.", "mapping"),
        ),
    ),
    router(
        "partition",
        "Keeps the surest of its members.",
        projections.PARTITION,
        (
            _name,
            choice("semantics", "Its confidence, or its share.", tuple(projections.SEMANTICS), default="exclusive"),
            number("temperature", "Of the softmax; lower is more decisive.", 0, 1000, default=1.0),
            texts("members", "Signals of one family.", default=()),
            text("default", "The member that matches where none does."),
        ),
    ),
    router(
        "score",
        "A weighted sum.",
        projections.SCORE,
        (
            _name,
            text("method", "weighted_sum.", default=projections.WEIGHTED_SUM),
            blocks("inputs", "What is summed.", "input"),
        ),
    ),
    router(
        "input",
        "Adds weight × value.",
        projections.INPUT,
        (
            text("type", "keyword, fact_check or projection.", required=True),
            text("name", "The signal; of type projection an output or a score."),
            number("weight", "May be negative.", -projections.MOST, projections.MOST, default=0.0),
            text("value_source", "binary: match or miss; confidence: the signal's.", default="binary"),
            number("match", "Value of a signal that matches.", -projections.MOST, projections.MOST, default=1.0),
            number("miss", "Value of one that does not.", -projections.MOST, projections.MOST, default=0.0),
        ),
    ),
    router(
        "mapping",
        "Names for ranges of a score.",
        projections.MAPPING,
        (
            _name,
            text("source", "The score.", required=True),
            text("method", ", ".join(each.value for each in MappingMethod) + ".", default="threshold_bands"),
            block("calibration", "Confidence from the distance to the band's edge.", "calibration"),
            integer("top_k", "Outputs at most, for top_k; 0: all.", 0, 1000, default=0),
            blocks("outputs", "The bands.", "output"),
        ),
    ),
    router(
        "calibration",
        "A sigmoid of the distance.",
        projections.CALIBRATION,
        (number("slope", "Its steepness; 0: the default.", 0, 1_000_000, default=SLOPE),),
    ),
    router(
        "output",
        "A band; decisions read it as `type: projection`.",
        projections.OUTPUT,
        (
            _name,
            *(
                number(name, f"The score is {word} this.", -projections.MOST, projections.MOST)
                for name, word in (("gt", "above"), ("gte", "at least"), ("lt", "below"), ("lte", "at most"))
            ),
        ),
    ),
    router(
        "decision",
        "A policy, and which requests it holds for.",
        rules._DECISION,
        (
            _name,
            integer("priority", "Higher wins.", -_LARGE, _LARGE),
            integer("tier", "Lower tiers come first, where any has one.", 0, _LARGE),
            block("rules", "A leaf or a tree; without it the decision always matches.", "tree"),
            blocks("plugins", "What is done; only `hallucination` is read here.", "plugin"),
        ),
        Decision,
    ),
    Block(
        "tree",
        "A leaf (`type`, `name`) or a node (`operator`, `conditions`).",
        (
            Key("operator", Kind.WORD, "Of a node.", words=_OPERATORS, default="AND"),
            blocks("conditions", "Leaves and nodes; NOT takes one.", "tree"),
            text("type", "Of a leaf: keyword, fact_check, projection; others are not evaluated here."),
            text("name", "Of a leaf: the signal."),
        ),
        tolerated=(rules._NODE | rules._LEAF) - {"operator", "conditions", "type", "name"},
    ),
    Block(
        "plugin",
        "One of a decision's plugins.",
        (
            text("type", "hallucination; others are tolerated.", required=True),
            block("configuration", "Of the hallucination plugin.", "plugin_configuration"),
        ),
    ),
    Block(
        "plugin_configuration",
        "What happens to an answer. For plugins of other types this is the router's.",
        (
            flag("enabled", "Whether it acts."),
            choice("hallucination_action", "Where a rule detected something.", _ACTIONS),
            choice("unverified_factual_action", "Where there was nothing to check against.", _ACTIONS),
            flag("include_hallucination_details", "Name the spans in the warning."),
            flag("use_nli", "Only where no rule is declared: label spans with the explainer."),
        ),
        owned=True,
        made=HallucinationPlugin,
    ),
)
