"""The verdict: gate and reading joined, the answers checked, the held reply sent, the record judged and closed.

The rows themselves are ``judging``'s and ``observation``'s, the reply is ``release``'s: here is only when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from vsr_hallucination.case import Case
from vsr_hallucination.config.schema import HallucinationRule
from vsr_hallucination.detection.types import CheckRequest, CheckResult
from vsr_hallucination.judging import Question, answered, settled, to_check
from vsr_hallucination.observation import Observation
from vsr_hallucination.orders import Check
from vsr_hallucination.release import release
from vsr_hallucination.replay.record import Lifecycle
from vsr_hallucination.stages import Stage
from vsr_hallucination.wire.messages import ExtendTimeout, ModeOverride

MARGIN: Final = 1.0  # seconds between the check's deadline and Envoy's patience
FLOOR: Final = 0.05  # a check is always given this long, however late its turn came


def judge_when_ready(case: Case, at: float) -> None:
    """The gate is joined here: nothing is said of an answer before the prompt is classified."""
    reading = case.reading
    if reading is None or case.checking is not None or case.finished:
        return
    if reading.upstream_error:
        case.note("upstream_error", status=case.record.status or 0, in_band=True)
        _send(case, (), at, Lifecycle.FAILED)
        return
    if case.gate is None and case.gate_asked:
        return
    rules = case.rules()
    open_ = bool(rules) and settled(rules, case.intake, case.gate, reading) is None
    questions = to_check(case.intake, reading) if open_ else {}
    if questions:
        _order_checks(case, rules, questions, at)
    else:
        conclude(case, {}, at)


def _order_checks(case: Case, rules: Sequence[HallucinationRule], asked: Mapping[int, Question], at: float) -> None:
    allowed = case.config.filter.detection.deadline
    held = case.pending is not None
    if held:
        allowed = max(FLOOR, allowed - max(0.0, at - case.reading_at))
        if allowed + MARGIN > case.config.filter.envoy.message_timeout:
            case.reply(ExtendTimeout(allowed + MARGIN))
    explain = any(rule.use_nli for rule in rules)
    case.checking = tuple(asked)
    requests = tuple(
        CheckRequest(each.asked.prompt, each.asked.grounding, each.text, explain, allowed) for each in asked.values()
    )
    case.order(Check(case.intake.recipe.name, requests, held))


def conclude(case: Case, results: Mapping[int, CheckResult], at: float) -> None:
    """``results`` by position among the answers; none where nothing had to be checked."""
    reading, rules = case.reading, case.rules()
    assert reading is not None  # only called once there is one
    found = settled(rules, case.intake, case.gate, reading)
    if found is None:
        assert case.gate is not None  # else row 5 had settled it
        found = answered(rules, case.intake, case.gate, reading, results)
    for result in results.values():
        if result.failure is not None:
            case.note_failure("check_failed", result.failure)
    _send(case, found, at, Lifecycle.COMPLETED)


def _send(case: Case, found: tuple[Observation, ...], at: float, lifecycle: Lifecycle) -> None:
    reading, label = case.reading, case.label()
    assert reading is not None
    actions: tuple[str | None, ...] = tuple(None for _ in found)
    if case.pending is not None:
        reply, actions = release(
            case.pending,
            reading,
            found,
            label,
            api=case.intake.api,
            failed_action=case.config.filter.evaluation_failed_action,
            debug=case.intake.debug,
            mode=ModeOverride.RESPONSE_NONE if case.unseen else None,
        )
        case.pending, case.stage = None, Stage.PASSING
        case.reply(reply)
    case.record.judge(found, actions, reading)
    if not case.unseen:
        case.save(at, lifecycle)
