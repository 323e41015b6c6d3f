"""JSON Schema (draft 2020-12) of the file, from the table of keys: what editors complete and check against.

A scalar may also be a text with a variable in it (``${NAME}``), and a key without a value counts as missing.
"""

from __future__ import annotations

from typing import Any, Final

from vsr_hallucination.config.reference import UNSET, Block, Key, Kind, Reference

Node = dict[str, Any]
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_VARIABLE: Final[Node] = {"type": "string", "pattern": r"\$\{"}
_NULL: Final[Node] = {"type": "null"}
_SCALAR: Final[Node] = {"type": ["string", "number", "boolean"]}
_DURATION: Final = r"^[0-9]+(\.[0-9]+)? ?(ms|s|m|h|d)( ?[0-9]+(\.[0-9]+)? ?(ms|s|m|h|d))*$"
_SIZE: Final = r"^[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|Ki|Mi|Gi|kB|KB|MB|GB)$"
_UNLIMITED: Final = ("unlimited", "none", "never")


def json_schema(table: Reference) -> Node:
    """The schema as plain data."""
    return {
        "$schema": DIALECT,
        "title": "vsr-hallucination configuration",
        **_block(table.blocks[table.root]),
        "patternProperties": {"^x-": True},
        "$defs": {name: _block(block) for name, block in table.blocks.items() if name != table.root},
    }


def _block(block: Block) -> Node:
    properties = {key.name: _key(block, key) for key in block.keys}
    for name in sorted(block.tolerated):
        properties[name] = {"description": "Semantic Router's; not read by this filter."}
    node: Node = {
        "description": block.line,
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": not block.owned,
    }
    required = [key.name for key in block.keys if key.required]
    if required:
        node["required"] = required
    if block.name == "plugin":  # the configuration of other plugins is the router's
        node["if"] = {"properties": {"type": {"const": "hallucination"}}}
        known = {"enum": [key.name for key in block.keys]}
        node["then"] = {"properties": {"configuration": properties["configuration"]}, "propertyNames": known}
        properties["configuration"] = {"description": "The plugin's own settings."}
    return node


def _key(block: Block, key: Key) -> Node:
    node: Node = {"description": f"{key.line} ({key.unit})" if key.unit else key.line}
    default = block.default(key)
    if default is not UNSET and default is not None and not key.block:
        node["default"] = plain(default)
    if key.kind is Kind.ANY:
        return node
    node["anyOf"] = [*_forms(key), _NULL]
    return node


def _forms(key: Key) -> list[Node]:
    below: Node = {"$ref": f"#/$defs/{key.block}"}
    span: Node = {"minimum": key.low, "maximum": key.high} if key.low is not None else {}
    word: Node = {"enum": list(key.words)} if key.words else _SCALAR
    match key.kind:
        case Kind.TEXT:
            return [word, _VARIABLE] if key.words else [_SCALAR]
        case Kind.TEXTS:
            return [{"type": "array", "items": {"anyOf": [word, _VARIABLE, _NULL]}}, word, _VARIABLE]
        case Kind.FLAG:
            return [{"type": "boolean"}, _VARIABLE]
        case Kind.NUMBER:
            return [{"type": "number", **span}, _VARIABLE]
        case Kind.INTEGER:
            return [{"type": "integer", **span}, _VARIABLE]
        case Kind.DURATION:
            words = [{"enum": list(_UNLIMITED)}] if key.name == "max_age" else []
            return [{"type": "number", **span}, {"type": "string", "pattern": _DURATION}, *words, _VARIABLE]
        case Kind.SIZE:
            return [{"type": "integer", **span}, {"type": "string", "pattern": _SIZE}, _VARIABLE]
        case Kind.CHOICE:
            return [word, _VARIABLE]
        case Kind.WORD:
            return [{"enum": [*key.words, *(each.lower() for each in key.words)]}, _VARIABLE]
        case Kind.BLOCK:
            return [below]
        case Kind.BLOCKS:
            return [{"type": "array", "items": below}]
        case Kind.TEXT_OR_BLOCK:
            return [_SCALAR, below]
        case Kind.MAP:
            values: Node = {"anyOf": [word, _VARIABLE, _NULL]} if key.words else _SCALAR
            return [{"type": "object", "additionalProperties": values}]
        case Kind.ANY:
            return []


def plain(value: Any) -> Any:
    """A default as JSON has it."""
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value
