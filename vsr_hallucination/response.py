"""The response half of an exchange: its headers say how it is taken (held, streamed, exempt, passed), then its body."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vsr_hallucination.apis.base import without_echo
from vsr_hallucination.case import Case, ours, unforged
from vsr_hallucination.config.schema import DecisionSource
from vsr_hallucination.detection.types import Reason
from vsr_hallucination.enforcement import DECISION_HEADER, RECIPE_HEADER
from vsr_hallucination.intake import named_recipe
from vsr_hallucination.judging import settled
from vsr_hallucination.reading import EMPTY, Head, Kind, Reading, read_body, read_head
from vsr_hallucination.release import Label
from vsr_hallucination.replay.record import Lifecycle
from vsr_hallucination.stages import Stage
from vsr_hallucination.streaming import StreamTap, WholeTap
from vsr_hallucination.verdict import judge_when_ready
from vsr_hallucination.wire.messages import (
    Continue,
    HeaderMap,
    ModeOverride,
    Mutation,
    Phase,
    ResponseBody,
    ResponseHeaders,
    ResponseTrailers,
)


def take_headers(case: Case, message: ResponseHeaders, at: float) -> None:
    headers, intake = message.headers, case.intake
    head = read_head(
        headers,
        method=intake.method,
        end_of_stream=message.end_of_stream,
        limit=case.config.filter.limits.check,
    )
    if 100 <= head.status < 200 and head.status != 101:  # an interim response: the real one follows
        case.reply(Continue(Phase.RESPONSE_HEADERS))
        return
    case.head = head
    case.strip = ours(headers)
    record = case.record
    record.created_at = record.created_at or at
    record.status, record.streaming = head.status, head.kind is Kind.STREAM
    if head.kind is Kind.FAILED:
        case.note("upstream_error", status=head.status)
        _pass_headers(case, ModeOverride.RESPONSE_NONE, label=None)
        case.save(at, Lifecycle.FAILED)
        return
    if case.config.filter.decision_source is DecisionSource.UPSTREAM:
        _follow_upstream(case, headers)
        intake = case.intake
    if head.kind is Kind.BODILESS:
        _pass_headers(case, None, label=case.label())
        case.save(at, Lifecycle.COMPLETED)
    elif head.kind is Kind.STREAM:
        _begin_stream(case, head)
    elif head.kind is Kind.BODY and intake.readable and (exempt := case.exempt) is not None:
        case.tap = WholeTap(intake.api, head.encoding, case.config.filter.limits.check)
        case.stage = Stage.STREAMING
        mutation = Mutation(exempt.headers, case.strip)
        case.reply(Continue(Phase.RESPONSE_HEADERS, mutation, metadata=exempt.facts))
    elif head.kind is Kind.BODY and intake.readable:
        case.stage = Stage.HOLDING
        case.reply(Continue(Phase.RESPONSE_HEADERS, Mutation(remove=case.strip)))
    elif not intake.recipe.needs_models:  # nothing to judge
        case.unseen = head.kind is not Kind.EMPTY
        _pass_headers(case, ModeOverride.RESPONSE_NONE if case.unseen else None, label=case.label())
        if not case.unseen:
            case.save(at, Lifecycle.COMPLETED)
    else:  # empty, or cannot be read: all that is to be said goes with the headers
        if head.reason is not None and intake.readable:
            case.note("response_skipped", warning=True, reason=str(head.reason))
        case.unseen = head.kind is not Kind.EMPTY
        _hold(case, Phase.RESPONSE_HEADERS, Reading(reason=head.reason) if head.reason else EMPTY, at)


def _begin_stream(case: Case, head: Head) -> None:
    """Headers go out at once: a stream never waits for the classifier."""
    intake, rules = case.intake, case.intake.recipe.hallucination
    mode = ModeOverride.RESPONSE_NONE
    if rules and intake.readable and intake.api is not None:
        case.tap = StreamTap(intake.api, head.encoding, case.config.filter.limits.check)
        mode = ModeOverride.RESPONSE_STREAMED
    else:
        case.unseen = True
        refused = settled(rules, intake, None, None) or ()
        case.record.judge(refused, [None] * len(refused), None)
    _pass_headers(case, mode, label=case.label(), streaming=True)


def _follow_upstream(case: Case, headers: HeaderMap) -> None:
    """A Semantic Router further upstream chose: its headers are read, then removed like all of their kind."""
    name = headers.get(RECIPE_HEADER)
    if name:
        recipe, notes = named_recipe(case.config, name)
        case.take_in(replace(case.intake, recipe=recipe, notes=notes))
        case.record.open(case.intake, None)
    case.decision_name = headers.get(DECISION_HEADER) or None
    case.ask_gate()


def _pass_headers(
    case: Case,
    mode: ModeOverride | None,
    *,
    label: Label | None,
    streaming: bool = False,
) -> None:
    """Answer the response headers for good; ``label`` None says nothing (not a 2xx)."""
    fields = label.headers() if label is not None else ()
    facts = label.facts((), streaming=streaming) if label is not None else None
    case.stage = Stage.STREAMING if mode is ModeOverride.RESPONSE_STREAMED else Stage.PASSING
    case.reply(Continue(Phase.RESPONSE_HEADERS, Mutation(fields, case.strip), mode=mode, metadata=facts))


# -- held --------------------------------------------------------------------------------------------------------


def held_body(case: Case, message: ResponseBody, at: float) -> None:
    limit = case.config.filter.limits.check
    encoding = case.head.encoding if case.head is not None else None
    reading = read_body(case.intake.api, message.body, encoding, limit)
    if reading.reason is Reason.TOO_LARGE:
        case.note("too_large", warning=True, edge="response", size=len(message.body), limit=limit)
    elif reading.reason is not None:
        case.note("response_unreadable", warning=True, complete=message.end_of_stream)
    _hold(case, Phase.RESPONSE_BODY, reading, at)


def held_trailers(case: Case, message: ResponseTrailers, at: float) -> None:
    """A body that was announced never came."""
    case.strip = unforged(message).remove
    _hold(case, Phase.RESPONSE_TRAILERS, EMPTY, at)


def _hold(case: Case, phase: Phase, reading: Reading, at: float) -> None:
    case.stage = Stage.JUDGING
    case.pending = phase
    _read(case, reading, at)


def _read(case: Case, reading: Reading, at: float) -> None:
    request = case.intake.request
    if reading.view is not None and request is not None:
        reading = replace(reading, view=without_echo(reading.view, request))
    case.reading, case.reading_at = reading, at
    if not (case.finished or reading.upstream_error):
        case.ask_gate()
    judge_when_ready(case, at)


# -- tapped ------------------------------------------------------------------------------------------------------


def chunk(case: Case, message: ResponseBody, at: float) -> None:
    case.reply(Continue(Phase.RESPONSE_BODY))
    if case.tap is not None and case.reading is None:
        case.after_the_reply(partial(_tap_chunk, case, message), len(message.body) + case.tap.size)


def _tap_chunk(case: Case, message: ResponseBody, at: float) -> None:
    tap = case.tap
    assert tap is not None  # chunks come here only where one listens
    tap.feed(message.body)
    if message.end_of_stream:
        tap.end()
    if message.end_of_stream or tap.done:
        _stream_ended(case, at)


def stream_trailers(case: Case, message: ResponseTrailers, at: float) -> None:
    case.reply(Continue(Phase.RESPONSE_TRAILERS, unforged(message)))
    if case.reading is None and case.tap is not None:
        case.after_the_reply(partial(_tap_end, case), case.tap.size)


def _tap_end(case: Case, at: float) -> None:
    if case.tap is not None:
        case.tap.end()
        _stream_ended(case, at)


def cut(case: Case, at: float) -> None:
    """The RPC ended before the stream did. Where its check runs already, that is waited for."""
    if case.reading is None and case.tap is not None:
        case.tap.cut()
        _stream_ended(case, at)


def _stream_ended(case: Case, at: float) -> None:
    tap = case.tap
    if tap is None:
        return
    if not (tap.failed or tap.judgeable):
        case.reading = EMPTY  # there will be none
        case.save(at, Lifecycle.ABORTED)
        return
    reading = tap.reading()
    if reading.reason is not None:
        case.note("response_unreadable", warning=True, reason=str(reading.reason))
    _read(case, reading, at)
