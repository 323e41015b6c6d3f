"""One function a command: from parsed arguments to an exit code. Each imports its room when it is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from vsr_hallucination.cli.failure import Failure

if TYPE_CHECKING:
    from vsr_hallucination.config.problems import Problem
    from vsr_hallucination.config.schema import Config


def serve(args: argparse.Namespace) -> int:
    from vsr_hallucination.server.app import run

    return run(args.config)


def demo(args: argparse.Namespace) -> int:
    from vsr_hallucination.demo.command import run

    return run(args)


def validate(args: argparse.Namespace) -> int:
    from vsr_hallucination.cli.validating import run

    return run(Path(args.file), strict=args.strict, as_json=args.json)


def check(args: argparse.Namespace) -> int:
    from vsr_hallucination.cli.checking import run

    return run(args)


def envoy_config(args: argparse.Namespace) -> int:
    config = load_config(args.config)
    from vsr_hallucination.cli.printing import envoy_config_text
    from vsr_hallucination.envoy_config import EnvoyConfigError

    given = {name: getattr(args, name) for name in ("namespace", "gateway", "listener", "route")}
    names = {name: value for name, value in given.items() if value is not None}
    try:
        text = envoy_config_text(config, args.target, names)
    except EnvoyConfigError as error:
        raise Failure(f"{args.config or 'defaults'}: {error}") from error
    sys.stdout.write(text)
    return 0


def load_config(path: str | None) -> Config:
    """The configuration at ``path``, or the defaults; what it warns of goes to stderr.

    Raises Failure with every error, one a line.
    """
    from vsr_hallucination.config import Config, ConfigError, load

    if path is None:
        return Config()
    try:
        loaded = load(path)
    except ConfigError as error:
        _tell(error.warnings)
        raise Failure(str(error)) from error
    _tell(loaded.warnings)
    return loaded.config


def _tell(warnings: Iterable[Problem]) -> None:
    for problem in warnings:
        print(f"warning: {problem}", file=sys.stderr)
