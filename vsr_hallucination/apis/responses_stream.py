"""Event streams of OpenAI Responses, and where a response object keeps its text.

The same text comes up to four times: in deltas, in the ``done`` of its part and of its item, and in the terminal
event's response; each may be missing. What says the same is read once; what says something else is unreadable.
"""

from __future__ import annotations

import re

from vsr_hallucination.apis.base import Answer, ResponseUnreadable
from vsr_hallucination.apis.content import joined, own_index, speak
from vsr_hallucination.apis.event_stream import EventAssembler, Json, TextBuffer
from vsr_hallucination.apis.jsontext import Path
from vsr_hallucination.apis.unread import hides, refuses, said, says, tells

_MAX_PARTS = 65_536
_TEXT_PARTS = ("output_text", "text")
_SILENT_EVENTS = (  # by how their names begin: life cycle, reasoning, tools, citations, sound
    "response.created",
    "response.in_progress",
    "response.queued",
    "response.reasoning",
    "response.mcp_",
    "response.output_text.annotation",
    "response.audio.delta",
    "response.output_audio.delta",
)
_TOOL_EVENT = re.compile(r"response\.[a-z_]+_call[._]")  # what a tool is given, and how far it is


def output_texts(response: Json) -> list[tuple[Path, str]]:
    """The ``output_text`` parts of all message items. Raises ``ResponseUnreadable``, as for text beside them."""
    output = response.get("output")
    if not isinstance(output, list):
        raise ResponseUnreadable("output is not a list of items")
    found: list[tuple[Path, str]] = []
    for at, item in enumerate(output):
        if not isinstance(item, dict):
            raise ResponseUnreadable("an output item is not an object")
        found += _item_texts(item, ("output", at))
    if speak(found) and any(isinstance(item, dict) and refuses_in(item) for item in output):
        raise ResponseUnreadable("a refusal stands beside text")
    told = response.get("output_text")  # the SDK's joined text, which some servers send as a field
    if said(told) and told != "".join(text for _, text in found):
        raise ResponseUnreadable("output_text says something else than the output")
    return found


def refuses_in(item: Json) -> bool:
    content = item.get("content")
    return isinstance(content, list) and any(isinstance(part, dict) and refuses(part) for part in content)


def _item_texts(item: Json, path: Path) -> list[tuple[Path, str]]:
    if item.get("type", "message") != "message":
        if hides(item):
            raise ResponseUnreadable("an item of another type has text")
        return []
    if says(item, "refusal"):
        raise ResponseUnreadable("an item has text beside its content")
    content = item.get("content")
    if content is None:
        return []
    if not isinstance(content, list):
        raise ResponseUnreadable("an item's content is not a list of parts")
    found: list[tuple[Path, str]] = []
    for at, part in enumerate(content):
        if not isinstance(part, dict):
            raise ResponseUnreadable("a content part is not an object")
        is_text = part.get("type") in _TEXT_PARTS
        if not refuses(part) and hides(part, read="text" if is_text else ""):
            raise ResponseUnreadable("a content part has text that is not read")
        if not is_text or part.get("text") is None:
            continue
        if not isinstance(part["text"], str):
            raise ResponseUnreadable("a text part's text is not a string")
        found.append(((*path, "content", at, "text"), part["text"]))
    return found


