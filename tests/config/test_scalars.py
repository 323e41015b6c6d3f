"""YAML 1.2's core schema, variables, durations and sizes."""

from __future__ import annotations

import math

import pytest

from vsr_hallucination.config.scalars import Value, duration, expand, number_trap, resolve, size, size_trap
from vsr_hallucination.config.yamltext import Mark, Scalar


def plain(text: str) -> Value:
    return resolve(Scalar(text, True, None, Mark(1, 1)), text, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("False", False), ("TRUE", True), ("tRUE", "tRUE"),
        ("null", None), ("~", None), ("", None), ("nil", "nil"),
        ("yes", "yes"), ("On", "On"), ("off", "off"), ("n", "n"),
        ("12", 12), ("-3", -3), ("+3", 3), ("0o17", 15), ("0x1F", 31), ("0b1", "0b1"),
        ("010", 10), ("1_000", "1_000"), ("190:20:30", "190:20:30"), ("2026-11-30", "2026-11-30"),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-2", -0.015), ("e3", "e3"), (".", "."),
        (".inf", math.inf), ("-.INF", -math.inf), ("1" * 41, "1" * 41), ("１２", "１２"),
    ],
)  # fmt: skip
def test_plain_scalars_follow_the_core_schema(text: str, value: Value) -> None:
    assert plain(text) == value and type(plain(text)) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(float(str(plain(".nan"))))


def test_quoted_scalars_are_text_unless_a_variable_went_in_or_a_tag_says_so() -> None:
    mark = Mark(1, 1)
    assert resolve(Scalar("1", False, None, mark), "1", False) == "1"
    assert resolve(Scalar("${N}", False, None, mark), "1", True) == 1
    assert resolve(Scalar("${N}", False, "str", mark), "1", True) == "1"
    assert resolve(Scalar("1", False, "int", mark), "1", False) == 1


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("plain", "plain"), ("$", "$"), ("$A", "$A"), ("US$5", "US$5"), ("$$", "$"), ("$$$$", "$$"),
        ("${A}", "a"), ("x${A}y${A}", "xaya"), ("$${A}", "${A}"), ("$$${A}", "$a"),
        ("${A:-d}", "a"), ("${B:-d}", "d"), ("${E:-d}", "d"), ("${E}", ""), ("${B:-}", ""), ("${B:-a:-b}", "a:-b"),
        ("${NESTED}", "${A}"),
    ],
)  # fmt: skip
def test_variables(text: str, expanded: str) -> None:
    found = expand(text, {"A": "a", "E": "", "NESTED": "${A}"})
    assert (found.text, found.fault) == (expanded, None)


@pytest.mark.parametrize("text", ["${MISSING}", "${", "${A", "${}", "${1}", "${A-B}", "${A:?x}"])
def test_variables_that_cannot_be_expanded_are_faults(text: str) -> None:
    assert expand(text, {"A": "a"}).fault is not None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("8s", 8), ("500ms", 0.5), ("1m30s", 90), ("2h", 7200), ("30d", 2592000), ("1.5s", 1.5), (3, 3), (0.25, 0.25),
     ("4 s", 4), ("500 ms", 0.5), ("1m 30s", 90), ("1 h 5 m", 3900)],
)
def test_durations(value: str | float, seconds: float) -> None:
    assert duration(value) == pytest.approx(seconds)


@pytest.mark.parametrize("value", ["", "s", "8", "8  s", " 8s", "8s ", "8S", "-1s", "1e3s", "8sec", "1s " * 20, True])
def test_what_is_no_duration(value: str) -> None:
    assert duration(value) is None


@pytest.mark.parametrize(
    ("value", "count"),
    [("16MiB", 16 << 20), ("1 KiB", 1024), ("1.5MiB", 3 << 19), ("10MB", 10_000_000), ("5B", 5), (1024, 1024),
     ("16Mi", 16 << 20), ("64 Ki", 1 << 16), ("1Gi", 1 << 30)],
)
def test_sizes(value: str | int, count: int) -> None:
    assert size(value) == count


@pytest.mark.parametrize("value", ["", "16", "16M", "16mb", "-1KiB", 1.5, True])
def test_what_is_no_size(value: str | float) -> None:
    assert size(value) is None


@pytest.mark.parametrize(("text", "remedy"), [("16M", "16MiB"), ("1.5 g", "1.5GB"), ("16mb", "16MB"), ("8k", "8KiB")])
def test_sizes_with_two_readings_are_named(text: str, remedy: str) -> None:
    trap = size_trap(text)
    assert trap is not None and remedy in trap[1]


@pytest.mark.parametrize("text", ["16MiB", "16MB", "8kB", "16", "M", "16 parsecs", "9" * 50 + "M"])
def test_other_sizes_have_one_reading_or_none(text: str) -> None:
    assert size_trap(text) is None


def test_numbers_that_yaml_versions_read_differently_are_named() -> None:
    assert [number_trap(text) for text in ("10", "0", "0.5", "-3", "x_y", "0o17")] == [None] * 6
    octal, digits, score = number_trap("010"), number_trap("09"), number_trap("1_000")
    assert octal is not None and "the number 8" in octal[0] and "0o10" in octal[1]
    assert digits is not None and "octal" in digits[0]
    assert score is not None and score[1] == "write 1000"
