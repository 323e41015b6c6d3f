"""The exchange, message by message: no gRPC, no model, no clock. Rows are those of the state table."""

import json
from dataclasses import replace

import pytest

from support.driving import (
    GOOD,
    IDENTITY,
    WRONG,
    Drive,
    chat_request,
    chat_response,
    delta,
    failing,
    fields,
    find_479,
    policy,
    sse,
)
from vsr_hallucination.apis.base import Answer, RequestView, ResponseView
from vsr_hallucination.config.schema import (
    Action,
    Config,
    Decision,
    DecisionSource,
    FactCheckMode,
    FilterSettings,
    HallucinationPlugin,
    HallucinationRule,
    Leaf,
    Limits,
    Recipe,
    ReplaySettings,
)
from vsr_hallucination.detection.types import (
    CheckFailure,
    CheckRequest,
    CheckResult,
    GateResult,
    Grounding,
    Passage,
    Reason,
)
from vsr_hallucination.exchange import ProtocolError, Stage
from vsr_hallucination.intake import Intake
from vsr_hallucination.judging import answered
from vsr_hallucination.orders import Classify
from vsr_hallucination.reading import Reading
from vsr_hallucination.replay.record import Lifecycle
from vsr_hallucination.stages import TABLE
from vsr_hallucination.wire.messages import (
    Continue,
    ExtendTimeout,
    HeaderMap,
    Immediate,
    ModeOverride,
    Phase,
    RequestBody,
    RequestHeaders,
    RequestTrailers,
    ResponseBody,
    ResponseHeaders,
    ResponseTrailers,
)


def grounded_intake() -> Intake:
    view = RequestView("m", "q", Grounding((Passage("412 crates", "$"),)), False)
    return Intake(Recipe(), request=view, refused=None)


NO = GateResult(False, 0.1)
BROKEN = GateResult(False, None, CheckFailure(Reason.NOT_PROVISIONED))


def buffered(drive: Drive, body: bytes) -> Continue:
    drive.request()
    reply = drive.respond(body)
    assert isinstance(reply, Continue)
    return reply


def outcome(drive: Drive) -> tuple[str, str | None, str | None, str | None]:
    """(verdict, error, reason, action) of the only rule."""
    assert drive.record.lifecycle is Lifecycle.COMPLETED
    (row,) = drive.record.outcomes
    return row.verdict, row.error, row.reason, row.action


# -- rows 9 and 11: the check itself ---------------------------------------------------------------------------


def test_row_11_a_grounded_answer_passes_untouched() -> None:
    drive = Drive()
    reply = buffered(drive, chat_response(GOOD))
    assert reply.body is None
    assert fields(reply) == {
        "x-vsr-selected-recipe": "default",
        "x-vsr-selected-decision": "d",
        "x-vsr-replay-id": "x1",
    }
    assert outcome(drive) == ("not_detected", None, None, None)
    assert drive.record.outcomes[0].score == pytest.approx(0.95)
    assert reply.metadata is not None
    assert reply.metadata["verdict"] == "not_detected"


def test_row_9_an_invented_number_is_warned_of_in_a_header() -> None:
    drive = Drive()
    reply = buffered(drive, chat_response(WRONG))
    assert fields(reply)["x-vsr-response-warnings"] == "hallucination"
    assert outcome(drive) == ("detected", None, None, "header")
    row = drive.record.outcomes[0]
    assert (row.target_ref, row.source, row.span_count) == ("hallucination:grounded", "router", 1)
    assert [(s.choice, s.start, s.end, s.text) for s in row.spans] == [(0, 17, 20, None)]


def test_body_action_rewrites_only_the_text_and_mends_the_headers() -> None:
    drive = Drive(policy(Action.BODY, details=True))
    body = chat_response(WRONG)
    reply = buffered(drive, body)
    assert reply.body is not None
    assert fields(reply)["content-length"] == str(len(reply.body))
    assert {"content-encoding", "etag", "digest", "content-md5"} <= set(reply.mutation.remove)
    text = json.loads(reply.body)["choices"][0]["message"]["content"]
    assert text.endswith("\n\n" + WRONG)
    assert "479" in text.split("\n\n")[0]
    assert "x-vsr-response-warnings" not in fields(reply)
    assert outcome(drive)[3] == "body"


def test_block_replaces_the_answer_with_an_error_of_the_clients_api() -> None:
    drive = Drive(policy(Action.BLOCK))
    drive.request(x_vsr_debug=" TRUE ")
    reply = drive.respond(chat_response(WRONG))
    assert isinstance(reply, Immediate)
    assert reply.status == 403
    assert "error" in json.loads(reply.body)
    sent = fields(reply)
    assert sent["content-type"] == "application/json"
    assert sent["x-vsr-response-warnings"] == "hallucination"
    assert sent["x-vsr-matched-hallucination"] == "grounded"
    assert sent["x-vsr-replay-id"] == "x1"
    assert outcome(drive)[3] == "block"


def test_none_only_records() -> None:
    drive = Drive(policy(Action.NONE))
    reply = buffered(drive, chat_response(WRONG))
    assert reply.body is None
    assert "x-vsr-response-warnings" not in fields(reply)
    assert outcome(drive)[3] == "none"


