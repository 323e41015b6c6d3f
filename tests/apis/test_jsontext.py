"""Lenient reading, and edits that leave every other byte alone."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzz import FUZZ
from vsr_hallucination.apis.jsontext import (
    Before,
    JsonError,
    Prefix,
    Replace,
    decode,
    edit,
    encode,
    join_surrogates,
    loads,
    locate,
    path_text,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def every_path(value, path=()):
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from every_path(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from every_path(item, (*path, at))


@FUZZ
@given(st.binary(max_size=60))
def test_any_bytes_survive_decoding(data):
    assert encode(decode(data)) == data


@FUZZ
@given(st.binary(max_size=60) | st.text('[]{}",:019eE.-tn\\u ', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(data):
    try:
        loads(data)
    except JsonError:
        with pytest.raises(JsonError):
            edit(data, [Prefix((), "x")])
    else:
        assert edit(data, [Replace((), "7")]).strip(b" \t\r\n\xef\xbb\xbf") == b"7"


def test_lenient_reading():
    assert loads(b'\xef\xbb\xbf{"a": NaN, "b": -Infinity, "a": 1}') == {"a": 1, "b": float("-inf")}
    assert loads(rb'"\ud800x"') == "\ud800x"
    assert loads(rb'"\ud83d\ude00"') == "\U0001f600"
    assert loads(b'"a\tb\xff"') == "a\tb\udcff"
    assert loads(b"9" * 5000) == int("9" * 2500) * 10**2500 + int("9" * 2500)


@pytest.mark.parametrize("bad", [b"", b"{", b"00412", b"{} {}", b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe{\0}\0"])
def test_no_json_is_a_typed_error(bad):
    with pytest.raises(JsonError):
        loads(bad)
    with pytest.raises(JsonError):
        edit(bad, [Prefix(("a", 0), "x")])


@FUZZ
@given(values, st.data(), st.sampled_from([None, 1, "\t"]), st.booleans(), st.text(max_size=6))
def test_a_prefix_changes_that_string_and_no_other_byte(value, data, indent, ascii_only, notice):
    strings = [(path, item) for path, item in every_path(value) if isinstance(item, str)]
    if not strings:
        return
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    body = b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass")
    path, old = data.draw(st.sampled_from(strings))
    new = edit(body, [Prefix(path, notice)])
    read = dict(every_path(loads(new)))
    assert read[path] == join_surrogates(notice + old) or read[path] == notice + old
    added = len(new) - len(body)
    start = next(at for at in range(len(new)) if new[:at] + new[at + added :] == body)
    assert new[start : start + added].isascii()
    others = {key: item for key, item in every_path(loads(body)) if key != path and not isinstance(item, list | dict)}
    assert all(repr(read[key]) == repr(item) for key, item in others.items())


def test_odd_spellings_stay():
    body = b'{ "n":1.0, "m":1e3 ,"i":-Infinity,"s":"caf\\u00e9 \\/ \xc3\xa9\xff","k":[ {"te\\u0078t" : "x"} ]}\r\n'
    assert edit(body, [Prefix(("k", 0, "text"), 'é"\n')]) == body.replace(b'"x"', b'"\\u00e9\\"\\nx"')


def test_the_last_of_duplicate_keys_is_edited():
    body = b'{"a":{"b":"1"},"a":{"c":0,"b":"2","b":"3"}}'
    assert edit(body, [Prefix(("a", "b"), "!")]) == body.replace(b'"3"', b'"!3"')
    with pytest.raises(JsonError):
        edit(b'{"a":{"b":"1"},"a":5}', [Prefix(("a", "b"), "!")])


def test_replace_and_insert():
    assert edit(b'{"a":[ ],"b":[ 1],"c":2}', [Replace(("c",), "3"), Before(("b", 0), "{}")]) == (
        b'{"a":[ ],"b":[ {},1],"c":3}'
    )
    with pytest.raises(JsonError):
        edit(b'{"a":"[]"}', [Before(("a",), "1")])


def test_locate_and_path_text():
    text = '{"a":[1,{"b c":"x"}]}'
    start, end = locate(text, [("a", 1, "b c"), ("a", 7)])[("a", 1, "b c")]
    assert text[start:end] == '"x"'
    assert path_text(("a", 1, "b c", "d_1")) == '$.a[1]["b c"].d_1'


def test_an_edit_of_a_megabyte_costs_about_two_readings():
    answer = {"role": "assistant", "content": "word " * 100_000}
    logprobs = [{"token": "word", "logprob": -0.125, "bytes": [119, 111]}] * 8_000
    body = json.dumps({"choices": [{"index": 0, "message": answer, "logprobs": {"content": logprobs}}]}).encode()
    path = ("choices", 0, "message", "content")

    def seconds(work):
        times = []
        for _ in range(3):
            begun = time.process_time()
            work()
            times.append(time.process_time() - begun)
        return min(times)

    assert seconds(lambda: edit(body, [Prefix(path, "x")])) < 3 * seconds(lambda: json.loads(body)) + 0.01
