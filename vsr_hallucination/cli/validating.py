"""``validate``: the problems of a configuration file, for a person or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vsr_hallucination.config import Config


def run(path: Path, *, strict: bool, as_json: bool) -> int:
    """Print the problems of ``path``; 0 usable, 1 warnings where ``strict``, 2 errors."""
    from vsr_hallucination.config import report

    found = report(path, strict=strict)
    problems, code = found.problems, found.code
    absent = list(dict.fromkeys(_absent_models(found.config))) if found.config is not None else []
    if as_json:
        told = {
            "file": str(path),
            "valid": code == 0,
            "problems": [asdict(problem) for problem in problems],
            "models_not_here": [{"kind": kind, "model": model} for kind, model in absent],
        }
        print(json.dumps(told, ensure_ascii=False, indent=2, default=str))
        return code
    for problem in problems:
        print(f"{problem.severity}: {problem}")
    for kind, model in absent:
        # No problem of the file: it may be checked elsewhere than it is used.
        print(f"note: {kind} {model}: no such directory here; it must be there where the filter runs")
    errors = sum(str(problem.severity) == "error" for problem in problems)
    warnings = len(problems) - errors
    if code == 0 and not problems:
        print(f"{path}: valid")
    else:
        word = "not usable" if errors else "usable"
        print(f"{path}: {word}: {_count(errors, 'error')}, {_count(warnings, 'warning')}")
    return code


def _absent_models(config: Config) -> Iterator[tuple[str, str]]:
    """(kind, model) of the models wanted from a directory that is not on this machine. Hub ids are not looked up."""
    from vsr_hallucination.config.paths import model_directory
    from vsr_hallucination.config.schema import FactCheckMode

    for recipe in config.recipes:
        if not recipe.needs_models:
            continue
        wanted = []
        if recipe.detector.backend == "token_classification":
            wanted.append(("detector", recipe.detector.model))
        if recipe.needs_explainer:
            wanted.append(("explainer", recipe.explainer.model))
        if config.filter.fact_check is not FactCheckMode.ALWAYS:
            wanted.append(("fact-check classifier", recipe.fact_check.model))
        for kind, model in wanted:
            local = model == "embedded" or model_directory(model) is not None
            if not local and (model[0] in "./~" or model.count("/") != 1):
                yield kind, model


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
