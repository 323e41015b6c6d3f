"""Text under any name in a part that is not read makes an answer unreadable, in every API, in bodies as in streams."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vsr_hallucination.apis.base import ResponseUnreadable
from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.apis.unread import hides, tells

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
G, W = "All is well. ", "Depot K7 shipped 479 crates."


def readings(part):
    """Whether each API, given a clean text and this part beside it, reads the answer: bodies, then streams."""
    bodies = {
        CHAT: {"choices": [{"index": 0, "message": {"content": [{"type": "text", "text": G}, part]}}]},
        RESPONSES: {"output": [{"type": "message", "content": [{"type": "output_text", "text": G}, part]}]},
        MESSAGES: {"content": [{"type": "text", "text": G}, part]},
    }
    found = {}
    for path, body in bodies.items():
        try:
            (answer,) = api_for_path(path).read_response(json.dumps(body).encode()).answers
            found[path] = answer.text == G
        except ResponseUnreadable:
            found[path] = False
    streams = {
        CHAT: [{"choices": [{"index": 0, "delta": {"content": [part]}}]}],
        RESPONSES: [
            {"type": "response.content_part.added", "content_index": 1, "part": part},
            {"type": "response.completed", "response": {}},
        ],
        MESSAGES: [{"type": "content_block_start", "index": 1, "content_block": part}, {"type": "message_stop"}],
    }
    for path, events in streams.items():
        stream = api_for_path(path).assembler(10_000)
        for event in events:
            stream.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
        found[f"{path} stream"] = not stream.unreadable
    return found


TOLD = [
    {"type": "markdown", "markdown": W},
    {"type": "markdown", "markdown": "479"},
    {"type": "table", "rows": [["crates", "479"]]},
    {"type": "card", "title": W},
    {"type": "card", "body": {"lines": [{"line": "479"}]}},
    {"type": "x", "id": W},
    {"type": "x", "url": "see the report of May"},
    {"type": "x", "data": "Depot\u00a0K7\u00a0shipped\u00a0479"},
    {"type": "x", "summary": "479"},
    {"type": W},
    {"markdown": W},
    {"type": "漢", "答え": "四七九"},
]


@pytest.mark.parametrize("part", TOLD, ids=json.dumps)
def test_a10_text_under_an_invented_key_is_never_clean(part):
    assert not any(readings(part).values())


SILENT = [
    {"type": "image_url", "image_url": {"url": "https://example.org/k7.png", "detail": "high"}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
    {"type": "output_image", "b64_json": "iVBORw0KGgo=", "size": "1024x1024", "quality": "high"},
    {"type": "file", "file": {"file_id": "f_1", "filename": "Report of May.pdf", "file_data": "JVBERi0="}},
    {"type": "mystery", "id": "m_1", "status": "completed", "signature": "EqQB+/=", "encrypted_content": "Zm9v"},
    {"type": "x", "annotations": [{"title": W}], "logprobs": [{"token": W}], "citations": [{"cited_text": W}]},
    {"type": "x", "score": 0.5, "cached": True, "nothing": None, "empty": "", "blank": " \n", "list": [[], {}]},
    {"type": "thinking", "thinking": W, "signature": "EqQB"},
    {"type": "redacted_thinking", "data": "Zm9v"},
]


@pytest.mark.parametrize("part", SILENT, ids=json.dumps)
def test_a10_identifiers_addresses_and_encoded_bytes_are_no_text(part):
    assert all(readings(part).values())


def test_beside_text_that_is_read_single_words_are_no_text():
    """``known`` types bring fields of their own, such as a format's name; a sentence in one is text all the same."""
    for extra, clean in (({"format": "plain"}, True), ({"flavour": "md"}, True), ({"markdown": W}, False)):
        assert hides({"type": "text", "text": G, **extra}, read="text") is not clean
    assert not hides({"type": "text", "text": G, "metadata": {"note": W}, "cache_control": {"type": W}}, read="text")


def test_a14_unknown_events_with_a_delta_are_never_clean():
    told = {"type": "response.output_text.delta", "delta": G}
    ended = {"type": "response.completed", "response": {}}
    for kind, clean in (
        ("response.markdown.delta", False),
        ("response.output_audio_transcript.delta", False),
        ("response.function_call_arguments.delta", True),
        ("response.apply_patch_call_operation_diff.delta", True),
        ("response.reasoning_text.delta", True),
        ("response.output_audio.delta", True),
    ):
        stream = api_for_path(RESPONSES).assembler(10_000)
        for event in (told, {"type": kind, "delta": "479"}, ended):
            stream.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
        assert stream.unreadable is not clean, kind


def test_a15_an_unknown_delta_with_an_invented_key_is_never_clean():
    unknown, compaction = {"type": "md_delta", "md": "479"}, {"type": "compaction_delta", "content": W}
    for delta, clean in ((unknown, False), (compaction, True)):
        stream = api_for_path(MESSAGES).assembler(10_000)
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        stream.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
        assert stream.unreadable is not clean


def test_events_and_choices_are_searched_by_the_names_of_text_alone():
    assert not tells({"type": "warning", "message": W, "list": [W]})
    assert tells({"type": "x", "deep": [{"deeper": {"text": [W]}}]})
    assert not tells({"text": G}, read="text")


# -- properties ----------------------------------------------------------------------------------------------------

KEYS = st.text("bcdfghjkmnqvwxz", min_size=3, max_size=8)  # no name of ours is without a vowel, but for acronyms
TEXTS = st.text(min_size=1, max_size=20).filter(lambda text: text.strip())
WORDS = st.text("abcXYZ019-_./:+=", min_size=1, max_size=30)
HARMLESS = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.just("") | st.just("  "),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
STEPS = st.lists(st.none() | KEYS, max_size=6)  # None: a list around it


def buried(text, steps, beside):
    for step in steps:
        text = [beside, text] if step is None else {"zzz": beside, step: text}
    return text


@settings(max_examples=50, deadline=None)
@given(text=TEXTS, key=KEYS, steps=STEPS, beside=HARMLESS, typed=st.booleans())
def test_any_text_under_any_unknown_key_is_never_clean(text, key, steps, beside, typed):
    part = {"type": "mystery"} if typed else {}
    assert all(readings({**part, key: beside}).values())
    assert not any(readings({**part, key: buried(text, steps, beside)}).values())


@settings(max_examples=50, deadline=None)
@given(
    word=WORDS,
    key=st.sampled_from("id url data signature encrypted_content call_id media_type Thought_Signature".split()),
    steps=STEPS.map(lambda steps: [None for _ in steps]),
    beside=HARMLESS,
)
def test_single_words_under_names_that_hold_none_are_passed_over(word, key, steps, beside):
    assert all(readings({"type": "mystery", key: buried(word, steps, beside), "zzz": beside}).values())
