"""What the text of an answer is: shared by all client APIs.

All visible text is the answer, as it stands, in a body as in a stream. That holds for reasoning which a server leaves
inside the content (``<think>…</think>``, ``<|channel|>analysis…``): the client is shown it, marks and all, so it is
checked; offsets are those of the original content. Guessing where such marks begin and end would hide text from the
check whenever the guess is wrong. Reasoning in a field or part of its own (``reasoning_content``, ``thinking``) is not
the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vsr_hallucination.apis.base import Answer, AnswerPart
from vsr_hallucination.apis.evidence import part_text
from vsr_hallucination.apis.jsontext import Edit, Path, Prefix, path_text


class Unreadable(ValueError):
    """A value of a type that holds no place in this API. Caught inside this package."""


def texts(content: object, path: Path) -> list[tuple[Path, str]]:
    """The text parts of an answer's content with the path of each: a string, a list of parts, or nothing.

    Parts of other types (thinking, references, images) are passed over. Raises ``Unreadable`` for other values.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [(path, content)]
    if not isinstance(content, list):
        raise Unreadable("content is neither text nor a list of parts")
    found: list[tuple[Path, str]] = []
    for at, part in enumerate(content):
        text = part_text(part)
        if isinstance(part, str):
            found.append(((*path, at), part))
        elif text is not None:
            found.append(((*path, at, "text"), text))
        elif not isinstance(part, dict):
            raise Unreadable("a content part is neither text nor an object")
    return found


def answer(index: int, parts: Iterable[tuple[Path, str]]) -> Answer:
    """The parts joined without a separator, as clients show them."""
    return joined(index, ((path_text(path), text) for path, text in parts))


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
    """An error object inside a 2xx: OpenAI's, one as a bare string, or vLLM's ``"object": "error"``."""
    return bool(body.get("error")) or body.get("object") == "error" or body.get("type") == "error"


def notice_edits(parts: Sequence[tuple[Path, str]], notice: str) -> list[Edit]:
    """The notice in front of the first text part; nothing where there is no text to put it before."""
    return [Prefix(parts[0][0], notice)] if parts and notice else []
