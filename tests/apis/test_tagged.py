"""Sections between tags: found in order, outermost once, in time that grows with the text and no faster."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzz import FUZZ
from vsr_hallucination.apis.tagged import pattern_of, sections

PATTERN = pattern_of(["context", "documents"])


def found(text):
    inside, left_open = sections(text, PATTERN)
    return [text[one.start : one.end] for one in inside], left_open


@pytest.mark.parametrize(
    ("text", "inside", "left_open"),
    [
        ("no tags", [], False),
        ("a <context>one</context> b <documents>two</documents>", ["one", "two"], False),
        ("<Context source='x' n=\"1\">\n  one\n</CONTEXT >", ["one"], False),
        ("<context>a <documents>b</documents> c</context>", ["a <documents>b</documents> c"], False),
        ("<context>a <context>b</context> c</context>", ["a <context>b</context> c"], False),
        ("<context>a <documents>b</context> c", ["a <documents>b"], False),
        ("<context>a <documents>b</documents>", ["b"], True),
        ("</context>a<context>", [], True),
        ("<context/>a</context>", [], False),
        ("<contexts>a</contexts> <context >b</context>", ["b"], False),
        ("<context></context>", [""], False),
        ("<context> \n </context>", [""], False),
        ("1 < 2 <context>3 < 4</context>", ["3 < 4"], False),
    ],
)
def test_sections(text, inside, left_open):
    assert found(text) == (inside, left_open)


def test_no_tags_no_pattern():
    assert pattern_of([]) is None


@pytest.mark.parametrize("piece", ["<context>", "</context>", "<context", "<context <", "<context></documents>"])
def test_hostile_tags_cost_no_more_than_their_length(piece):
    begun = time.process_time()
    found(piece * (1_000_000 // len(piece)))
    assert time.process_time() - begun < 3


@FUZZ
@given(pieces=st.lists(st.sampled_from(["<context>", "</context>", "<documents>", "</documents>", "a", " "])))
def test_sections_never_overlap_and_stand_between_their_tags(pieces):
    text = "".join(pieces)
    inside, _ = sections(text, PATTERN)
    at = 0
    for one in inside:
        assert at <= one.start <= one.end <= len(text)
        at = one.end
        assert text[: one.start].rstrip().endswith(f"<{one.tag}>")
        assert text[one.end :].lstrip().startswith(f"</{one.tag}>")
