from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsr_hallucination.cli.marks import mark, visible, wants_color


def test_brackets_around_each_span() -> None:
    assert mark("shipped 479 crates", [(8, 11)], color=False) == "shipped [479] crates"


def test_colour_on_a_terminal() -> None:
    assert mark("479", [(0, 3)], color=True) == "\x1b[1;31m479\x1b[0m"


def test_spans_count_code_points() -> None:
    assert mark("🧪🧪 479", [(3, 6)], color=False) == "🧪🧪 [479]"


def test_touching_and_overlapping_spans_become_one() -> None:
    assert mark("abcdef", [(3, 5), (0, 2), (1, 3)], color=False) == "[abcde]f"


@given(st.text(max_size=20), st.lists(st.tuples(st.integers(-5, 30), st.integers(-5, 30)), max_size=5))
def test_any_spans_leave_the_text_whole(text: str, spans: list[tuple[int, int]]) -> None:
    shown = mark(text, spans, color=False)
    assert shown.replace("[", "").replace("]", "") == visible(text).replace("[", "").replace("]", "")


@pytest.mark.parametrize("hostile", ["\x1b]0;title\x07", "\x9b31m", "a\rb", "\x08", "\ud800"])
def test_an_answer_cannot_steer_the_terminal(hostile: str) -> None:
    assert "\ufffd" in visible(hostile)
    assert not any(c in visible(hostile) for c in "\x1b\x07\x9b\r\x08\ud800")


def test_no_colour_into_a_pipe() -> None:
    assert not wants_color(io.StringIO())
