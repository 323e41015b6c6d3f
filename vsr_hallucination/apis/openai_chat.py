"""OpenAI Chat Completions, as OpenAI, vLLM, SGLang, Azure, Mistral and their gateways speak it.

Request: tool and function messages of all turns are the evidence, and ``documents`` beside them; the prompt is the
last user message. Response: see ``content`` for what counts as the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from vsr_hallucination.apis.base import RequestUnreadable, RequestView, ResponseUnreadable, ResponseView
from vsr_hallucination.apis.choice_stream import INCOMPLETE, ChoiceAssembler, Piece
from vsr_hallucination.apis.content import Unreadable, answer, indices, is_error, notice_edits, texts
from vsr_hallucination.apis.evidence import EvidenceBuilder, part_text
from vsr_hallucination.apis.jsontext import Edit, JsonError, Path, edit, loads

_TOOL_ROLES = ("tool", "function")


class OpenAIChat:
    """Fulfils ``Api`` for ``…/chat/completions``."""

    name = "openai_chat"

    def read_request(self, body: bytes) -> RequestView:
        """Raises ``RequestUnreadable`` where the body is no chat request: the upstream would refuse it as well."""
        request = _object(body)
        messages = request.get("messages")
        if not isinstance(messages, list):
            raise RequestUnreadable("messages is not a list")
        evidence = EvidenceBuilder()
        prompt = ""
        for at, message in enumerate(messages):
            if not isinstance(message, dict):
                raise RequestUnreadable("a message is not an object")
            role, content = message.get("role"), message.get("content")
            if not isinstance(role, str):
                raise RequestUnreadable("a message has no role")
            if role == "user":
                prompt = user_text(content)
            elif role in _TOOL_ROLES:
                source = message.get("tool_call_id" if role == "tool" else "name")
                source_id = source if isinstance(source, str) else None
                evidence.content(content, ("messages", at, "content"), role=role, source_id=source_id)
        evidence.documents(request.get("documents"), ("documents",))
        model = request.get("model")
        return RequestView(
            model=model if isinstance(model, str) else None,
            prompt=prompt,
            grounding=evidence.grounding(),
            stream=request.get("stream") is True,
        )

    def read_response(self, body: bytes) -> ResponseView:
        response = _response(body)
        if is_error(response):
            return ResponseView((), error=True)
        choices = _choices(response)
        if any(choice.get("error") or choice.get("finish_reason") == "error" for choice in choices):
            return ResponseView((), error=True)
        try:
            answers = tuple(
                answer(index, _message_texts(choice, ("choices", at, "message")))
                for at, (index, choice) in enumerate(zip(indices(choices), choices, strict=True))
            )
        except Unreadable as error:
            raise ResponseUnreadable(str(error)) from None
        return ResponseView(answers, incomplete=any(_reason(choice) in INCOMPLETE for choice in choices))

    def assembler(self, limit: int) -> ChoiceAssembler:
        return ChoiceAssembler(limit, _piece, "delta.content")

    def prepend(self, body: bytes, notices: Mapping[int, str]) -> bytes:
        """The body with each notice as ready text before its choice; a choice without text stays as it is.

        Raises ``ResponseUnreadable`` where ``read_response`` does, and for an error object.
        """
        choices = _choices(_response(body))
        edits: list[Edit] = []
        try:
            for at, (index, choice) in enumerate(zip(indices(choices), choices, strict=True)):
                if index in notices:
                    edits += notice_edits(_message_texts(choice, ("choices", at, "message")), notices[index])
            return edit(body, edits)
        except (Unreadable, JsonError) as error:
            raise ResponseUnreadable(str(error)) from None

    def error_body(self, *, message: str, code: str, param: str | None = None) -> bytes:
        return openai_error(message=message, code=code, param=param)


def openai_error(*, message: str, code: str, param: str | None) -> bytes:
    """OpenAI's error object, which all of its APIs share."""
    error = {"message": message, "type": "hallucination_blocked", "param": param, "code": code}
    return json.dumps({"error": error}).encode()


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


def _object(body: bytes) -> dict[object, object]:
    try:
        value = loads(body)
    except JsonError as error:
        raise RequestUnreadable(str(error)) from None
    if not isinstance(value, dict):
        raise RequestUnreadable("the body is not a JSON object")
    return value


def _response(body: bytes) -> dict[object, object]:
    try:
        value = loads(body)
    except JsonError as error:
        raise ResponseUnreadable(str(error)) from None
    if not isinstance(value, dict):
        raise ResponseUnreadable("the body is not a JSON object")
    return value


def _choices(response: dict[object, object]) -> list[dict[object, object]]:
    choices = response.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ResponseUnreadable("choices is not a list of objects")
    return choices


def _reason(choice: dict[object, object]) -> str:
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) else ""


def _message_texts(choice: dict[object, object], path: Path) -> list[tuple[Path, str]]:
    message = choice.get("message")
    if message is None:
        return []
    if not isinstance(message, dict):
        raise Unreadable("a message is not an object")
    return texts(message.get("content"), (*path, "content"))


def _piece(choice: dict[object, object]) -> Piece:
    """The text of one choice of one event: of its delta, else of a whole message."""
    delta = choice.get("delta")
    if delta is None and choice.get("message") is not None:
        return Piece("".join(text for _, text in _message_texts(choice, ())), whole=True)
    if delta is None:
        return Piece("")
    if not isinstance(delta, dict):
        raise Unreadable("a delta is not an object")
    return Piece("".join(text for _, text in texts(delta.get("content"), ())))
