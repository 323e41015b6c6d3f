"""Parts for server tests: an exchange that does what a test tells it, models that behave as told, collectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vsr_hallucination.config.schema import Config
from vsr_hallucination.detection.types import CheckRequest, CheckResult, DetectorIdentity, GateResult
from vsr_hallucination.orders import Note, Order
from vsr_hallucination.replay.record import Record
from vsr_hallucination.wire.messages import Message

IDENTITY = DetectorIdentity("scripted", "token_classification")
Step = Callable[[Any], Sequence[Order]]


@dataclass
class ScriptedExchange:
    """Calls the given functions; keeps what it was fed in ``seen`` as (door, value)."""

    on_receive: Step = lambda message: ()
    on_gated: Step = lambda result: ()
    on_checked: Step = lambda results: ()
    on_closed: Callable[[], Sequence[Order]] = lambda: ()
    finished: bool = False
    seen: list[tuple[str, Any]] = field(default_factory=list)
    config: Config | None = None
    id: str = ""
    metadata: dict[str, str] = field(default_factory=dict)

    def receive(self, message: Message, at: float) -> Sequence[Order]:
        self.seen.append(("receive", message))
        return self.on_receive(message)

    def gated(self, result: GateResult, at: float) -> Sequence[Order]:
        self.seen.append(("gated", result))
        return self.on_gated(result)

    def checked(self, results: tuple[CheckResult, ...], at: float) -> Sequence[Order]:
        self.seen.append(("checked", results))
        return self.on_checked(results)

    weight = 0
    holding = False

    def given_up(self, at: float) -> Sequence[Order]:
        return ()

    def resumed(self, at: float) -> Sequence[Order]:
        return ()

    def closed(self, at: float) -> Sequence[Order]:
        self.seen.append(("closed", at))
        return self.on_closed()

    def doors(self) -> list[str]:
        return [door for door, _ in self.seen]

    def fed(self, door: str) -> Any:
        (value,) = [value for name, value in self.seen if name == door]
        return value


class ModelOf:
    """A gate and a checker in one, made of two coroutine functions."""

    identity = IDENTITY

    def __init__(self, classify: Callable[..., Any] | None = None, check: Callable[..., Any] | None = None) -> None:
        self._classify, self._check = classify, check
        self.closed = False

    async def classify(self, prompt: str, deadline: float) -> GateResult:
        assert self._classify is not None
        result: GateResult = await self._classify(prompt)
        return result

    async def check(self, request: CheckRequest) -> CheckResult:
        assert self._check is not None
        result: CheckResult = await self._check(request)
        return result

    async def probe(self) -> None:
        pass

    async def aclose(self) -> None:
        self.closed = True


class RuntimeOf:
    """A runtime with the given models for every recipe."""

    def __init__(self, config: Config, gate: ModelOf | None = None, checker: ModelOf | None = None) -> None:
        self.config, self._gate, self._checker = config, gate, checker
        self.closed = False

    def gate(self, recipe: str) -> ModelOf | None:
        return self._gate

    def checker(self, recipe: str) -> ModelOf | None:
        return self._checker

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class Collected:
    """What a server put out: records and notes."""

    records: list[Record] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def put(self, record: Record) -> None:
        self.records.append(record)

    def note(self, note: Note) -> None:
        self.notes.append(note)

    def events(self) -> list[str]:
        return [note.event for note in self.notes]
