"""What is remembered between exchanges is small, whatever a peer sends, and the same with and without."""

from __future__ import annotations

from vsr_hallucination import reading
from vsr_hallucination.apis import registry
from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.reading import media_types, read_head
from vsr_hallucination.wire import codec
from vsr_hallucination.wire.messages import Continue, HeaderMap, Mutation, Phase

_MANY = 20_000


def test_long_paths_are_read_and_not_kept() -> None:
    short, long = "/v1/chat/completions", "/" + "a" * _MANY + "/v1/chat/completions"
    before = registry._served.cache_info().currsize
    assert api_for_path(long) is api_for_path(long + ";x=1") is api_for_path(short)
    assert api_for_path("/" + "b" * _MANY) is None
    kept = registry._served.cache_info().currsize
    assert kept <= before + 1
    assert api_for_path(f"{short}?key=secret") is api_for_path(short)
    assert registry._served.cache_info().currsize == kept  # a query is no part of what is kept


def test_long_header_values_are_read_and_not_kept() -> None:
    padding = "; a=" + "x" * _MANY
    before = reading._media_types.cache_info().currsize, reading._head.cache_info().currsize
    headers = HeaderMap([(":status", "200"), ("content-type", "text/event-stream" + padding)])
    assert media_types(headers) == ("text/event-stream",)
    assert read_head(headers, method="POST", end_of_stream=False, limit=100).kind is reading.Kind.STREAM
    assert (reading._media_types.cache_info().currsize, reading._head.cache_info().currsize) == before


def test_many_names_to_remove_are_written_and_not_kept() -> None:
    before = codec._kept.cache_info().currsize
    reply = Continue(Phase.REQUEST_HEADERS, Mutation(remove=tuple(f"x-vsr-{n}" for n in range(_MANY))))
    assert codec.Serializer("0" * 32)(reply) == codec.encode(reply).SerializeToString()
    assert codec._kept.cache_info().currsize == before
