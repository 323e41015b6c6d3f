"""What a piece of JSON evidence is by its shape: an error, content parts, a record, a short value."""

from __future__ import annotations

from http import HTTPStatus

from vsr_hallucination.apis import jsonnodes as nodes
from vsr_hallucination.apis.originmap import Level

_RECORD_CHARS = 240
_RECORD_MEMBERS = 16
_ITEM_CHARS = 80
# Beside ``error`` these say nothing about the world: the object is an error and no evidence.
_ERROR_COMPANY = frozenset(
    "error error_type error_code errors code status status_code statuscode message success ok type detail details "
    "request_id requestid retry_after param iserror is_error timestamp trace_id hint".split()
)
_PROBLEM_COMPANY = frozenset(("title", "instance", "reason", "path"))
_STATUS_KEYS = ("status", "code", "status_code", "statuscode", "error_code")
_FAILURES = frozenset(str(status.value) for status in HTTPStatus if status.value >= 400)
PART_TYPES = frozenset(("text", "image", "audio", "resource", "resource_link"))


def plain(level: Level, node: nodes.Node) -> str:
    return node.value if isinstance(node, nodes.Text) else level.text[node.start : node.end]


def is_short(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Text):
        return len(node.value) <= _ITEM_CHARS and "\n" not in node.value and node.value.lstrip()[:1] not in ("{", "[")
    return isinstance(node, nodes.Bare)


def is_record(node: nodes.Object) -> bool:
    """A small flat object: its members are single short values."""
    if not node.members or len(node.members) > _RECORD_MEMBERS:
        return False
    return node.end - node.start <= _RECORD_CHARS and all(is_short(value) for _, value in node.members.values())


def is_part(node: nodes.Node) -> bool:
    """A content part as MCP and the chat APIs shape it."""
    if not isinstance(node, nodes.Object):
        return False
    kind = node.text("type")
    if kind == "text":
        text = node.members.get("text")
        return text is not None and isinstance(text[1], nodes.Text)
    if kind in ("image", "audio"):
        return "data" in node.members and "mimeType" in node.members
    return kind in ("resource", "resource_link") and ("resource" in node.members or "uri" in node.members)


def are_parts(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Array) and bool(node.items) and all(is_part(item) for item in node.items)


def _is_http_problem(level: Level, node: nodes.Object) -> bool:
    """A failed request told in JSON: a status of failure with words about it, and nothing else (RFC 9457)."""
    names = {key.lower() for key in node.members}
    if not names <= _ERROR_COMPANY | _PROBLEM_COMPANY or names.isdisjoint(("message", "detail", "title", "reason")):
        return False
    values = (plain(level, value) for key, (_, value) in node.members.items() if key.lower() in _STATUS_KEYS)
    return any(value in _FAILURES for value in values)


def is_error_result(level: Level, node: nodes.Object) -> bool:
    """An MCP error result, or an object that says nothing but that something failed."""
    flag = node.members.get("isError")
    if flag is not None and plain(level, flag[1]) == "true":
        return True
    if _is_http_problem(level, node):
        return True
    error = node.members.get("error")
    if error is None or any(key.lower() not in _ERROR_COMPANY for key in node.members):
        return False
    value = error[1]
    if isinstance(value, nodes.Text | nodes.Bare):
        return plain(level, value) not in ("", "null", "false")
    return not isinstance(value, nodes.Object | nodes.Array) or bool(len(value))
