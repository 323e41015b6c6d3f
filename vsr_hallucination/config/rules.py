"""Decisions: their rule trees and their ``hallucination`` plugin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vsr_hallucination.config.cursor import Cursor, Fields, describe
from vsr_hallucination.config.problems import listed, nearest, words
from vsr_hallucination.config.schema import Action, Decision, HallucinationPlugin, Leaf, Node, Operator

EVALUATED = ("keyword", "fact_check")  # families this filter evaluates at the request stage
_OURS = (
    *EVALUATED,
    "projection",
    "hallucination",
)  # a misspelling of these is an error, not a foreign family
FAMILIES = (
    *_OURS,
    "embedding",
    "domain",
    "user_feedback",
    "reask",
    "preference",
    "language",
    "context",
    "structure",
    "complexity",
    "modality",
    "authz",
    "jailbreak",
    "safety",
    "pii",
    "kb",
    "kb_metric",
    "conversation",
    "event",
    "metadata",
    "classifier",
    "input_modality",
    "action",
    "agentic_facts",
    "decision",
    "topic_continuity",
    "session",
    "session_metric",
    "taxonomy",
    "event_context",
    "random",
)  # fmt: skip

ACTIONS: Mapping[str, Action] = {action.value: action for action in Action}
PLUGIN = "hallucination"
_PLUGIN_TYPES = (
    PLUGIN,
    "response_cache",
    "memory",
    "system_prompt",
    "header_mutation",
    "router_replay",
    "rag",
    "fast_response",
    "tools",
    "tool_selection",
    "request_params",
    "response_jailbreak",
    "context_compression",
    "shadow_dispatch",
    "semantic-cache",
    "image_gen",
    "jailbreak",
    "pii",
)  # fmt: skip
_PLUGIN_KEYS = frozenset(
    {
        "enabled",
        "hallucination_action",
        "unverified_factual_action",
        "include_hallucination_details",
        "use_nli",
    }
)
_DECISION = words(
    """
    id name description priority tier rules modelRefs plugins algorithm adaptations annotations
    candidateIterations candidate_requirements emits output_contract output_contract_spec tool_scope
    action modelSelectionAlgorithm
    """
)
_NODE = frozenset({"operator", "conditions", "on_unknown", "on_error"})
_LEAF = frozenset({"type", "name", "label", "predicate", "on_unknown", "on_error"})
_PLUGIN = frozenset({"type", "configuration"})
_LARGE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A decision as read, with the places that cross-checks speak of. ``leaves``: each with its place.

    ``plugin_told``: whether the plugin acts is said, by ``enabled`` in the file or by a warning that it is missing.
    """

    decision: Decision
    at: Cursor
    name_at: Cursor
    leaves: tuple[tuple[Leaf, Cursor], ...]
    plugin_use_nli: Cursor | None
    plugin_at: Cursor | None
    plugin_told: bool


def read_decision(at: Cursor) -> Draft | None:
    """One entry of ``decisions``; None where it has no usable name or rules (an error is noted)."""
    fields = at.fields(_DECISION)
    name = read_name(fields, "a decision")
    plugin, plugin_at, use_nli, told = _plugin(fields)
    leaves: list[tuple[Leaf, Cursor]] = []
    rules_at = fields.get("rules")
    rules = _tree(rules_at, leaves, top=True) if rules_at is not None else None
    decision = Decision(
        name=name or "",
        priority=fields.integer("priority", 0, -_LARGE, _LARGE),
        tier=fields.integer("tier", 0, 0, _LARGE),
        rules=rules,
        plugin=plugin,
    )
    if name is None:
        return None
    return Draft(decision, at, fields.place("name"), tuple(leaves), use_nli, plugin_at, told)


def read_name(fields: Fields, what: str) -> str | None:
    """The ``name`` of an entry. It travels in headers and metrics, so it is one printable line."""
    if "name" not in fields:
        fields.place("name").error(f"{what} has no name", "give it one")
        return None
    name = fields.text("name", None)
    if name is None:
        return None
    if not name.isprintable() or len(name) > 256 or name != name.strip():
        fields.place("name").error("is not one line of at most 256 printable characters", "shorten or clean the name")
        return None
    return name


def leaves_of(rules: Node | Leaf | None) -> Iterator[Leaf]:
    """All leaves of a rule tree."""
    if isinstance(rules, Leaf):
        yield rules
    elif rules is not None:
        for condition in rules.conditions:
            yield from leaves_of(condition)


