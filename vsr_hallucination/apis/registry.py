"""Which client API a request path belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from vsr_hallucination.apis.base import Api
from vsr_hallucination.apis.served import SERVED, Served


def _made(row: Served) -> Api:
    found = getattr(import_module(f"{__package__}.{row.name}"), row.kind)()
    if not isinstance(found, Api) or found.name != row.name:  # found out at the start, not by the first request
        raise TypeError(f"{row.kind} in apis/{row.name}.py does not fulfil Api under the name {row.name}")
    return found


_REMEMBERED = 256  # characters of a path: what a client sends is not kept at any length
_PARAMETERS = re.compile("(?:;|%3[Bb])[^/]*")
_BY_NAME: Mapping[str, Api] = {row.name: _made(row) for row in SERVED}


def api_for_path(path: str, named: tuple[tuple[str, str], ...] = ()) -> Api | None:
    """The API that serves ``:path`` (its query and its segments' parameters are ignored), None where none of ours does.

    ``named``: (end of a path, name of an API) as the operator maps them; they go before our own, first fits.
    """
    path = path.partition("?")[0].partition("#")[0]
    return (_served if len(path) <= _REMEMBERED else _served.__wrapped__)(path, named)


@lru_cache(1024)  # clients use few paths, and every exchange asks
def _served(path: str, named: tuple[tuple[str, str], ...]) -> Api | None:
    path = _PARAMETERS.sub("", path).rstrip("/")
    endings = (*named, *((row.ending, row.name) for row in SERVED))
    return next((_BY_NAME[name] for ending, name in endings if path.endswith(ending)), None)
