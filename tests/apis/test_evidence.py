"""Evidence as the model reads it, and its way back to the string it came from."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzz import FUZZ
from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.apis.flatten import flatten


def passages(content):
    evidence = EvidenceBuilder()
    evidence.content(content, ("messages", 2, "content"), role="tool", source_id="c1")
    return evidence.grounding()


def back(flat, source, text):
    """Where the source spells a stretch of the flattened text."""
    start = flat.text.index(text)
    run = next(run for run in flat.origin if run.start <= start < run.start + run.length)
    at = run.origin + start - run.start
    return source[at : at + len(text)]


def test_objects_lists_and_records():
    source = json.dumps(
        {"depot": "K7", "rows": [{"name": "Ana", "crates": 4}, {"name": "Bo", "tags": ["x"]}], "n": None, "e": {}}
    )
    assert flatten(source).text == (
        "depot: K7\nrows: name: Ana; crates: 4\nrows.name: Bo\nrows.tags: x\n\nn: null\ne: {}"
    )


def test_lists_carry_no_index_of_ours():
    flat = flatten(json.dumps({"rows": [{"name": f"row {'abc'[at % 3]}"} for at in range(600)]}))
    assert not any(character.isdigit() for character in flat.text)


def test_numbers_keep_their_spelling():
    source = '{"order":"00412","id":174322306148984899,"price":1.50,"big":1e3,"list":[9,500],"x":NaN,"y":-Infinity}'
    assert flatten(source).text == (
        "order: 00412\nid: 174322306148984899\nprice: 1.50\nbig: 1e3\nlist: 9, 500\nx: NaN\ny: -Infinity"
    )


@pytest.mark.parametrize(
    "text", ['{"a": 00412}', "{not json}", "[1, 2", "[note] all fine", '"said" he', "412", "{'a': 1}"]
)
def test_b4_what_only_looks_like_json_stays_text(text):
    assert flatten(text) is None
    assert [passage.text for passage in passages(text).passages] == [text]
    assert passages(text).passages[0].origin == ()


def test_b4_pointers_land_inside_the_original_string():
    inner = json.dumps([{"name": "Estación Ñandú", "code": "77-KD-9"}])
    source = json.dumps({"content": [{"type": "text", "text": inner}]})
    flat = flatten(source)
    assert flat.text == "name: Estación Ñandú; code: 77-KD-9"
    assert back(flat, source, "77-KD-9") == "77-KD-9"
    assert back(flat, source, "and") == "and"
    assert back(flat, source, "ó") == "\\"  # an escape maps to its first character


def test_a_result_encoded_once_more():
    assert flatten(json.dumps(json.dumps({"crates": 412}))).text == "crates: 412"
    assert flatten(json.dumps('K7 "north"')).text == 'K7 "north"'


def test_mcp_wrappers_come_off():
    source = json.dumps(
        {
            "content": [
                {"type": "text", "text": "K7: 412"},
                {"type": "resource", "resource": {"uri": "f", "text": '{"a": 1}'}},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            ],
            "structuredContent": {"crates": 412},
            "isError": False,
            "_meta": {"x": 1},
        }
    )
    flat = flatten(source)
    assert flat.text == "K7: 412\na: 1\nstructuredContent.crates: 412"
    assert flat.unread == ("image",)


def test_data_that_resembles_a_wrapper_is_data():
    assert flatten('{"content": [{"type": "text", "len": 4}]}').text == "content: type: text; len: 4"
    assert flatten('{"content": "plain", "error": null}').text == "content: plain\nerror: null"
    assert flatten('{"error": "late", "crates": 412}').text == "error: late\ncrates: 412"


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        " \n",
        "[]",
        "{}",
        "null",
        '""',
        "(no output)",
        "<empty>",
        "None",
        [],
        [""],
        '{"a": null}',
        '[{"b": ""}]',
    ],
)
def test_b6_no_content_is_no_evidence(content):
    found = passages(content)
    assert not found and not found.unread


def test_b6_a_finding_that_nothing_was_found_is_evidence():
    assert passages("No results found.")


@pytest.mark.parametrize("content", ['{"error":"x"}', '{"error":{"message":"x"},"status":500}', '{"isError":true}'])
def test_an_error_result_is_unread(content):
    found = passages(content)
    assert not found and [one.kind for one in found.unread] == ["error"]


def test_unknown_parts_are_unread():
    found = passages([{"type": "text", "text": 5}, 7, None, {"type": ["x"]}, {"text": "ok"}, "plain"])
    assert [passage.text for passage in found.passages] == ["ok", "plain"]
    assert [one.path for one in found.unread] == [f"$.messages[2].content[{at}]" for at in range(4)]


def test_passages_are_bounded():
    found = passages(["fact"] * 5000)
    assert len(found.passages) == 2048
    assert [one.kind for one in found.unread] == ["limit"]


def test_only_so_much_json_is_made_readable():
    evidence = EvidenceBuilder()
    source = json.dumps({"numbers": list(range(70_000))})
    for at in range(6):
        evidence.text(source, ("messages", at), role="tool", source_id=None)
    found = evidence.grounding().passages
    assert [passage.text.startswith("numbers: 0, 1") for passage in found] == [True] * 4 + [False] * 2
    assert found[-1].text == source and found[-1].origin == ()


def test_a_title_leads_and_maps_to_nothing():
    evidence = EvidenceBuilder()
    evidence.documents([{"title": "K7", "text": '{"crates": 412}'}, {"title": "K7", "text": "plain"}], ("documents",))
    nested, plain = evidence.grounding().passages
    assert nested.text == "K7\ncrates: 412"
    assert back(nested, '{"crates": 412}', "412") == "412"
    assert back(plain, "plain", "plain") == "plain"


words = st.text(max_size=12) | st.sampled_from(["é", "😀", '"', "\\", "\n", "412", "{}", "[", "null"])
data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(words, inner, max_size=4)
        | inner.map(json.dumps)
        | inner.map(lambda value: {"content": [{"type": "text", "text": json.dumps(value)}]})
    ),
    max_leaves=16,
)


@FUZZ
@given(data, st.booleans(), st.sampled_from([None, 2]))
def test_runs_are_ordered_inside_both_texts_and_exact(value, ascii_only, indent):
    source = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    flat = flatten(source)
    if flat is None:
        return
    end = 0
    for run in flat.origin:
        assert run.start >= end and run.length > 0
        end = run.start + run.length
        assert end <= len(flat.text) and run.origin + run.length <= len(source)
        for at in range(run.length):
            assert source[run.origin + at] in (flat.text[run.start + at], "\\")


@FUZZ
@given(st.text('{}[]":,\\u0019 \n-eE.truefalsn', max_size=40))
def test_any_text_is_flattened_or_left_alone(text):
    flat = flatten(text)
    assert flat is None or isinstance(flat.text, str)


HOSTILE = {
    "open lists": "[" * 500_000,
    "open objects": '{"a":' * 200_000,
    "deep but closed": "[" * 5000 + "]" * 5000,
    "empty objects": "[" + "{}," * 150_000 + "{}]",
    "escapes": json.dumps({"a": "\n" * 225_000}),
    "numbers": json.dumps(list(range(75_000))),
    "words": json.dumps(["a"] * 100_000),
    "lists of one": json.dumps([["a"]] * 70_000),
    "long keys": json.dumps({"k" * 5000: [{"a": [{"b": at}]} for at in range(12_500)]}),
    "rows, wrapped twice": json.dumps(
        {"content": [{"type": "text", "text": json.dumps([{"name": "Ñ", "n": at} for at in range(12_500)])}]}
    ),
    "an unclosed string": '["' + "a\\" * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_half_a_million_characters_take_about_half_a_second(name):
    begun = time.process_time()
    flat = flatten(HOSTILE[name])
    assert time.process_time() - begun < 2.5  # 0.02 to 0.5 s on a quiet core
    assert flat is None or len(flat.text) <= 3 * len(HOSTILE[name]) + 4096
