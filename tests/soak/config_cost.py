"""What loading a large configuration costs, against the YAML parser alone, side by side in one run. To reach: ≤ 2.

A measurement, not a test: under a coverage tracer or beside other work the ratio says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import yaml

from support.large_config import large
from vsr_hallucination.config import loads

FASTEST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # as the loader takes it: libyaml where it is there


def seconds(work: Callable[[], object]) -> float:
    """Processor time of this thread: the machine's other work does not count."""
    before = time.thread_time()
    work()
    return time.thread_time() - before


def main() -> None:
    text = large()
    parser = load = 1e9
    for _ in range(9):
        parser = min(parser, seconds(lambda: yaml.load(text, FASTEST)))
        load = min(load, seconds(lambda: loads(text)))
    ratio = load / parser
    lines = text.count("\n")
    print(f"loading {lines} lines: {load * 1000:.0f} ms, the parser alone {parser * 1000:.0f} ms: {ratio:.2f}")


if __name__ == "__main__":
    main()
