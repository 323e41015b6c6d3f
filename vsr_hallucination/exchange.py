"""The exchange: one HTTP request and its response, as a state machine without I/O (in the manner of h11).

In go messages from Envoy and results of work; out come orders. Whoever drives it carries the orders out and feeds
the results back, so every sequence can be tested without gRPC, a model or a clock. ``at`` is UNIX seconds.

Here are the doors and the request half; ``response`` has the other half, ``verdict`` what is said of an answer,
``case`` what they know in common. ``stages`` holds the table of what may come when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from vsr_hallucination import response
from vsr_hallucination.case import Case, unforged
from vsr_hallucination.config.schema import Config, DecisionSource
from vsr_hallucination.detection.types import CheckResult, GateResult
from vsr_hallucination.intake import take_body, take_headers
from vsr_hallucination.judging import decision_without_gate
from vsr_hallucination.orders import Order, Save
from vsr_hallucination.replay.record import Lifecycle
from vsr_hallucination.stages import PHASES, TABLE, ProtocolError, Stage
from vsr_hallucination.verdict import conclude, judge_when_ready
from vsr_hallucination.wire.messages import (
    Continue,
    Message,
    ModeOverride,
    Mutation,
    Phase,
    RequestBody,
    RequestHeaders,
    RequestTrailers,
    ResponseBody,
    ResponseHeaders,
    ResponseTrailers,
)

CATCH_UP: Final = 64 << 10  # bytes worth reading when nobody waits any more


class Exchange:
    """One exchange. ``metadata`` is the RPC's initial metadata: it comes from Envoy's route, never from a client."""

    __slots__ = ("_case",)

    def __init__(self, config: Config, *, id: str, metadata: Mapping[str, str] | None = None) -> None:
        self._case = Case(config, id, metadata)

    # -- the doors -------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self._case.record.id

    @property
    def stage(self) -> Stage:
        return self._case.stage

    @property
    def finished(self) -> bool:
        """The final record is saved; no result is waited for any more."""
        return self._case.finished

    @property
    def weight(self) -> int:
        """Bytes that the next steps may work through beside their own: a coded body may unfold to its limit."""
        case = self._case
        if case.reading is not None:
            return len(case.reading.plain)
        if case.head is not None and case.head.encoding is not None:
            return case.config.filter.limits.check
        return case.tap.size if case.tap is not None else 0

    @property
    def holding(self) -> bool:
        """The next message is worked through before it is answered."""
        return self._case.stage is Stage.HOLDING

    def receive(self, message: Message, at: float) -> tuple[Order, ...]:
        """A message from Envoy. Raises ``ProtocolError`` where it cannot come now."""
        case = self._case
        handler = TABLE.get((case.stage, type(message)))
        if handler is None:
            raise ProtocolError(case.stage, type(message).__name__)
        getattr(self, handler)(message, at)
        return case.take()

    def resumed(self, at: float) -> tuple[Order, ...]:
        """The replies in front of a ``Resume`` order are sent."""
        self._case.catch_up(at)
        return self._case.take()

    def gated(self, result: GateResult, at: float) -> tuple[Order, ...]:
        """The classifier's result."""
        case = self._case
        if case.gate is None and not case.finished:
            case.hear_gate(result)
            if result.failure is not None:
                case.note_failure("fact_check_failed", result.failure)
            judge_when_ready(case, at)
        return case.take()

    def checked(self, results: Sequence[CheckResult], at: float) -> tuple[Order, ...]:
        """The detector's results, one a request of the ``Check`` order."""
        case = self._case
        if case.checking is not None and not case.finished:
            positions, case.checking = case.checking, None
            conclude(case, dict(zip(positions, results, strict=True)), at)
        return case.take()

    def closed(self, at: float) -> tuple[Order, ...]:
        """The RPC has ended. How it ended says nothing: what counts is what was seen."""
        case = self._case
        if case.record.streaming or case.left <= CATCH_UP:  # a client may leave before our reply to it is sent
            case.catch_up(at)
        stage, case.stage = case.stage, Stage.CLOSED
        if stage is Stage.START:
            case.finished = True
        elif stage is Stage.STREAMING:
            response.cut(case, at)
        elif not case.finished:
            seen = case.unseen and stage is Stage.PASSING
            case.save(at, Lifecycle.COMPLETED if seen else Lifecycle.ABORTED)
        return case.take()

    def given_up(self, at: float) -> tuple[Order, ...]:
        """No result comes any more: what is not closed yet is closed without one."""
        self._case.save(at, Lifecycle.ABORTED)
        return self._case.take()

    # -- the request -----------------------------------------------------------------------------------------

    def _request_headers(self, message: RequestHeaders, at: float) -> None:
        case = self._case
        intake = take_headers(message, case.config, case.metadata)
        case.take_in(intake)
        record = case.record
        record.created_at, record.path, record.request_id = at, intake.path, intake.request_id
        if case.config.filter.decision_source is DecisionSource.ROUTE:
            case.decision_name = case.metadata.get("x-vsr-decision")
        wanted = intake.wanted
        if not wanted:
            self._open()
        case.stage = Stage.REQUEST if wanted else Stage.UPSTREAM
        mode = None if wanted else ModeOverride.RESPONSE_NONE
        # What upstream does not compress need not be decoded.
        remove = (*intake.remove, "accept-encoding") if wanted else intake.remove
        case.reply(Continue(Phase.REQUEST_HEADERS, Mutation(remove=remove), mode=mode))

    def _request_body(self, message: RequestBody, at: float) -> None:
        self._case.stage = Stage.UPSTREAM
        self._case.reply(Continue(Phase.REQUEST_BODY))
        self._case.after_the_reply(partial(self._read_request, message.body), len(message.body))

    def _read_request(self, body: bytes, _at: float) -> None:
        case = self._case
        case.take_in(take_body(case.intake, body, case.config))
        self._open(body)
        if case.config.filter.decision_source is not DecisionSource.UPSTREAM and not self._gate_can_wait():
            case.ask_gate()

    def _gate_can_wait(self) -> bool:
        """A stream needs the classifier only at its end, unless its headers wait for a decision that hangs on it."""
        request = self._case.intake.request
        return request is not None and request.stream and decision_without_gate(self._case.intake)[0]

    def _open(self, body: bytes | None = None) -> None:
        """The record begins: what is known of the request."""
        case = self._case
        case.record.open(case.intake, body)
        if case.intake.recipe.needs_models:  # without rule or plugin the final record says it all
            case.order(Save(case.record.freeze()))

    # -- the response, and what only passes ------------------------------------------------------------------

    def _response_headers(self, message: ResponseHeaders, at: float) -> None:
        response.take_headers(self._case, message, at)

    def _held_body(self, message: ResponseBody, at: float) -> None:
        response.held_body(self._case, message, at)

    def _held_trailers(self, message: ResponseTrailers, at: float) -> None:
        response.held_trailers(self._case, message, at)

    def _chunk(self, message: ResponseBody, at: float) -> None:
        response.chunk(self._case, message, at)

    def _stream_trailers(self, message: ResponseTrailers, at: float) -> None:
        response.stream_trailers(self._case, message, at)

    def _pass(self, message: Message, at: float) -> None:
        case = self._case
        if isinstance(message, ResponseBody) and not case.unseen and message.body:
            case.note("override_ignored", warning=True, stage=str(case.stage))
        mutation = unforged(message) if isinstance(message, RequestTrailers | ResponseTrailers) else Mutation()
        case.reply(Continue(PHASES[type(message)], mutation))


__all__ = ["Exchange", "ProtocolError", "Stage"]
