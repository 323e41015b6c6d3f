"""Bodies of the two OpenAI APIs that answer with ``choices``: chat completions and completions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from vsr_hallucination.apis.base import ResponseUnreadable, ResponseView
from vsr_hallucination.apis.content import (
    INCOMPLETE,
    Unreadable,
    answer,
    edited,
    indices,
    is_error,
    openai_error,
    response_object,
)
from vsr_hallucination.apis.jsontext import Edit, Path, Prefix

Json = dict[object, object]


class ChoiceBodies(ABC):
    """The response half of ``Api``; a subclass says where a choice keeps its text."""

    @abstractmethod
    def _texts(self, choice: Json, path: Path) -> list[tuple[Path, str]]:
        """The text parts of one choice; raises ``Unreadable``."""

    def _moved(self, first: Path, notice: str) -> list[Edit]:
        """What else changes in a choice whose first text part, at ``first``, begins with ``notice``."""
        return []

    def read_response(self, body: bytes) -> ResponseView:
        """Raises ``ResponseUnreadable`` where the body is no response of this API."""
        response = response_object(body)
        if response.get("choices") is None and is_error(response):
            return ResponseView((), error=True)
        choices = _choices(response)
        answers = tuple(answer(index, parts) for index, parts in self._each(choices))
        broken = any(choice.get("error") or _reason(choice) == "error" for choice in choices)
        if (broken or is_error(response)) and not any(one.text for one in answers):
            return ResponseView((), error=True)
        return ResponseView(answers, incomplete=broken or any(_reason(choice) in INCOMPLETE for choice in choices))

    def prepend(self, body: bytes, notices: Mapping[int, str], view: ResponseView | None = None) -> bytes:
        """The body with each notice as ready text before its choice; a choice without text stays as it is.

        Raises ``ResponseUnreadable`` where ``read_response`` does.
        """
        edits: list[Edit] = []
        for one in (view or self.read_response(body)).answers:
            notice = notices.get(one.index, "")
            if notice and one.first:
                edits += (Prefix(one.first, notice), *self._moved(one.first, notice))
        return edited(body, edits) if edits else body

    def error_body(self, *, message: str, code: str, param: str | None = None) -> bytes:
        return openai_error(message=message, code=code, param=param)

    def _each(self, choices: list[Json]) -> Iterator[tuple[int, list[tuple[Path, str]]]]:
        for at, (index, choice) in enumerate(zip(indices(choices), choices, strict=True)):
            try:
                parts = self._texts(choice, ("choices", at))
            except Unreadable as error:
                raise ResponseUnreadable(str(error)) from None
            yield index, parts


def _choices(response: Json) -> list[Json]:
    choices = response.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ResponseUnreadable("choices is not a list of objects")
    return choices


def _reason(choice: Json) -> str:
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) else ""
