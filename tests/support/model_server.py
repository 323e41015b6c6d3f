"""A scripted model server for the evaluator: OpenAI's chat completions and Gemini's generateContent, in a thread of
its own, so that a whole command can be run against it. What it says to each request is a step of a script."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.upstream import Answer, Headers, Request, Upstream, Wire, plain

_TERMS = re.compile(r"more than ([\d.]+) confident")


@dataclass(frozen=True)
class Asked:
    """One request as it came. ``t``: the confidence its prompt asks for, None for a judge's."""

    prompt: str
    t: float | None
    body: dict[str, Any]
    request: Request
    at: float

    @property
    def question(self) -> str:
        return self.prompt.partition("\n")[0]


Script = Callable[[Asked], Answer]


def says(text: str | None, finish: str = "stop", **message: Any) -> Answer:
    body = {
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ]
    }
    return plain(json.dumps(body).encode())


IDK = says("IDK")


def error(status: int, body: Any = None, headers: Headers = ()) -> Answer:
    value = {"error": {"message": "scripted", "code": status}} if body is None else body
    return plain(
        json.dumps(value).encode(), status=status, headers=[("content-type", "application/json"), *headers]
    )


def retry_info(delay: str) -> dict[str, Any]:
    """Google's 429 with RetryInfo (google/rpc/error_details.proto)."""
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    return {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota", "details": details}}


def limited(delay: str) -> Answer:
    return error(429, retry_info(delay))


def stall(seconds: float = 30.0) -> Answer:
    return plain(b"{}", delay=seconds)


def rubbish(data: bytes = b"<html>oops</html>") -> Answer:
    return plain(data, headers=[("content-type", "text/html")])


def gemini(value: dict[str, Any], status: int = 200) -> Answer:
    return plain(json.dumps(value).encode(), status=status)


def gemini_says(text: str, finish: str = "STOP") -> Answer:
    part = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": finish}
    return gemini({"candidates": [part]})


def in_turn(*steps: Answer, then: Answer | None = None) -> Script:
    """The steps one after another for each (question, t) of its own; ``then`` (or the last step) ever after."""
    counts: Counter[tuple[str, float | None]] = Counter()

    def script(asked: Asked) -> Answer:
        key = (asked.question, asked.t)
        counts[key] += 1
        at = counts[key] - 1
        return steps[at] if at < len(steps) else then or steps[-1]

    return script


@dataclass
class ModelServer:
    """A running server. ``asked``: all requests, in order of arrival; ``most_at_once``: how many were open together."""

    script: Script
    asked: list[Asked] = field(default_factory=list)
    most_at_once: int = 0
    port: int = 0
    _open: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def questions(self) -> list[tuple[str, float | None]]:
        return [(asked.question, asked.t) for asked in self.asked]

    async def answer(self, request: Request, wire: Wire) -> None:
        body = json.loads(request.body)
        prompt = _prompt(body)
        terms = _TERMS.search(prompt)
        asked = Asked(prompt, float(terms.group(1)) if terms else None, body, request, time.monotonic())
        self.asked.append(asked)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        try:
            await self.script(asked)(request, wire)
        finally:
            self._open -= 1


def _prompt(body: dict[str, Any]) -> str:
    if "contents" in body:
        return str(body["contents"][-1]["parts"][0]["text"])
    return str(body["messages"][-1]["content"])


@contextmanager
def running_models(script: Script) -> Iterator[ModelServer]:
    """Serves until the block ends."""
    served = ModelServer(script)
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stopping = asyncio.Event()

    async def serve() -> None:
        upstream = Upstream(served.answer)
        server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, backlog=512)
        served.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stopping.wait()
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(10)
        loop.close()


def csv_of(rows: Sequence[tuple[str, str, str, int]]) -> str:
    """A data file of (id, question, gold, unknown_ok); no cell needs a quote."""
    return "id,question,gold,unknown_ok\n" + "".join(f"{i},{q},{g},{u}\n" for i, q, g, u in rows)