def test_rules_observe_whatever_the_plugin_does() -> None:
    drive = Drive(policy(enabled=False))
    reply = buffered(drive, chat_response(WRONG))
    assert "x-vsr-response-warnings" not in fields(reply)
    assert outcome(drive) == ("detected", None, None, None)


# -- debug headers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["true", "TRUE", "  True "])
def test_debug_shows_what_matched(value: str) -> None:
    drive = Drive()
    drive.request(x_vsr_debug=value)
    sent = fields(drive.respond(chat_response(WRONG)))
    assert sent["x-vsr-matched-hallucination"] == "grounded"
    assert "state=detected" in sent["x-vsr-hallucination"]


@pytest.mark.parametrize("value", ["1", "yes", "", "true,true"])
def test_other_words_do_not_switch_debug_on(value: str) -> None:
    drive = Drive()
    drive.request(x_vsr_debug=value)
    assert "x-vsr-hallucination" not in fields(drive.respond(chat_response(WRONG)))


def test_the_config_may_refuse_debug() -> None:
    drive = Drive(policy(filter_settings=FilterSettings(allow_debug=False)))
    replies = drive.request(x_vsr_debug="true")
    assert isinstance(replies[0], Continue)
    assert "x-vsr-debug" in replies[0].mutation.remove
    assert "x-vsr-hallucination" not in fields(drive.respond(chat_response(WRONG)))


# -- rows 1 and 2 ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500, 503, 302])
def test_row_1_not_2xx_is_no_observation(status: int) -> None:
    drive = Drive()
    drive.request()
    (reply,) = drive.feed(ResponseHeaders(HeaderMap([(":status", str(status)), ("x-vsr-forged", "1")])))
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_NONE
    assert reply.mutation.set == ()
    assert reply.mutation.remove == ("x-vsr-forged",)
    drive.feed(ResponseBody(b"x"))
    drive.close()
    assert drive.record.lifecycle is Lifecycle.FAILED
    assert drive.record.outcomes == ()
    assert drive.exchange.finished
    assert drive.noted("upstream_error")


def test_row_1_a_client_that_leaves_before_the_answer() -> None:
    for gone_after in range(3):
        drive = Drive()
        if gone_after == 0:
            drive.feed(RequestHeaders(HeaderMap([(":method", "POST"), (":path", "/v1/chat/completions")])))
        else:
            drive.request()
        if gone_after == 2:
            drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
        drive.close()
        assert drive.record.lifecycle is Lifecycle.ABORTED
        assert drive.record.outcomes == ()


def test_row_1_a_client_that_leaves_during_the_check_has_no_outcome() -> None:
    drive = Drive(detect=None)
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    assert drive.feed(ResponseBody(chat_response(WRONG))) == []
    drive.close()
    assert drive.record.lifecycle is Lifecycle.ABORTED
    assert drive.answer_check(find_479(drive.checks[0].requests[0])) == []
    assert drive.record.outcomes == ()


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":"top_p out of range","error_type":"validation"}',
        b'{"error":{"message":"queue full","code":null}}',
    ],
)
def test_a5_row_1_an_error_object_inside_a_200(body: bytes) -> None:
    drive = Drive(policy(Action.BLOCK, Action.BLOCK, failed=Action.BLOCK))
    reply = buffered(drive, body)
    assert reply.body is None
    assert "x-vsr-response-warnings" not in fields(reply)
    assert drive.record.lifecycle is Lifecycle.FAILED
    assert drive.record.outcomes == ()


@pytest.mark.parametrize(("method", "status"), [("HEAD", "200"), ("POST", "204"), ("POST", "304"), ("POST", "205")])
def test_row_2_bodiless(method: str, status: str) -> None:
    drive = Drive()
    drive.feed(
        RequestHeaders(HeaderMap([(":method", method), (":path", "/v1/chat/completions")])),
        *([RequestBody(chat_request())] if method == "POST" else []),
    )
    drive.feed(ResponseHeaders(HeaderMap([(":status", status)]), end_of_stream=True))
    drive.close()
    assert drive.record.lifecycle is Lifecycle.COMPLETED
    assert drive.record.outcomes == ()


def test_a_205_that_has_a_body_after_all_is_checked() -> None:
    drive = Drive()
    drive.request()
    sent = fields(drive.respond(chat_response(WRONG), status=205))
    assert sent["x-vsr-response-warnings"] == "hallucination"


# -- row 3 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'"x"', b'{"messages":7}', b"\xff\xfe", b"[" * 50_000])
def test_row_3_unreadable_request(body: bytes) -> None:
    drive = Drive(policy(Action.BLOCK, Action.BLOCK, failed=Action.BLOCK))
    drive.request(body)
    (reply,) = drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    assert isinstance(reply, Continue)  # no decision: the plugin does nothing
    assert reply.mode is ModeOverride.RESPONSE_NONE
    drive.close()
    assert outcome(drive) == ("unavailable", "hallucination_evaluation_failed", "request_unreadable", None)
    assert (drive.record.recipe, drive.record.decision) == ("default", None)


