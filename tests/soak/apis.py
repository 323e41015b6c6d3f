"""Soak run of the client APIs: a million inputs over request parsing, SSE assembly and rewriting.

Not part of the test run: ``PYTHONPATH=tests python tests/soak/apis.py``. Whatever comes in, nothing but the two
documented errors leaves ``apis/``, what is read is consistent, and a rewritten answer reads as notice and old answer.
Inputs are real bodies with bytes, tokens and whole values exchanged (seeded: a failure names its seed and input), so
that most of them get far; ``apis_guided.py`` beside this lets atheris choose them by the branches they reach. Fails at
the first input that breaks a rule or takes longer than five seconds.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.api_rules import APIS, Counted, hold
from support.clients import chat_events, completion_events, message_events, response_events

CORPUS = Path(__file__).parents[1] / "corpus"
TOKENS = [
    b'"', b"{", b"}", b"[", b"]", b",", b":", b"null", b"NaN", b"1e999", b"-0", b"\\u0000", b"\\ud800", b"\\", b"\xff",
    b"\xef\xbb\xbf", b"\n\n", b"\r\n", b"data: ", b"event: error\n", b"data: [DONE]\n\n", b"<context>", b"</context>",
    b'"text"', b'"content"', b'"index"', b'"delta"', b'"error"', b'"type"', b"9" * 40, "É漢🙂".encode(),
]  # fmt: skip
SCALARS = [None, True, -1, 0, 7, 1e308, 10**40, "", " ", "text", "<context>412</context>", "\ud800", [], {}]
SLOWEST = 5.0
EVENTS = {
    "openai_chat": chat_events(),
    "openai_completions": completion_events(),
    "openai_responses": response_events(),
    "anthropic_messages": message_events(),
}


def seeds() -> dict[str, list[bytes]]:
    """Requests, answers and stream events of each API."""
    found: dict[str, list[bytes]] = {name: [event.strip() for event in EVENTS[name]] for name in APIS}
    for path in sorted(CORPUS.glob("*.json")):
        case = json.loads(path.read_text("utf-8"))
        for key in ("request", "response"):
            body = case.get(key)
            if body is not None:
                found[case["api"]].append((body if isinstance(body, str) else json.dumps(body)).encode())
    return found


def changed(source: random.Random, bodies: list[bytes]) -> bytes:
    """One of the bodies with a few things exchanged, whole values or bytes; now and then with none."""
    body = bytearray(source.choice(bodies))
    if source.random() < 0.6:
        try:
            value, other = json.loads(body), json.loads(source.choice(bodies))
        except ValueError:  # an event is no JSON document
            return bytes(body)
        for _ in range(source.choice((1, 1, 2, 4))):
            _exchange(source, value, other)
        return json.dumps(value, ensure_ascii=source.random() < 0.5).encode("utf-8", "surrogatepass")
    for _ in range(source.choice((0, 1, 1, 2, 3, 6))):
        at = source.randrange(len(body) + 1)
        kind = source.randrange(4)
        if kind == 0:
            body[at : at + source.randrange(4)] = source.choice(TOKENS)
        elif kind == 1:
            body[at : at + source.randrange(24)] = b""
        elif kind == 2:
            other = source.choice(bodies)
            start = source.randrange(len(other))
            body[at:at] = other[start : start + source.randrange(64)]
        else:
            body[at : at + 1] = bytes((source.randrange(256),))
    return bytes(body)


def _exchange(source: random.Random, value: Any, other: Any) -> None:
    """Puts something else in one place of ``value``: a scalar, what stands elsewhere, or nothing."""
    places = list(_places(value))
    if not places:
        return
    holder, key = source.choice(places)
    donors = list(_places(other)) or places
    there, step = source.choice(donors)
    kind = source.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = source.choice(SCALARS)
    elif kind == 2:
        holder[key] = [copy.deepcopy(holder[key])] * source.choice((1, 2))
    elif kind == 3:
        holder[key] = json.dumps(holder[key])
    else:
        holder[key] = copy.deepcopy(there[step])


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def soak(inputs: int, seed: int) -> int:
    bodies, counted, slowest = seeds(), Counted(), 0.0
    names = list(APIS)
    begun = time.monotonic()
    for number in range(inputs):
        source = random.Random(seed * 1_000_003 + number)
        name = names[number % len(names)]
        own = name if source.random() < 0.9 else source.choice(names)  # now and then another API's
        data = changed(source, bodies[own])
        at = time.process_time()
        try:
            hold(name, data, source, counted)
        except BaseException as error:
            print(f"FAIL seed {seed} input {number} ({name}): {error!r}\n{data!r}", file=sys.stderr)
            raise
        took = time.process_time() - at
        slowest = max(slowest, took)
        if took > SLOWEST:
            print(f"FAIL seed {seed} input {number} ({name}) took {took:.1f} s\n{data!r}", file=sys.stderr)
            return 1
    seconds = time.monotonic() - begun
    print(
        f"{inputs} inputs in {seconds:.0f} s ({inputs / max(seconds, 1e-9):.0f} a second), none broke a rule; "
        f"{counted}; slowest {1000 * slowest:.0f} ms CPU"
    )
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    return soak(args.inputs, args.seed)


if __name__ == "__main__":
    sys.exit(main())
