"""Nothing but the two documented errors leaves an API, whatever comes in; what is read is consistent."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzz import FUZZ
from vsr_hallucination.apis.base import RequestUnreadable, ResponseUnreadable, without_echo
from vsr_hallucination.apis.registry import api_for_path

PATHS = ["/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"]
APIS = {path: api_for_path(path) for path in PATHS}

names = st.sampled_from(
    "messages role content user assistant tool text type choices index message delta finish_reason documents error "
    "input output prompt output_text function_call_output tool_result document source data call_id annotations "
    "start_index url_citation message_start content_block content_block_start content_block_delta text_delta "
    "response.output_text.delta response.output_text.done response.completed response output_index status echo "
    "file_search_call results title search_result refusal transcript audio value markdown".split()
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | names | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=24,
)


def check(api, body):
    request = None
    try:
        request = api.read_request(body)
        assert isinstance(request.prompt, str)
    except RequestUnreadable as error:
        assert len(str(error)) < 100
    try:
        view = api.read_response(body)
    except ResponseUnreadable as error:
        assert len(str(error)) < 100
        with pytest.raises(ResponseUnreadable):
            api.prepend(body, {0: "N"})
    else:
        for answer in view.answers:
            assert "".join(answer.text[part.start : part.end] for part in answer.parts) == answer.text
        if not view.error:
            rewritten = api.prepend(body, {answer.index: "N\n" for answer in view.answers})
            for old, new in zip(view.answers, api.read_response(rewritten).answers, strict=True):
                assert new.text == ("N\n" + old.text if old.parts else "")
    for size in (len(body) or 1, 5):
        stream = api.assembler(200)
        data = body + b"\n\ndata: " + body + b"\n\ndata: " + body + b"\n\ndata: [DONE]"
        for at in range(0, len(data), size):
            stream.feed(data[at : at + size])
        stream.end()
        assert stream.failed or stream.terminal or stream.too_large or b"\n" in body or b"\r" in body
        view = stream.view()
        if request is not None:
            assert len(without_echo(view, request).answers) == len(view.answers)


@FUZZ
@pytest.mark.parametrize("path", PATHS)
@given(value=junk)
def test_any_json_is_read_or_refused(path, value):
    check(APIS[path], json.dumps(value).encode())
    keys = ("messages", "choices", "documents", "input", "output", "prompt", "content")
    check(APIS[path], json.dumps(dict.fromkeys(keys, value) | {"echo": True}).encode())
    check(APIS[path], json.dumps({key: [value] for key in keys}).encode())


REAL = [
    {
        "messages": [{"role": "user", "content": "q"}, {"role": "tool", "tool_call_id": "c", "content": '{"a": [1]}'}],
        "choices": [{"index": 0, "message": {"content": [{"type": "text", "text": "W"}]}, "finish_reason": "stop"}],
    },
    {"prompt": ["a", [1, 2]], "echo": True, "choices": [{"index": 0, "text": "aW"}, {"index": 1, "text": "G"}]},
    {
        "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "s", "content": "412"}]}],
        "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "W"}],
    },
    {
        "input": [{"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "4"}]}],
        "output": [
            {
                "type": "message",
                "content": [
                    {"type": "output_text", "text": "W", "annotations": [{"type": "url_citation", "end_index": 3}]}
                ],
            }
        ],
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "W"}},
    {"type": "response.completed", "response": {"output": [{"content": [{"type": "output_text", "text": "W"}]}]}},
]


@FUZZ
@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_mutated_bodies_are_read_or_refused(path, data):
    changed = bytearray(json.dumps(data.draw(st.sampled_from(REAL))).encode())
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(changed) - 1))
        new = data.draw(st.sampled_from([b'"', b"{", b"]", b"\xff", b"\\", b"1", b"null"]))
        changed[at : at + data.draw(st.integers(0, 3))] = new
    check(APIS[path], bytes(changed))
