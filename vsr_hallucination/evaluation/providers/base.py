"""What a provider takes and gives. A failure is ``Unavailable`` with its kind: never an empty answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol

from vsr_hallucination.evaluation.ratelimit import Turn
from vsr_hallucination.evaluation.scoring import TRANSIENT, Kind


class ProviderSetupError(Exception):
    """The provider cannot be set up as asked: settings in conflict, a key missing, a package missing. One line."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: a user message, and a system message for a judge. ``max_tokens`` caps the reply.

    ``turn``: the right to send it; a provider that knows says when it is sent, and waits for another to send another.
    """

    prompt: str
    system: str = ""
    max_tokens: int = 128
    turn: Turn | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer's text, reasoning left out. ``cut``: the token limit ended it."""

    text: str
    cut: bool = False
    warnings: str = ""


class Unavailable(Exception):
    """No answer came. ``detail`` is for people and holds no prompt, answer or key. ``setup``: no request can succeed
    until something is set right (a wrong key, a model that does not exist)."""

    def __init__(
        self,
        kind: Kind,
        detail: str,
        *,
        retry_after: float | None = None,
        setup: bool = False,
        retry: bool | None = None,
    ) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after
        self.setup = setup
        self.retry = kind in TRANSIENT if retry is None else retry
        self.attempts = 1


class Provider(Protocol):
    """One model behind one endpoint. ``notes``: settings the server would not take, for the report."""

    @property
    def notes(self) -> tuple[str, ...]: ...

    async def complete(self, ask: Ask) -> Reply:
        """Raises Unavailable; nothing else but cancellation."""

    async def aclose(self) -> None: ...


_THINK_OPEN = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|constrain\|>\w*\s*)?<\|message\|>")
_MARK = re.compile(r"<\|(?:end|return|call|start)\|>")


def without_reasoning(text: str) -> str | None:
    """The answer in a reply that thinks aloud; None where the thinking never ended, so no answer came.

    Not the filter's rule (``apis.content`` checks all that a client is shown): here the final answer is graded.
    """
    if "<|channel|>" in text:
        finals = list(_FINAL.finditer(text))
        return _MARK.split(text[finals[-1].end() :])[0].strip() if finals else None
    closes = list(_THINK_CLOSE.finditer(text))
    if closes:
        return text[closes[-1].end() :].strip()
    return None if _THINK_OPEN.match(text) else text.strip()
