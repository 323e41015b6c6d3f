"""The requests and answers of the benchmark: generated, so that nothing but this file is needed to repeat a run."""

from __future__ import annotations

import json
from collections.abc import Mapping

from vsr_hallucination.bench.client import Call

_QUESTION = "How many crates did each depot ship in May, and at what cost?"
_LONG_DEPOTS = 40  # about 3,400 characters of evidence
_SHORT_DEPOTS = 4


def answer_texts() -> Mapping[str, str]:
    """What the upstream can say, by name."""
    return {
        "short": _sentences(2),
        "long": _sentences(14),  # about 900 characters
        "poem": "Crates at dawn, in quiet rows,\nrain on tin where the river slows.",
    }


def plain(delay_ms: float = 0.0, *, checked: bool = False) -> Call:
    """A question with a little evidence; a short answer after ``delay_ms``, which must come ``checked``."""
    return Call(_request(_QUESTION, _SHORT_DEPOTS), f"json {delay_ms} short", checked)


def creative(delay_ms: float) -> Call:
    """A prompt that makes no claim worth grounding: the exchange turns out not_applicable."""
    return Call(_request("Write a short poem about crates in the rain.", 0), f"json {delay_ms} poem")


def streamed(chunks: int, gap_ms: float) -> Call:
    """The short answer as an event stream of ``chunks`` chunks, ``gap_ms`` apart."""
    return Call(_request(_QUESTION, _SHORT_DEPOTS, stream=True), f"sse {chunks} {gap_ms} short")


def long() -> Call:
    """A check of a second or two alone, so that sixteen end within their deadline: each must come checked."""
    return Call(_request(_QUESTION, _LONG_DEPOTS), "json 0 long", checked=True)


def _request(question: str, depots: int, *, stream: bool = False) -> bytes:
    messages: list[Mapping[str, object]] = [{"role": "user", "content": question}]
    if depots:
        call = {"id": "c1", "type": "function", "function": {"name": "depot_stats", "arguments": "{}"}}
        rows = [_row(number) for number in range(depots)]
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": "c1", "content": json.dumps(rows)})
    return json.dumps({"model": "m", "stream": stream, "messages": messages}).encode()


def _row(number: int) -> Mapping[str, object]:
    return {
        "depot": f"D{number}",
        "month": "May",
        "crates": 300 + 7 * number,
        "cost_eur": 9000 + 130 * number,
    }


def _sentences(count: int) -> str:
    return " ".join(
        f"Depot D{number} shipped {300 + 7 * number} crates in May at {9000 + 130 * number} euros."
        for number in range(count)
    )
