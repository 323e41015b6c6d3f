"""Content codings, whole and as a stream, within bounds."""

import contextlib
import gzip
import random
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzz import FUZZ
from vsr_hallucination.apis import encoding
from vsr_hallucination.apis.encoding import DecodeError, Decoder, TooLarge, decode

TEXT = b"".join(b"data: Depot K7 shipped %d crates.\r\n\r\n" % at for at in range(500))
LIMIT = 1 << 20


def raw_deflate(data):
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


CODINGS = {
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "deflate": zlib.compress,
    "deflate ": raw_deflate,
    "br": brotli.compress,
    "zstd": encoding.zstd.compress,
    "gzip, br": lambda data: brotli.compress(gzip.compress(data)),
    "identity": bytes,
    "": bytes,
}


def in_pieces(decoder, data, sizes):
    out, at = b"", 0
    while at < len(data):
        size = sizes()
        out += decoder.feed(data[at : at + size])
        at += size
    decoder.end()
    return out


@pytest.mark.parametrize("name", CODINGS)
def test_whole_and_in_pieces(name):
    data = CODINGS[name](TEXT)
    assert decode(data, name, LIMIT) == TEXT
    assert in_pieces(Decoder(name, LIMIT), data, lambda: 1) == TEXT
    assert in_pieces(Decoder(name, LIMIT), data, lambda: random.randint(1, 90)) == TEXT


@pytest.mark.parametrize("name", CODINGS)
def test_c3_a_an_empty_body_is_empty(name):
    assert decode(b"", name, LIMIT) == b""


def test_no_coding_is_identity():
    assert decode(TEXT, None, LIMIT) == TEXT


@pytest.mark.parametrize("name", ["gzip", "deflate", "deflate ", "br", "zstd", "gzip, br"])
def test_c3_e_a_truncated_body_is_an_error(name):
    data = CODINGS[name](TEXT)
    for cut in (1, len(data) // 2, len(data) - 1):
        decoder = Decoder(name, LIMIT)
        with pytest.raises(DecodeError):
            decoder.feed(data[:cut])
            decoder.end()
        with pytest.raises(DecodeError):
            decoder.end()


def test_c3_b_each_flush_of_a_stream_is_read_at_once():
    compress = zlib.compressobj(wbits=31)
    decoder = Decoder("gzip", LIMIT)
    for event in (b"data: a\n\n", b"data: b\n\n"):
        assert decoder.feed(compress.compress(event) + compress.flush(zlib.Z_SYNC_FLUSH)) == event
    decoder.feed(compress.flush())
    decoder.end()


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_c3_c_concatenated_members(name):
    data = CODINGS[name](TEXT) + CODINGS[name](b"tail")
    assert decode(data, name, LIMIT) == TEXT + b"tail"
    assert in_pieces(Decoder(name, LIMIT), data, lambda: 1) == TEXT + b"tail"


def test_zero_padding_after_gzip_is_no_member():
    assert decode(gzip.compress(TEXT) + b"\0" * 9, "gzip", LIMIT) == TEXT


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_garbage_after_the_end_is_an_error(name):
    with pytest.raises(DecodeError):
        decode(CODINGS[name](TEXT) + b"garbage", name, LIMIT)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "gzip, br", "identity"])
def test_output_is_bounded(name):
    data = CODINGS[name](TEXT)
    assert decode(data, name, len(TEXT)) == TEXT
    decoder = Decoder(name, len(TEXT) - 1)
    with pytest.raises(TooLarge):
        decoder.feed(data)
    with pytest.raises(TooLarge):
        decoder.feed(b"")


@pytest.mark.parametrize("name", ["br", "zstd"])
def test_a_bomb_stops_by_its_ratio(name):
    bomb = CODINGS[name](b"\0" * (16 << 20))
    with pytest.raises(TooLarge, match="times"):
        decode(bomb, name, 1 << 40)


@pytest.mark.parametrize("name", ["snappy", "gzip, snappy", "gzip, gzip, gzip, gzip, gzip", "gzip br"])
def test_unknown_codings_are_an_error(name):
    with pytest.raises(DecodeError):
        Decoder(name, LIMIT)


@FUZZ
@given(st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip,br"]), st.data())
def test_mutated_input_gives_bytes_or_a_typed_error(name, data):
    coded = bytearray(CODINGS.get(name, CODINGS["gzip, br"])(TEXT[:400]))
    for _ in range(data.draw(st.integers(0, 4))):
        coded[data.draw(st.integers(0, len(coded) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(DecodeError, TooLarge):
        assert len(decode(bytes(coded), name, 4096)) <= 4096
