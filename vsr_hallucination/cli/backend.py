"""What ``eval detector|explainer|fact-check`` measures: a recipe's models with the chosen one put in, made, tried."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from vsr_hallucination.cli.commands import load_config
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.config.schema import Config, DetectionSettings, Recipe
from vsr_hallucination.detection.deadline import DetectionError
from vsr_hallucination.detection.factory import ModelError
from vsr_hallucination.detection.types import Checker

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Setup:
    """What judges: a recipe with the chosen backend put in, and how checks run."""

    config: Config
    recipe: Recipe
    detection: DetectionSettings
    model: str | None  # a directory, a hub id or "embedded" from --backend; None: what the recipe says


def set_up(args: argparse.Namespace, *, lexical: bool = False) -> Setup:
    """By ``--config``, ``--recipe`` and ``--backend``; ``lexical``: whether the word counter is a backend here."""
    backend: str | None = args.backend
    from_file = backend is not None and Path(backend).is_file()
    if from_file and args.config is not None:
        raise Failure("--backend names a configuration file, and so does --config: keep one of the two")
    config = load_config(backend if from_file else args.config)
    recipe = config.recipes[0] if args.recipe is None else config.recipe(args.recipe)
    if recipe is None:
        known = ", ".join(found.name for found in config.recipes)
        raise Failure(f"no recipe {args.recipe!r} in {config.source}; there are: {known}")
    detection = replace(
        config.filter.detection,
        deadline=max(config.filter.detection.deadline, args.timeout),
        queue=max(config.filter.detection.queue, 2 * args.concurrency),
    )
    if backend is None or from_file:
        return Setup(config, recipe, detection, None)
    if backend == "lexical":
        if not lexical:
            raise Failure("--backend lexical is a detector: this measures another model")
        # The counter alone is the baseline: the rules' checks would lift scores of its own.
        bare = replace(recipe.detector, backend="lexical", endpoint=None)
        alone = replace(detection, value_check=False, relation_check=False)
        return Setup(config, replace(recipe, detector=bare), alone, None)
    if backend != "embedded" and not Path(backend).is_dir() and (backend[:1] in "./~" or backend.count("/") != 1):
        raise Failure(f"--backend {backend}: no such file or directory, and no hub id (owner/name)")
    chosen = replace(recipe.detector, backend="token_classification", model=backend, endpoint=None)
    return Setup(config, replace(recipe, detector=chosen), detection, backend)


async def made(make: Callable[[], _T]) -> _T:
    """``make`` in a thread; a model that cannot be had ends the command."""
    try:
        return await asyncio.to_thread(make)
    except ModelError as error:
        raise Failure(str(error)) from error


async def probed(checker: Checker) -> None:
    """A detector that answers nothing ends the command before the first row."""
    try:
        await checker.probe()
    except DetectionError as error:
        raise Failure(f"the detector does not answer a small check ({error.reason}): {error}") from error
