"""OpenAI Chat Completions, as OpenAI, vLLM, SGLang, Azure, Mistral and their gateways speak it.

Request: tool and function messages of all turns are the evidence, and ``documents`` beside them; the prompt is the
last user message that is no evidence itself. What the provider searches is noted as unread. Response: see ``content``
for what counts as the answer.
"""

from __future__ import annotations

from vsr_hallucination.apis.base import TOOLS_ONLY, EvidenceOptions, RequestUnreadable, RequestView
from vsr_hallucination.apis.choice_body import ChoiceBodies, Json
from vsr_hallucination.apis.choice_stream import ChoiceAssembler, Piece
from vsr_hallucination.apis.content import Unreadable, moved_annotations, request_object, speak, texts, user_text
from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.apis.jsontext import Edit, Path
from vsr_hallucination.apis.unread import refuses, said, says

_TOOL_ROLES = ("tool", "function")
_PROMPT_ROLES = ("user", "system", "developer")
_SEARCHES = ("web_search_options", "data_sources")  # the provider looks things up; the request does not show what


class OpenAIChat(ChoiceBodies):
    """Fulfils ``Api`` for ``…/chat/completions``."""

    name = "openai_chat"

    def read_request(self, body: bytes, options: EvidenceOptions = TOOLS_ONLY) -> RequestView:
        """Raises ``RequestUnreadable`` where the body is no chat request: the upstream would refuse it as well."""
        request = request_object(body)
        messages = request.get("messages")
        if not isinstance(messages, list):
            raise RequestUnreadable("messages is not a list")
        evidence = EvidenceBuilder(options)
        prompt = ""
        for at, message in enumerate(messages):
            if not isinstance(message, dict):
                raise RequestUnreadable("a message is not an object")
            role, content = message.get("role"), message.get("content")
            if not isinstance(role, str):
                raise RequestUnreadable("a message has no role")
            path: Path = ("messages", at)
            if role in _TOOL_ROLES:
                source = message.get("tool_call_id" if role == "tool" else "name")
                source_id = source if isinstance(source, str) else None
                evidence.content(content, (*path, "content"), role=role, source_id=source_id)
            elif not evidence.named(message, path, role=role):
                if role == "user":
                    prompt = user_text(content)
                if role in _PROMPT_ROLES:
                    evidence.prompted(content, (*path, "content"), role=role)
        evidence.documents(request.get("documents"), ("documents",))
        evidence.beside(request)
        for key in _SEARCHES:
            if request.get(key):
                evidence.unread((key,), "search")
        model = request.get("model")
        return RequestView(
            model=model if isinstance(model, str) else None,
            prompt=prompt,
            grounding=evidence.grounding(),
            stream=request.get("stream") is True,
        )

    def assembler(self, limit: int) -> ChoiceAssembler:
        return ChoiceAssembler(limit, _piece, "delta.content")

    def _texts(self, choice: Json, path: Path) -> list[tuple[Path, str]]:
        return _message_texts(choice, path)

    def _moved(self, first: Path, notice: str) -> list[Edit]:
        """A message's annotations count from its content, where that is one string."""
        return [moved_annotations((*first[:-1], "annotations"), len(notice))] if first[-1] == "content" else []


def _message_texts(choice: Json, path: Path) -> list[tuple[Path, str]]:
    """The text of a whole message. Text that stands elsewhere in the choice is not read: ``Unreadable``."""
    if says(choice, "content") or _hides(choice.get("delta"), "content"):
        raise Unreadable("a choice has text beside its message")
    message = choice.get("message")
    if message is None:
        return []
    if not isinstance(message, dict):
        raise Unreadable("a message is not an object")
    found = texts(message.get("content"), (*path, "message", "content"))
    if _hides(message) or (said(message.get("refusal")) and speak(found)):
        raise Unreadable("a message has text beside its content")
    return found


def _hides(holder: object, *more: str) -> bool:
    """Whether a message or delta has text outside of its content, as that of its audio."""
    return isinstance(holder, dict) and (says(holder, *more) or says(holder.get("audio")))


def _piece(choice: Json) -> Piece:
    """The text of one choice of one event: of its delta, else of a whole message."""
    delta = choice.get("delta")
    if delta is None and choice.get("message") is not None:
        message = choice["message"]
        refused = isinstance(message, dict) and said(message.get("refusal"))
        return Piece("".join(text for _, text in _message_texts(choice, ())), whole=True, refused=refused)
    if delta is not None and not isinstance(delta, dict):
        raise Unreadable("a delta is not an object")
    if says(choice, "content") or _hides(delta) or _hides(choice.get("message"), "content"):
        raise Unreadable("a choice has text beside its delta")
    if delta is None:
        return Piece("")
    content = delta.get("content")
    found = texts(content, ())
    parts = content if isinstance(content, list) else ()
    refused = said(delta.get("refusal")) or any(isinstance(part, dict) and refuses(part) for part in parts)
    return Piece("".join(text for _, text in found), refused=refused)
