"""What a whole evaluation command left: exit code, words, files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ran:
    """What a command left."""

    code: int
    out: Path
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[dict[str, str]]:
        with (self.out / "results.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def metrics(self) -> dict[str, Any]:
        return strict(self.out / "metrics.json")

    @property
    def behavior(self) -> dict[str, Any]:
        return strict(self.out / "behavior.json")

    @property
    def report(self) -> str:
        return (self.out / "report.md").read_text("utf-8")


def strict(path: Path) -> dict[str, Any]:
    """JSON without the constants that Python alone would read."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{path.name} holds {name}")

    value = json.loads(path.read_text("utf-8"), parse_constant=refuse)
    assert isinstance(value, dict)
    return value


Run = Callable[..., Ran]