def test_row_3_unknown_api_passes_and_is_never_called_checked() -> None:
    drive = Drive()
    (reply,) = drive.feed(RequestHeaders(HeaderMap([(":method", "POST"), (":path", "/api/chat?key=secret")])))
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_NONE
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    drive.close()
    assert outcome(drive)[2] == "unknown_api"
    (note,) = drive.noted("unknown_api")
    assert "secret" not in str(note.fields)


def test_row_3_an_announced_oversize_request_is_skipped() -> None:
    drive = Drive(policy(filter_settings=FilterSettings(limits=Limits(100))))
    (reply,) = drive.feed(
        RequestHeaders(HeaderMap([(":method", "POST"), (":path", "/v1/chat/completions"), ("content-length", "101")]))
    )
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_NONE
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    drive.close()
    assert outcome(drive)[2] == "too_large"


@pytest.mark.parametrize(("size", "reason"), [(-1, None), (0, None), (1, "too_large")])
def test_c4_row_3_limit_edges_of_an_unannounced_request(size: int, reason: str | None) -> None:
    body = chat_request()
    drive = Drive(policy(filter_settings=FilterSettings(limits=Limits(len(body) - size))))
    drive.request(body)
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    if reason is None:
        drive.feed(ResponseBody(chat_response(GOOD)))
    drive.close()
    assert outcome(drive)[2] == reason


# -- rows 4 and 5 ----------------------------------------------------------------------------------------------


def test_row_4_not_applicable_is_in_replay_only() -> None:
    drive = Drive(policy(Action.BLOCK, Action.BLOCK, failed=Action.BLOCK), gate=NO)
    drive.request(x_vsr_debug="true")
    reply = drive.respond(chat_response(WRONG))
    assert isinstance(reply, Continue)
    assert not set(fields(reply)) & {"x-vsr-hallucination", "x-vsr-response-warnings", "x-vsr-signal-errors"}
    assert outcome(drive) == ("not_applicable", None, None, None)
    assert drive.record.outcomes[0].gate_score == 0.1
    assert drive.checks == []


def exempt() -> tuple[Drive, Continue]:
    drive = Drive(policy(Action.BLOCK, Action.BLOCK, failed=Action.BLOCK), gate=NO)
    drive.request()
    (reply,) = drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    assert isinstance(reply, Continue)
    return drive, reply


def test_row_4_an_answer_known_to_be_exempt_is_not_held() -> None:
    drive, reply = exempt()
    assert reply.metadata is not None
    assert reply.metadata["verdict"] == "not_applicable"
    body = chat_response(WRONG)
    for part in (body[:20], body[20:]):
        assert drive.feed(ResponseBody(part, part is not body[:20])) == [Continue(Phase.RESPONSE_BODY)]
    drive.close()
    assert (drive.record.lifecycle, drive.record.streaming) == (Lifecycle.COMPLETED, False)
    assert outcome(drive) == ("not_applicable", None, None, None)


def test_row_1_goes_before_row_4_where_nothing_is_held() -> None:
    drive, _ = exempt()
    drive.feed(ResponseBody(b'{"error": {"message": "overloaded"}}', True))
    drive.close()
    assert (drive.record.lifecycle, drive.record.outcomes) == (Lifecycle.FAILED, ())
    drive, _ = exempt()
    drive.feed(ResponseBody(b'{"choices": [', False))
    drive.close()
    assert (drive.record.lifecycle, drive.record.outcomes) == (Lifecycle.ABORTED, ())


def test_row_4_holds_for_a_body_too_large_to_be_read() -> None:
    drive = Drive(policy(filter_settings=FilterSettings(limits=Limits(check=1000))), gate=NO)
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    for _ in range(5):
        drive.feed(ResponseBody(b"x" * 400, False))
    drive.feed(ResponseTrailers(HeaderMap()))
    drive.close()
    assert outcome(drive)[0] == "not_applicable"


def test_row_5_a_failed_classifier() -> None:
    drive = Drive(gate=BROKEN)
    drive.request(x_vsr_debug="true")
    sent = fields(drive.respond(chat_response(WRONG)))
    assert sent["x-vsr-signal-errors"] == "hallucination:grounded=hallucination_evaluation_failed"
    assert sent["x-vsr-response-warnings"] == "hallucination_unchecked"
    assert outcome(drive) == ("unavailable", "hallucination_evaluation_failed", "fact_check_failed", "header")


def test_the_gate_is_joined_in_the_response_phase() -> None:
    drive = Drive(gate=None)
    assert len(drive.request()) == 2  # both request messages are answered at once
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    assert drive.feed(ResponseBody(chat_response(WRONG))) == []
    (reply,) = drive.answer_gate(GateResult(True, 0.9))
    assert fields(reply)["x-vsr-response-warnings"] == "hallucination"


def test_always_needs_no_classifier() -> None:
    settings = FilterSettings(fact_check=FactCheckMode.ALWAYS)
    drive = Drive(policy(filter_settings=settings), gate=None)
    assert fields(buffered(drive, chat_response(WRONG)))["x-vsr-response-warnings"] == "hallucination"
    assert drive.record.outcomes[0].gate_score is None


