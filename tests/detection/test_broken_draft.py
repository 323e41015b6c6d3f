"""The endpoint's verdict with a draft in front that is no JSON: what the draft named must not vanish."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.deadline import DetectionError
from vsr_hallucination.detection.endpoint_reply import read_verdict

ANSWER = "Depot K7 shipped 479 crates in May."


@pytest.mark.parametrize(
    "content",
    [
        '{"spans": ["479 crates",]}\nCorrected JSON: {"spans": []}',
        "{'spans': ['479 crates']}\n{\"spans\": []}",
        '{"spans": [{"text": "479 crates", {"spans": []}',
        '{"Spans": ["479 crates"], "spans": []}',
    ],
    ids=["trailing-comma", "python", "cut", "spelling"],
)
def test_d12_a_span_in_a_broken_draft_is_never_clean(content: str) -> None:
    try:
        found = read_verdict(content, ANSWER).stretches
    except DetectionError:
        return
    assert found
