"""Reading what a judge model replied: an unreadable verdict is an error, never a clean one.

Accepted: JSON alone, in a code fence, or with prose around it. ``{"spans": []}`` with ``finish_reason`` ``stop`` is the
only way to a clean verdict. Span texts must stand verbatim in the answer; one that occurs more than once is marked at
every place (which one was meant cannot be known, and missing the wrong one would read as verified); one that does not
occur is ignored, and if none of several occurs the reply is an error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from vsr_hallucination.detection.deadline import DetectionError
from vsr_hallucination.detection.types import Reason

SPAN_KEYS = ("spans", "hallucinated_spans")
DEFAULT_CONFIDENCE = 0.9  # where the model gives none; a verdict by generation has no probability of its own
MAX_REPLY_SPANS = 500
_MAX_OBJECTS = 200  # opening braces tried in a reply
_MAX_PLACES = 50  # of one span text


@dataclass(frozen=True, slots=True)
class Verdict:
    """Stretches of the answer with their confidence; ``certainty`` is the model's own in its whole verdict."""

    stretches: tuple[tuple[int, int, float], ...]
    certainty: float


def read_completion(body: bytes) -> str:
    """The text of a chat completion. Raises DetectionError for anything but one whole, normally finished message."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        raise _unreadable("the endpoint's reply is not JSON") from None
    if not isinstance(reply, dict):
        raise _unreadable("the endpoint's reply is not a JSON object")
    if reply.get("error"):
        raise _unreadable("the endpoint answered with an error object")
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise _unreadable("the endpoint's reply has no choice")
    finish = choice.get("finish_reason")
    if finish != "stop":
        raise _unreadable(f"the endpoint's verdict did not end normally (finish_reason {str(finish)[:32]})")
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = "".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    if not isinstance(content, str) or not content.strip():
        raise _unreadable("the endpoint's verdict is empty")
    return content


def read_verdict(content: str, answer: str) -> Verdict:
    """The verdict in a message. Raises DetectionError where there is none to be read."""
    found = _verdict_object(content)
    if found is None:
        raise _unreadable("the endpoint's verdict holds no span list")
    key = next(key for key in SPAN_KEYS if isinstance(found.get(key), list))
    items = found[key]
    certainty = _share(found.get("confidence"), DEFAULT_CONFIDENCE)
    if len(items) > MAX_REPLY_SPANS:
        raise _unreadable(f"the endpoint listed more than {MAX_REPLY_SPANS} spans")
    stretches: set[tuple[int, int, float]] = set()
    for item in items:
        text = item.get("text") if isinstance(item, dict) else item
        confidence = _share(item.get("confidence") if isinstance(item, dict) else None, DEFAULT_CONFIDENCE)
        if isinstance(text, str) and text.strip():
            stretches.update((start, end, confidence) for start, end in _places(answer, text.strip()))
    if items and not stretches:
        raise _unreadable("none of the spans the endpoint named stands in the answer")
    return Verdict(tuple(sorted(stretches)), certainty)


def _verdict_object(content: str) -> dict[str, Any] | None:
    """The last JSON object with a span list: what stands before it may be a draft or an example."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] | None = None
    at = 0
    for _ in range(_MAX_OBJECTS):
        at = content.find("{", at)
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(content, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(value, dict) and any(isinstance(value.get(key), list) for key in SPAN_KEYS):
            found = value
        at = end
    return found


def _places(answer: str, text: str) -> list[tuple[int, int]]:
    """Where ``text`` stands in ``answer``; inside a longer number or word only if nowhere else."""
    places: list[tuple[int, int]] = []
    at = answer.find(text)
    while at >= 0 and len(places) < _MAX_PLACES:
        places.append((at, at + len(text)))
        at = answer.find(text, at + len(text))
    whole = [(start, end) for start, end in places if not _inside_word(answer, start, end)]
    return whole or places


def _inside_word(answer: str, start: int, end: int) -> bool:
    before = start > 0 and answer[start - 1].isalnum() and answer[start].isalnum()
    after = end < len(answer) and answer[end].isalnum() and answer[end - 1].isalnum()
    return before or after


def _share(value: object, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        return default
    return float(value)


def _unreadable(message: str) -> DetectionError:
    return DetectionError(Reason.DETECTOR_FAILED, message)