# -- rows 6 to 8 and 10 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"{", b"<html>", b"[]", b"7", b'{"choices":{}}', chat_response(WRONG)[:-20]])
def test_row_6_unreadable_response(body: bytes) -> None:
    drive = Drive()
    reply = buffered(drive, body)
    assert reply.body is None
    assert outcome(drive) == ("unavailable", "hallucination_evaluation_failed", "response_unreadable", "header")


@pytest.mark.parametrize("action", [Action.HEADER, Action.NONE, Action.BLOCK])
def test_row_6_failing_open_does_what_the_config_says(action: Action) -> None:
    drive = Drive(policy(failed=action))
    drive.request()
    reply = drive.respond(b"{")
    assert isinstance(reply, Immediate) == (action is Action.BLOCK)
    warned = fields(reply).get("x-vsr-response-warnings")
    assert warned == (None if action is Action.NONE else "hallucination_unchecked")
    assert outcome(drive)[3] == str(action)


def test_row_6_response_over_the_limit_announced_and_not() -> None:
    body = chat_response(WRONG)
    limit = FilterSettings(limits=Limits(len(body) - 1))
    request = json.dumps({"messages": [{"role": "user", "content": "q"}]}).encode()
    drive = Drive(policy(filter_settings=limit))
    drive.request(request)
    reply = drive.respond(body)
    assert isinstance(reply, Continue)
    assert reply.body is None
    assert outcome(drive)[2] == "too_large"
    drive = Drive(policy(filter_settings=limit))
    drive.request(request)
    head = HeaderMap([(":status", "200"), ("content-type", "application/json"), ("content-length", str(len(body)))])
    (reply,) = drive.feed(ResponseHeaders(head))
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_NONE
    assert fields(reply)["x-vsr-response-warnings"] == "hallucination_unchecked"
    drive.close()
    assert outcome(drive)[2] == "too_large"


@pytest.mark.parametrize("texts", [(None,), ("",), ("  \n",), ("\u200b\u2060",), ("\x00",), ()])
def test_row_7_no_text(texts: tuple[str | None, ...]) -> None:
    drive = Drive()
    buffered(drive, chat_response(*texts))
    assert outcome(drive) == ("unavailable", "hallucination_evaluation_failed", "no_text", "header")


def test_c3_row_7_an_empty_body_that_calls_itself_gzip() -> None:
    drive = Drive()
    drive.request()
    (reply,) = drive.feed(
        ResponseHeaders(
            HeaderMap([(":status", "200"), ("content-encoding", "gzip"), ("content-length", "0")]),
            end_of_stream=True,
        )
    )
    assert fields(reply)["x-vsr-response-warnings"] == "hallucination_unchecked"
    assert outcome(drive)[2] == "no_text"


@pytest.mark.parametrize(
    ("action", "word"),
    [(Action.HEADER, "header"), (Action.BODY, "body"), (Action.BLOCK, "block"), (Action.NONE, "none")],
)
def test_row_8_no_evidence_is_unverified_not_clean(action: Action, word: str) -> None:
    drive = Drive(policy(unverified=action))
    drive.request(chat_request(evidence=None))
    reply = drive.respond(chat_response(GOOD))
    assert drive.checks == []
    assert outcome(drive) == ("unavailable", "hallucination_context_unavailable", None, word)
    if action is Action.HEADER:
        assert fields(reply)["x-vsr-response-warnings"] == "unverified_factual"
    if action is Action.BODY:
        assert isinstance(reply, Continue)
        assert b"Unverified" in (reply.body or b"")


@pytest.mark.parametrize("evidence", ["", " ", "(no output)"])
def test_b6_results_without_content_are_no_evidence(evidence: str) -> None:
    drive = Drive()
    drive.request(chat_request(evidence=evidence))
    drive.respond(chat_response(GOOD))
    assert outcome(drive)[1] == "hallucination_context_unavailable"


@pytest.mark.parametrize("reason", [Reason.DETECTOR_FAILED, Reason.TIMEOUT, Reason.OVERLOADED, Reason.NOT_PROVISIONED])
def test_row_10_detector_failures(reason: Reason) -> None:
    drive = Drive(detect=failing(reason))
    reply = buffered(drive, chat_response(WRONG))
    assert reply.body is None
    assert outcome(drive) == ("unavailable", "hallucination_evaluation_failed", str(reason), "header")


# -- choices ---------------------------------------------------------------------------------------------------


def test_a9_spans_name_their_choice_by_index_not_position() -> None:
    body = json.dumps(
        {"choices": [{"index": 1, "message": {"content": WRONG}}, {"index": 0, "message": {"content": GOOD}}]}
    ).encode()
    drive = Drive(policy(Action.BODY))
    reply = buffered(drive, body)
    (row,) = drive.record.outcomes
    assert [(s.choice, s.start, s.end) for s in row.spans] == [(1, 17, 20)]
    choices = json.loads(reply.body or b"")["choices"]
    assert choices[0]["message"]["content"] != WRONG
    assert choices[1]["message"]["content"] == GOOD


