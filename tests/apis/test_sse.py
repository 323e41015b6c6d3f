"""Event streams in any chunking give the events of a naive reading of the whole."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzz import FUZZ
from vsr_hallucination.apis.sse import SseEvent, SseParser


def read(chunks, limit=1 << 20):
    parser = SseParser(limit)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.end(), parser


def naive(data: bytes):
    """The standard's text, line by line, over the whole stream."""
    events, name, lines = [], b"", []
    parts = re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf"))
    for at, line in enumerate([*parts, b""]):
        if line == b"":
            if at == len(parts) - 1 and parts[-1] == b"":
                continue  # nothing after the last line end
            if b"\n".join(lines) or name == b"error":
                events.append(SseEvent(name.decode("utf-8", "replace"), b"\n".join(lines), at >= len(parts)))
            name, lines = b"", []
        elif line.startswith(b"data:") or line == b"data":
            lines.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:") or line == b"event":
            name = line[6:].removeprefix(b" ")
    return events


pieces = st.lists(
    st.sampled_from(
        [b"\r", b"\n", b"\r\n", b"data:", b"data: ", b"event: ", b"error", b": c", b"x", b"\xef\xbb\xbf", b"\xc3\xa9"]
    ),
    max_size=24,
).map(b"".join)


@FUZZ
@given(pieces, st.lists(st.integers(0, 80), max_size=8))
def test_any_chunking_reads_like_the_whole(data, cuts):
    cuts = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[a:b] for a, b in itertools.pairwise(cuts)]
    assert read(chunks)[0] == naive(data)
    assert read([data[at : at + 1] for at in range(len(data))])[0] == naive(data)


def test_a2_framing_without_space_crlf_and_one_bom():
    data = b"\xef\xbb\xbfdata:a\r\n\r\ndata: b\r\ndata:\xef\xbb\xbfc\r\n\r\ndata:[DONE]\r\n\r\n"
    want = [b"a", b"b\n\xef\xbb\xbfc", b"[DONE]"]
    cr_lf = [match.start() + 1 for match in re.finditer(b"\r\n", data)]
    for cuts in [[1, 2], cr_lf, list(range(1, len(data)))]:
        chunks = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        assert [event.data for event in read(chunks)[0]] == want


def test_comments_and_unknown_fields_are_ignored():
    assert read([b": ping\n\nid: 3\nretry: 5\nfoo: bar\ndata: x\n\n"])[0] == [SseEvent("", b"x")]


def test_an_event_without_its_blank_line_is_given_at_the_end():
    assert read([b"data: x\n\ndata: y"])[0] == [SseEvent("", b"x"), SseEvent("", b"y", cut=True)]
    assert read([b"\xef\xbb"])[0] == []


@pytest.mark.parametrize("long", [b"data: " + b"x" * 200, b"data: x\n" * 60, b"z" * 200])
def test_an_event_over_the_limit_is_dropped_and_told(long):
    data = b"data: a\n\n" + long + b"\n\ndata: b\n\n"
    events, parser = read([data[at : at + 7] for at in range(0, len(data), 7)], limit=100)
    assert [event.data for event in events] == [b"a", b"b"]
    assert parser.overflow


def test_what_is_no_event_stream_is_kept():
    assert read([b'{\n"error": "queue full"\n}'])[1].unframed == b'{\n"error": "queue full"\n}'
    assert read([b"foo: bar\ndata: x\n\n"])[1].unframed == b""
