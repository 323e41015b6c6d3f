"""``eval detector --compare A B``: two detectors on the same rows, and whether they differ beyond noise."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.cli.measures import INCOMPLETE, detector
from vsr_hallucination.evaluation import artifacts
from vsr_hallucination.evaluation.detector import PREDICTIONS
from vsr_hallucination.evaluation.markdown import between, decimal, plain, table
from vsr_hallucination.evaluation.selection import Difference, compare

JSON, REPORT = "comparison.json", "comparison.md"


@dataclass(frozen=True, slots=True)
class Predicted:
    """One row's prediction. ``score`` None: unavailable."""

    id: str
    faulty: bool | None
    score: float | None
    detected: bool


def run(args: argparse.Namespace) -> int:
    """Measures A and B (a backend each, or the folder of an earlier measurement), then compares them row by row."""
    names: Sequence[str] = args.compare
    out = Path(args.out)
    code, sides = 0, []
    for mark, name in zip("AB", names, strict=True):
        folder = Path(name)
        if not (folder / PREDICTIONS).is_file():
            folder = out / mark
            measured = argparse.Namespace(**{**vars(args), "backend": name, "out": str(folder), "risk": None})
            code = max(code, detector(measured))
        sides.append(read(folder / PREDICTIONS))
    first, second = sides
    if [(p.id, p.faulty) for p in first] != [(p.id, p.faulty) for p in second]:
        raise Failure(f"{names[0]} and {names[1]} were measured on different rows: measure both on the same --data")
    both = [
        (a, b)
        for a, b in zip(first, second, strict=True)
        if a.faulty is not None and a.score is not None and b.score is not None
    ]
    lost = sum(p.faulty is not None for p in first) - len(both)
    found = compare(
        [a.score or 0.0 for a, _ in both],
        [b.score or 0.0 for _, b in both],
        [int(bool(a.faulty)) for a, _ in both],
        flagged=([int(a.detected) for a, _ in both], [int(b.detected) for _, b in both]),
    )
    value = {
        "first": names[0],
        "second": names[1],
        "n": len(both),
        "left_out": lost,
        "differences": [difference.to_json() for difference in found],
    }
    artifacts.write_json(out / JSON, value)
    artifacts.write_text(out / REPORT, report(value, found))
    print(report(value, found))
    return INCOMPLETE if lost and code == 0 else code


def read(path: Path) -> list[Predicted]:
    """The rows of a predictions.jsonl. Raises Failure."""
    found: list[Predicted] = []
    try:
        for line in path.read_text("utf-8-sig", "replace").split("\n"):
            if not line:
                continue
            value = json.loads(line)
            score = value["score"] if value["state"] != "unavailable" else None
            found.append(Predicted(str(value["id"]), value["faulty"], score, value["state"] == "detected"))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path}:{len(found) + 1}: not a line of `eval detector`'s predictions: measure again") from error
    return found


def report(value: Mapping[str, Any], found: Sequence[Difference]) -> str:
    """The comparison as Markdown."""
    rows = [
        (
            d.figure.replace("_", " "),
            decimal(d.first, 4),
            decimal(d.second, 4),
            between(d.interval, lambda x: f"{x:+.4f}"),
            "yes" if d.apart else "no",
        )
        for d in found
    ]
    first, second = plain(value["first"]), plain(value["second"])
    lost = f" {value['left_out']} rows that one of them could not judge are left out." if value["left_out"] else ""
    return (
        f"# {first} against {second}\n\n"
        f"{value['n']} rows, the same for both.{lost} The interval is of A − B: paired bootstrap over rows, 95 %. "
        "AURC, Brier score and calibration error are better when lower.\n\n"
        + table(("figure", f"A: {first}", f"B: {second}", "A − B", "beyond noise"), rows)
        + "\n"
    )