def test_a_repeated_index_does_not_lend_a_clean_verdict() -> None:
    same = [{"index": 0, "message": {"content": text}} for text in (WRONG, GOOD)]
    drive = Drive()
    buffered(drive, json.dumps({"choices": same}).encode())
    assert outcome(drive)[0] == "detected"


def test_b9_an_echoed_prompt_is_not_the_answer() -> None:
    prompt = "Q: 479 or not? A:"
    body = json.dumps({"model": "m", "prompt": prompt, "echo": True}).encode()
    grounded = replace(policy(), filter=FilterSettings(fact_check=FactCheckMode.ALWAYS))
    for answer, verdict in ((" 412 crates.", "unavailable"), ("", "unavailable")):
        drive = Drive(grounded)
        drive.feed(RequestHeaders(HeaderMap([(":method", "POST"), (":path", "/v1/completions")])), RequestBody(body))
        drive.respond(
            json.dumps({"choices": [{"index": 0, "text": prompt + answer, "finish_reason": "stop"}]}).encode()
        )
        assert outcome(drive)[0] == verdict
        assert outcome(drive)[2] == (None if answer else "no_text")


def test_b9_spans_behind_an_echo_count_from_the_whole_text() -> None:
    found = find_479(CheckRequest("", Grounding(), " 479 crates."))
    reading = Reading(view=ResponseView((Answer(0, "prompt 479: 479 crates.", skip=11),)))
    (seen,) = answered([HallucinationRule("r")], grounded_intake(), GateResult(True, 1.0), reading, {0: found})
    assert [(s.start, s.end) for s in seen.findings[0].spans] == [(12, 15)]


# -- headers that are ours -------------------------------------------------------------------------------------


def test_b7_forged_headers_go_in_both_directions() -> None:
    drive = Drive()
    pairs = [
        (":method", "POST"),
        (":path", "/v1/chat/completions"),
        ("X-VSR-Decision", "none"),
        ("x-vsr-recipe", "lax"),
        ("x-vsr-hallucination", "clean"),
        ("x-vsr-debug", "true"),
        ("accept-encoding", "gzip"),
    ]
    replies = drive.feed(RequestHeaders(HeaderMap(pairs)), RequestBody(chat_request()))
    assert isinstance(replies[0], Continue)
    assert set(replies[0].mutation.remove) == {
        "x-vsr-decision",
        "x-vsr-recipe",
        "x-vsr-hallucination",
        "accept-encoding",
    }
    head = [(":status", "200"), ("content-type", "application/json")]
    head += [("x-vsr-response-warnings", ""), ("X-VSR-Matched-Hallucination", "other")]
    (reply,) = drive.feed(ResponseHeaders(HeaderMap(head)))
    assert isinstance(reply, Continue)
    assert set(reply.mutation.remove) == {"x-vsr-response-warnings", "x-vsr-matched-hallucination"}
    sent = fields(drive.feed(ResponseBody(chat_response(WRONG)))[-1])
    assert sent["x-vsr-matched-hallucination"] == "grounded"


def test_b7_forged_trailers_go_too() -> None:
    forged = HeaderMap([("X-Vsr-Response-Warnings", "none"), ("grpc-status", "0")])
    drive = Drive()
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    drive.feed(ResponseBody(chat_response(WRONG), end_of_stream=False))
    streamed = Drive()
    streamed.request()
    streamed.stream(sse(*halves(WRONG), "[DONE]"), end=False)
    bodiless = Drive()
    bodiless.request()
    bodiless.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    for each in (drive, streamed, bodiless):
        (reply,) = each.feed(ResponseTrailers(forged))
        assert isinstance(reply, Continue)
        assert reply.mutation.remove == ("x-vsr-response-warnings",)
    asked = Drive()
    asked.request()
    (reply,) = asked.feed(RequestTrailers(forged))
    assert isinstance(reply, Continue)
    assert reply.mutation.remove == ("x-vsr-response-warnings",)


# -- streams ---------------------------------------------------------------------------------------------------


def halves(text: str) -> list[dict[str, object]]:
    middle = len(text) // 2 + 3
    return [delta(text[:middle]), delta(text[middle:])]


def test_streams_pass_at_once_and_are_checked_at_the_terminal_event() -> None:
    drive = Drive(policy(Action.BLOCK), detect=None)
    drive.request(chat_request(stream=True))
    one, two = halves(WRONG)
    replies = drive.stream(sse(one), sse(two, delta(finish="stop")), sse("[DONE]"), end=False)
    assert [type(reply) for reply in replies] == [Continue] * 4
    assert isinstance(replies[0], Continue)
    assert replies[0].mode is ModeOverride.RESPONSE_STREAMED
    assert fields(replies[0])["x-vsr-selected-decision"] == "d"
    for reply in replies[1:]:
        assert isinstance(reply, Continue)
        assert (reply.body, reply.mutation.set, reply.mode) == (None, (), None)
    (check,) = drive.checks
    assert not check.held
    drive.close()  # the client left at [DONE]
    assert not drive.exchange.finished
    drive.answer_check(find_479(check.requests[0]))
    assert drive.exchange.finished
    (row,) = drive.record.outcomes
    assert (row.verdict, row.enforcement, row.action) == ("detected", "not_enforced_streaming", None)
    assert drive.record.streaming


