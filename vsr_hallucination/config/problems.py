"""What is wrong with a configuration: where, what, and what to do. All of it at once, not the first only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from itertools import islice

_MOST_GUESSES = 500  # comparing costs time, and a guess among thousands helps nobody


class Severity(StrEnum):
    """An error refuses the file; a warning is printed, and the file serves."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. ``line`` and ``column`` count from 1; 0 where there is no such place."""

    severity: Severity
    file: str
    line: int
    column: int
    path: str  # routing.decisions[2].rules
    message: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        path = f"{self.path}: " if self.path else ""
        return f"{place}: {path}{self.message}; {self.remedy}"


class ConfigError(Exception):
    """A configuration that cannot serve. ``problems`` holds every error and every warning, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = in_file_order(problems)
        super().__init__("\n".join(str(problem) for problem in self.errors))

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.WARNING)


def in_file_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sorted by place; equal findings (a node reached through two aliases) appear once."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: (p.line, p.column, p.path, p.message)))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known spelling a person most likely meant by ``word``, or None."""
    folded: dict[str, str] = {}
    for name in islice(known, _MOST_GUESSES):
        folded.setdefault(name.casefold().replace("-", "_"), name)
    found = get_close_matches(word[:80].casefold().replace("-", "_"), list(folded), n=1, cutoff=0.72)
    return folded[found[0]] if found else None


def words(text: str) -> frozenset[str]:
    """The words of a text: sets of keys stay short to write and to read."""
    return frozenset(text.split())


def listed(words: Sequence[str], last: str = "or") -> str:
    """``a, b or c``, for messages."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def some(words: Sequence[str], most: int = 10) -> str:
    """``a, b and 3 more``: a list that stays readable however long it is."""
    if len(words) <= most:
        return listed(words, "and")
    return f"{', '.join(words[:most])} and {len(words) - most} more"
