"""``schema``: the configuration's JSON Schema, or its reference page."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any


def add(group: Any) -> None:
    """The command's arguments."""
    summary = "print the JSON Schema of the configuration file, for editors and checks"
    command = group.add_parser("schema", help=summary, description=summary[0].upper() + summary[1:] + ".")
    command.add_argument("--markdown", action="store_true", help="print the reference page instead")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from vsr_hallucination.config.reference import reference

    if args.markdown:
        from vsr_hallucination.config.reference_page import reference_page

        sys.stdout.write(reference_page(reference()))
        return 0
    from vsr_hallucination.config.json_schema import json_schema

    print(json.dumps(json_schema(reference()), indent=2, ensure_ascii=False))
    return 0
