"""``validate``: the problems of a configuration file, for a person or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path


def run(path: Path, *, strict: bool, as_json: bool) -> int:
    """Print the problems of ``path``; 0 usable, 1 warnings where ``strict``, 2 errors."""
    from vsr_hallucination.config import report

    problems, code = report(path, strict=strict)
    if as_json:
        found = {"file": str(path), "valid": code == 0, "problems": [asdict(problem) for problem in problems]}
        print(json.dumps(found, ensure_ascii=False, indent=2, default=str))
        return code
    for problem in problems:
        print(f"{problem.severity}: {problem}")
    errors = sum(str(problem.severity) == "error" for problem in problems)
    warnings = len(problems) - errors
    if code == 0 and not problems:
        print(f"{path}: valid")
    else:
        word = "not usable" if errors else "usable"
        print(f"{path}: {word}: {_count(errors, 'error')}, {_count(warnings, 'warning')}")
    return code


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
