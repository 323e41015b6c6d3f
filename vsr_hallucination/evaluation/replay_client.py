"""Reading replay records from a running filter's admin address, a page at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx

from vsr_hallucination.replay.record import Record

_PAGE = 100
_LARGEST = 256 << 20


class ReplayError(Exception):
    """The records cannot be read; one line: where, what, what to do."""


def records(
    url: str,
    *,
    since: float | None,
    token: str | None,
    limit: int,
    timeout: float = 30.0,
    transport: httpx.BaseTransport | None = None,
) -> Iterator[Record]:
    """At most ``limit`` records, newest first, each once. Records that come meanwhile only move the pages."""
    base = url.rstrip("/").removesuffix("/v1/router_replay")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    seen: set[str] = set()
    offset, page = 0, _PAGE
    with httpx.Client(
        base_url=base, headers=headers, timeout=timeout, transport=transport, verify=base.startswith("https:")
    ) as client:
        while len(seen) < limit:
            parameters: dict[str, str] = {"limit": str(page), "offset": str(offset), "showDetails": "true"}
            if since is not None:
                parameters["since"] = repr(since)
            value = _get(client, parameters, base, page)
            if value is None:  # these details are too large for one page
                page = max(1, page // 4)
                continue
            found = value.get("data")
            for one in found if isinstance(found, list) else []:
                record = _record(one, base)
                if record.id not in seen and len(seen) < limit:
                    seen.add(record.id)
                    yield record
            following = value.get("next_offset")
            if not isinstance(following, int) or following <= offset:
                return
            offset = following


def _get(client: httpx.Client, parameters: dict[str, str], base: str, page: int) -> dict[str, Any] | None:
    try:
        with client.stream("GET", "/v1/router_replay", params=parameters) as response:
            data = bytearray()
            for piece in response.iter_bytes():
                data += piece
                if len(data) > _LARGEST:
                    raise ReplayError(f"{base}: a page of more than {_LARGEST >> 20} MiB")
            status = response.status_code
    except (httpx.HTTPError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise ReplayError(
            f"{base} does not answer ({type(error).__name__}): --url is the filter's admin address, such as "
            "http://127.0.0.1:9090"
        ) from error
    if status == 413 and page > 1:
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if status == 401:
        raise ReplayError(f"{base} wants the admin token: put it into the variable that --token-env names")
    if status != 200 or not isinstance(value, dict):
        raise ReplayError(f"{base} answered HTTP {status}{_message(value)}")
    return value


def _message(value: Any) -> str:
    error = value.get("error") if isinstance(value, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return f": {' '.join(str(message).split())[:200]}" if message else ", and no replay records"


def _record(value: Any, base: str) -> Record:
    try:
        return Record.from_json(value)
    except ValueError as error:
        raise ReplayError(f"{base}: {error}: is it a filter of this version?") from error
