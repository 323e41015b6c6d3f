"""From response headers and bytes to what the exchange can judge. Pure; never raises.

A ``Reading`` is one of: a view of the answers, a reason why there is none, or the word that upstream failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from vsr_hallucination.apis.base import Answer, Api, ResponseUnreadable, ResponseView
from vsr_hallucination.apis.encoding import DecodeError, TooLarge, decode
from vsr_hallucination.detection.types import Reason
from vsr_hallucination.wire.messages import HeaderMap

# What vouched for the old body and does not hold for the new one (RFC 9110 §8.8, RFC 9530, RFC 3230, RFC 1864).
VALIDATORS = (
    "content-encoding",
    "etag",
    "last-modified",
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
    "signature",
    "signature-input",
    "accept-ranges",
)


_REMEMBERED = 256  # characters of header values: what a peer sends is not kept at any length
MAX_ANSWERS = 256  # choices of one response; OpenAI's ``n`` ends at 128


class Kind(Enum):
    """How a response has to be taken, from its headers alone."""

    FAILED = auto()  # not 2xx: row 1
    BODILESS = auto()  # HEAD, 204, 205, 304: row 2
    STREAM = auto()  # an event stream
    BODY = auto()  # to be held and read
    SKIP = auto()  # cannot be read: passes unbuffered, unavailable
    EMPTY = auto()  # 2xx that announces an end without a byte


@dataclass(frozen=True, slots=True)
class Head:
    """A response's headers, understood. ``reason`` is set for SKIP."""

    kind: Kind
    status: int
    reason: Reason | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Exactly one of ``view``, ``reason`` and ``upstream_error`` speaks. ``plain`` is the decoded body."""

    view: ResponseView | None = None
    reason: Reason | None = None
    upstream_error: bool = False
    plain: bytes = b""

    @property
    def answers(self) -> tuple[Answer, ...]:
        return self.view.answers if self.view is not None else ()


EMPTY = Reading(view=ResponseView(()))
UPSTREAM_ERROR = Reading(upstream_error=True)


def media_types(headers: HeaderMap) -> tuple[str, ...]:
    """The media types of all content-type fields, without parameters, lower-case (RFC 9110 §8.3).

    Envoy joins two fields of that name with a comma.
    """
    return _types(",".join(headers.all("content-type")))


def _types(values: str) -> tuple[str, ...]:
    return (_media_types if len(values) <= _REMEMBERED else _media_types.__wrapped__)(values)


@lru_cache(256)
def _media_types(values: str) -> tuple[str, ...]:
    return tuple(value.split(";", 1)[0].strip().lower() for value in values.split(",") if value.strip())


def read_head(headers: HeaderMap, *, method: str, end_of_stream: bool, limit: int) -> Head:
    """``limit`` is the largest body that is checked, bytes."""
    types, encoding = ",".join(headers.all("content-type")), ",".join(headers.all("content-encoding"))
    read = _head if len(types) + len(encoding) <= _REMEMBERED else _head.__wrapped__
    head = read(headers.get(":status"), types, encoding or None, end_of_stream, method == "HEAD")
    if head.kind is Kind.BODY:
        length = _int(headers.get("content-length"))
        if length is not None and length > limit:
            return Head(Kind.SKIP, head.status, Reason.TOO_LARGE, head.encoding)
    return head


@lru_cache(256)  # upstreams answer with the same few combinations, and every exchange asks
def _head(status_text: str | None, types_text: str, encoding: str | None, end_of_stream: bool, to_head: bool) -> Head:
    status = _int(status_text) or 0
    if status in (204, 304) or (end_of_stream and (status == 205 or to_head)):
        return Head(Kind.BODILESS, status)
    if not 200 <= status < 300:
        return Head(Kind.FAILED, status)
    if end_of_stream:
        return Head(Kind.EMPTY, status, encoding=encoding)
    if status == 206:  # a range of some other answer, whatever it looks like
        return Head(Kind.SKIP, status, Reason.RESPONSE_UNREADABLE, encoding)
    types = _types(types_text)
    if "text/event-stream" in types:
        return Head(Kind.STREAM, status, encoding=encoding)
    if types and not any(_is_json(name) for name in types):
        return Head(Kind.SKIP, status, Reason.RESPONSE_UNREADABLE, encoding)
    return Head(Kind.BODY, status, encoding=encoding)


def read_body(api: Api | None, body: bytes, encoding: str | None, limit: int) -> Reading:
    """A whole body. An empty one has no text: that is said by a view without answers."""
    if api is None:
        return Reading(reason=Reason.UNKNOWN_API)
    if len(body) > limit:
        return Reading(reason=Reason.TOO_LARGE)
    try:
        plain = decode(body, encoding, limit)
    except TooLarge:
        return Reading(reason=Reason.TOO_LARGE)
    except DecodeError:
        return Reading(reason=Reason.RESPONSE_UNREADABLE)
    if not plain:
        return EMPTY
    try:
        view = api.read_response(plain)
    except ResponseUnreadable:
        return Reading(reason=Reason.RESPONSE_UNREADABLE, plain=plain)
    if view.error:
        return Reading(upstream_error=True, plain=plain)
    if len(view.answers) > MAX_ANSWERS:
        return Reading(reason=Reason.TOO_LARGE, plain=plain)
    return Reading(view=view, plain=plain)


def content_length(headers: HeaderMap) -> int | None:
    return _int(headers.get("content-length"))


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or media_type.endswith("+json") or media_type == "text/json"


def _int(value: str | None) -> int | None:
    return int(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 19 else None
