"""Bodies of the two OpenAI APIs that answer with ``choices``: chat completions and completions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from vsr_hallucination.apis.base import ResponseUnreadable, ResponseView
from vsr_hallucination.apis.content import (
    INCOMPLETE,
    Unreadable,
    answer,
    indices,
    is_error,
    notice_edits,
    openai_error,
    response_object,
)
from vsr_hallucination.apis.jsontext import Edit, JsonError, Path, edit

Json = dict[object, object]


class ChoiceBodies(ABC):
    """The response half of ``Api``; a subclass says where a choice keeps its text."""

    @abstractmethod
    def _texts(self, choice: Json, path: Path) -> list[tuple[Path, str]]:
        """The text parts of one choice; raises ``Unreadable``."""

    def _moved(self, choice: Json, path: Path, notice: str) -> list[Edit]:
        """What else changes in a choice whose text begins with ``notice``."""
        return []

    def read_response(self, body: bytes) -> ResponseView:
        """Raises ``ResponseUnreadable`` where the body is no response of this API."""
        response = response_object(body)
        if response.get("choices") is None and is_error(response):
            return ResponseView((), error=True)
        choices = _choices(response)
        answers = tuple(answer(index, parts) for index, _, _, parts in self._each(choices))
        broken = any(choice.get("error") or _reason(choice) == "error" for choice in choices)
        if (broken or is_error(response)) and not any(one.text for one in answers):
            return ResponseView((), error=True)
        return ResponseView(answers, incomplete=broken or any(_reason(choice) in INCOMPLETE for choice in choices))

    def prepend(self, body: bytes, notices: Mapping[int, str]) -> bytes:
        """The body with each notice as ready text before its choice; a choice without text stays as it is.

        Raises ``ResponseUnreadable`` where ``read_response`` does, and for an error object.
        """
        choices = _choices(response_object(body))
        edits: list[Edit] = []
        for index, choice, path, parts in self._each(choices):
            notice = notices.get(index, "")
            if notice and parts:
                edits += notice_edits(parts, notice)
                edits += self._moved(choice, path, notice)
        try:
            return edit(body, edits)
        except JsonError as error:
            raise ResponseUnreadable(str(error)) from None

    def error_body(self, *, message: str, code: str, param: str | None = None) -> bytes:
        return openai_error(message=message, code=code, param=param)

    def _each(self, choices: list[Json]) -> Iterator[tuple[int, Json, Path, list[tuple[Path, str]]]]:
        for at, (index, choice) in enumerate(zip(indices(choices), choices, strict=True)):
            path: Path = ("choices", at)
            try:
                parts = self._texts(choice, path)
            except Unreadable as error:
                raise ResponseUnreadable(str(error)) from None
            yield index, choice, path, parts


def _choices(response: Json) -> list[Json]:
    choices = response.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ResponseUnreadable("choices is not a list of objects")
    return choices


def _reason(choice: Json) -> str:
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) else ""