class ResponsesAssembler(EventAssembler):
    """Text by (output index, content index). Terminal: ``response.completed`` and ``response.incomplete``."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._parts: dict[tuple[int, int], TextBuffer] = {}
        self._whole: list[tuple[Path, str]] = []
        self._cut_short = False
        self._refused = False

    @property
    def unreadable(self) -> bool:
        spoken = self._refused and (any(map(len, self._parts.values())) or speak(self._whole))
        return super().unreadable or spoken

    @property
    def finished_choices(self) -> bool:
        return self._done

    def _answers(self) -> tuple[Answer, ...]:
        if self._whole:
            return (joined(0, ((_path(*_place(path)), text) for path, text in self._whole)),)
        return (joined(0, ((_path(*place), part.text()) for place, part in sorted(self._parts.items()))),)

    def _incomplete(self) -> bool:
        return self._cut_short

    def _carries(self, name: str, body: Json) -> bool:
        kind = body.get("type", name)
        return isinstance(kind, str) and kind.startswith("response.")

    def _owns(self, name: str) -> bool:
        return super()._owns(name) or name.startswith("response.")

    def _read(self, name: str, body: Json) -> None:
        kind = body.get("type", name)
        if kind == "response.output_text.delta":
            self._write_part(body, body.get("delta"), whole=False)
        elif kind == "response.output_text.done":
            self._write_part(body, body.get("text"), whole=True)
        elif kind in ("response.content_part.added", "response.content_part.done"):
            part = body.get("part")
            if isinstance(part, dict):
                self._part(body, part)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._item(body)
        elif kind in ("response.refusal.delta", "response.refusal.done"):
            self._refused = self._refused or says(body, "delta", "refusal")
        elif kind in ("response.completed", "response.incomplete"):
            self._end_of(body.get("response"))
            self._cut_short = self._cut_short or kind == "response.incomplete"
            self._done = True
        elif kind in ("response.failed", "response.cancelled", "response.error"):
            self._failed = True
        elif isinstance(kind, str) and not kind.startswith(_SILENT_EVENTS) and not _TOOL_EVENT.match(kind):
            self._unreadable = self._unreadable or tells(body) or says(body, "delta")

    def _part(self, body: Json, part: Json) -> None:
        is_text = part.get("type") in _TEXT_PARTS
        if refuses(part):
            self._refused = True
        elif hides(part, read="text" if is_text else ""):
            self._unreadable = True
        if is_text:
            self._write_part(body, part.get("text"), whole=True)

    def _write_part(self, body: Json, text: object, *, whole: bool) -> None:
        place = (own_index(body.get("output_index")) or 0, own_index(body.get("content_index")) or 0)
        if text is None:
            return
        if not isinstance(text, str):
            self._unreadable = True
            return
        if place not in self._parts and len(self._parts) >= _MAX_PARTS:
            self._too_large = True
            return
        part = self._parts.setdefault(place, TextBuffer())
        if whole:
            self._merge(part, text)
        else:
            self._write(part, text)

    def _item(self, body: Json) -> None:
        item = body.get("item")
        if not isinstance(item, dict):
            return
        try:
            texts = _item_texts(item, ("output", own_index(body.get("output_index")) or 0))
        except ResponseUnreadable:
            self._unreadable = True
            return
        self._refused = self._refused or refuses_in(item)
        for path, text in texts:
            output, content = _place(path)
            self._write_part({"output_index": output, "content_index": content}, text, whole=True)

    def _end_of(self, response: object) -> None:
        """The terminal response's own text: it fills in what no event said. Its items may be counted another way."""
        if not isinstance(response, dict):
            return
        if response.get("error") and not response.get("output") and not says(response):
            self._failed = True
            return
        self._cut_short = response.get("status") == "incomplete"
        if not response.get("output"):
            told = response.get("output_text")
            before = "".join(part.raw() for _, part in sorted(self._parts.items()))
            self._unreadable = self._unreadable or (said(told) and told != before)
            return
        try:
            texts = output_texts(response)
        except ResponseUnreadable:
            self._unreadable = True
            return
        items = response["output"] if isinstance(response["output"], list) else ()
        self._refused = self._refused or any(isinstance(item, dict) and refuses_in(item) for item in items)
        before = "".join(part.raw() for _, part in sorted(self._parts.items()))
        full = "".join(text for _, text in texts)
        if before.startswith(full):
            return
        if not full.startswith(before):
            self._unreadable = True
        elif len(full) > self._limit:
            self._too_large = True
        else:
            self._whole = texts


def _place(path: Path) -> tuple[int, int]:
    """(output index, content index) of ``("output", i, "content", j, "text")``."""
    return int(path[1]), int(path[3])


def _path(output: int, content: int) -> str:
    return f"$.output[{output}].content[{content}].text"