@pytest.mark.parametrize(
    ("events", "end", "verdict"),
    [
        ([*halves(WRONG), delta(finish="stop")], True, "detected"),  # (a) finish, EOF, no [DONE]
        ([*halves(WRONG), "[DONE]"], True, "detected"),  # (b) only nulls, then [DONE]
        ([*halves(WRONG)], True, None),  # (c) only nulls, EOF
        ([*halves(WRONG), {"choices": [], "usage": {}}], True, None),  # (d)
        ([*halves(WRONG), delta(finish="stop")], False, "detected"),  # (e) then the RPC ends
        ([*halves(WRONG)], False, None),
    ],
)
def test_a6_how_streams_end(events: list[object], end: bool, verdict: str | None) -> None:
    drive = Drive()
    drive.request()
    drive.stream(sse(*events), end=end)  # type: ignore[arg-type]
    drive.close()
    assert drive.exchange.finished
    assert len(drive.checks) == (1 if verdict else 0)
    if verdict is None:
        assert drive.record.lifecycle is Lifecycle.ABORTED
        assert drive.record.outcomes == ()
    else:
        assert drive.record.outcomes[0].verdict == verdict


@pytest.mark.parametrize(
    "error",
    [
        'data: {"error":{"message":"queue full","code":null}}\n\ndata: [DONE]\n\n',
        'data: {"error":"queue full"}\n\ndata: [DONE]\n\n',
        'event: error\ndata: {"message":"x"}\n\n',
    ],
)
def test_a5_an_error_event_is_not_a_terminal_event(error: str) -> None:
    drive = Drive()
    drive.request()
    drive.stream(sse(halves(WRONG)[0]), error.encode())
    drive.close()
    assert drive.checks == []
    assert drive.record.lifecycle is Lifecycle.FAILED
    assert drive.record.outcomes == ()


def test_done_and_end_of_stream_check_only_once() -> None:
    drive = Drive()
    drive.request()
    drive.stream(sse(*halves(WRONG), "[DONE]"), sse("[DONE]"), b"")
    drive.feed(ResponseTrailers())
    drive.close()
    assert len(drive.checks) == 1
    assert len([record for record in drive.records if record.lifecycle is Lifecycle.COMPLETED]) == 1


def test_a_stream_that_ends_with_trailers() -> None:
    drive = Drive()
    drive.request()
    drive.stream(sse(*halves(WRONG), delta(finish="stop")), end=False)
    (reply,) = drive.feed(ResponseTrailers())
    assert isinstance(reply, Continue)
    assert reply.phase is Phase.RESPONSE_TRAILERS
    assert drive.record.outcomes[0].verdict == "detected"


def gate_decides() -> Config:
    """Which decision holds depends on the classifier."""
    leaf = Leaf("fact_check", "needs_fact_check")
    decisions = (Decision("factual", 10, rules=leaf, plugin=HallucinationPlugin(True)), Decision("other"))
    return Config((Recipe("default", (HallucinationRule("grounded"),), decisions=decisions),))


def test_a_stream_never_waits_for_the_gate_and_its_check_joins_it() -> None:
    drive = Drive(gate_decides(), gate=None)
    drive.request()
    replies = drive.stream(sse(*halves(WRONG), "[DONE]"))
    assert len(replies) == 2
    assert "x-vsr-selected-decision" not in fields(replies[0])  # not known yet, not guessed
    drive.close()
    assert drive.checks == []
    drive.answer_gate(GateResult(True, 0.9))
    assert drive.record.outcomes[0].verdict == "detected"
    assert drive.record.decision == "factual"


def test_a_stream_names_its_decision_where_the_gate_cannot_change_it() -> None:
    drive = Drive(gate=None)
    drive.request()
    replies = drive.stream(sse(*halves(WRONG), "[DONE]"))
    assert fields(replies[0])["x-vsr-selected-decision"] == "d"


def test_a_stream_asks_the_gate_only_at_its_end_where_nothing_hangs_on_it() -> None:
    drive = Drive()
    drive.request(chat_request(stream=True))
    drive.stream(sse(halves(WRONG)[0]), end=False)
    assert not [order for order in drive.orders if isinstance(order, Classify)]
    drive.feed(ResponseBody(sse(halves(WRONG)[1], "[DONE]")))
    assert [order.held for order in drive.orders if isinstance(order, Classify)] == [False]
    assert drive.record.outcomes[0].verdict == "detected"
    hangs = Drive(gate_decides())
    hangs.request(chat_request(stream=True))
    assert [order.held for order in hangs.orders if isinstance(order, Classify)] == [True]


def test_an_answer_in_one_piece_to_a_stream_request_still_meets_the_gate() -> None:
    drive = Drive(gate=None)
    drive.request(chat_request(stream=True))
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    assert drive.feed(ResponseBody(chat_response(WRONG))) == []
    assert [order.held for order in drive.orders if isinstance(order, Classify)] == [True]
    (reply,) = drive.answer_gate(GateResult(True, 0.9))
    assert fields(reply)["x-vsr-response-warnings"] == "hallucination"


