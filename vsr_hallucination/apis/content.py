"""What the text of an answer is: shared by all client APIs.

All visible text is the answer, as it stands, in a body as in a stream. That holds for reasoning which a server leaves
inside the content (``<think>…</think>``, ``<|channel|>analysis…``): the client is shown it, marks and all, so it is
checked; offsets are those of the original content. Guessing where such marks begin and end would hide text from the
check whenever the guess is wrong. Reasoning in a field or part of its own (``reasoning_content``, ``thinking``) is not
the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vsr_hallucination.apis.base import Answer, AnswerPart, RequestUnreadable, ResponseUnreadable
from vsr_hallucination.apis.evidence import part_text
from vsr_hallucination.apis.jsontext import (
    Edit,
    JsonError,
    Path,
    Replace,
    Rewrite,
    decode,
    edit,
    encode,
    loads,
    path_text,
)
from vsr_hallucination.apis.unread import hides, refuses

# Cut by a limit or a filter: "model_length" is Mistral's word, "max_tokens" Anthropic's and that of several gateways.
INCOMPLETE = frozenset(("length", "max_tokens", "model_length", "content_filter", "model_context_window_exceeded"))


class Unreadable(ValueError):
    """A value of a type that holds no place in this API. Caught inside this package."""


def texts(content: object, path: Path) -> list[tuple[Path, str]]:
    """The text parts of an answer's content with the path of each: a string, a list of parts, or nothing.

    Parts of other types (thinking, references, images) are passed over, unless they hold text that a client may show
    (see ``unread``). Raises ``Unreadable`` for those and for other values.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [(path, content)]
    if not isinstance(content, list):
        raise Unreadable("content is neither text nor a list of parts")
    found: list[tuple[Path, str]] = []
    refused = False
    for at, part in enumerate(content):
        text = part_text(part)
        if isinstance(part, dict):
            if refuses(part):
                refused = True
            elif hides(part, read="" if text is None else "text"):
                raise Unreadable("a content part has text that is not read")
        if isinstance(part, str):
            found.append(((*path, at), part))
        elif text is not None:
            found.append(((*path, at, "text"), text))
        elif not isinstance(part, dict):
            raise Unreadable("a content part is neither text nor an object")
    if refused and speak(found):
        raise Unreadable("a refusal stands beside text")
    return found


def speak(parts: Iterable[tuple[Path, str]]) -> bool:
    """Whether any of the parts has text."""
    return any(text for _, text in parts)


def answer(index: int, parts: Sequence[tuple[Path, str]]) -> Answer:
    """The parts joined without a separator, as clients show them."""
    found = joined(index, ((path_text(path), text) for path, text in parts))
    return replace(found, first=parts[0][0]) if found.text else found


def joined(index: int, parts: Iterable[tuple[str, str]]) -> Answer:
    places: list[AnswerPart] = []
    out: list[str] = []
    size = 0
    for path, text in parts:
        places.append(AnswerPart(path, size, size + len(text)))
        out.append(text)
        size += len(text)
    return Answer(index, "".join(out), tuple(places))


def own_index(value: object) -> int | None:
    """A choice's own ``index``; None where it is missing or no index."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def indices(choices: Sequence[object]) -> list[int]:
    """The index of each choice of a body: its own, else its position. Where two are the same, positions for all."""
    found = [own_index(choice.get("index")) if isinstance(choice, dict) else None for choice in choices]
    resolved = [at if index is None else index for at, index in enumerate(found)]
    return resolved if len(set(resolved)) == len(resolved) else list(range(len(resolved)))


def is_error(body: dict[object, object]) -> bool:
    """An error object inside a 2xx: OpenAI's, one as a bare string, or vLLM's ``"object": "error"``.

    It counts instead of an answer only: text that reaches the client is checked, whatever stands beside it.
    """
    return bool(body.get("error")) or body.get("object") == "error" or body.get("type") == "error"


def edited(body: bytes, edits: Sequence[Edit]) -> bytes:
    """``edit``, with the error that this package's callers know."""
    try:
        return edit(body, edits)
    except JsonError as error:
        raise ResponseUnreadable(str(error)) from None


def moved_annotations(path: Path, by: int) -> Rewrite:
    """OpenAI's citations count characters of the text they belong to: the list of them at ``path`` moves with it.

    The fields stand in the annotation or in an object named after its type; a ``file_path``'s index is no place.
    """
    return Rewrite(path, lambda token: _moved(token, by))


def _moved(token: str, by: int) -> str:
    annotations = loads(token)
    edits: list[Edit] = []
    for at, annotation in enumerate(annotations if isinstance(annotations, list) else ()):
        if not isinstance(annotation, dict) or annotation.get("type") == "file_path":
            continue
        kind = annotation.get("type")
        inner = annotation.get(kind) if isinstance(kind, str) else None
        holder, where = (inner, (at, str(kind))) if isinstance(inner, dict) else (annotation, (at,))
        for key in ("start_index", "end_index", "index"):
            place = own_index(holder.get(key))
            if place is not None:
                edits.append(Replace((*where, key), str(place + by)))
    return decode(edit(encode(token), edits)) if edits else token


def request_object(body: bytes) -> dict[object, object]:
    try:
        value = loads(body)
    except JsonError as error:
        raise RequestUnreadable(str(error)) from None
    if not isinstance(value, dict):
        raise RequestUnreadable("the body is not a JSON object")
    return value


def response_object(body: bytes) -> dict[object, object]:
    try:
        value = loads(body)
    except JsonError as error:
        raise ResponseUnreadable(str(error)) from None
    if not isinstance(value, dict):
        raise ResponseUnreadable("the body is not a JSON object")
    return value


def user_text(content: object) -> str:
    """The text of a user message, its parts on lines of their own; images and files say nothing here."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RequestUnreadable("a user message's content is neither text nor a list of parts")
    found = (part if isinstance(part, str) else part_text(part) for part in content)
    return "\n".join(text for text in found if text is not None)


def openai_error(*, message: str, code: str, param: str | None) -> bytes:
    """OpenAI's error object, which all of its APIs share."""
    error = {"message": message, "type": "hallucination_blocked", "param": param, "code": code}
    return json.dumps({"error": error}).encode()
