"""What passes between Envoy and the exchange, as immutable values. ``codec`` turns protobuf into these and back.

Source: envoy/service/ext_proc/v3/external_processor.proto, checked against Envoy 1.40.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum


class HeaderMap:
    """Header fields in order. Names are lower-case; values are text (non-UTF-8 bytes become U+FFFD)."""

    __slots__ = ("_first", "_items")

    def __init__(self, items: Iterable[tuple[str, str]] = ()) -> None:
        self._take([(name.lower(), value) for name, value in items])

    @classmethod
    def of_lower(cls, items: list[tuple[str, str]]) -> HeaderMap:
        """A map of items whose names are lower-case already: spares a copy of each on the hot path."""
        made = cls.__new__(cls)
        made._take(items)
        return made

    def _take(self, items: list[tuple[str, str]]) -> None:
        self._items: tuple[tuple[str, str], ...] = tuple(items)
        # Several are asked for in every exchange; most come once.
        self._first: dict[str, str] = dict(items)
        if len(self._first) < len(items):
            self._first = {}
            for name, value in items:
                self._first.setdefault(name, value)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"HeaderMap({[name for name, _ in self._items]})"  # values may hold secrets

    def get(self, name: str) -> str | None:
        """The first value of ``name`` (lower-case), or None."""
        return self._first.get(name)

    def under(self, prefix: str) -> tuple[str, ...]:
        """The names that begin with ``prefix`` (lower-case), each once, in order."""
        return tuple([name for name in self._first if name.startswith(prefix)])

    def all(self, name: str) -> tuple[str, ...]:
        """The values of ``name`` (lower-case), in order."""
        if name not in self._first:
            return ()
        return tuple([value for key, value in self._items if key == name])


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    headers: HeaderMap
    end_of_stream: bool = False


@dataclass(frozen=True, slots=True)
class RequestBody:
    body: bytes
    end_of_stream: bool = True


@dataclass(frozen=True, slots=True)
class RequestTrailers:
    headers: HeaderMap = field(default_factory=HeaderMap)


@dataclass(frozen=True, slots=True)
class ResponseHeaders:
    headers: HeaderMap
    end_of_stream: bool = False


@dataclass(frozen=True, slots=True)
class ResponseBody:
    body: bytes
    end_of_stream: bool = True


@dataclass(frozen=True, slots=True)
class ResponseTrailers:
    headers: HeaderMap = field(default_factory=HeaderMap)


Message = RequestHeaders | RequestBody | RequestTrailers | ResponseHeaders | ResponseBody | ResponseTrailers


class Phase(StrEnum):
    """Which message a reply answers: ext_proc pairs them one to one."""

    REQUEST_HEADERS = "request_headers"
    REQUEST_BODY = "request_body"
    REQUEST_TRAILERS = "request_trailers"
    RESPONSE_HEADERS = "response_headers"
    RESPONSE_BODY = "response_body"
    RESPONSE_TRAILERS = "response_trailers"

    __hash__ = str.__hash__  # Enum's own is written in Python, and phases are looked up for every message


class ModeOverride(Enum):
    """The only mode overrides we ever ask for; ``allowed_override_modes`` must list exactly these.

    Both keep response headers and response trailers SEND, and set the request body to NONE (by then it is past,
    or not wanted). The value is the response body mode.
    """

    RESPONSE_STREAMED = 1
    RESPONSE_NONE = 0


@dataclass(frozen=True, slots=True)
class Mutation:
    """Header mutations: ``set`` overwrites or adds, ``remove`` deletes by (lower-case) name."""

    set: tuple[tuple[str, str], ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Continue:
    """The reply to one message. ``body`` None leaves the bytes as they are. ``metadata`` goes out as dynamic
    metadata in namespace ``vsr`` (values: str, float, bool, or a list of str)."""

    phase: Phase
    mutation: Mutation = Mutation()
    body: bytes | None = None
    mode: ModeOverride | None = None
    metadata: Mapping[str, str | float | bool | tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Immediate:
    """Replaces the response altogether (``block``). Headers include content-type."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    details: str = "vsr_hallucination"
    metadata: Mapping[str, str | float | bool | tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class ExtendTimeout:
    """``override_message_timeout``: asks Envoy once for ``seconds`` more on the message at hand."""

    seconds: float


Reply = Continue | Immediate | ExtendTimeout
