"""Anthropic Messages.

Request: results of tools (the client's and the provider's own, which stand in assistant turns), documents and search
results are the evidence; encrypted pages are noted as unread. A user message that only carries tool results is no
prompt. Response: all text blocks joined are one answer, since citations cut sentences anywhere; the notice goes into a
block of its own in front of the first text block, so that citations and thinking stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from vsr_hallucination.apis.anthropic_evidence import result_block, supplied_block
from vsr_hallucination.apis.base import (
    TOOLS_ONLY,
    Answer,
    EvidenceOptions,
    RequestUnreadable,
    RequestView,
    ResponseUnreadable,
    ResponseView,
)
from vsr_hallucination.apis.content import (
    INCOMPLETE,
    answer,
    edited,
    is_error,
    joined,
    own_index,
    request_object,
    response_object,
    speak,
    user_text,
)
from vsr_hallucination.apis.event_stream import EventAssembler, Json, TextBuffer
from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.apis.jsontext import Before, Path
from vsr_hallucination.apis.unread import hides, refuses, tells

_MAX_BLOCKS = 65_536
_EVENTS = frozenset(
    (
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    )
)
_SILENT_DELTAS = ("thinking_delta", "signature_delta", "input_json_delta", "citations_delta", "compaction_delta")


class AnthropicMessages:
    """Fulfils ``Api`` for ``/v1/messages``."""

    name = "anthropic_messages"

    def read_request(self, body: bytes, options: EvidenceOptions = TOOLS_ONLY) -> RequestView:
        """Raises ``RequestUnreadable`` where the body is no request of this API."""
        request = request_object(body)
        messages = request.get("messages")
        if not isinstance(messages, list):
            raise RequestUnreadable("messages is not a list")
        evidence = EvidenceBuilder(options)
        prompt = ""
        evidence.prompted(request.get("system"), ("system",), role="system")
        for at, message in enumerate(messages):
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                raise RequestUnreadable("a message is not an object with a role")
            content = message.get("content")
            if message["role"] == "user" and _speaks(content):
                prompt = user_text(content)
            if message["role"] in ("user", "system"):
                evidence.prompted(content, ("messages", at, "content"), role=message["role"])
            if not isinstance(content, list):
                continue
            for place, block in enumerate(content):
                if not isinstance(block, dict):
                    raise RequestUnreadable("a content block is not an object")
                path: Path = ("messages", at, "content", place)
                if not result_block(evidence, block, path) and message["role"] == "user":
                    supplied_block(evidence, block, path)
        evidence.beside(request)
        model = request.get("model")
        return RequestView(
            model=model if isinstance(model, str) else None,
            prompt=prompt,
            grounding=evidence.grounding(),
            stream=request.get("stream") is True,
        )

    def read_response(self, body: bytes) -> ResponseView:
        """Raises ``ResponseUnreadable`` where the body is no message."""
        response = response_object(body)
        if response.get("content") is None and is_error(response):
            return ResponseView((), error=True)
        found = answer(0, _texts(response))
        if is_error(response) and not found.text:
            return ResponseView((), error=True)
        return ResponseView((found,), incomplete=_is_cut(response.get("stop_reason")))

    def assembler(self, limit: int) -> EventAssembler:
        return _Assembler(limit)

    def prepend(self, body: bytes, notices: Mapping[int, str], view: ResponseView | None = None) -> bytes:
        """The body with the notice as a text block before the first one; a message without text stays as it is."""
        answers = (view or self.read_response(body)).answers
        notice = notices.get(0, "")
        if not answers or not answers[0].first or not notice:
            return body
        block = json.dumps({"type": "text", "text": notice}, separators=(",", ":"))
        return edited(body, [Before(answers[0].first[:-1], block)])

    def error_body(self, *, message: str, code: str, param: str | None = None) -> bytes:
        """The error object of this API; ``code`` and ``param`` as in OpenAI's, which clients pass over."""
        error = {"type": "hallucination_blocked", "message": message, "code": code, "param": param}
        return json.dumps({"type": "error", "error": error}).encode()


