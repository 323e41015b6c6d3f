"""OpenAI Completions (the API before chat), as vLLM and llama.cpp still serve it.

The request carries no tool results; ``documents`` beside the prompt is its evidence, and tagged sections of the prompt
where the operator says so. Of a list of prompts each choice meets its own. A prompt of token ids cannot be read and is
noted as unread. With ``echo`` each answer repeats its prompt in front: ``RequestView.echo`` says which
texts may stand there, and ``without_echo`` marks them as not the model's.
"""

from __future__ import annotations

from vsr_hallucination.apis.base import TOOLS_ONLY, Asked, EvidenceOptions, RequestUnreadable, RequestView
from vsr_hallucination.apis.choice_body import ChoiceBodies, Json
from vsr_hallucination.apis.choice_stream import ChoiceAssembler, Piece
from vsr_hallucination.apis.content import Unreadable, own_index, request_object
from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.apis.jsontext import Path
from vsr_hallucination.apis.unread import tells
from vsr_hallucination.detection.types import Grounding


class OpenAICompletions(ChoiceBodies):
    """Fulfils ``Api`` for ``…/completions``."""

    name = "openai_completions"

    def read_request(self, body: bytes, options: EvidenceOptions = TOOLS_ONLY) -> RequestView:
        """Raises ``RequestUnreadable`` where the prompt is neither text nor token ids, nor a list of those."""
        request = request_object(body)
        evidence = EvidenceBuilder(options)
        prompts, asked = _prompts(request.get("prompt"), evidence)
        shared = evidence.mark()
        evidence.documents(request.get("documents"), ("documents",))
        evidence.beside(request)
        model = request.get("model")
        return RequestView(
            model=model if isinstance(model, str) else None,
            prompt="\n".join(prompt for prompt in prompts if prompt is not None),
            grounding=evidence.grounding(),
            stream=request.get("stream") is True,
            echo=_echoes(prompts, request) if request.get("echo") is True else (),
            asked=asked,
            shared=evidence.grounding(shared) if asked else Grounding(),
            choices=own_index(request.get("n")) or 1,
        )

    def assembler(self, limit: int) -> ChoiceAssembler:
        return ChoiceAssembler(limit, _piece, "text")

    def _texts(self, choice: Json, path: Path) -> list[tuple[Path, str]]:
        text = _text(choice)
        return [] if text is None else [((*path, "text"), text)]


def _text(choice: Json) -> str | None:
    """A choice's text; text in the shapes of chat beside it is not read: ``Unreadable``."""
    text = choice.get("text")
    if text is not None and not isinstance(text, str):
        raise Unreadable("a choice's text is not a string")
    if tells(choice, read="text"):
        raise Unreadable("a choice has text beside its own")
    return text


def _piece(choice: Json) -> Piece:
    return Piece(_text(choice) or "")


def _prompts(prompt: object, evidence: EvidenceBuilder) -> tuple[list[str | None], tuple[Asked, ...]]:
    """The prompts in order, None for one of token ids; of several also what each brings along as evidence."""
    if prompt is None:
        return [], ()
    if isinstance(prompt, str):
        evidence.prompted(prompt, ("prompt",), role="user")
        return [prompt], ()
    if not isinstance(prompt, list):
        raise RequestUnreadable("the prompt is neither text nor a list")
    if prompt and all(own_index(token) is not None for token in prompt):
        evidence.unread(("prompt",), "tokens")
        return [None], ()
    found: list[str | None] = []
    asked: list[Asked] = []
    for at, one in enumerate(prompt):
        before = evidence.mark()
        if isinstance(one, str):
            evidence.prompted(one, ("prompt", at), role="user")
            found.append(one)
        elif isinstance(one, list) and all(own_index(token) is not None for token in one):
            evidence.unread(("prompt", at), "tokens")
            found.append(None)
        else:
            raise RequestUnreadable("a prompt of the list is neither text nor token ids")
        asked.append(Asked(found[-1] or "", evidence.grounding(before)))
    return found, tuple(asked) if len(asked) > 1 else ()


def _echoes(prompts: list[str | None], request: Json) -> tuple[str, ...]:
    """The text in front of choice 0, 1, …: prompt by prompt, ``n`` choices each. Empty where it is not known."""
    number = own_index(request.get("n")) or 1
    if len(prompts) * number > 4096:
        raise RequestUnreadable("more choices than any server gives")
    return tuple(prompt or "" for prompt in prompts for _ in range(number))
