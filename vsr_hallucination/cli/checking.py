"""``check``: one answer against evidence, by the same models and the same state table as behind Envoy."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from typing import Any

from vsr_hallucination.cli import marks
from vsr_hallucination.cli.commands import load_config
from vsr_hallucination.cli.evidence import grounding_of
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.cli.files import read_text
from vsr_hallucination.config.schema import Config, Recipe
from vsr_hallucination.detection.types import (
    CheckFailure,
    CheckRequest,
    CheckResult,
    DetectorIdentity,
    EvidencePointer,
    GateResult,
    Grounding,
    Reason,
    Span,
)
from vsr_hallucination.observation import ChoiceFacts, Observation, State, gate_row, observe

EXIT_CODES = {State.NOT_DETECTED: 0, State.DETECTED: 1, State.UNAVAILABLE: 3, State.NOT_APPLICABLE: 4}
_RULE = "check"
_NEEDED = GateResult(needs_fact_check=True, score=None)  # without --gate: grounding is taken to be needed


def run(args: argparse.Namespace) -> int:
    """Print the observation; its state as an exit code (EXIT_CODES). Usage errors are raised as Failure."""
    if [*args.grounding, args.answer].count("-") > 1:
        raise Failure("standard input can be read once: give only one '-'")
    if args.gate and not args.question.strip():
        raise Failure("--gate judges the question: give it with --question")
    config = load_config(args.config)
    recipe = _recipe(config, args.recipe)
    grounding = grounding_of([(name, read_text(name)) for name in args.grounding])
    answer = read_text(args.answer)
    observation = asyncio.run(_observe(args, config, recipe, grounding, answer))
    if args.json:
        print(json.dumps(to_json(observation), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        _show(observation, answer)
    return EXIT_CODES[observation.state]


def _recipe(config: Config, name: str | None) -> Recipe:
    if name is None:
        return config.recipes[0]
    found = config.recipe(name)
    if found is None:
        raise Failure(f"no recipe {name!r} in {config.source}; there are: {', '.join(r.name for r in config.recipes)}")
    return found


async def _observe(
    args: argparse.Namespace, config: Config, recipe: Recipe, grounding: Grounding, answer: str
) -> Observation:
    gate = await _gate(args, config, recipe) if args.gate else _NEEDED
    settled = gate_row(_RULE, gate)
    if settled is not None:
        return settled
    result: CheckResult | None = None
    if answer.strip() and grounding:  # rows 7 and 8 need no model
        request = CheckRequest(args.question, grounding, answer, explain=args.explain, deadline=args.timeout)
        result = await _check(config, recipe, request)
        if result.failure is not None and result.failure.message:
            print(f"vsr-hallucination check: {result.failure.message}", file=sys.stderr)
    return observe(
        _RULE,
        use_nli=args.explain,
        gate=gate,
        grounded=bool(grounding),
        choices=[ChoiceFacts(0, answer, result)],
    )


async def _gate(args: argparse.Namespace, config: Config, recipe: Recipe) -> GateResult:
    from vsr_hallucination.detection.factory import ModelError, make_gate

    try:
        gate = await asyncio.to_thread(make_gate, recipe.fact_check, config.filter.detection)
    except ModelError as error:
        print(f"vsr-hallucination check: {error}", file=sys.stderr)
        return GateResult(False, None, CheckFailure(Reason.NOT_PROVISIONED, str(error)))
    try:
        return await gate.classify(args.question, args.timeout)
    finally:
        await gate.aclose()


async def _check(config: Config, recipe: Recipe, request: CheckRequest) -> CheckResult:
    from vsr_hallucination.detection.factory import ModelError, make_checker

    explainer = recipe.explainer if request.explain else None
    settings = replace(config.filter.detection, deadline=max(config.filter.detection.deadline, request.deadline))
    try:
        checker = await asyncio.to_thread(make_checker, recipe.detector, explainer, settings)
    except ModelError as error:
        identity = DetectorIdentity(recipe.detector.model, recipe.detector.backend)
        return CheckResult(identity, failure=CheckFailure(Reason.NOT_PROVISIONED, str(error)))
    try:
        return await checker.check(request)
    finally:
        await checker.aclose()


def to_json(observation: Observation) -> dict[str, Any]:
    """The observation with the keys that ``check --json`` promises."""
    coverage = observation.coverage
    detector = observation.detector
    return {
        "state": str(observation.state),
        "confidence": observation.confidence,
        "unsupported_score": observation.unsupported_score,
        "gate_score": observation.gate_score,
        "spans": [_span(span) for finding in observation.findings for span in finding.spans],
        "coverage": {
            "answer": coverage.answer if coverage else None,
            "grounding": coverage.grounding if coverage else None,
        },
        "error": _word(observation.error),
        "reason": _word(observation.reason),
        "detector": None
        if detector is None
        else {
            "name": detector.name,
            "backend": detector.backend,
            "weights_sha256": detector.weights_sha256,
            "thresholds": dict(sorted(detector.thresholds.items())),
        },
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "confidence": span.confidence,
        "nli_label": _word(span.nli_label),
        "nli_confidence": span.nli_confidence,
        "severity": _word(span.severity),
        "explanation": span.explanation,
        "evidence": _pointer(span.evidence),
    }


def _pointer(evidence: EvidencePointer | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    return {"path": evidence.path, "start": evidence.start, "end": evidence.end, "text": evidence.text}


def _word(value: object) -> str | None:
    return None if value is None else str(value)


def _show(observation: Observation, answer: str) -> None:
    color = marks.wants_color(sys.stdout)
    facts = [marks.verdict(str(observation.state), good=observation.state is State.NOT_DETECTED, color=color)]
    if observation.confidence is not None:
        facts.append(f"confidence {observation.confidence:.3f}")
    if observation.unsupported_score is not None:
        facts.append(f"unsupported score {observation.unsupported_score:.3f}")
    if observation.gate_score is not None:
        facts.append(f"gate score {observation.gate_score:.3f}")
    if observation.error is not None:
        facts.append(f"{observation.error}" + (f" ({observation.reason})" if observation.reason else ""))
    if observation.coverage is not None:
        read = observation.coverage
        facts.append(f"read {read.answer:.0%} of the answer, {read.grounding:.0%} of the evidence")
    print(", ".join(facts))
    spans = [span for finding in observation.findings for span in finding.spans]
    if spans:
        print()
        print(marks.mark(answer, [(span.start, span.end) for span in spans], color=color).rstrip("\n"))
        print()
    for span in spans:
        print(_line(span))


def _line(span: Span) -> str:
    line = f"{span.start}-{span.end} “{marks.visible(' '.join(span.text.split()))}” confidence {span.confidence:.3f}"
    if span.severity is not None:
        line += f", severity {span.severity}"
    if span.explanation:
        line += f": {marks.visible(span.explanation)}"
    elif span.evidence is not None:
        line += f"; nearest evidence {span.evidence.path}: “{marks.visible(span.evidence.text)}”"
    return line
