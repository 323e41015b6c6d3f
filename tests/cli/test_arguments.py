"""Numbers on the command line: in their range, or an error that names it."""

import argparse

import pytest

from vsr_hallucination.cli.arguments import count, number, seconds, whole


def test_what_is_in_range_is_taken() -> None:
    assert whole(-1, 9)("-1") == -1 and count("1000000000") == 10**9
    assert number(0, 1)("0.25") == 0.25 and seconds("1e3") == 1000.0


@pytest.mark.parametrize("text", ["", "x", "1.5", "10", "-2", "9" * 5000])
def test_what_is_no_such_whole_number_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a whole number between -1 and 9"):
        whole(-1, 9)(text)


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "-0.1", "1.01"])
def test_what_is_no_such_number_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a share"):
        number(0, 1, "a share between 0 and 1")(text)
