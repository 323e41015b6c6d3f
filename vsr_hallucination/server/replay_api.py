"""The replay records over HTTP, in the shape of Semantic Router's ``/v1/router_replay``."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from vsr_hallucination.observation import State
from vsr_hallucination.replay.moments import unix_seconds
from vsr_hallucination.replay.record import Record
from vsr_hallucination.replay.store import Page, PageTooLarge, Query, StoreError
from vsr_hallucination.replay.writer import Reader

_log = logging.getLogger(__name__)
DEFAULT_LIMIT = 20
MAX_LIMIT = 100
_MAX_OFFSET = 1_000_000_000
_MAX_TEXT = 256
_PARAMETERS = ("limit", "offset", "decision", "recipe", "verdict", "search", "since", "showDetails")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class BadParameter(ValueError):
    """A query parameter cannot be used; the message says what is allowed."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class ReplayApi:
    """The two handlers. JSON is made on a thread: a page of records with bodies must not hold the event loop."""

    def __init__(self, reader: Reader | None) -> None:
        self._reader = reader

    async def list(self, request: Request) -> Response:
        """``GET /v1/router_replay``: newest first."""
        if self._reader is None:
            return _disabled()
        try:
            query = read_query(request.query_params.multi_items())
        except BadParameter as error:
            return error_response(400, str(error), "invalid_parameter", param=error.name)
        try:
            page = await self._reader.query(query)
        except PageTooLarge:
            message = (
                "the details of this page are too large for one answer; ask for a smaller limit, or by id"
            )
            return error_response(413, message, "page_too_large", param="limit")
        except StoreError as error:
            return _store_failed(error)
        return _json(await asyncio.to_thread(_encode_page, page, query))

    async def get(self, request: Request) -> Response:
        """``GET /v1/router_replay/{id}``: one record with all its details."""
        if self._reader is None:
            return _disabled()
        try:
            record = await self._reader.get(request.path_params["replay_id"])
        except StoreError as error:
            return _store_failed(error)
        if record is None:
            return error_response(
                404, "there is no replay record of this id, or it has expired", "replay_not_found"
            )
        return _json(await asyncio.to_thread(_encode, record, True))


def read_query(items: list[tuple[str, str]]) -> Query:
    """The query that the URL's parameters ask for. An unknown one is an error: a typo must not widen the answer."""
    given: dict[str, str] = {}
    for name, value in items:
        if name not in _PARAMETERS:
            raise BadParameter(name[:64], f"unknown parameter; known are {', '.join(_PARAMETERS)}")
        if name in given:
            raise BadParameter(name, f"{name} is given more than once")
        given[name] = value
    verdict = given.get("verdict")
    if verdict is not None and verdict not in tuple(State):
        raise BadParameter("verdict", f"verdict must be one of {', '.join(State)}")
    details = given.get("showDetails", "false").lower()
    if details not in _FLAGS:
        raise BadParameter("showDetails", "showDetails must be true or false")
    return Query(
        limit=_whole(given, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT),
        offset=_whole(given, "offset", 0, 0, _MAX_OFFSET),
        decision=_text(given, "decision"),
        recipe=_text(given, "recipe"),
        verdict=verdict,
        search=_text(given, "search"),
        since=_moment(given.get("since")),
        details=_FLAGS[details],
    )


def _whole(given: dict[str, str], name: str, default: int, low: int, high: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and low <= int(text) <= high):
        raise BadParameter(name, f"{name} must be a whole number from {low} to {high}")
    return int(text)


def _text(given: dict[str, str], name: str) -> str | None:
    text = given.get(name)
    if text is not None and not 0 < len(text) <= _MAX_TEXT:
        raise BadParameter(name, f"{name} must have 1 to {_MAX_TEXT} characters")
    return text


def _moment(text: str | None) -> float | None:
    """UNIX seconds, or an ISO 8601 date or time (UTC where it names no zone)."""
    if text is None:
        return None
    seconds = unix_seconds(text)
    if seconds is None:
        raise BadParameter(
            "since", "since must be UNIX seconds or an ISO 8601 time such as 2026-01-31T12:00:00Z"
        )
    return seconds


def _encode_page(page: Page, query: Query) -> bytes:
    count = len(page.records)
    end = query.offset + count
    more = count > 0 and end < page.total
    head = {
        "object": "router_replay.list",
        "count": count,
        "total": page.total,
        "limit": query.limit,
        "offset": query.offset,
        "has_more": more,
        "next_offset": end if more else None,
    }
    # record by record: one call for all of them would keep the interpreter to itself
    data = b",".join(_encode(record, query.details) for record in page.records)
    return _dumps(head)[:-1] + b',"data":[' + data + b"]}"


def _encode(record: Record, details: bool) -> bytes:
    return _dumps(record.to_json(details=details))


def _dumps(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _disabled() -> Response:
    return error_response(404, "replay is switched off in this filter's configuration", "replay_disabled")


def _store_failed(error: StoreError) -> Response:
    _log.warning("replay_read_failed", extra={"reason": str(error)[:300]})
    return error_response(
        503, "the replay store does not answer at the moment; try again", "replay_unavailable"
    )


def error_response(status: int, message: str, code: str, *, param: str | None = None) -> Response:
    """``{"error": {...}}`` as the OpenAI APIs write it."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse({"error": {"message": message, "type": kind, "param": param, "code": code}}, status)