def _tree(at: Cursor, leaves: list[tuple[Leaf, Cursor]], *, top: bool = False) -> Node | Leaf | None:
    """A rule tree; None at the top for rules that always match: ``{}``, or AND over nothing."""
    if not at.is_mapping:
        at.error(f"is {describe(at.node)}, not a rule", "write `operator` and `conditions`, or `type` and `name`")
        return None
    fields = at.fields(None)
    is_leaf = "type" in fields or ("name" in fields and "conditions" not in fields)
    if is_leaf and ("operator" in fields or "conditions" in fields):
        at.error(
            "is a leaf (`type`, `name`) and a node (`operator`, `conditions`) at once",
            "put the leaf into the node's `conditions`",
        )
        return None
    fields = at.fields(_LEAF if is_leaf else _NODE)
    return _leaf(fields, at, leaves) if is_leaf else _node(fields, at, leaves, top)


def _leaf(fields: Fields, at: Cursor, leaves: list[tuple[Leaf, Cursor]]) -> Leaf | None:
    kind, name = fields.text("type", None), fields.text("name", None)
    if kind is None or name is None:
        for key in ("type", "name"):
            if key not in fields:
                fields.place(key).error("is missing", "a condition needs `type` and `name`")
        return None
    kind = kind.strip().casefold()
    if kind not in FAMILIES and (guess := nearest(kind, FAMILIES)) in _OURS:
        fields.place("type").error(f"`{kind[:60]}` is no signal family", f"did you mean `{guess}`?")
        return None
    leaf = Leaf(kind, name.strip())
    leaves.append((leaf, at))
    return leaf


def _node(fields: Fields, at: Cursor, leaves: list[tuple[Leaf, Cursor]], top: bool) -> Node | None:
    operator = _operator(fields)
    conditions_at = fields.get("conditions")
    children = conditions_at.items() if conditions_at is not None else []
    if conditions_at is not None and not conditions_at.is_list:
        return None
    if operator is Operator.NOT and len(children) != 1:
        at.error(
            f"NOT has {len(children)} conditions and needs exactly one",
            "to exclude several, put them under one OR inside the NOT",
        )
    elif not children and not (top and operator is Operator.AND):
        at.error(f"{operator or 'the operator'} over no conditions", "add conditions, or remove the node")
    conditions = tuple(node for node in (_tree(child, leaves) for child in children) if node is not None)
    # What could not be read is an error already; the tree only has to exist for the checks that follow.
    return Node(operator, conditions) if operator is not None and conditions else None


def _operator(fields: Fields) -> Operator | None:
    """Missing is AND; any case; None, and an error noted, for an unknown word."""
    place = fields.get("operator")
    if place is None:
        return Operator.AND
    word = place.text()
    if word is None:
        return None
    try:
        return Operator(word.strip().upper())
    except ValueError:
        place.error(f"`{word[:60]}` is no operator", f"write {listed([o.value for o in Operator])}")
        return None


def _plugin(fields: Fields) -> tuple[HallucinationPlugin | None, Cursor | None, Cursor | None, bool]:
    """The hallucination plugin, its place, the place of its ``use_nli`` where that is given, and ``plugin_told``."""
    plugin: HallucinationPlugin | None = None
    at: Cursor | None = None
    use_nli: Cursor | None = None
    told = False
    for entry in fields.each("plugins"):
        kind = _kind(entry)
        inner = entry.fields(_PLUGIN, owned=kind == PLUGIN)
        if kind is None:
            if "type" not in inner:
                inner.place("type").error("is missing", f"a plugin needs a type, such as {PLUGIN}")
            continue
        if kind != PLUGIN:
            if nearest(kind, _PLUGIN_TYPES) == PLUGIN:
                inner.place("type").error(f"`{kind[:60]}` is no plugin", f"did you mean `{PLUGIN}`?")
            continue
        if at is not None:
            entry.error("is the decision's second hallucination plugin", "merge the two")
            continue
        at = entry
        settings = inner.sub("configuration", _PLUGIN_KEYS, owned=True)
        use_nli = settings.get("use_nli")
        told = "enabled" in settings or bool(settings.entries)
        if "enabled" not in settings and settings.entries:
            entry.warn("is configured but not enabled: it does nothing", "add `enabled: true` to its configuration")
        plugin = HallucinationPlugin(
            enabled=settings.flag("enabled", False),
            hallucination_action=settings.choice("hallucination_action", Action.HEADER, ACTIONS),
            unverified_factual_action=settings.choice("unverified_factual_action", Action.HEADER, ACTIONS),
            include_hallucination_details=settings.flag("include_hallucination_details", False),
            use_nli=settings.flag("use_nli", False),
        )
    return plugin, at, use_nli, told


def _kind(entry: Cursor) -> str | None:
    """The plugin's type; None, and an error noted, where it has none that can be read."""
    return entry.fields(None).text("type", None) if entry.is_mapping else None
