"""A filter in this process that is reloaded while exchanges run: its configuration alternates, nothing may be lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from support.driving import chat_request, chat_response
from support.envoy import free_port
from support.ext_proc import Client, connect, request_body, request_headers, response_body, response_headers
from vsr_hallucination.config import load
from vsr_hallucination.detection.types import Checker, Gate
from vsr_hallucination.server import app as serving
from vsr_hallucination.server.models import CheckerKey, GateKey, ModelFactory
from vsr_hallucination.telemetry import Telemetry

POST = [(":method", "POST"), (":path", "/v1/chat/completions")]
OK_JSON = [(":status", "200"), ("content-type", "application/json")]
NEW = "Vendors praised splendid weather while several trains arrived early."
# Even rounds mark every new word, odd ones none: a verdict tells under which configuration it was made.
TEXT = """
version: v0.3
routing:
  signals: {{hallucination: [{{name: grounded}}]}}
  decisions: [{{name: {decision}, plugins: [{{type: hallucination, configuration: {{enabled: true}}}}]}}]
global:
  model_catalog:
    modules:
      hallucination_mitigation:
        detector:
          {{backend: {backend}, {model}threshold: {threshold}, min_span_confidence: 0, min_span_length: 0}}
filter:
  fact_check: always
  server: {{listen: ["127.0.0.1:{port}"], drain_wait: 0s}}
  admin: {{listen: "127.0.0.1:{admin}"}}
  detection: {{deadline: 60s, value_check: false}}
  envoy: {{message_timeout: 61s, max_message_timeout: 61s}}
  replay: {{max_records: 100}}
  log_level: error
"""


class Counting(ModelFactory):
    """The real factory; counts what it made, and what of that was closed."""

    def __init__(self, telemetry: Telemetry) -> None:
        super().__init__(telemetry)
        self.made = self.closed = 0

    def make_checker(self, key: CheckerKey) -> Checker:
        checker = super().make_checker(key)
        self.made += 1
        close = checker.aclose

        async def closing() -> None:
            self.closed += 1
            await close()

        checker.aclose = closing  # type: ignore[method-assign]
        return checker

    def make_gate(self, key: GateKey) -> Gate:
        raise AssertionError("the gate is not asked for")


@dataclass
class Reloading:
    """A running filter. ``answered`` counts exchanges by the decision that they were judged under."""

    file: Path
    ports: tuple[int, int]
    factory: Counting
    app: serving.App
    client: Client
    model: str = ""
    rounds: int = 0
    answered: dict[str, int] = field(default_factory=dict)

    def write(self, round_: int) -> None:
        self.put(text(round_, self.ports, self.model))

    def put(self, config: str) -> None:
        """In one step, as deployments replace a file: the watcher must not read half of it."""
        made = self.file.with_suffix(".new")
        made.write_text(config, "utf-8")
        made.replace(self.file)

    async def reload(self) -> None:
        """The next configuration, through the very path a SIGHUP takes."""
        self.rounds += 1
        self.write(self.rounds)
        wanted = load(self.file).config.sha256
        self.app._reload.set()
        while self.app._slot.current.config.sha256 != wanted:
            await asyncio.sleep(0.002)

    async def exchange(self) -> None:
        """One exchange, whole; fails unless its verdict is the one that its configuration gives."""
        stream = self.client.open()
        for message in (request_headers(POST), request_body(chat_request()), response_headers(OK_JSON)):
            assert await stream.ask(message) is not None
        reply = await stream.ask(response_body(chat_response(NEW)), timeout=60)
        assert reply is not None, "the exchange was lost"
        fields = reply.response_body.response.header_mutation.set_headers
        headers = {f.header.key.decode(): f.header.raw_value.decode() for f in fields}
        await stream.finish(60)
        decision = headers["x-vsr-selected-decision"]
        self.answered[decision] = self.answered.get(decision, 0) + 1
        strict = not decision.startswith("d") or int(decision[1:]) % 2 == 0
        assert headers.get("x-vsr-response-warnings") == ("hallucination" if strict else None), headers


def text(round_: int, ports: tuple[int, int], model: str) -> str:
    return TEXT.format(
        decision=f"d{round_}",
        backend="token_classification" if model else "lexical",
        model=f"model_id: {model}, " if model else "",
        threshold=(0.99 if round_ % 2 else 0.05) + round_ / 1e6,  # a model of its own each time
        port=ports[0],
        admin=ports[1],
    )


@asynccontextmanager
async def running_app(folder: Path, model: str = "") -> AsyncIterator[Reloading]:
    """The whole application of ``serve`` in this process; ``model``: a directory, or nothing for the word counter."""
    ports, file = (free_port(), free_port()), folder / "config.yaml"
    file.write_text(text(0, ports, model), "utf-8")
    factory = Counting(Telemetry())
    app = serving.App(str(file), load(file).config, factory)
    running = asyncio.create_task(app.serve())
    try:
        while app._runtime is None:
            assert not running.done(), running
            await asyncio.sleep(0.02)
        async with connect(f"127.0.0.1:{ports[0]}") as client:
            yield Reloading(file, ports, factory, app, client, model)
    finally:
        app._asked_to_stop()
        await running


async def under_load(filter_: Reloading, reloads: int, workers: int, each: Callable[[], None] = lambda: None) -> None:
    """``reloads`` reloads, one after the other, while ``workers`` keep exchanges running; raises what any raised."""
    done = asyncio.Event()

    async def work() -> None:
        while not done.is_set():
            await filter_.exchange()

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    try:
        for _ in range(reloads):
            before = sum(filter_.answered.values())
            await filter_.reload()
            while sum(filter_.answered.values()) == before:  # each configuration is used at least once
                for task in tasks:
                    if task.done():
                        task.result()
                await asyncio.sleep(0.002)
            each()
    finally:
        done.set()
        await asyncio.gather(*tasks)
