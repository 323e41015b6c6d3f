"""Text that stands where an answer stands, in a shape that is not read: such an answer is never called checked.

A client may show any of it, so any non-empty text under ``text``, ``transcript`` or ``output_text`` counts, also inside
parts, lists and ``{"value": …}``. What clients do not show as the answer is exempt: reasoning, citations, tool calls
and their results. A refusal alone is no text (row 7 of the state table); beside text it is text not read.
"""

from __future__ import annotations

Json = dict[object, object]

_NESTED = (dict, list)
_OWN_KEYS = ("text", "transcript", "output_text")
_TEXT_KEYS = frozenset((*_OWN_KEYS, "value", "content", "refusal"))  # in a part, and inside a text object
_NOT_THE_ANSWER = frozenset(
    "annotations citation citations logprobs reference references summary thinking reasoning reasoning_content "
    "redacted_thinking tool_calls function_call arguments input".split()
)
_SILENT_TYPES = frozenset(
    "thinking redacted_thinking reasoning reasoning_text summary summary_text reference references citation citations "
    "tool_use server_tool_use mcp_tool_use function_call tool_call compaction mcp_list_tools mcp_approval_request "
    "mcp_approval_response item_reference container_upload".split()
)
_SILENT_ENDS = ("_call", "_call_output", "_tool_result")


def silent(kind: object) -> bool:
    """Whether a part, block or item of this type is known not to be the answer."""
    return isinstance(kind, str) and (kind in _SILENT_TYPES or kind.endswith(_SILENT_ENDS))


def said(value: object, *, inside: bool = True) -> bool:
    """Whether there is text: a string, a list of them, or an object around one.

    ``inside``: ``value`` itself stands under a key of text. One walk without recursion: the depth is the sender's.
    """
    if isinstance(value, str):
        return inside and bool(value.strip())
    text: list[object] = [value] if inside else []  # waiting, under a key of text
    other: list[object] = [] if inside else [value]
    while text or other:
        counts = bool(text)
        one = text.pop() if counts else other.pop()
        if isinstance(one, list):
            for inner in one:
                if isinstance(inner, str):
                    if counts and inner.strip():
                        return True
                elif inner and isinstance(inner, _NESTED):
                    (text if counts else other).append(inner)
        elif isinstance(one, dict) and not silent(one.get("type")):
            for key, inner in one.items():
                if isinstance(inner, str):
                    if key in _TEXT_KEYS and inner.strip():
                        return True
                elif inner and isinstance(inner, _NESTED) and key not in _NOT_THE_ANSWER:
                    (text if key in _TEXT_KEYS else other).append(inner)
    return False


def says(holder: object, *more: str) -> bool:
    """Whether an object itself has text under ``text``, ``transcript``, ``output_text`` or one of ``more``."""
    return isinstance(holder, dict) and any(said(holder.get(key)) for key in (*_OWN_KEYS, *more))


def hides(part: Json, read: str = "") -> bool:
    """Whether a part has text anywhere; ``read`` is its own key that is read elsewhere."""
    return said({key: inner for key, inner in part.items() if key != read} if read else part, inside=False)


def refuses(part: Json) -> bool:
    return part.get("type") == "refusal" and said(part.get("refusal"))
