"""What every client API gives the exchange. A new API is one module that fulfils ``Api``; nothing else changes.

All functions are pure: bytes in, immutable values or bytes out, or one of the two errors below; nothing else is raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from vsr_hallucination.detection.types import Grounding

MAX_PASSAGES = 2048  # evidence in more pieces than this is noted as unread, once


class RequestUnreadable(ValueError):
    """The request body is not a request of this API. The message holds no request text."""


class ResponseUnreadable(ValueError):
    """The response body is not a response of this API. The message holds no response text."""


@dataclass(frozen=True, slots=True)
class Supplied:
    """Evidence that came beside the body: a trusted request header's text, or the route's gRPC metadata."""

    text: str
    path: str  # where it stood, as records and pointers name it: ``header:x-context``
    trust: str


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """What counts as evidence beyond tool results and documents. Nothing of it does unless the operator says so.

    ``tags``: sections of prompt text between these tags, in messages of the roles in ``tag_sources`` (``system``,
    which covers ``developer`` and ``instructions``, and ``user``). ``message_names``: whole messages with one of these
    ``name``s. ``fields``: paths of request fields that hold text, documents, or a list of them.
    """

    tags: tuple[str, ...] = ()
    tag_sources: tuple[str, ...] = ("system",)
    message_names: tuple[str, ...] = ()
    fields: tuple[tuple[str | int, ...], ...] = ()
    supplied: tuple[Supplied, ...] = ()
    max_passages: int = MAX_PASSAGES


TOOLS_ONLY = EvidenceOptions()
NO_EVIDENCE = Grounding()


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt of a request that holds several, and the evidence that belongs to it."""

    prompt: str
    grounding: Grounding


@dataclass(frozen=True, slots=True)
class RequestView:
    """What the filter needs of a request: ``prompt`` is all text of the last user message.

    ``grounding`` is all evidence of the request. Completions may ask several prompts at once: ``asked`` then holds each
    with the evidence that is its alone, ``shared`` what belongs to all of them, and ``choices`` (the request's ``n``)
    how many answers each prompt gets in turn.
    """

    model: str | None
    prompt: str
    grounding: Grounding
    stream: bool
    echo: tuple[str, ...] = ()  # completions with ``echo``: the text that choice 0, 1, … repeats in front
    asked: tuple[Asked, ...] = ()
    shared: Grounding = NO_EVIDENCE
    choices: int = 1

    def asked_by(self, index: int) -> Asked:
        """What the choice with this ``index`` answers: its own prompt, with that prompt's evidence.

        A choice beyond what was asked for answers a prompt that nobody can tell: it has no evidence.
        """
        if not self.asked:
            return Asked(self.prompt, self.grounding)
        at = index // self.choices
        if at >= len(self.asked):
            return Asked(self.prompt, NO_EVIDENCE)
        own, shared = self.asked[at], self.shared
        passages = (*own.grounding.passages, *shared.passages)
        unread = (*own.grounding.unread, *shared.unread)
        return Asked(own.prompt, Grounding(passages, unread, own.grounding.heard | shared.heard))


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """Where one text part of an answer stands: ``answer.text[start:end]`` is the string at JSON path ``path``."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of one choice: its text parts joined. ``index`` is the choice's own ``index``, not its position.

    ``text[:skip]`` is the echoed prompt: not the model's words, not to be checked. Offsets count from the whole text.
    ``first`` are the steps to its first text part, where a notice goes; empty where it has no text, and in streams.
    """

    index: int
    text: str
    parts: tuple[AnswerPart, ...] = ()
    skip: int = 0
    first: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseView:
    """``error``: the body is an error inside a 2xx instead of an answer (row 1 of the state table); text beside one is
    an answer all the same. ``incomplete``: cut short, by a limit or by an error behind the text.
    """

    answers: tuple[Answer, ...]
    error: bool = False
    incomplete: bool = False


def without_echo(view: ResponseView, request: RequestView) -> ResponseView:
    """The view with ``skip`` set where an answer begins with the prompt it was asked to repeat."""
    if not request.echo:
        return view
    answers = tuple(_skipping(answer, request.echo) for answer in view.answers)
    return replace(view, answers=answers)


def _skipping(answer: Answer, echo: tuple[str, ...]) -> Answer:
    prompt = echo[answer.index] if answer.index < len(echo) else ""
    return replace(answer, skip=len(prompt)) if answer.text.startswith(prompt) else answer


class StreamAssembler(Protocol):
    """Reads an event stream on the side. Fed the (decoded) bytes in any chunking; never raises."""

    def feed(self, data: bytes) -> None: ...

    def end(self) -> None:
        """The byte stream has ended: what an unfinished last event holds is read."""

    @property
    def terminal(self) -> bool:
        """A terminal event has been seen ([DONE], or every started choice finished and the stream ended)."""

    @property
    def finished_choices(self) -> bool:
        """Every answer that began is finished: a stream that now idles may be checked without its terminal event."""

    @property
    def failed(self) -> bool:
        """An error event was seen: row 1, no observation."""

    @property
    def too_large(self) -> bool:
        """The assembled text went over the limit: the answer cannot be checked."""

    @property
    def unreadable(self) -> bool:
        """Something that should be an event of this API could not be read: never clean."""

    def view(self) -> ResponseView: ...


@runtime_checkable
class Api(Protocol):
    """One client API."""

    @property
    def name(self) -> str: ...

    def read_request(self, body: bytes, options: EvidenceOptions = ...) -> RequestView: ...

    def read_response(self, body: bytes) -> ResponseView: ...

    def assembler(self, limit: int) -> StreamAssembler: ...

    def prepend(self, body: bytes, notices: Mapping[int, str], view: ResponseView | None = None) -> bytes:
        """Put a notice in front of the first text part of each named choice (by ``index``) that has text; all other
        bytes stay, but for citation offsets into that text, which move with it.

        ``view``: what ``read_response`` said of this body, so that it is not read again.
        """

    def error_body(self, *, message: str, code: str, param: str | None = None) -> bytes:
        """An error object of this API, JSON, UTF-8 (content type application/json)."""
