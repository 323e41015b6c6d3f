"""Protobuf in, messages out; replies in, protobuf out. Pure, and lean: it runs for every message.

Source: envoy/service/ext_proc/v3/external_processor.proto; behaviour checked against Envoy 1.40.0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Value

from vsr_hallucination.wire import ext_proc_pb2 as pb
from vsr_hallucination.wire.messages import (
    Continue,
    ExtendTimeout,
    HeaderMap,
    Immediate,
    Message,
    ModeOverride,
    Mutation,
    Phase,
    Reply,
    RequestBody,
    RequestHeaders,
    RequestTrailers,
    ResponseBody,
    ResponseHeaders,
    ResponseTrailers,
)

METADATA_NAMESPACE = "vsr"

_OVERWRITE = pb.HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD
_SEND = pb.ProcessingMode.SEND
_FEW = 4  # headers of ours without debugging; those of debugging differ from one exchange to the next
_LONGEST = 512  # characters of names to remove: a client may have sent many
_GAP = '"' * 32  # as long as an id of ours, since lengths stand in the bytes; no name in a configuration looks like it
_GAP_BYTES = _GAP.encode()
# Envoy turns a whole reply down for one header value with a line break or a NUL in it (RFC 9110 §5.5).
_FORBIDDEN_IN_HEADER = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class UnknownMessage(ValueError):
    """The peer sent something that is no ext_proc message we know. The text holds no bytes of it."""


def parse(data: bytes) -> pb.ProcessingRequest:
    """The protobuf message in ``data``. Raises ``UnknownMessage`` where there is none."""
    try:
        return pb.ProcessingRequest.FromString(data)
    except DecodeError:
        raise UnknownMessage(f"{len(data)} bytes that are not an ext_proc ProcessingRequest") from None


def decode(request: pb.ProcessingRequest) -> Message:
    """The message in ``request``. Raises ``UnknownMessage`` for a kind unknown here (or none at all)."""
    kind = request.WhichOneof("request")
    if kind == "request_headers":
        headers = request.request_headers
        return RequestHeaders(_headers(headers.headers), headers.end_of_stream)
    if kind == "response_headers":
        headers = request.response_headers
        return ResponseHeaders(_headers(headers.headers), headers.end_of_stream)
    if kind == "request_body":
        return RequestBody(request.request_body.body, request.request_body.end_of_stream)
    if kind == "response_body":
        return ResponseBody(request.response_body.body, request.response_body.end_of_stream)
    if kind == "request_trailers":
        return RequestTrailers(_headers(request.request_trailers.trailers))
    if kind == "response_trailers":
        return ResponseTrailers(_headers(request.response_trailers.trailers))
    raise UnknownMessage("a ProcessingRequest without a message this filter knows")


def encode(reply: Reply) -> pb.ProcessingResponse:
    """The ``ProcessingResponse`` for ``reply``. Header values go to ``raw_value`` and nowhere else (C1)."""
    response = pb.ProcessingResponse()
    if isinstance(reply, Continue):
        _continue(response, reply)
    elif isinstance(reply, Immediate):
        immediate = response.immediate_response
        immediate.status.code = reply.status
        immediate.body = reply.body
        immediate.details = _text(reply.details)
        _set_headers(immediate.headers, reply.headers)
        _metadata(response, reply.metadata)
    else:
        response.override_message_timeout.FromNanoseconds(_nanoseconds(reply))
    return response


class Serializer:
    """``encode`` to bytes, for the exchange with this ``id``.

    Nearly all replies without a body are alike but for that id: the bytes of such a reply are kept with a gap for it.
    """

    __slots__ = ("_bytes", "_id")

    def __init__(self, id: str) -> None:
        self._id = id
        self._bytes = id.encode()

    def __call__(self, reply: Reply) -> bytes:
        if (
            not isinstance(reply, Continue)
            or reply.body is not None
            or len(reply.mutation.set) > _FEW
            or sum(map(len, reply.mutation.remove)) > _LONGEST
            or len(self._id) != len(_GAP)
        ):
            return encode(reply).SerializeToString()
        id, mutation, facts = self._id, reply.mutation, reply.metadata
        fields = tuple([(name, _GAP if value == id else value) for name, value in mutation.set])
        said = None
        if facts is not None:  # with their types: True and 1.0 are the same key, but not the same bytes
            said = tuple([(key, _GAP if value == id else value, type(value)) for key, value in facts.items()])
        return _kept(reply.phase, fields, mutation.remove, reply.mode, said).replace(_GAP_BYTES, self._bytes)


@lru_cache(256)
def _kept(
    phase: Phase,
    fields: tuple[tuple[str, str], ...],
    remove: tuple[str, ...],
    mode: ModeOverride | None,
    said: tuple[tuple[str, str | float | bool | tuple[str, ...], type], ...] | None,
) -> bytes:
    metadata = {key: value for key, value, _ in said} if said is not None else None
    return encode(Continue(phase, Mutation(fields, remove), mode=mode, metadata=metadata)).SerializeToString()


def _headers(headers: pb.HeaderMap) -> HeaderMap:
    # Envoy fills raw_value; other proxies fill value (C1).
    try:
        return HeaderMap.of_lower(
            [(h.key.decode().lower(), (h.raw_value or h.value).decode()) for h in headers.headers]
        )
    except UnicodeDecodeError:  # seldom: the strict decoder takes a third of the time
        return HeaderMap.of_lower(
            [
                (h.key.decode("utf-8", "replace").lower(), (h.raw_value or h.value).decode("utf-8", "replace"))
                for h in headers.headers
            ]
        )


def _continue(response: pb.ProcessingResponse, reply: Continue) -> None:
    phase = reply.phase
    if phase is Phase.REQUEST_TRAILERS or phase is Phase.RESPONSE_TRAILERS:
        at_request = phase is Phase.REQUEST_TRAILERS
        trailers = response.request_trailers if at_request else response.response_trailers
        trailers.SetInParent()
        _mutate(trailers, reply.mutation)
    else:
        common = _common(response, phase)
        _mutate(common, reply.mutation)
        if reply.body is not None:
            # CONTINUE, not CONTINUE_AND_REPLACE: that one is for a header reply that brings the body along.
            common.body_mutation.body = reply.body
    if reply.mode is not None:
        _mode(response.mode_override, reply.mode)
    _metadata(response, reply.metadata)


def _common(response: pb.ProcessingResponse, phase: Phase) -> pb.CommonResponse:
    answer: pb.HeadersResponse | pb.BodyResponse
    if phase is Phase.REQUEST_HEADERS:
        answer = response.request_headers
    elif phase is Phase.RESPONSE_HEADERS:
        answer = response.response_headers
    elif phase is Phase.REQUEST_BODY:
        answer = response.request_body
    else:
        answer = response.response_body
    answer.SetInParent()  # an empty reply must still say which message it answers
    return answer.response


def _mutate(target: pb.CommonResponse | pb.TrailersResponse, mutation: Mutation) -> None:
    if mutation.set:
        _set_headers(target.header_mutation, mutation.set)
    if mutation.remove:
        target.header_mutation.remove_headers.extend(name.encode() for name in mutation.remove)


def _set_headers(target: pb.HeaderMutation, headers: Iterable[tuple[str, str]]) -> None:
    for name, value in headers:
        option = target.set_headers.add()
        option.append_action = _OVERWRITE
        header = option.header
        header.key = name.encode("utf-8", "replace")
        if not value.isprintable():
            value = _FORBIDDEN_IN_HEADER.sub(" ", value)
        header.raw_value = value.encode("utf-8", "replace")


def _mode(target: pb.ProcessingMode, mode: ModeOverride) -> None:
    # An override replaces the body modes wholesale, and must equal an entry of allowed_override_modes.
    target.response_header_mode = _SEND
    target.response_trailer_mode = _SEND
    target.request_body_mode = pb.ProcessingMode.NONE
    target.response_body_mode = (
        pb.ProcessingMode.STREAMED if mode is ModeOverride.RESPONSE_STREAMED else pb.ProcessingMode.NONE
    )


def _metadata(
    response: pb.ProcessingResponse, metadata: Mapping[str, str | float | bool | tuple[str, ...]] | None
) -> None:
    if metadata is None:
        return
    fields = response.dynamic_metadata.fields[METADATA_NAMESPACE].struct_value.fields
    for key, value in metadata.items():
        _value(fields[_text(key)], value)


def _value(target: Value, value: str | float | bool | tuple[str, ...]) -> None:
    if isinstance(value, str):
        target.string_value = value if value.isascii() else _text(value)
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, (int, float)):
        if math.isfinite(value):
            target.number_value = value
        else:
            target.null_value = 0  # type: ignore[assignment]  # NaN has no place in an access log's JSON
    else:
        items = target.list_value
        items.SetInParent()
        for item in value:
            items.values.add().string_value = _text(item)


def _text(text: str) -> str:
    """``text`` as a protobuf string can hold it: a lone surrogate becomes ``?``."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _nanoseconds(reply: ExtendTimeout) -> int:
    return max(1_000_000, round(reply.seconds * 1e9))  # Envoy ignores an override below 1 ms
