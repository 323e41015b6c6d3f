"""What loading costs, against the YAML parser alone in the same run; and that it needs none of the heavy libraries."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import yaml

from vsr_hallucination.config import loads

LINES = 2000
FASTEST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # as the loader takes it: libyaml where it is there


def large() -> str:
    """A usable configuration of two thousand lines: rules, keywords, projections, decisions, recipes."""
    out = ["version: v0.3", "recipes:"]
    recipe = 0
    while len(out) < LINES - 60:
        recipe += 1
        out += [
            f"  - name: recipe_{recipe}",
            "    routing:",
            "      strategy: priority",
            "      signals:",
            "        hallucination:",
            "          - name: claims",
            "            use_nli: true",
            "            description: Claims that the evidence does not support.",
            "        fact_check:",
            "          - name: needs_fact_check",
            "        keywords:",
        ]
        for n in range(5):
            out += [
                f"          - name: words_{n}",
                "            operator: OR",
                f"            keywords: [alpha{n}, beta]",
            ]
        out += ["      projections:", "        scores:", "          - name: pressure", "            inputs:"]
        for n in range(5):
            out += ["              - type: keyword", f"                name: words_{n}", "                weight: 0.2"]
        out += [
            "        mappings:",
            "          - name: band",
            "            source: pressure",
            "            outputs:",
            "              - name: calm",
            "                lt: 0.5",
            "              - name: pressed",
            "                gte: 0.5",
            "      decisions:",
        ]
        for n in range(5):
            out += [
                f"        - name: decision_{n}",
                f"          priority: {n}",
                "          rules:",
                "            operator: AND",
                "            conditions:",
                "              - type: keyword",
                f"                name: words_{n}",
                "              - type: projection",
                "                name: pressed",
                "          plugins:",
                "            - type: hallucination",
                "              configuration:",
                "                enabled: true",
                "                hallucination_action: body",
            ]
    return "\n".join(out) + "\n"


def seconds(work: Callable[[], object]) -> float:
    """Processor time of this thread: the machine's other work does not count."""
    before = time.thread_time()
    work()
    return time.thread_time() - before


def test_two_thousand_lines_cost_at_most_twice_the_parser() -> None:
    text = large()
    assert LINES - 100 <= text.count("\n") <= LINES + 20
    assert loads(text).warnings == ()
    parser = load = 1e9
    for _ in range(5):  # side by side, the fastest of each: caches and clocks are the same for both
        parser = min(parser, seconds(lambda: yaml.load(text, FASTEST)))
        load = min(load, seconds(lambda: loads(text)))
    assert load <= 2 * parser, f"{load * 1000:.0f} ms, the parser alone {parser * 1000:.0f} ms"


def test_validating_imports_neither_torch_nor_a_model_library() -> None:
    heavy = ("torch", "transformers", "numpy", "tokenizers", "grpc", "sqlalchemy", "pydantic")
    code = (
        "import sys\n"
        "from vsr_hallucination.config import loads\n"
        f"loads({large()!r})\n"
        f"print('HEAVY', [name for name in {heavy!r} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=110)
    assert shown.stdout.splitlines()[-1] == "HEAVY []", shown.stdout[-300:] + shown.stderr[-2000:]
