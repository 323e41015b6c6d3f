"""The stages of an exchange and what may come at each: the table the machine looks up.

A pair of stage and message that is not in the table is a ``ProtocolError``: never a silent branch.

    stage      waits for                          leaves when
    START      request headers                    they came
    REQUEST    the buffered request body          it was read: the classifier is asked, Envoy is answered at once
    UPSTREAM   response headers                   they came: not 2xx and bodiless end here
    HOLDING    the buffered response body         it came
    JUDGING    classifier and detector; Envoy     both have spoken: the held reply is sent, the record closed
               waits for our reply
    STREAMING  chunks, answered at once           the body ends; its check runs beside it and outlives the RPC
    PASSING    nothing: all else goes through     the RPC ends
    CLOSED     nothing                            –
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from vsr_hallucination.wire.messages import (
    Message,
    Phase,
    RequestBody,
    RequestHeaders,
    RequestTrailers,
    ResponseBody,
    ResponseHeaders,
    ResponseTrailers,
)


class Stage(StrEnum):
    START = "start"
    REQUEST = "request"
    UPSTREAM = "upstream"
    HOLDING = "holding"
    JUDGING = "judging"
    STREAMING = "streaming"
    PASSING = "passing"
    CLOSED = "closed"

    __hash__ = str.__hash__  # Enum's own is written in Python, and stages are looked up for every message


class ProtocolError(Exception):
    """A message that cannot come at this stage: names both. The exchange is then closed and passes unmodified."""

    def __init__(self, stage: Stage, message: str) -> None:
        super().__init__(f"{message} cannot come while {stage}")
        self.stage = stage
        self.message = message


TABLE: Final[Mapping[tuple[Stage, type[Message]], str]] = {
    (Stage.START, RequestHeaders): "_request_headers",
    (Stage.START, ResponseHeaders): "_response_headers",  # a local reply of a filter before us
    (Stage.REQUEST, RequestBody): "_request_body",
    (Stage.REQUEST, RequestTrailers): "_pass",
    (Stage.REQUEST, ResponseHeaders): "_response_headers",  # answered before the request was read
    (Stage.UPSTREAM, RequestBody): "_pass",
    (Stage.UPSTREAM, RequestTrailers): "_pass",
    (Stage.UPSTREAM, ResponseHeaders): "_response_headers",
    (Stage.HOLDING, ResponseBody): "_held_body",
    (Stage.HOLDING, ResponseTrailers): "_held_trailers",
    (Stage.STREAMING, ResponseBody): "_chunk",
    (Stage.STREAMING, ResponseTrailers): "_stream_trailers",
    (Stage.PASSING, ResponseHeaders): "_pass",
    (Stage.PASSING, ResponseBody): "_pass",
    (Stage.PASSING, ResponseTrailers): "_pass",
}

PHASES: Final[Mapping[type[Message], Phase]] = {
    RequestHeaders: Phase.REQUEST_HEADERS,
    RequestBody: Phase.REQUEST_BODY,
    RequestTrailers: Phase.REQUEST_TRAILERS,
    ResponseHeaders: Phase.RESPONSE_HEADERS,
    ResponseBody: Phase.RESPONSE_BODY,
    ResponseTrailers: Phase.RESPONSE_TRAILERS,
}
