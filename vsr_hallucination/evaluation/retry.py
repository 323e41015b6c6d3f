"""When to ask again: as the server says (google.rpc.RetryInfo, Retry-After), else exponentially with jitter.

Sources: RFC 9110 §10.2.3 (Retry-After), google/rpc/error_details.proto (RetryInfo), ``retry-after-ms`` of Azure OpenAI.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from vsr_hallucination.evaluation.providers.base import Ask, Provider, Reply, Unavailable
from vsr_hallucination.evaluation.ratelimit import SlidingWindow

LONGEST_WAIT = 60.0
_FIRST_WAIT = 1.0
_JITTER = (0.8, 1.2)
_DEPTH = 6
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")


@dataclass(frozen=True, slots=True)
class Retries:
    """``limit``: how often a request is asked again. ``sleep`` and ``dice`` are the clock and the dice."""

    limit: int = 6
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dice: random.Random = field(default_factory=random.Random)


def backoff(attempt: int, dice: random.Random) -> float:
    """Seconds before attempt number ``attempt`` + 1 (from 1): 1, 2, 4 … with ±20 % jitter, at most 60."""
    return min(LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(attempt - 1, 16) * dice.uniform(*_JITTER))


async def ask_with_retries(
    provider: Provider, ask: Ask, window: SlidingWindow, retries: Retries
) -> tuple[Reply, int]:
    """The reply and how many requests it took. Every request, a repeated one too, counts against ``window``.

    Raises ``Unavailable`` with ``attempts`` set, once the server's word is final or the retries are used up.
    """
    attempt = 0
    while True:
        turn = await window.turn()
        attempt += 1
        try:
            return await provider.complete(replace(ask, turn=turn)), attempt
        except Unavailable as error:
            if not error.retry or attempt > retries.limit:
                error.attempts = attempt
                raise
            advised = error.retry_after
        finally:
            turn.release()
        wait = backoff(attempt, retries.dice) if advised is None else min(LONGEST_WAIT, advised)
        await retries.sleep(wait)


def retry_after(
    headers: Mapping[str, str], body: object, now: Callable[[], float] = time.time
) -> float | None:
    """Seconds the server asks to wait; None where it does not say. RetryInfo, being the more exact, goes first."""
    for found in (_retry_info(body, _DEPTH), _milliseconds(headers), _header(headers, now)):
        if found is not None:
            return found
    return None


def _retry_info(value: object, depth: int) -> float | None:
    """The first RetryInfo's delay, wherever it stands: Gemini's error is an object, or a list of one."""
    if depth == 0:
        return None
    if isinstance(value, dict):
        if str(value.get("@type", "")).endswith("google.rpc.RetryInfo"):
            return _duration(value.get("retryDelay", value.get("retry_delay")))
        parts = [value.get("error"), value.get("details")]
    elif isinstance(value, list):
        parts = value[:16]
    else:
        return None
    return next((found for part in parts if (found := _retry_info(part, depth - 1)) is not None), None)


def _duration(value: object) -> float | None:
    """A protobuf Duration in JSON ("1.5s"), or its fields as an object."""
    if isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        return float(match.group(1)) if match else None
    if isinstance(value, dict):
        return _finite(value.get("seconds", 0), value.get("nanos", 0))
    return None


def _finite(seconds: object, nanos: object) -> float | None:
    try:
        found = float(str(seconds)) + float(str(nanos)) / 1e9
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _milliseconds(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after-ms")
    found = _finite(text, 0) if text is not None else None
    return None if found is None else found / 1000


def _header(headers: Mapping[str, str], now: Callable[[], float]) -> float | None:
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = _finite(text.strip(), 0)
    if seconds is not None:
        return seconds
    try:
        at = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, at - now())
