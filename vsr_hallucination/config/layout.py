"""Files that are something else: a Kubernetes object, a chart's values, the router's layout from before v0.3.

Read as ours, each would load with nothing to check, and say so in a dozen lines about unknown keys. One line says
what the file is, and what to give instead.
"""

from __future__ import annotations

from vsr_hallucination.config import yamltext
from vsr_hallucination.config.cursor import Cursor
from vsr_hallucination.config.hints import spelling
from vsr_hallucination.config.problems import some, words

# Top-level keys of the router's flat layout, which came before `routing` and `global`. Those that we tell to move
# (`hallucination_mitigation`, `decisions`, `strategy`) are answered key by key, besides.
FLAT = words(
    """
    api authz auto_model_name batch_classification bert_model categories classifier complexity_rules
    context_rules default_model default_reasoning_effort dual_classifier embedding_models embedding_rules
    external_models fact_check_rules feedback_detector gpu_config include_config_models_in_list jailbreak_rules
    keyword_rules language_rules latency_rules looper memory modality_rules model_config model_selection
    mom_registry observability pii_rules preference_rules prompt_compression prompt_guard provider_profiles
    ratelimit reasoning_families response_api role_bindings router router_replay semantic_cache tools
    user_feedback_rules vector_store vllm_endpoints
    """
)
_CANONICAL = words("routing recipes entrypoints global")
_OURS = _CANONICAL | words("filter providers listeners")  # a file with one of them is meant for us
# What the router's repository keeps in files of their own, and where it belongs.
_FRAGMENTS = {
    "plugin": "routing.decisions[].plugins[]",
    "plugins": "routing.decisions[].plugins",
    "algorithm": "routing.decisions[].algorithm",
}
_MOST_NAMED = 4


def is_other(root: Cursor, known: frozenset[str]) -> bool:
    """True, and an error noted, where the file is no configuration of this shape at all."""
    entries = root.node.entries if isinstance(root.node, yamltext.Mapping) else {}
    if not entries:
        return False
    if "apiVersion" in entries and "kind" in entries:
        _manifest(root, entries)
        return True
    if "config" in entries and isinstance(entries["config"][1], yamltext.Mapping):
        inner = entries["config"][1].entries
        if _CANONICAL & inner.keys() and not _CANONICAL & entries.keys():
            _child(root, entries, "config").error(
                "holds the router's configuration: these are a Helm chart's values",
                "give what stands below `config` as a file of its own",
            )
            return True
    for key, home in _FRAGMENTS.items():
        if key in entries and not known & entries.keys():
            _child(root, entries, key).error("is a part of a configuration, not a whole one", f"put it under {home}")
            return True
    return _nothing_known(root, entries, known)


def flat_keys(root: Cursor) -> frozenset[str]:
    """Keys of the old flat layout in a file that has none of the new one; an error that names them is noted."""
    entries = root.node.entries if isinstance(root.node, yamltext.Mapping) else {}
    found = [key for key in entries if key in FLAT]
    if not found or _CANONICAL & entries.keys():
        return frozenset()
    named = some([f"`{key}`" for key in found], _MOST_NAMED)
    _child(root, entries, found[0]).error(
        f"the file has the router's flat layout from before v0.3 ({named})",
        "convert it with the router's own `vllm-sr config migrate`, or write `version: v0.3` and `routing`",
    )
    return frozenset(found)


def _manifest(root: Cursor, entries: dict[str, tuple[yamltext.Mark, yamltext.Node]]) -> None:
    kind = getattr(entries["kind"][1], "text", "object")[:40]
    data = entries["data"][1] if "data" in entries else None
    held = (
        [key for key in data.entries if key.endswith((".yaml", ".yml"))] if isinstance(data, yamltext.Mapping) else []
    )
    _child(root, entries, "kind").error(
        f"the file is a Kubernetes object ({kind}), not a configuration",
        f"give the file that it holds: the text under data.{held[0][:60]}"
        if held
        else "give the router's configuration file (version, routing, global), not the object that deploys it",
    )


def _nothing_known(
    root: Cursor, entries: dict[str, tuple[yamltext.Mark, yamltext.Node]], known: frozenset[str]
) -> bool:
    if _OURS & entries.keys():
        return False
    keys = [key for key in entries if key != "version"]  # many kinds of file have a version
    others = [
        key
        for key in keys
        if key not in known and key not in FLAT and not key.startswith("x-") and spelling(key, known) is None
    ]
    if 2 * len(others) <= len(keys):
        return False  # some are misplaced, misspelt or from before, and told so key by key
    named = some([f"`{key[:40]}`" for key in others], _MOST_NAMED)
    root.error(
        f"the keys at the top are not those of a configuration ({named}): this is another kind of file",
        "give a file with `routing`, `recipes`, `global` or `filter`",
    )
    return True


def _child(root: Cursor, entries: dict[str, tuple[yamltext.Mark, yamltext.Node]], key: str) -> Cursor:
    mark, node = entries[key]
    return Cursor(node, key[:60], root.book, mark)
