"""OpenAI Responses.

Request: outputs of functions, shells, MCP servers and code, and the results of file searches are the evidence; what
the server fetched for itself or keeps (``previous_response_id``) is noted as unread. Response: the text parts of all
message items joined are one answer, as in the SDK's ``output_text``. The notice goes in front of the first text part,
whose citations move with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from vsr_hallucination.apis.base import (
    TOOLS_ONLY,
    EvidenceOptions,
    RequestUnreadable,
    RequestView,
    ResponseView,
)
from vsr_hallucination.apis.content import (
    answer,
    edited,
    is_error,
    moved_annotations,
    openai_error,
    request_object,
    response_object,
    user_text,
)
from vsr_hallucination.apis.event_stream import EventAssembler, Json
from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.apis.jsontext import Path, Prefix, Rewrite, quote
from vsr_hallucination.apis.responses_stream import ResponsesAssembler, output_texts
from vsr_hallucination.apis.unread import says

_FAILED = ("failed", "cancelled")
_PROMPT_ROLES = ("user", "system", "developer")
_REFERENCES = ("previous_response_id", "conversation", "prompt")  # what the server keeps may hold evidence


class OpenAIResponses:
    """Fulfils ``Api`` for ``/v1/responses``."""

    name = "openai_responses"

    def read_request(self, body: bytes, options: EvidenceOptions = TOOLS_ONLY) -> RequestView:
        """Raises ``RequestUnreadable`` where the body is no request of this API."""
        request = request_object(body)
        given = request.get("input")
        evidence = EvidenceBuilder(options)
        prompt = ""
        evidence.prompted(request.get("instructions"), ("instructions",), role="system")
        if isinstance(given, str):
            prompt = given
            evidence.prompted(given, ("input",), role="user")
        elif isinstance(given, list):
            for at, item in enumerate(given):
                if not isinstance(item, dict):
                    raise RequestUnreadable("an input item is not an object")
                role = item.get("role")
                if role == "user":
                    prompt = user_text(item.get("content"))
                if isinstance(role, str) and role in _PROMPT_ROLES:
                    evidence.prompted(item.get("content"), ("input", at, "content"), role=role)
                else:
                    _item(evidence, item, ("input", at))
        elif given is not None:
            raise RequestUnreadable("input is neither text nor a list of items")
        evidence.beside(request)
        for key in _REFERENCES:
            if request.get(key):
                evidence.unread((key,), "reference")
        model = request.get("model")
        return RequestView(
            model=model if isinstance(model, str) else None,
            prompt=prompt,
            grounding=evidence.grounding(),
            stream=request.get("stream") is True,
        )

    def read_response(self, body: bytes) -> ResponseView:
        """Raises ``ResponseUnreadable`` where the body is no response of this API."""
        response = response_object(body)
        status = response.get("status")
        failed = is_error(response) or status in _FAILED
        if failed and response.get("output") is None and not says(response):
            return ResponseView((), error=True)
        found = answer(0, output_texts(response))
        if failed and not found.text:
            return ResponseView((), error=True)
        return ResponseView((found,), incomplete=status == "incomplete" or status in _FAILED)

    def assembler(self, limit: int) -> EventAssembler:
        return ResponsesAssembler(limit)

    def prepend(self, body: bytes, notices: Mapping[int, str], view: ResponseView | None = None) -> bytes:
        """The body with the notice before its first text part; one without text stays as it is."""
        answers = (view or self.read_response(body)).answers
        notice = notices.get(0, "")
        if not answers or not answers[0].first or not notice:
            return body
        first = answers[0].first
        joined = Rewrite(("output_text",), lambda token: _noticed(token, notice))
        moved = moved_annotations((*first[:-1], "annotations"), len(notice))
        return edited(body, [Prefix(first, notice), moved, joined])

    def error_body(self, *, message: str, code: str, param: str | None = None) -> bytes:
        return openai_error(message=message, code=code, param=param)


def _noticed(token: str, notice: str) -> str:
    """The SDK's joined text, which some servers send as a field: it begins with the notice as well."""
    return f'"{quote(notice)}{token[1:]}' if token.startswith('"') and token != '""' else token


def _item(evidence: EvidenceBuilder, item: Json, path: Path) -> None:
    """One input item that is no user message: evidence, or nothing to us."""
    kind = item.get("type")
    call = item.get("call_id", item.get("id"))
    source_id = call if isinstance(call, str) else None
    if not isinstance(kind, str):
        return
    if kind == "computer_call_output":
        evidence.unread((*path, "output"), "image")
    elif kind == "shell_call_output":
        _each(evidence, item, path, "output", ("stdout",), source_id)
    elif kind.endswith("_output"):
        evidence.content(item.get("output"), (*path, "output"), role="tool", source_id=source_id)
    elif kind == "mcp_call":
        if item.get("error"):
            evidence.unread((*path, "error"), "error")
        else:
            evidence.content(item.get("output"), (*path, "output"), role="tool", source_id=source_id)
    elif kind == "file_search_call":
        _each(evidence, item, path, "results", ("text",), source_id, trust="document")
    elif kind == "code_interpreter_call":
        _each(evidence, item, path, "outputs", ("logs",), source_id)
    elif kind == "web_search_call":
        evidence.unread(path, "search")  # the pages stay with the provider
    elif kind == "item_reference":
        evidence.unread(path, "reference")


def _each(
    evidence: EvidenceBuilder,
    item: Json,
    path: Path,
    key: str,
    fields: tuple[str, ...],
    source_id: str | None,
    trust: str = "tool",
) -> None:
    """A list of objects whose ``fields`` are text; those without are noted as unread."""
    results = item.get(key)
    if results is None:
        return
    if not isinstance(results, list):
        evidence.content(results, (*path, key), role="tool", source_id=source_id, trust=trust)
        return
    for at, result in enumerate(results):
        texts = [(name, result.get(name)) for name in fields] if isinstance(result, dict) else []
        for name, text in texts:
            if isinstance(text, str):
                title = result.get("filename")
                lead = title if isinstance(title, str) else ""
                inside: Path = (*path, key, at, name)
                evidence.text(text, inside, role="tool", source_id=source_id, trust=trust, lead=lead)
        if not any(isinstance(text, str) for _, text in texts):
            kind = result.get("type") if isinstance(result, dict) else None
            evidence.unread((*path, key, at), "image" if kind == "image" else "unknown")
