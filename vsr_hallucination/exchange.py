"""The exchange: one HTTP request and its response, as a state machine without I/O (in the manner of h11).

In go messages from Envoy and results of work; out come orders. Whoever drives it carries the orders out and feeds
the results back, so every sequence can be tested without gRPC, a model or a clock. ``at`` is UNIX seconds.
``stages`` holds the table of what may come when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from vsr_hallucination.apis.base import without_echo
from vsr_hallucination.audit import Draft
from vsr_hallucination.config.schema import Config, Decision, DecisionSource, FactCheckMode, HallucinationRule
from vsr_hallucination.detection.types import CheckRequest, CheckResult, GateResult, Reason
from vsr_hallucination.enforcement import DECISION_HEADER, RECIPE_HEADER
from vsr_hallucination.intake import Intake, named_recipe, nothing, take_body, take_headers
from vsr_hallucination.judging import (
    Question,
    answered,
    decision_by_name,
    decision_by_rules,
    decision_without_gate,
    rules_of,
    settled,
    to_check,
)
from vsr_hallucination.observation import Observation
from vsr_hallucination.orders import Check, Classify, Note, Order, Resume, Save, Send
from vsr_hallucination.reading import EMPTY, Head, Kind, Reading, read_body, read_head
from vsr_hallucination.release import Label, release
from vsr_hallucination.replay.record import Lifecycle
from vsr_hallucination.stages import PHASES, TABLE, ProtocolError, Stage
from vsr_hallucination.streaming import StreamTap, Tap, WholeTap
from vsr_hallucination.wire.messages import (
    Continue,
    ExtendTimeout,
    HeaderMap,
    Message,
    ModeOverride,
    Mutation,
    Phase,
    Reply,
    RequestBody,
    RequestHeaders,
    RequestTrailers,
    ResponseBody,
    ResponseHeaders,
    ResponseTrailers,
)

MARGIN: Final = 1.0  # seconds between the check's deadline and Envoy's patience
FLOOR: Final = 0.05  # a check is always given this long, however late its turn came


class Exchange:
    """One exchange. ``metadata`` is the RPC's initial metadata: it comes from Envoy's route, never from a client."""

    def __init__(self, config: Config, *, id: str, metadata: Mapping[str, str] | None = None) -> None:
        self._config = config
        self._metadata = metadata or {}
        self._stage = Stage.START
        self._orders: list[Order] = []
        stores = config.replay.store_bodies
        self._record = Draft(id, config.recipes[0].name, config.sha256 or None, store=stores)
        self._intake: Intake = nothing(config)
        self._gate: GateResult | None = None
        self._gate_asked = False
        self._decision: Decision | None = None
        self._decided = False
        self._decision_name: str | None = None  # as a route or an upstream router names it
        self._head: Head | None = None
        self._strip: tuple[str, ...] = ()
        self._tap: Tap | None = None
        self._reading: Reading | None = None
        self._reading_at = 0.0
        self._pending: Phase | None = None  # the message whose reply Envoy waits for
        self._checking: tuple[int, ...] | None = None  # positions of the answers that are being checked
        self._later: Callable[[float], None] | None = None  # what is left to do with the message just answered
        self._unseen = False  # the body passes unseen: the record is closed with the RPC
        self._finished = False

    # -- the door --------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self._record.id

    @property
    def stage(self) -> Stage:
        return self._stage

    @property
    def finished(self) -> bool:
        """The final record is saved; no result is waited for any more."""
        return self._finished

    def receive(self, message: Message, at: float) -> tuple[Order, ...]:
        """A message from Envoy. Raises ``ProtocolError`` where it cannot come now."""
        handler = TABLE.get((self._stage, type(message)))
        if handler is None:
            raise ProtocolError(self._stage, type(message).__name__)
        getattr(self, handler)(message, at)
        return self._take()

    def resumed(self, at: float) -> tuple[Order, ...]:
        """The replies in front of a ``Resume`` order are sent."""
        self._catch_up(at)
        return self._take()

    def gated(self, result: GateResult, at: float) -> tuple[Order, ...]:
        """The classifier's result."""
        if self._gate is None and not self._finished:
            self._gate = result
            if result.failure is not None:
                self._note("fact_check_failed", warning=True, reason=str(result.failure.reason))
            self._judge_when_ready(at)
        return self._take()

    def checked(self, results: Sequence[CheckResult], at: float) -> tuple[Order, ...]:
        """The detector's results, one a request of the ``Check`` order."""
        if self._checking is not None and not self._finished:
            positions, self._checking = self._checking, None
            self._conclude(dict(zip(positions, results, strict=True)), at)
        return self._take()

    def closed(self, at: float) -> tuple[Order, ...]:
        """The RPC has ended. How it ended says nothing: what counts is what was seen."""
        if self._stage is Stage.STREAMING:  # a client may leave at the last chunk, before our reply to it is sent
            self._catch_up(at)
        stage, self._stage = self._stage, Stage.CLOSED
        if stage is Stage.START:
            self._finished = True
        elif stage is Stage.STREAMING:
            if self._reading is None and self._tap is not None:  # else its check runs, and is waited for
                self._tap.cut()
                self._stream_ended(at)
        elif not self._finished:
            seen = self._unseen and stage is Stage.PASSING
            self._save(at, Lifecycle.COMPLETED if seen else Lifecycle.ABORTED)
        return self._take()

    def _after_the_reply(self, step: Callable[[float], None]) -> None:
        self._later = step
        self._orders.append(Resume())

    def _catch_up(self, at: float) -> None:
        step, self._later = self._later, None
        if step is not None:
            step(at)

    def _take(self) -> tuple[Order, ...]:
        orders, self._orders = tuple(self._orders), []
        return orders

    # -- the request -----------------------------------------------------------------------------------------

    def _request_headers(self, message: RequestHeaders, at: float) -> None:
        self._take_in(take_headers(message, self._config, self._metadata))
        record = self._record
        record.created_at, record.path, record.request_id = at, self._intake.path, self._intake.request_id
        if self._config.filter.decision_source is DecisionSource.ROUTE:
            self._decision_name = self._metadata.get("x-vsr-decision")
        wanted = self._intake.wanted
        if not wanted:
            self._open()
        self._stage = Stage.REQUEST if wanted else Stage.UPSTREAM
        mode = None if wanted else ModeOverride.RESPONSE_NONE
        # What upstream does not compress need not be decoded.
        remove = (*self._intake.remove, "accept-encoding") if wanted else self._intake.remove
        self._reply(Continue(Phase.REQUEST_HEADERS, Mutation(remove=remove), mode=mode))

    def _request_body(self, message: RequestBody, at: float) -> None:
        self._stage = Stage.UPSTREAM
        self._reply(Continue(Phase.REQUEST_BODY))
        self._after_the_reply(partial(self._read_request, message.body))

    def _read_request(self, body: bytes, _at: float) -> None:
        self._take_in(take_body(self._intake, body, self._config))
        self._open(body)
        if self._config.filter.decision_source is not DecisionSource.UPSTREAM and not self._gate_can_wait():
            self._ask_gate()

    def _gate_can_wait(self) -> bool:
        """A stream needs the classifier only at its end, unless its headers wait for a decision that hangs on it."""
        request = self._intake.request
        return request is not None and request.stream and decision_without_gate(self._intake)[0]

    def _take_in(self, intake: Intake) -> None:
        self._intake = intake
        for note in intake.notes:
            self._note(note.event, warning=note.warning, **note.fields)

    def _ask_gate(self) -> None:
        request = self._intake.request
        if request is None or not self._intake.readable or self._gate_asked:
            return
        self._gate_asked = True
        if self._config.filter.fact_check is FactCheckMode.ALWAYS:
            self._gate = GateResult(True, None)
        else:
            held = self._tap is None
            self._orders.append(Classify(self._intake.recipe.name, request.prompt, held))

    def _open(self, body: bytes | None = None) -> None:
        """The record begins: what is known of the request."""
        self._record.open(self._intake, body)
        if self._intake.recipe.needs_models:  # without rule or plugin the final record says it all
            self._orders.append(Save(self._record.freeze()))

    # -- the response ----------------------------------------------------------------------------------------

    def _response_headers(self, message: ResponseHeaders, at: float) -> None:
        headers = message.headers
        head = read_head(
            headers,
            method=self._intake.method,
            end_of_stream=message.end_of_stream,
            limit=self._config.filter.limits.check,
        )
        if 100 <= head.status < 200:  # an interim response: the real one follows
            self._reply(Continue(Phase.RESPONSE_HEADERS))
            return
        self._head = head
        self._strip = _ours(headers)
        record = self._record
        record.created_at = record.created_at or at
        record.status, record.streaming = head.status, head.kind is Kind.STREAM
        if head.kind is Kind.FAILED:
            self._note("upstream_error", status=head.status)
            self._pass_headers(ModeOverride.RESPONSE_NONE, label=None)
            self._save(at, Lifecycle.FAILED)
            return
        if self._config.filter.decision_source is DecisionSource.UPSTREAM:
            self._follow_upstream(headers)
        if head.kind is Kind.BODILESS:
            self._pass_headers(None, label=self._label)
            self._save(at, Lifecycle.COMPLETED)
        elif head.kind is Kind.STREAM:
            self._begin_stream(head)
        elif head.kind is Kind.BODY and self._intake.readable and (exempt := self._exempt()) is not None:
            self._tap = WholeTap(self._intake.api, head.encoding, self._config.filter.limits.check)
            self._pass_headers(None, label=self._label, found=exempt)
            self._stage = Stage.STREAMING
        elif head.kind is Kind.BODY and self._intake.readable:
            self._stage = Stage.HOLDING
            self._reply(Continue(Phase.RESPONSE_HEADERS, Mutation(remove=self._strip)))
        elif not self._intake.recipe.needs_models:  # nothing to judge
            self._unseen = head.kind is not Kind.EMPTY
            self._pass_headers(ModeOverride.RESPONSE_NONE if self._unseen else None, label=self._label)
            if not self._unseen:
                self._save(at, Lifecycle.COMPLETED)
        else:  # empty, or cannot be read: all that is to be said goes with the headers
            if head.reason is not None and self._intake.readable:
                self._note("response_skipped", warning=True, reason=str(head.reason))
            self._unseen = head.kind is not Kind.EMPTY
            self._hold(Phase.RESPONSE_HEADERS, Reading(reason=head.reason) if head.reason else EMPTY, at)

    def _begin_stream(self, head: Head) -> None:
        """Headers go out at once: a stream never waits for the classifier."""
        intake, rules = self._intake, self._intake.recipe.hallucination
        mode = ModeOverride.RESPONSE_NONE
        if rules and intake.readable and intake.api is not None:
            self._tap = StreamTap(intake.api, head.encoding, self._config.filter.limits.check)
            mode = ModeOverride.RESPONSE_STREAMED
        else:
            self._unseen = True
            refused = settled(rules, intake, None, None) or ()
            self._record.judge(refused, [None] * len(refused), None)
        self._pass_headers(mode, label=self._label, streaming=True)

    def _exempt(self) -> tuple[Observation, ...] | None:
        """What is known before a byte of the answer came, where nothing in it can change that: row 4 for all rules.

        Such an answer is not held: it passes, and is read beside its way only to tell whether it was one (row 1).
        """
        gate = self._gate
        if gate is None or gate.failure is not None or gate.needs_fact_check:
            return None
        return settled(self._rules(), self._intake, gate, None)

    def _follow_upstream(self, headers: HeaderMap) -> None:
        """A Semantic Router further upstream chose: its headers are read, then removed like all of their kind."""
        name = headers.get(RECIPE_HEADER)
        if name:
            recipe, notes = named_recipe(self._config, name)
            self._take_in(replace(self._intake, recipe=recipe, notes=notes))
            self._record.open(self._intake, None)
        self._decision_name = headers.get(DECISION_HEADER) or None
        self._ask_gate()

    def _held_body(self, message: ResponseBody, at: float) -> None:
        limit = self._config.filter.limits.check
        encoding = self._head.encoding if self._head is not None else None
        reading = read_body(self._intake.api, message.body, encoding, limit)
        if reading.reason is Reason.TOO_LARGE:
            self._note("too_large", warning=True, edge="response", size=len(message.body), limit=limit)
        elif reading.reason is not None:
            self._note("response_unreadable", warning=True, complete=message.end_of_stream)
        self._hold(Phase.RESPONSE_BODY, reading, at)

    def _held_trailers(self, message: ResponseTrailers, at: float) -> None:
        self._strip = _unforged(message).remove
        self._hold(Phase.RESPONSE_TRAILERS, EMPTY, at)

    def _hold(self, phase: Phase, reading: Reading, at: float) -> None:
        self._stage = Stage.JUDGING
        self._pending = phase
        self._read(reading, at)

    def _read(self, reading: Reading, at: float) -> None:
        request = self._intake.request
        if reading.view is not None and request is not None:
            reading = replace(reading, view=without_echo(reading.view, request))
        self._reading, self._reading_at = reading, at
        if not (self._finished or reading.upstream_error):
            self._ask_gate()
        self._judge_when_ready(at)

    def _chunk(self, message: ResponseBody, at: float) -> None:
        self._reply(Continue(Phase.RESPONSE_BODY))
        if self._tap is not None and self._reading is None:
            self._after_the_reply(partial(self._tap_chunk, message))

    def _tap_chunk(self, message: ResponseBody, at: float) -> None:
        tap = self._tap
        assert tap is not None  # chunks come here only where one listens
        tap.feed(message.body)
        if message.end_of_stream:
            tap.end()
        if message.end_of_stream or tap.done:
            self._stream_ended(at)

    def _stream_trailers(self, message: ResponseTrailers, at: float) -> None:
        self._reply(Continue(Phase.RESPONSE_TRAILERS, _unforged(message)))
        if self._reading is None and self._tap is not None:
            self._tap.end()
            self._stream_ended(at)

    def _stream_ended(self, at: float) -> None:
        tap = self._tap
        if tap is None:
            return
        reading = tap.reading()
        if not (tap.failed or tap.judgeable):
            self._save(at, Lifecycle.ABORTED)
        elif reading.reason is not None:
            self._note("response_unreadable", warning=True, reason=str(reading.reason))
        self._read(reading, at)

    def _pass(self, message: Message, at: float) -> None:
        if isinstance(message, ResponseBody) and not self._unseen and message.body:
            self._note("override_ignored", warning=True, stage=str(self._stage))
        mutation = _unforged(message) if isinstance(message, RequestTrailers | ResponseTrailers) else Mutation()
        self._reply(Continue(PHASES[type(message)], mutation))

    # -- judging ---------------------------------------------------------------------------------------------

    def _judge_when_ready(self, at: float) -> None:
        """The gate is joined here: nothing is said of an answer before the prompt is classified."""
        reading = self._reading
        if reading is None or self._checking is not None or self._finished:
            return
        if reading.upstream_error:
            self._note("upstream_error", status=self._record.status or 0, in_band=True)
            self._send_verdict((), at, Lifecycle.FAILED)
            return
        if self._gate is None and self._gate_asked:
            return
        rules = self._rules()
        open_ = bool(rules) and settled(rules, self._intake, self._gate, reading) is None
        questions = to_check(self._intake, reading) if open_ else {}
        if questions:
            self._order_checks(rules, questions, at)
        else:
            self._conclude({}, at)

    def _order_checks(self, rules: Sequence[HallucinationRule], asked: Mapping[int, Question], at: float) -> None:
        allowed = self._config.filter.detection.deadline
        held = self._pending is not None
        if held:
            allowed = max(FLOOR, allowed - max(0.0, at - self._reading_at))
            if allowed + MARGIN > self._config.filter.envoy.message_timeout:
                self._reply(ExtendTimeout(allowed + MARGIN))
        explain = any(rule.use_nli for rule in rules)
        self._checking = tuple(asked)
        requests = tuple(
            CheckRequest(each.asked.prompt, each.asked.grounding, each.text, explain, allowed)
            for each in asked.values()
        )
        self._orders.append(Check(self._intake.recipe.name, requests, held))

    def _conclude(self, results: Mapping[int, CheckResult], at: float) -> None:
        reading, rules = self._reading, self._rules()
        assert reading is not None  # only called once there is one
        found = settled(rules, self._intake, self._gate, reading)
        if found is None:
            assert self._gate is not None  # else row 5 had settled it
            found = answered(rules, self._intake, self._gate, reading, results)
        for result in results.values():
            if result.failure is not None:
                self._note("check_failed", warning=True, reason=str(result.failure.reason))
        self._send_verdict(found, at, Lifecycle.COMPLETED)

    def _rules(self) -> tuple[HallucinationRule, ...]:
        return rules_of(self._intake.recipe, self._decide(), streaming=self._record.streaming)

    def _decide(self) -> Decision | None:
        """The decision selected for the request, by whichever source the configuration trusts."""
        if self._decided:
            return self._decision
        self._decided = True
        source = self._config.filter.decision_source
        if self._decision_name is not None:
            self._decision = decision_by_name(self._intake.recipe, self._decision_name)
            if self._decision is None:
                self._note("unknown_decision", warning=True, source=str(source))
        elif source is not DecisionSource.UPSTREAM:
            self._decision = decision_by_rules(self._intake, self._gate)
        if self._decision is not None:
            self._record.decision = self._decision.name
        return self._decision

    # -- the verdict -----------------------------------------------------------------------------------------

    def _send_verdict(self, found: tuple[Observation, ...], at: float, lifecycle: Lifecycle) -> None:
        reading, label = self._reading, self._label
        assert reading is not None
        actions: tuple[str | None, ...] = tuple(None for _ in found)
        if self._pending is not None:
            reply, actions = release(
                self._pending,
                reading,
                found,
                label,
                api=self._intake.api,
                failed_action=self._config.filter.evaluation_failed_action,
                debug=self._intake.debug,
                mode=ModeOverride.RESPONSE_NONE if self._unseen else None,
            )
            self._pending, self._stage = None, Stage.PASSING
            self._reply(reply)
        self._record.judge(found, actions, reading)
        if not self._unseen:
            self._save(at, lifecycle)

    @property
    def _label(self) -> Label:
        """What every 2xx is told. The decision is named once it is known: a stream does not wait for it."""
        decision = self._decision
        named = self._decision_name is not None or self._config.filter.decision_source is DecisionSource.UPSTREAM
        if self._gate is not None or not self._gate_asked or named:
            decision = self._decide()
        elif not self._decided:
            certain, likely = decision_without_gate(self._intake)
            decision = likely if certain else None
        replay_id = self._record.id if self._config.replay.enabled else None
        return Label(self._intake.recipe.name, decision, replay_id, self._strip)

    def _pass_headers(
        self,
        mode: ModeOverride | None,
        *,
        label: Label | None,
        found: tuple[Observation, ...] = (),
        streaming: bool = False,
    ) -> None:
        """Answer the response headers for good; ``label`` None says nothing (not a 2xx)."""
        fields = label.headers() if label is not None else ()
        facts = label.facts(found, streaming=streaming) if label is not None else None
        self._stage = Stage.STREAMING if mode is ModeOverride.RESPONSE_STREAMED else Stage.PASSING
        self._reply(Continue(Phase.RESPONSE_HEADERS, Mutation(fields, self._strip), mode=mode, metadata=facts))

    def _save(self, at: float, lifecycle: Lifecycle) -> None:
        if self._finished:
            return
        self._finished = True
        self._record.close(lifecycle, at)
        self._orders.append(Save(self._record.freeze()))

    def _reply(self, reply: Reply) -> None:
        self._orders.append(Send(reply))

    def _note(self, event: str, *, warning: bool = False, **fields: str | int | float | bool) -> None:
        self._orders.append(Note(event, {"exchange": self._record.id, **fields}, warning))


def _unforged(message: RequestTrailers | ResponseTrailers) -> Mutation:
    """Trailers are as good a place to forge a verdict as headers."""
    return Mutation(remove=_ours(message.headers))


def _ours(headers: HeaderMap) -> tuple[str, ...]:
    """The names under ``x-vsr-``: only what we set ourselves may reach the other side."""
    return headers.under("x-vsr-")


__all__ = ["Exchange", "ProtocolError", "Stage"]
