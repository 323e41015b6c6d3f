"""What the arguments of all commands share: how a subcommand is added, numbers in a range. Standard library only."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

_N = TypeVar("_N", int, float)


def add_command(group: Any, name: str, summary: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """A subcommand of ``group`` (what ``add_subparsers`` returns); its description is the summary as a sentence."""
    command: argparse.ArgumentParser = group.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return command


def whole(low: int, high: int, what: str = "") -> Callable[[str], int]:
    """Parses a whole number; ``what`` names the range where its bounds would not tell."""
    return _parser(int, low, high, what or f"a whole number between {low} and {high}")


def number(low: float, high: float, what: str = "") -> Callable[[str], float]:
    """The same for any number; not a number (nan) is in no range."""
    return _parser(float, low, high, what or f"a number between {low:g} and {high:g}")


def count(text: str) -> int:
    """How many of something."""
    return whole(1, 10**9, "a whole number of 1 or more")(text)


def seconds(text: str) -> float:
    """How long something may take."""
    return number(0.001, 86400.0, "a number of seconds between 0.001 and 86400")(text)


def _parser(kind: Callable[[str], _N], low: float, high: float, wanted: str) -> Callable[[str], _N]:
    def parse(text: str) -> _N:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
        return value

    return parse
