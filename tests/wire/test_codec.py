"""The codec against envoy-data-plane, an independent implementation of the same protos."""

from dataclasses import replace
from datetime import timedelta

import pytest
from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.extensions.filters.http.ext_proc import v3 as filter_v3
from envoy_data_plane.envoy.service.ext_proc import v3 as upstream
from hypothesis import given
from hypothesis import strategies as st

from vsr_hallucination.wire import ext_proc_pb2 as pb
from vsr_hallucination.wire.codec import Serializer, UnknownMessage, decode, encode, parse
from vsr_hallucination.wire.messages import (
    Continue,
    ExtendTimeout,
    HeaderMap,
    Immediate,
    ModeOverride,
    Mutation,
    Phase,
    RequestBody,
    RequestHeaders,
    RequestTrailers,
    ResponseBody,
    ResponseHeaders,
    ResponseTrailers,
)

names = st.from_regex(r"[a-z][a-z0-9-]{0,15}", fullmatch=True)
values = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30)
pairs = st.lists(st.tuples(names, values), max_size=6)


def theirs(items: list[tuple[str, str]]) -> core.HeaderMap:
    return core.HeaderMap(headers=[core.HeaderValue(key=n, raw_value=v.encode()) for n, v in items])


def read(request: upstream.ProcessingRequest) -> object:
    return decode(parse(bytes(request)))


def write(reply: object) -> upstream.ProcessingResponse:
    return upstream.ProcessingResponse.parse(encode(reply).SerializeToString())  # type: ignore[arg-type]


def headers_of(mutation: core.HeaderMap | upstream.HeaderMutation) -> list[tuple[str, bytes]]:
    return [(o.header.key, o.header.raw_value) for o in mutation.set_headers]


@given(pairs, st.booleans())
def test_headers_are_read(items: list[tuple[str, str]], end: bool) -> None:
    for kind, cls in (("request_headers", RequestHeaders), ("response_headers", ResponseHeaders)):
        message = read(
            upstream.ProcessingRequest(**{kind: upstream.HttpHeaders(headers=theirs(items), end_of_stream=end)})
        )
        assert isinstance(message, cls)
        assert list(message.headers) == items and message.end_of_stream is end


@given(st.binary(max_size=300), st.booleans())
def test_bodies_are_read(body: bytes, end: bool) -> None:
    for kind, cls in (("request_body", RequestBody), ("response_body", ResponseBody)):
        message = read(upstream.ProcessingRequest(**{kind: upstream.HttpBody(body=body, end_of_stream=end)}))
        assert message == cls(body, end)


@given(pairs)
def test_trailers_are_read(items: list[tuple[str, str]]) -> None:
    for kind, cls in (("request_trailers", RequestTrailers), ("response_trailers", ResponseTrailers)):
        message = read(upstream.ProcessingRequest(**{kind: upstream.HttpTrailers(trailers=theirs(items))}))
        assert isinstance(message, cls) and list(message.headers) == items


def test_c1_value_and_raw_value_are_both_read() -> None:
    fields = [core.HeaderValue(key="a", value="text"), core.HeaderValue(key="b", raw_value=b"raw")]
    request = upstream.ProcessingRequest(request_headers=upstream.HttpHeaders(headers=core.HeaderMap(headers=fields)))
    message = read(request)
    assert isinstance(message, RequestHeaders)
    assert list(message.headers) == [("a", "text"), ("b", "raw")]


@pytest.mark.parametrize("field", [2, 3], ids=["value", "raw_value"])
def test_c1_bytes_that_are_not_utf8_do_no_harm(field: int) -> None:
    value = b"\xff\xfe\x00!"
    header = b"\x0a\x01k" + bytes([field << 3 | 2, len(value)]) + value
    header_map = b"\x0a" + bytes([len(header)]) + header
    http_headers = b"\x0a" + bytes([len(header_map)]) + header_map
    message = decode(parse(b"\x12" + bytes([len(http_headers)]) + http_headers))
    assert isinstance(message, RequestHeaders)
    assert message.headers.get("k") == "\ufffd\ufffd\x00!"


@given(pairs, st.lists(names, max_size=3), st.none() | st.binary(max_size=100))
def test_c1_continue_sets_exactly_raw_value(
    items: list[tuple[str, str]], remove: list[str], body: bytes | None
) -> None:
    for phase in (Phase.REQUEST_HEADERS, Phase.RESPONSE_HEADERS, Phase.REQUEST_BODY, Phase.RESPONSE_BODY):
        response = write(Continue(phase, Mutation(tuple(items), tuple(remove)), body=body))
        answer = getattr(response, phase.value)
        assert answer is not None, "the reply names the message it answers"
        if not items and not remove and body is None:
            assert answer.response in (None, upstream.CommonResponse())
            continue
        common = answer.response
        assert common.status == upstream.CommonResponseResponseStatus.CONTINUE
        if items or remove:
            mutation = common.header_mutation
            assert headers_of(mutation) == [(n, v.encode()) for n, v in items]
            assert all(option.header.value == "" for option in mutation.set_headers)
            overwrite = core.HeaderValueOptionHeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD
            assert all(option.append_action == overwrite for option in mutation.set_headers)
            assert mutation.remove_headers == remove
        assert (common.body_mutation.body if common.body_mutation else None) == body


