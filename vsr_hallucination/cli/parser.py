"""What can be typed after ``vsr-hallucination``. Only the standard library is imported here."""

from __future__ import annotations

import argparse
from typing import Any

from vsr_hallucination import __version__
from vsr_hallucination.cli import commands, evaluating, schema
from vsr_hallucination.cli.arguments import add_command, seconds

_SUMMARY = "Checks LLM answers against the evidence their request carried, in front of the client, behind Envoy."

_CHECK_NOTES = """\
exit status: 0 not_detected, 1 detected, 2 usage, 3 unavailable, 4 not_applicable (only with --gate).
Span offsets are code points of the answer's text, half-open: what they name in a file is, in Python,
open(FILE, encoding="utf-8-sig", newline="").read()[start:end]. A byte order mark is no text; "\\r\\n" is two.
"""

_VALIDATE_NOTES = "exit status: 0 usable, 1 usable with warnings (only with --strict), 2 errors.\n"


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="vsr-hallucination", description=_SUMMARY)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _serve(group)
    _demo(group)
    _validate(group)
    schema.add(group)
    _check(group)
    _envoy_config(group)
    evaluating.add(group)
    return parser


def _serve(group: Any) -> None:
    command = add_command(group, "serve", "run the filter: gRPC for Envoy, HTTP for operators, until SIGTERM")
    command.add_argument("--config", metavar="FILE", required=True, help="configuration file (YAML)")
    command.set_defaults(run=commands.serve)


def _demo(group: Any) -> None:
    command = add_command(
        group, "demo", "start Envoy, the filter and a scripted upstream on loopback, and tour through them"
    )
    command.add_argument("--once", action="store_true", help="exit after the tour: 0 if all steps are as expected")
    command.add_argument(
        "--ports",
        metavar="NAME=PORT",
        nargs="+",
        default=[],
        help="fixed ports instead of free ones: envoy, envoy-admin, filter, admin, upstream",
    )
    command.add_argument("--no-color", action="store_true", help="mark unsupported spans with brackets")
    command.add_argument("--envoy", metavar="COMMAND", help="command that starts Envoy; {config}: the bootstrap file")
    command.set_defaults(run=commands.demo)


def _validate(group: Any) -> None:
    command = add_command(
        group, "validate", "check a configuration file and say what is wrong with it", _VALIDATE_NOTES
    )
    command.add_argument("file", metavar="FILE", help="configuration file (YAML)")
    command.add_argument("--strict", action="store_true", help="warnings count: exit 1 if there are any")
    command.add_argument("--json", action="store_true", help="print the problems as JSON")
    command.set_defaults(run=commands.validate)


def _check(group: Any) -> None:
    command = add_command(group, "check", "check one answer against evidence, without Envoy", _CHECK_NOTES)
    command.add_argument(
        "--grounding",
        metavar="FILE",
        required=True,
        nargs="+",
        action="extend",
        help="the evidence, one or more files of UTF-8 text or JSON; '-' reads standard input",
    )
    command.add_argument("--answer", metavar="FILE", required=True, help="the answer, UTF-8 text; '-' as above")
    command.add_argument("--question", metavar="TEXT", default="", help="the question that was asked")
    command.add_argument(
        "--gate",
        action="store_true",
        help="ask the fact-check classifier first whether the question needs evidence",
    )
    command.add_argument("--explain", action="store_true", help="label each span with the explainer (NLI)")
    command.add_argument("--json", action="store_true", help="print the observation as JSON")
    command.add_argument("--config", metavar="FILE", help="take models and thresholds from this configuration")
    command.add_argument("--recipe", metavar="NAME", help="and from this recipe in it (default: the first)")
    command.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=120.0,
        help="give up after this long (default: 120)",
    )
    command.set_defaults(run=commands.check)


def _envoy_config(group: Any) -> None:
    command = add_command(group, "envoy-config", "print the Envoy configuration that fits a configuration")
    command.add_argument("--config", metavar="FILE", help="configuration file (default: the defaults)")
    command.add_argument(
        "--for",
        dest="target",
        choices=("envoy", "gateway", "istio"),
        default="envoy",
        help="a bootstrap for a plain Envoy (default), policies for Envoy Gateway, or an EnvoyFilter for Istio",
    )
    command.add_argument("--namespace", metavar="NAME", help="of the gateway (default: llm; istio-ingress)")
    command.add_argument(
        "--gateway", metavar="NAME", help="the Gateway, or the label istio of its pods (default: llm; ingressgateway)"
    )
    command.add_argument("--listener", metavar="NAME", help="of the Gateway, for Envoy Gateway (default: http)")
    command.add_argument(
        "--route", metavar="NAME", help="the HTTPRoute, or the VirtualService's http route (default: llm)"
    )
    command.set_defaults(run=commands.envoy_config)
