"""Drives an exchange by hand: messages in, orders collected, classifier and detector answered by the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vsr_hallucination.config.schema import (
    Action,
    Config,
    Decision,
    FilterSettings,
    HallucinationPlugin,
    HallucinationRule,
    Recipe,
    ReplaySettings,
)
from vsr_hallucination.detection.types import (
    CheckFailure,
    CheckRequest,
    CheckResult,
    Coverage,
    Detection,
    DetectorIdentity,
    GateResult,
    Reason,
    Span,
)
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.orders import Check, Classify, Note, Order, Resume, Save, Send
from vsr_hallucination.replay.record import Record
from vsr_hallucination.wire.messages import (
    Continue,
    HeaderMap,
    Immediate,
    Message,
    Reply,
    RequestBody,
    RequestHeaders,
    ResponseBody,
    ResponseHeaders,
)

GOOD = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros."
WRONG = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."
QUESTION = "How many crates did depot K7 ship in May, and at what cost?"
EVIDENCE = '{"depot":"K7","month":"May","crates":412,"cost_eur":9500}'
IDENTITY = DetectorIdentity("scripted", "token_classification", "ab" * 32, {"threshold": 0.8})
REPLAY = ReplaySettings()
NEEDS_GROUNDING = GateResult(True, 0.9)


def chat_request(evidence: str | None = EVIDENCE, **extra: Any) -> bytes:
    """The shared request R; without ``evidence`` only the question."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": QUESTION}]
    if evidence is not None:
        call = {"id": "call_a1", "type": "function", "function": {"name": "depot_stats", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": "call_a1", "content": evidence})
    return json.dumps({"model": "m", "messages": messages, **extra}).encode()


def chat_response(*texts: str | None) -> bytes:
    """A chat completion with one choice a text."""
    choices = [
        {"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for n, text in enumerate(texts)
    ]
    return json.dumps({"id": "c", "object": "chat.completion", "choices": choices}).encode()


def sse(*events: str | Mapping[str, Any]) -> bytes:
    """Server-sent events; a mapping is sent as JSON."""
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return b"".join(f"data: {line}\n\n".encode() for line in lines)


def delta(text: str | None = None, *, index: int = 0, finish: str | None = None) -> dict[str, Any]:
    body = {} if text is None else {"content": text}
    return {"choices": [{"index": index, "delta": body, "finish_reason": finish}]}


def policy(
    hallucination: Action = Action.HEADER,
    unverified: Action = Action.HEADER,
    *,
    failed: Action = Action.HEADER,
    rules: Sequence[HallucinationRule] = (HallucinationRule("grounded"),),
    enabled: bool = True,
    details: bool = False,
    replay: ReplaySettings = REPLAY,
    filter_settings: FilterSettings | None = None,
) -> Config:
    """One recipe, one decision that always matches, one plugin."""
    plugin = HallucinationPlugin(enabled, hallucination, unverified, details)
    recipe = Recipe("default", tuple(rules), decisions=(Decision("d", plugin=plugin),))
    return Config(
        (recipe,),
        filter=filter_settings or FilterSettings(evaluation_failed_action=failed),
        replay=replay,
        sha256="c0ffee",
    )


def find_479(request: CheckRequest) -> CheckResult:
    """A detector that knows one wrong number; everything else is clean."""
    start = request.answer.find("479")
    spans = (Span(start, start + 3, "479", 0.97),) if start >= 0 else ()
    score = 0.97 if spans else 0.05
    return CheckResult(IDENTITY, Detection(spans, (), score, 1 - score, Coverage(1.0, 1.0)))


def failing(reason: Reason) -> Callable[[CheckRequest], CheckResult]:
    return lambda request: CheckResult(IDENTITY, failure=CheckFailure(reason))


@dataclass
class Drive:
    """An exchange with its surroundings. ``gate`` None leaves the classifier's order unanswered."""

    config: Config = field(default_factory=policy)
    gate: GateResult | None = NEEDS_GROUNDING
    detect: Callable[[CheckRequest], CheckResult] | None = find_479
    metadata: Mapping[str, str] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    at: float = 1000.0

    def __post_init__(self) -> None:
        self.exchange = Exchange(self.config, id="x1", metadata=self.metadata)

    def feed(self, *messages: Message) -> list[Reply]:
        """Feeds messages, answers what is ordered, returns the replies that these made."""
        before = len(self.replies)
        for message in messages:
            self.at += 0.01
            self._carry_out(self.exchange.receive(message, self.at))
        return self.replies[before:]

    def answer_gate(self, result: GateResult) -> list[Reply]:
        before = len(self.replies)
        self._carry_out(self.exchange.gated(result, self.at))
        return self.replies[before:]

    def answer_check(self, *results: CheckResult) -> list[Reply]:
        before = len(self.replies)
        self._carry_out(self.exchange.checked(results, self.at))
        return self.replies[before:]

    def close(self) -> None:
        self._carry_out(self.exchange.closed(self.at))

    def _carry_out(self, orders: Sequence[Order]) -> None:
        for order in orders:
            self.orders.append(order)
            if isinstance(order, Resume):
                self._carry_out(self.exchange.resumed(self.at))
            elif isinstance(order, Classify) and self.gate is not None:
                self._carry_out(self.exchange.gated(self.gate, self.at))
            elif isinstance(order, Check) and self.detect is not None:
                results = tuple(self.detect(request) for request in order.requests)
                self._carry_out(self.exchange.checked(results, self.at))

    # -- whole requests --------------------------------------------------------------------------------------

    def request(self, body: bytes | None = None, **headers: str) -> list[Reply]:
        body = chat_request() if body is None else body
        pairs = [(":method", "POST"), (":path", "/v1/chat/completions"), ("content-type", "application/json")]
        pairs += [(name.replace("_", "-"), value) for name, value in headers.items()]
        return self.feed(RequestHeaders(HeaderMap(pairs)), RequestBody(body))

    def respond(
        self, body: bytes, *, status: int = 200, content_type: str = "application/json", **headers: str
    ) -> Reply:
        """A whole buffered response; the last reply carries the verdict."""
        pairs = [(":status", str(status)), ("content-type", content_type)]
        pairs += [(name.replace("_", "-"), value) for name, value in headers.items()]
        self.feed(ResponseHeaders(HeaderMap(pairs)))
        return self.feed(ResponseBody(body))[-1]

    def stream(self, *chunks: bytes, end: bool = True, **headers: str) -> list[Reply]:
        pairs = [(":status", "200"), ("content-type", "text/event-stream")]
        pairs += [(name.replace("_", "-"), value) for name, value in headers.items()]
        replies = self.feed(ResponseHeaders(HeaderMap(pairs)))
        for n, chunk in enumerate(chunks):
            replies += self.feed(ResponseBody(chunk, end_of_stream=end and n == len(chunks) - 1))
        return replies

    # -- what came of it -------------------------------------------------------------------------------------

    @property
    def replies(self) -> list[Reply]:
        return [order.reply for order in self.orders if isinstance(order, Send)]

    @property
    def records(self) -> list[Record]:
        return [order.record for order in self.orders if isinstance(order, Save)]

    @property
    def record(self) -> Record:
        return self.records[-1]

    @property
    def checks(self) -> list[Check]:
        return [order for order in self.orders if isinstance(order, Check)]

    def noted(self, event: str) -> list[Note]:
        return [order for order in self.orders if isinstance(order, Note) and order.event == event]


def fields(reply: Reply) -> dict[str, str]:
    """The headers a reply sets."""
    if isinstance(reply, Continue):
        return dict(reply.mutation.set)
    return dict(reply.headers) if isinstance(reply, Immediate) else {}
