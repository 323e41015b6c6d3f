"""Reading what a judge model replied: an unreadable verdict is an error, never a clean one.

Accepted: JSON alone, in a code fence, or with prose around it. ``{"spans": []}`` with ``finish_reason`` ``stop`` is the
only way to a clean verdict, and only where nothing else in the reply speaks against it: all span lists of all its
objects count together (a draft that named a span cannot be told from a verdict that did), and a model that gives an
empty list less than ``_LEAST_CERTAIN`` has none. Span texts must stand verbatim in the answer; one that occurs more
than once is marked at every place (which one was meant cannot be known, and missing the wrong one would read as
verified); one that does not occur is *lost*: beside spans that are found it may be ignored, else the reply is an error.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from vsr_hallucination.detection.deadline import DetectionError
from vsr_hallucination.detection.types import Reason

SPAN_KEYS = ("spans", "hallucinated_spans")
DEFAULT_CONFIDENCE = 0.9  # where the model gives none; a verdict by generation has no probability of its own
MAX_REPLY_SPANS = 500
_MAX_OBJECTS = 200  # opening braces tried in a reply
_MAX_PLACES = 50  # of one span text
_SPANS_KEY = re.compile(r"""["'](?:hallucinated_)?spans["']\s*:""", re.IGNORECASE)
_LEAST_CERTAIN = 0.5  # confidence in an empty list


@dataclass(frozen=True, slots=True)
class Verdict:
    """Stretches of the answer with their confidence; ``certainty`` is the model's own in its whole verdict;
    ``lost`` is the highest confidence of a span that is not in the answer, 0 where there is none."""

    stretches: tuple[tuple[int, int, float], ...]
    certainty: float
    lost: float = 0.0


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
    found = _verdict_objects(content)
    if not found:
        raise _unreadable("the endpoint's verdict holds no span list")
    items = [item for _, listed in found for item in listed]
    if len(items) > MAX_REPLY_SPANS:
        raise _unreadable(f"the endpoint listed more than {MAX_REPLY_SPANS} spans")
    stretches: set[tuple[int, int, float]] = set()
    lost = 0.0
    for item in items:
        text = item.get("text") if isinstance(item, dict) else item
        confidence = _share(item.get("confidence") if isinstance(item, dict) else None, DEFAULT_CONFIDENCE)
        # Punctuation alone stands everywhere and says nothing.
        tells = isinstance(text, str) and any(map(str.isalnum, text))
        places = _places(answer, str(text).strip()) if tells else []
        stretches.update((start, end, confidence) for start, end in places)
        lost = lost if places else max(lost, confidence)
    if items and not stretches:
        raise _unreadable("none of the spans the endpoint named stands in the answer")
    return Verdict(tuple(sorted(stretches)), _certainty([given for given, _ in found], clean=not items), lost)


def _certainty(given: list[object], *, clean: bool) -> float:
    """The lowest confidence that the verdict's objects name. A clean one must name none, or one that holds."""
    least = min(_share(value, 0.0 if clean else DEFAULT_CONFIDENCE) for value in given)
    if clean and least < _LEAST_CERTAIN:
        raise _unreadable("the endpoint named no span and no confidence in that")
    return least


def _verdict_objects(content: str) -> list[tuple[object, list[Any]]]:
    """Confidence and spans of every JSON object with a span list, at whatever depth."""
    found: list[tuple[object, list[Any]]] = []
    open_lists = keys = 0

    def seen(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # Pairs, not a mapping: a key given twice must not hide its first list.
        nonlocal open_lists, keys
        keys += sum(key in SPAN_KEYS for key, _ in pairs)
        named = [value for key, value in pairs if key in SPAN_KEYS and value is not None]
        if any(not isinstance(value, list) for value in named):
            open_lists += 1
        elif named:
            confidence = dict(pairs).get("confidence")
            listed = [item for value in named for item in value]
            found.append((DEFAULT_CONFIDENCE if confidence is None else confidence, listed))
        return dict(pairs)

    decoder = json.JSONDecoder(object_pairs_hook=seen)
    at = 0
    for _ in range(_MAX_OBJECTS):
        at = content.find("{", at)
        if at < 0:
            break
        before, counted = len(found), keys
        try:
            _, at = decoder.raw_decode(content, at)
        except (ValueError, RecursionError):
            # What it holds is met again, brace by brace.
            del found[before:]
            keys = counted
            at += 1
    if open_lists:
        raise _unreadable("the endpoint's verdict has spans that are no list")
    if sum(1 for _ in _SPANS_KEY.finditer(content)) > keys:
        # A draft that is no JSON, or a key spelt another way: what it named is not known, and not nothing.
        raise _unreadable("the endpoint's verdict names spans in a place that cannot be read")
    if at >= 0 and content.find("{", at) >= 0:
        raise _unreadable(f"the endpoint's verdict has more than {_MAX_OBJECTS} objects")
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
