"""Which decision holds, which rules run, and what each of them found: the state table applied to one exchange. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vsr_hallucination import observation as observing
from vsr_hallucination.apis.base import Answer, Asked
from vsr_hallucination.config.schema import Decision, HallucinationRule, Recipe
from vsr_hallucination.detection.types import CheckFailure, CheckResult, GateResult, Reason
from vsr_hallucination.intake import Intake
from vsr_hallucination.observation import ChoiceFacts, Observation
from vsr_hallucination.reading import Reading
from vsr_hallucination.routing.decisions import select
from vsr_hallucination.routing.signals import request_signals

PLUGIN_RULE = "plugin"  # the outcome's name where a plugin runs with no rule declared


def decision_by_rules(intake: Intake, gate: GateResult | None) -> Decision | None:
    """Our own routing; a request that could not be read has no decision (row 3)."""
    if intake.request is None:
        return None
    return select(intake.recipe, request_signals(intake.recipe, intake.request.prompt, gate))


def decision_without_gate(intake: Intake) -> tuple[bool, Decision | None]:
    """(whether it is certain, the decision) while the classifier still runs: certain where no word of its could matter.

    Tried with every kind of word it can give; a score in between cannot select what neither end of the scale does
    unless decisions compete by confidence, so half-way scores are tried as well.
    """
    words = [GateResult(needs, score) for needs, score in ((True, 1.0), (True, 0.5), (False, 0.5), (False, 0.0))]
    failed = GateResult(False, None, CheckFailure(Reason.FACT_CHECK_FAILED))
    first, *rest = (decision_by_rules(intake, word) for word in (*words, failed))
    return all(each is first for each in rest), first


def decision_by_name(recipe: Recipe, name: str) -> Decision | None:
    return next((decision for decision in recipe.decisions if decision.name == name), None)


def rules_of(recipe: Recipe, decision: Decision | None, *, streaming: bool) -> tuple[HallucinationRule, ...]:
    """The rules that run; the compatibility path is a rule of its own, for buffered answers only."""
    if recipe.hallucination:
        return recipe.hallucination
    plugin = decision.plugin if decision is not None else None
    if plugin is not None and plugin.enabled and not streaming:
        return (HallucinationRule(PLUGIN_RULE, use_nli=plugin.use_nli),)
    return ()


def settled(
    rules: Sequence[HallucinationRule], intake: Intake, gate: GateResult | None, reading: Reading | None
) -> tuple[Observation, ...] | None:
    """Rows 3 to 6: what is known without looking at an answer; None where the answers decide."""
    rows = [_row(rule.name, intake, gate, reading) for rule in rules]
    found = tuple(row for row in rows if row is not None)
    return found if len(found) == len(rows) else None


def _row(rule: str, intake: Intake, gate: GateResult | None, reading: Reading | None) -> Observation | None:
    if intake.refused is not None:
        return observing.unavailable(rule, intake.refused)
    if gate is None:
        return observing.unavailable(rule, Reason.FACT_CHECK_FAILED)
    row = observing.gate_row(rule, gate)
    if row is None and reading is not None and reading.reason is not None:
        return observing.unavailable(rule, reading.reason, gate=gate)
    return row


@dataclass(frozen=True, slots=True)
class Question:
    """An answer to check: its own words, and what it answers."""

    text: str
    asked: Asked


def to_check(intake: Intake, reading: Reading) -> Mapping[int, Question]:
    """What is checked, by the answer's position: an echoed prompt is not the model's word, and what was asked without
    evidence has nothing to be held to."""
    own = {n: (answer, answer.text[answer.skip :]) for n, answer in enumerate(reading.answers)}
    found = {
        n: Question(text, intake.asked_by(answer.index))
        for n, (answer, text) in own.items()
        if observing.has_text(text)
    }
    return {n: question for n, question in found.items() if question.asked.grounding}


def _facts(answer: Answer, result: CheckResult | None, intake: Intake) -> ChoiceFacts:
    """Offsets count from the start of the whole text again, whatever was skipped in front."""
    grounded = bool(intake.asked_by(answer.index).grounding)
    if not answer.skip:
        return ChoiceFacts(answer.index, answer.text, result, grounded)
    text = " " * answer.skip + answer.text[answer.skip :]
    moved = observing.shifted(result, answer.skip) if result is not None else None
    return ChoiceFacts(answer.index, text, moved, grounded)


def answered(
    rules: Sequence[HallucinationRule],
    intake: Intake,
    gate: GateResult,
    reading: Reading,
    results: Mapping[int, CheckResult],
) -> tuple[Observation, ...]:
    """Rows 7 to 11. ``results`` go by position among the answers: an upstream may repeat a choice's index."""
    choices = [_facts(answer, results.get(n), intake) for n, answer in enumerate(reading.answers)]
    incomplete = reading.view is not None and reading.view.incomplete
    return tuple(
        observing.observe(
            rule.name,
            use_nli=rule.use_nli,
            gate=gate,
            grounded=bool(intake.grounding),
            choices=choices,
            incomplete=incomplete,
        )
        for rule in rules
    )