facts = st.text(max_size=40) | st.floats() | st.booleans() | st.lists(st.text(max_size=5), max_size=3).map(tuple)
replies = st.builds(
    Continue,
    st.sampled_from(Phase),
    st.builds(Mutation, pairs.map(tuple), st.lists(names, max_size=3).map(tuple)),
    body=st.none() | st.binary(max_size=20),
    mode=st.none() | st.sampled_from(ModeOverride),
    metadata=st.none() | st.dictionaries(st.text(max_size=8), facts, max_size=5),
)


@given(replies, st.text("0123456789abcdef", min_size=32, max_size=32) | st.text(max_size=40))
def test_bytes_that_were_kept_say_the_same(reply: Continue, id: str) -> None:
    named = (*reply.mutation.set[:3], ("x-vsr-replay-id", id))
    told = {**reply.metadata, "replay_id": id} if reply.metadata is not None else None
    for each in (reply, replace(reply, mutation=Mutation(named, reply.mutation.remove), metadata=told)):
        for one in (id, id[::-1], f"{id}x", id):  # the bytes kept for one exchange are not another's
            mine = replace(each, metadata=told and {**told, "replay_id": one})
            assert pb.ProcessingResponse.FromString(Serializer(one)(mine)) == encode(mine)


def test_trailers_replies() -> None:
    for phase in (Phase.REQUEST_TRAILERS, Phase.RESPONSE_TRAILERS):
        assert getattr(write(Continue(phase)), phase.value) is not None
        changed = getattr(write(Continue(phase, Mutation(set=(("a", "b"),)))), phase.value)
        assert headers_of(changed.header_mutation) == [("a", b"b")]


def test_c1_immediate_sets_raw_value_and_metadata() -> None:
    reply = Immediate(403, b'{"error":{}}', (("content-type", "application/json"),), metadata={"verdict": "detected"})
    response = write(reply)
    immediate = response.immediate_response
    assert immediate.status.code == 403 and immediate.body == b'{"error":{}}'
    assert headers_of(immediate.headers) == [("content-type", b"application/json")]
    assert immediate.headers.set_headers[0].header.value == ""
    assert immediate.details == "vsr_hallucination"
    assert response.dynamic_metadata.fields["vsr"].struct_value.fields["verdict"].string_value == "detected"


def test_metadata_types() -> None:
    metadata = {"s": "é\ud800", "f": 0.5, "b": True, "l": ("x", "y"), "none": (), "nan": float("nan")}
    response = write(Continue(Phase.RESPONSE_BODY, metadata=metadata))
    fields = response.dynamic_metadata.fields["vsr"].struct_value.fields
    assert fields["s"].string_value == "é?"
    assert fields["f"].number_value == 0.5
    assert fields["b"].bool_value is True and fields["b"].number_value is None
    assert [v.string_value for v in fields["l"].list_value.values] == ["x", "y"]
    assert fields["none"].list_value is not None and not fields["none"].list_value.values
    assert fields["nan"].number_value is None


@pytest.mark.parametrize("mode", list(ModeOverride))
def test_c8_overrides_are_exactly_the_two_allowed_ones(mode: ModeOverride) -> None:
    override = write(Continue(Phase.RESPONSE_HEADERS, mode=mode)).mode_override
    body = {
        ModeOverride.RESPONSE_STREAMED: filter_v3.ProcessingModeBodySendMode.STREAMED,
        ModeOverride.RESPONSE_NONE: filter_v3.ProcessingModeBodySendMode.NONE,
    }[mode]
    send = filter_v3.ProcessingModeHeaderSendMode.SEND
    assert override == filter_v3.ProcessingMode(
        response_header_mode=send, response_trailer_mode=send, response_body_mode=body
    )


@pytest.mark.parametrize(("seconds", "sent"), [(8.25, timedelta(seconds=8.25)), (0, timedelta(milliseconds=1))])
def test_extended_timeout(seconds: float, sent: timedelta) -> None:
    response = write(ExtendTimeout(seconds))
    assert response.override_message_timeout == sent
    assert response.response_body is None and response.immediate_response is None


def test_header_value_with_line_break_cannot_spoil_the_reply() -> None:
    response = write(Continue(Phase.RESPONSE_BODY, Mutation(set=(("x-vsr-a", "one\r\ntwo\x00\ud800é"),))))
    assert headers_of(response.response_body.response.header_mutation) == [("x-vsr-a", "one  two ?é".encode())]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_unknown(data: bytes) -> None:
    try:
        decode(parse(data))
    except UnknownMessage as problem:
        assert str(len(data)) in str(problem) or "without a message" in str(problem)


def test_header_map_hides_values() -> None:
    assert "secret" not in repr(HeaderMap([("authorization", "secret")]))
