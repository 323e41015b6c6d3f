"""Moments as people and programs write them."""

import pytest

from vsr_hallucination.replay.moments import unix_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1700000000.5", 1700000000.5),
        ("1970-01-02", 86400.0),
        ("1970-01-01T01:00:00", 3600.0),
        ("1970-01-01T01:00:00Z", 3600.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
    ],
)
def test_a_moment(text: str, seconds: float) -> None:
    assert unix_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "1e12", "-1e12", "2026-13-01", "9999-12-31"])
def test_no_moment(text: str) -> None:
    assert unix_seconds(text) is None
