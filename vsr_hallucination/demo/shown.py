"""How a step of the tour looks on a terminal."""

from __future__ import annotations

from vsr_hallucination.cli import marks
from vsr_hallucination.demo.script import Step
from vsr_hallucination.demo.tour import Seen

_LABEL = 10


def step_text(number: int, step: Step, seen: Seen, *, color: bool) -> str:
    """Several lines: title, status, headers, the answer as the client got it with spans marked, the audit outcome."""
    lines = [marks.bold(f"{number}. {step.title}", color=color)]
    lines.append(
        _row("prompt", marks.visible(step.question) + ("" if step.evidence else "  (no evidence)"), color)
    )
    lines.append(_row("status", str(seen.status), color))
    lines += [_row("", f"{name}: {marks.visible(value)}", color) for name, value in seen.headers]
    lines.append(_row("client saw", _marked(step, seen, color), color))
    lines.append(_row("replay", _outcome(seen), color))
    if seen.complaints:
        lines += [
            _row("WRONG", marks.verdict(text, good=False, color=color), color) for text in seen.complaints
        ]
    else:
        lines.append(_row("", marks.verdict("as expected", good=True, color=color), color))
    return "\n".join(lines)


def _row(label: str, text: str, color: bool) -> str:
    indent = "\n" + " " * (_LABEL + 5)
    return f"   {marks.dim(label.rjust(_LABEL), color=color)}  {text.rstrip().replace(chr(10), indent)}"


def _marked(step: Step, seen: Seen, color: bool) -> str:
    """Spans count from the upstream's answer; where a warning stands in front of it, they move with it."""
    at = seen.text.find(step.answer)
    spans = [(start + at, end + at) for start, end in seen.spans] if at >= 0 else []
    return marks.mark(seen.text, spans, color=color)


def _outcome(seen: Seen) -> str:
    if seen.outcome is None:
        return f"{seen.lifecycle}, no outcome"
    facts = [str(seen.outcome.get("target_ref")), str(seen.outcome.get("verdict"))]
    score = seen.outcome.get("score")
    if isinstance(score, int | float):
        facts.append(f"confidence {score:.3f}")
    for name in ("unsupported_score", "gate_score"):
        value = seen.metadata.get(name)
        if isinstance(value, int | float):
            facts.append(f"{name.replace('_', ' ')} {value:.3f}")
    if seen.metadata.get("span_count"):
        facts.append(f"spans {seen.metadata['span_count']}")
    for name in ("action", "enforcement", "error", "reason"):
        if seen.metadata.get(name) is not None:
            facts.append(f"{name} {seen.metadata[name]}")
    return ", ".join(facts)
