"""The soak run of the client APIs, its inputs chosen by the branches they reach (libFuzzer, through atheris).

``PYTHONPATH=tests python tests/soak/apis_guided.py -max_total_time=600``; the words are libFuzzer's. Needs
``pip install atheris``, which is no part of the development set, since it has wheels for Linux alone.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["vsr_hallucination.apis"]):
    from soak.apis import seeds

    from support.api_rules import APIS, Counted, hold

NAMES = list(APIS)


def one(data: bytes) -> None:
    """The first byte says which API."""
    if data:
        hold(NAMES[data[0] % len(NAMES)], data[1:], random.Random(data), Counted())


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="vsr-soak-"))
    for place, name in enumerate(NAMES):
        for number, body in enumerate(seeds()[name]):
            (folder / f"{name}-{number}").write_bytes(bytes((place,)) + body)
    atheris.Setup([sys.argv[0], str(folder), "-timeout=5", "-max_len=8192", *sys.argv[1:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