def test_an_unreadable_stream_is_unavailable() -> None:
    drive = Drive()
    drive.request()
    drive.stream(b"data: {not json}\n\n", sse("[DONE]"))
    drive.close()
    assert drive.record.outcomes[0].reason == "response_unreadable"
    assert drive.record.outcomes[0].enforcement == "not_enforced_streaming"


def test_streams_on_the_compatibility_path_are_not_checked() -> None:
    drive = Drive(policy(rules=()))
    drive.request()
    replies = drive.stream(sse(*halves(WRONG), "[DONE]"))
    assert isinstance(replies[0], Continue)
    assert replies[0].mode is ModeOverride.RESPONSE_NONE
    drive.close()
    assert drive.checks == []
    assert drive.record.outcomes == ()
    assert drive.record.lifecycle is Lifecycle.COMPLETED


@pytest.mark.parametrize("content_type", ["Text/Event-Stream;Charset=UTF-8", 'text/event-stream ; charset="utf-8"'])
def test_c5_event_streams_by_any_spelling(content_type: str) -> None:
    drive = Drive()
    drive.request()
    (reply,) = drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", content_type)])))
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_STREAMED


def test_c5_two_content_type_fields() -> None:
    drive = Drive()
    drive.request()
    pairs = [(":status", "200"), ("content-type", "application/json"), ("content-type", "text/event-stream")]
    (reply,) = drive.feed(ResponseHeaders(HeaderMap(pairs)))
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_STREAMED


def test_c5_ndjson_passes_unbuffered_and_unchecked() -> None:
    drive = Drive()
    drive.request()
    head = HeaderMap([(":status", "200"), ("content-type", "application/x-ndjson")])
    (reply,) = drive.feed(ResponseHeaders(head))
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_NONE
    drive.close()
    assert outcome(drive)[:3] == ("unavailable", "hallucination_evaluation_failed", "response_unreadable")


# -- a proxy that does not do as told --------------------------------------------------------------------------


def test_c8_a_whole_stream_in_one_body() -> None:
    drive = Drive()
    drive.request()
    drive.stream(sse(*halves(WRONG), "[DONE]"))
    drive.close()
    (row,) = drive.record.outcomes
    assert (row.verdict, row.enforcement) == ("detected", "not_enforced_streaming")


def test_c8_half_a_body_is_never_clean() -> None:
    drive = Drive()
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    body = chat_response(GOOD)
    (first,) = drive.feed(ResponseBody(body[:40], end_of_stream=False))
    (second,) = drive.feed(ResponseBody(body[40:], end_of_stream=True))
    assert isinstance(first, Continue)
    assert isinstance(second, Continue)
    assert outcome(drive)[2] == "response_unreadable"
    assert drive.noted("override_ignored")


def test_a_buffered_body_with_trailers_is_whole_although_not_the_end() -> None:
    drive = Drive()
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    (reply,) = drive.feed(ResponseBody(chat_response(WRONG), end_of_stream=False))
    assert fields(reply)["x-vsr-response-warnings"] == "hallucination"
    drive.feed(ResponseTrailers())
    assert outcome(drive)[0] == "detected"


def test_impossible_sequences_are_named() -> None:
    for first, wrong in [
        ((), ResponseBody(b"")),
        ((), RequestBody(b"")),
        ((), RequestTrailers()),
    ]:
        drive = Drive()
        drive.feed(*first)
        with pytest.raises(ProtocolError, match=type(wrong).__name__):
            drive.feed(wrong)
    drive = Drive(detect=None)
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    drive.feed(ResponseBody(chat_response(WRONG)))
    with pytest.raises(ProtocolError, match="judging"):
        drive.feed(ResponseBody(b"more"))


def test_the_table_names_only_handlers_that_exist() -> None:
    exchange = Drive().exchange
    for (stage, message), handler in TABLE.items():
        assert isinstance(stage, Stage)
        assert callable(getattr(exchange, handler)), message


# -- recipes and decisions -------------------------------------------------------------------------------------


def test_no_rule_and_no_plugin_means_bodies_are_not_read() -> None:
    drive = Drive(Config())
    (reply,) = drive.feed(RequestHeaders(HeaderMap([(":method", "POST"), (":path", "/v1/chat/completions")])))
    assert isinstance(reply, Continue)
    assert reply.mode is ModeOverride.RESPONSE_NONE
    assert "accept-encoding" not in reply.mutation.remove
    (reply,) = drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    drive.close()
    assert drive.record.lifecycle is Lifecycle.COMPLETED
    assert drive.record.outcomes == ()


def test_the_compatibility_path_is_the_rule_called_plugin() -> None:
    drive = Drive(policy(rules=()))
    drive.request(x_vsr_debug="true")
    sent = fields(drive.respond(chat_response(WRONG)))
    assert sent["x-vsr-matched-hallucination"] == "plugin"
    assert drive.record.outcomes[0].target_ref == "hallucination:plugin"


def two_recipes(source: DecisionSource) -> Config:
    plugin = HallucinationPlugin(True, Action.BLOCK)
    strict = Recipe(
        "strict", (HallucinationRule("strict_rule"),), decisions=(Decision("hard", plugin=plugin), Decision("soft"))
    )
    return Config((Recipe("default"), strict), filter=FilterSettings(decision_source=source))