def _is_cut(reason: object) -> bool:
    return isinstance(reason, str) and reason in INCOMPLETE


def _speaks(content: object) -> bool:
    """Whether a user message says anything of its own: one of tool results alone only answers the model."""
    if not isinstance(content, list):
        return True
    return any(not isinstance(block, dict) or block.get("type") != "tool_result" for block in content)


def _texts(message: Json) -> list[tuple[Path, str]]:
    content = message.get("content")
    if not isinstance(content, list):
        raise ResponseUnreadable("content is not a list of blocks")
    found: list[tuple[Path, str]] = []
    refused = False
    for at, block in enumerate(content):
        if not isinstance(block, dict):
            raise ResponseUnreadable("a content block is not an object")
        is_text = block.get("type") == "text"
        if refuses(block):
            refused = True
        elif hides(block, read="text" if is_text else ""):
            raise ResponseUnreadable("a content block has text that is not read")
        if not is_text:
            continue
        text = block.get("text", "")
        if not isinstance(text, str):
            raise ResponseUnreadable("a text block has no text")
        if "text" in block:
            found.append((("content", at, "text"), text))
    if refused and speak(found):
        raise ResponseUnreadable("a refusal stands beside text")
    return found


class _Assembler(EventAssembler):
    """Text by block. ``message_stop`` is terminal; without it, a stop reason and the end of the bytes are."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._blocks: dict[int, TextBuffer] = {}
        self._reason: str | None = None

    @property
    def finished_choices(self) -> bool:
        return self._reason is not None

    def _answers(self) -> tuple[Answer, ...]:
        blocks = sorted(self._blocks.items())
        return (joined(0, ((f"$.content[{at}].text", block.text()) for at, block in blocks)),)

    def _incomplete(self) -> bool:
        return _is_cut(self._reason)

    def _owns(self, name: str) -> bool:
        return super()._owns(name) or name in _EVENTS

    def _carries(self, name: str, body: Json) -> bool:
        kind = body.get("type", name)
        return isinstance(kind, str) and kind in _EVENTS

    def _read(self, name: str, body: Json) -> None:
        kind = body.get("type", name)
        if kind == "message_start":
            self._start(body.get("message"))
        elif kind == "content_block_start":
            block = body.get("content_block")
            is_text = isinstance(block, dict) and block.get("type") == "text"
            if isinstance(block, dict) and hides(block, read="text" if is_text else ""):
                self._unreadable = True
            if isinstance(block, dict) and is_text:
                self._add(body.get("index"), block.get("text", ""))
        elif kind == "content_block_delta":
            delta = body.get("delta")
            if not isinstance(delta, dict):
                self._unreadable = True
            elif delta.get("type") == "text_delta":
                self._add(body.get("index"), delta.get("text"))
            elif delta.get("type") not in _SILENT_DELTAS and hides(delta):
                self._unreadable = True
        elif kind == "message_delta":
            delta = body.get("delta")
            reason = delta.get("stop_reason") if isinstance(delta, dict) else None
            if isinstance(reason, str):
                self._reason = reason
        elif kind == "message_stop":
            self._done = True
        elif tells(body):
            self._unreadable = True

    def _start(self, message: object) -> None:
        """The message may begin with content, as where a gateway sends a whole one."""
        if not isinstance(message, dict) or not message.get("content"):
            return
        try:
            parts = _texts(message)
        except ResponseUnreadable:
            self._unreadable = True
            return
        for path, text in parts:
            self._add(path[1], text)

    def _add(self, index: object, text: object) -> None:
        number = own_index(index)
        if number is None:
            number = max(self._blocks, default=0)  # without an index it can only be the block at hand
        if text is None:
            text = ""
        if not isinstance(text, str):
            self._unreadable = True
            return
        if number not in self._blocks and len(self._blocks) >= _MAX_BLOCKS:
            self._too_large = True
            return
        self._write(self._blocks.setdefault(number, TextBuffer()), text)
