"""Text that stands where an answer stands, in a shape that is not read: such an answer is never called checked.

A client may show any of it, so it counts wherever it is found, inside parts, lists and objects:

- under the names of text (``text``, ``transcript``, ``output_text``, …): any;
- under any other name in a part (block, item, delta) of which nothing is read, ``{"type": "markdown", "markdown": …}``:
  any, but for single words under names that hold none (``id``, ``url``, ``data``, ``signature``, …);
- under any other name beside text that is read: whatever is no single word.

What clients do not show as the answer is exempt: reasoning, citations, token probabilities, tool calls and their
results. A refusal alone is no text (row 7 of the state table); beside text it is text not read.
"""

from __future__ import annotations

import re

Json = dict[object, object]

_NESTED = (dict, list)
_OWN_KEYS = ("text", "transcript", "output_text")
_TEXT_KEYS = frozenset((*_OWN_KEYS, "value", "content", "refusal"))  # in a part, and inside a text object
_NOT_THE_ANSWER = frozenset(
    "annotations citation citations logprobs reference references thinking reasoning reasoning_content "
    "redacted_thinking tool_calls function_call arguments input cache_control metadata provider_specific_fields "
    "extra_content".split()
)
_SILENT_TYPES = frozenset(
    "thinking redacted_thinking reasoning reasoning_text summary summary_text reference references citation citations "
    "tool_use server_tool_use mcp_tool_use function_call tool_call compaction mcp_list_tools mcp_approval_request "
    "mcp_approval_response item_reference container_upload".split()
)
_SILENT_ENDS = ("_call", "_call_output", "_tool_result")
# What these hold is a word to programs: an identifier, an address, a code, encoded bytes.
_WORD_KEYS = frozenset(
    "type object role status phase id ids index name url urls uri href src path data b64_json base64 blob bytes hash "
    "sha256 digest etag signature format detail quality size background voice language lang encoding charset model "
    "code severity level mimetype created created_at finish_reason stop_reason".split()
)
_WORD_ENDS = ("_id", "_ids", "_url", "_urls", "_uri", "_type", "_at", "_data", "_base64", "_signature", "_hash")
_LABEL_KEYS = frozenset(("filename", "file_name", "display_name"))  # of a file: never the answer, whatever it says
_WORD = re.compile(r"[!-~]*+")


def silent(kind: object) -> bool:
    """Whether a part, block or item of this type is known not to be the answer."""
    return isinstance(kind, str) and (kind in _SILENT_TYPES or kind.endswith(_SILENT_ENDS))


def said(value: object, *, inside: bool = True) -> bool:
    """Whether there is text: a string, a list of them, or an object around one.

    ``inside``: ``value`` itself stands under a key of text. One walk without recursion: the depth is the sender's.
    """
    if isinstance(value, str):
        return inside and bool(value.strip())
    return _found([(value, None if inside else "")], unknown=False, named=True)


def says(holder: object, *more: str) -> bool:
    """Whether an object itself has text under ``text``, ``transcript``, ``output_text`` or one of ``more``."""
    return isinstance(holder, dict) and any(said(holder.get(key)) for key in (*_OWN_KEYS, *more))


def tells(holder: Json, read: str = "") -> bool:
    """Whether an object has text anywhere under the names of text; ``read`` is its own key that is read elsewhere."""
    return said(_without(holder, read), inside=False)


def hides(part: Json, read: str = "") -> bool:
    """Whether a part has text anywhere, by any name; ``read`` is its own key that is read elsewhere, if any is."""
    return _found([(_without(part, read), "")], unknown=not read, named=False)


def refuses(part: Json) -> bool:
    return part.get("type") == "refusal" and said(part.get("refusal"))


def _without(part: Json, read: str) -> Json:
    return {key: inner for key, inner in part.items() if key != read} if read else part


def _found(waiting: list[tuple[object, str | None]], *, unknown: bool, named: bool) -> bool:
    """Whether a string in these values is text. Each comes with the key it stands under, None for one of text.

    ``named``: only keys of text count. ``unknown``: nothing beside is read.
    """
    while waiting:
        one, under = waiting.pop()
        if isinstance(one, list):
            for inner in one:
                if isinstance(inner, str):
                    if (under is None or not named) and _counts(inner, under, unknown):
                        return True
                elif inner and isinstance(inner, _NESTED):
                    waiting.append((inner, under))
        elif isinstance(one, dict) and not silent(one.get("type")):
            for key, inner in one.items():
                name = None if key in _TEXT_KEYS else str(key)
                if isinstance(inner, str):
                    if (name is None or not named) and _counts(inner, name, unknown):
                        return True
                elif inner and isinstance(inner, _NESTED) and key not in _NOT_THE_ANSWER:
                    waiting.append((inner, name))
    return False


def _counts(text: str, under: str | None, unknown: bool) -> bool:
    """Whether a string is text, by the key it stands under."""
    if not text.strip():
        return False
    if under is None:
        return True
    if under in _NOT_THE_ANSWER or under in _LABEL_KEYS:
        return False
    if _WORD.fullmatch(text) is None:
        return True
    key = under.lower()
    return unknown and key not in _WORD_KEYS and not key.endswith(_WORD_ENDS) and not key.startswith("encrypted")