def test_the_route_names_recipe_and_decision() -> None:
    metadata = {"x-vsr-recipe": "strict", "x-vsr-decision": "hard"}
    drive = Drive(two_recipes(DecisionSource.ROUTE), metadata=metadata)
    drive.request(x_vsr_recipe="default", x_vsr_decision="soft")
    reply = drive.respond(chat_response(WRONG), x_vsr_selected_decision="soft")
    assert isinstance(reply, Immediate)
    assert drive.record.decision == "hard"


def test_an_upstream_router_names_recipe_and_decision() -> None:
    drive = Drive(two_recipes(DecisionSource.UPSTREAM), metadata={"x-vsr-recipe": "default"})
    drive.request()
    reply = drive.respond(chat_response(WRONG), x_vsr_selected_recipe="strict", x_vsr_selected_decision="hard")
    assert isinstance(reply, Immediate)
    assert fields(reply)["x-vsr-selected-decision"] == "hard"


def test_sources_not_selected_are_ignored() -> None:
    drive = Drive(policy(), metadata={"x-vsr-recipe": "strict", "x-vsr-decision": "hard"})
    drive.request()
    sent = fields(drive.respond(chat_response(WRONG), x_vsr_selected_decision="hard"))
    assert sent["x-vsr-selected-decision"] == "d"


def test_an_unknown_decision_of_the_route_is_said_and_enforces_nothing() -> None:
    metadata = {"x-vsr-recipe": "strict", "x-vsr-decision": "nope"}
    drive = Drive(two_recipes(DecisionSource.ROUTE), metadata=metadata)
    drive.request()
    reply = drive.respond(chat_response(WRONG))
    assert isinstance(reply, Continue)
    assert drive.noted("unknown_decision")
    assert drive.record.outcomes[0].verdict == "detected"


# -- time and storage ------------------------------------------------------------------------------------------


def test_the_check_gets_what_is_left_of_the_deadline() -> None:
    drive = Drive(gate=None)
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "200"), ("content-type", "application/json")])))
    drive.feed(ResponseBody(chat_response(WRONG)))
    drive.at += 3.0
    drive.answer_gate(GateResult(True, 0.9))
    assert drive.checks[0].requests[0].deadline == pytest.approx(5.0)


def test_a_check_longer_than_envoys_patience_asks_for_more_once() -> None:
    settings = FilterSettings()
    settings = replace(settings, detection=replace(settings.detection, deadline=30.0))
    drive = Drive(policy(filter_settings=settings))
    drive.request()
    drive.respond(chat_response(WRONG))
    asked = [reply for reply in drive.replies if isinstance(reply, ExtendTimeout)]
    assert [reply.seconds for reply in asked] == [pytest.approx(31.0)]


def test_bodies_and_texts_are_stored_only_on_request() -> None:
    for store in (False, True):
        drive = Drive(policy(replay=ReplaySettings(store_bodies=store)))
        buffered(drive, chat_response(WRONG))
        assert (drive.record.request_body is not None) is store
        assert (drive.record.response_body is not None) is store
        assert [span.text for span in drive.record.outcomes[0].spans] == (["479"] if store else [None])
        assert ("479" in repr(drive.record)) is store


def test_one_record_an_exchange_first_in_progress() -> None:
    drive = Drive()
    buffered(drive, chat_response(GOOD))
    drive.close()
    assert [record.lifecycle for record in drive.records] == [Lifecycle.IN_PROGRESS, Lifecycle.COMPLETED]
    assert {record.id for record in drive.records} == {"x1"}


def test_no_replay_means_no_replay_id() -> None:
    drive = Drive(policy(replay=ReplaySettings(enabled=False)))
    assert "x-vsr-replay-id" not in fields(buffered(drive, chat_response(GOOD)))


def test_interim_responses_are_passed() -> None:
    drive = Drive()
    drive.request()
    drive.feed(ResponseHeaders(HeaderMap([(":status", "103")])))
    drive.respond(chat_response(WRONG))
    assert outcome(drive)[0] == "detected"


def test_notes_never_hold_text() -> None:
    for body in (chat_response(WRONG), b"{" + WRONG.encode()):
        drive = Drive(detect=failing(Reason.TIMEOUT))
        buffered(drive, body)
        assert "Depot" not in repr([note for note in drive.orders if type(note).__name__ == "Note"])


def test_the_log_says_why_a_check_failed() -> None:
    why = CheckFailure(Reason.DETECTOR_FAILED, "the endpoint answered 401")
    drive = Drive(detect=lambda request: CheckResult(IDENTITY, failure=why))
    buffered(drive, chat_response(WRONG))
    (note,) = drive.noted("check_failed")
    assert note.fields == {"exchange": "x1", "reason": "detector_failed", "detail": "the endpoint answered 401"}
    gate = CheckFailure(Reason.FACT_CHECK_FAILED, "RuntimeError")
    drive = Drive(gate=GateResult(False, None, gate))
    buffered(drive, chat_response(WRONG))
    assert [note.fields["detail"] for note in drive.noted("fact_check_failed")] == ["RuntimeError"]
