"""Sends the tour's exchanges through Envoy, and compares what came of each with what its step expects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from vsr_hallucination.demo.script import Expectation, Step
from vsr_hallucination.demo.upstream import PATH

_RECORD_WAIT = (
    20.0  # seconds until the record must be complete: writing is behind the answer, checks of streams too
)
_ANSWER_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Door:
    """Where one set-up is reached: Envoy for clients, the admin port for operators. No trailing slashes."""

    envoy: str
    admin: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one exchange looked like from outside. ``spans`` are code points of the upstream's text of choice 0."""

    status: int
    headers: tuple[tuple[str, str], ...]  # the x-vsr-* ones
    text: str  # the answer, or the error's message
    outcome: Mapping[str, Any] | None
    spans: tuple[tuple[int, int], ...]
    lifecycle: str
    complaints: tuple[str, ...] = ()

    @property
    def metadata(self) -> Mapping[str, Any]:
        found = (self.outcome or {}).get("metadata")
        return found if isinstance(found, dict) else {}


async def take(step: Step, door: Door, client: httpx.AsyncClient) -> Seen:
    """Run one step. Raises httpx.HTTPError where Envoy or the admin port cannot be reached."""
    headers = {"x-vsr-debug": "true"}
    response = await client.post(
        door.envoy + PATH, json=step.request(), headers=headers, timeout=_ANSWER_WAIT
    )
    ours = tuple((name, value) for name, value in response.headers.items() if name.startswith("x-vsr-"))
    record = await _record(door, response.headers.get("x-vsr-replay-id"), client)
    outcomes = record.get("outcomes") or [None]
    outcome = outcomes[0]
    seen = Seen(
        status=response.status_code,
        headers=ours,
        text=_text(response),
        outcome=outcome,
        spans=_spans(outcome),
        lifecycle=str(record.get("lifecycle")),
    )
    complaints = compare(step, seen)
    return Seen(seen.status, seen.headers, seen.text, seen.outcome, seen.spans, seen.lifecycle, complaints)


def compare(step: Step, seen: Seen) -> tuple[str, ...]:
    """Every difference between what was expected and what was seen, in words. Empty: the step holds."""
    expect = step.expect
    headers = dict(seen.headers)
    facts = seen.metadata
    found: list[str] = []

    def equal(what: str, expected: object, actual: object) -> None:
        if expected != actual:
            found.append(f"{what}: expected {_shown(expected)}, got {_shown(actual)}")

    equal("status", expect.status, seen.status)
    equal("x-vsr-response-warnings", expect.warnings, headers.get("x-vsr-response-warnings"))
    equal("verdict", expect.verdict, (seen.outcome or {}).get("verdict"))
    for name in ("action", "enforcement", "error", "reason"):
        equal(name, getattr(expect, name), facts.get(name))
    if seen.lifecycle != "completed":
        found.append(f"lifecycle: expected completed, got {seen.lifecycle}")
    if expect.status == 200 and "x-vsr-replay-id" not in headers:
        found.append("x-vsr-replay-id: missing")
    found += _text_complaints(step.answer, expect, seen)
    if expect.verdict == "not_detected" and seen.spans:
        found.append("spans beside a clean verdict")
    return tuple(found)


def _text_complaints(answer: str, expect: Expectation, seen: Seen) -> list[str]:
    found: list[str] = []
    if expect.answer_kept and (not seen.text.endswith(answer) if expect.begins else seen.text != answer):
        found.append("the client did not get the upstream's answer whole")
    if not expect.answer_kept and answer in seen.text:
        found.append("the withheld answer reached the client")
    if not seen.text.startswith(expect.begins):
        found.append(f"the answer does not begin with {expect.begins!r}")
    for text in expect.marked:
        at = answer.index(text)
        if not any(start <= at and at + len(text) <= end for start, end in seen.spans):
            found.append(f"{text!r} is not marked as unsupported")
    return found


def _shown(value: object) -> str:
    return "nothing" if value is None else str(value)


async def _record(door: Door, replay_id: str | None, client: httpx.AsyncClient) -> Mapping[str, Any]:
    """The finished audit record, by id or (a blocked answer may carry none) the newest; empty if none came in time."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _RECORD_WAIT
    while True:
        record = await _fetch(door, replay_id, client)
        if record and record.get("lifecycle") != "in_progress":
            return record
        if loop.time() > end:
            return record
        await asyncio.sleep(0.1)


async def _fetch(door: Door, replay_id: str | None, client: httpx.AsyncClient) -> Mapping[str, Any]:
    base = f"{door.admin}/v1/router_replay"
    if replay_id is None:
        response = await client.get(base, params={"limit": 1, "showDetails": "true"})
        page = response.json().get("data", []) if response.status_code == 200 else []
        return page[0] if page else {}
    response = await client.get(f"{base}/{replay_id}", params={"showDetails": "true"})
    found: Mapping[str, Any] = response.json() if response.status_code == 200 else {}
    return found


def _spans(outcome: Mapping[str, Any] | None) -> tuple[tuple[int, int], ...]:
    spans = (outcome or {}).get("spans") or ()
    return tuple((span["start"], span["end"]) for span in spans if span.get("choice", 0) == 0)


def _text(response: httpx.Response) -> str:
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return _stream_text(response.text)
    try:
        body = response.json()
    except ValueError:
        return response.text
    if "error" in body:
        return str(body["error"].get("message"))
    return str(body["choices"][0]["message"]["content"])


def _stream_text(events: str) -> str:
    pieces: list[str] = []
    for line in events.splitlines():
        data = line.removeprefix("data: ")
        if data != line and data != "[DONE]":
            pieces.append(json.loads(data)["choices"][0]["delta"].get("content", ""))
    return "".join(pieces)
