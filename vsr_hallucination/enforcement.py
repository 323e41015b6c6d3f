"""What the selected decision's ``hallucination`` plugin does about the observations: pure functions.

``plan`` decides; ``notice`` words the warning; ``response_headers`` and ``metadata`` say what the client and the
access log are told. The exchange puts it on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from vsr_hallucination.config.schema import Action, HallucinationPlugin
from vsr_hallucination.detection.types import Span
from vsr_hallucination.observation import Finding, Observation, SignalError, State, overall

WARNINGS_HEADER = "x-vsr-response-warnings"
MATCHED_HEADER = "x-vsr-matched-hallucination"
ERRORS_HEADER = "x-vsr-signal-errors"
DETAIL_HEADER = "x-vsr-hallucination"
RECIPE_HEADER = "x-vsr-selected-recipe"
DECISION_HEADER = "x-vsr-selected-decision"
REPLAY_HEADER = "x-vsr-replay-id"
DEBUG_HEADER = "x-vsr-debug"

CODES = ("hallucination", "unverified_factual", "hallucination_unchecked")  # their order in the header
MAX_HEADER = 4096  # Envoy refuses responses whose headers grow past 60 KiB; one of ours stays far below
MAX_DETAILS = 10  # spans listed in a body warning
MAX_QUOTE = 160  # code points of a span or of its evidence in a body warning


@dataclass(frozen=True, slots=True)
class Act:
    """What one observation calls for: an action and the warning code it speaks of."""

    action: Action
    code: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done to the exchange. ``acts`` pairs with the observations; None: nothing to act on."""

    acts: tuple[Act | None, ...] = ()

    @property
    def blocks(self) -> bool:
        return any(act is not None and act.action is Action.BLOCK for act in self.acts)

    @property
    def code_blocked(self) -> str:
        """The code a block names: the gravest of those that ask for it."""
        blocking = {act.code for act in self.acts if act is not None and act.action is Action.BLOCK}
        return next(code for code in CODES if code in blocking)

    def codes(self, action: Action) -> tuple[str, ...]:
        wanted = {act.code for act in self.acts if act is not None and act.action is action}
        return tuple(code for code in CODES if code in wanted)

    def applied(self, *, body_written: bool) -> tuple[str | None, ...]:
        """The word each outcome records: what was really done to the client's response."""
        words: list[str | None] = []
        for act in self.acts:
            if act is None:
                words.append(None)
            elif act.action is Action.NONE:
                words.append("none")
            elif self.blocks:
                words.append("block")
            elif act.action is Action.BODY and not body_written:
                words.append("header")
            else:
                words.append(str(act.action))
        return tuple(words)


def act_on(observation: Observation, plugin: HallucinationPlugin, failed_action: Action) -> Act | None:
    """The plugin's answer to one observation (the table's last column); failing open is ``failed_action``'s."""
    if observation.state is State.DETECTED:
        return Act(plugin.hallucination_action, "hallucination")
    if observation.state is State.UNAVAILABLE:
        if observation.error is SignalError.CONTEXT_UNAVAILABLE:
            return Act(plugin.unverified_factual_action, "unverified_factual")
        return Act(failed_action, "hallucination_unchecked")
    return None


def plan(observations: Sequence[Observation], plugin: HallucinationPlugin | None, failed_action: Action) -> Plan:
    """No plugin, or one that is off: nothing is done, whatever was observed."""
    if plugin is None or not plugin.enabled:
        return Plan(tuple(None for _ in observations))
    return Plan(tuple(act_on(observation, plugin, failed_action) for observation in observations))


def notices(
    made: Plan, observations: Sequence[Observation], *, details: bool, codes: Sequence[str]
) -> Mapping[int, str]:
    """The warning for each choice that gets one, by choice index: detected choices, or every choice with text."""
    texts: dict[int, str] = {}
    for code in codes:
        for act, observation in zip(made.acts, observations, strict=True):
            if act is None or act.action is not Action.BODY or act.code != code:
                continue
            for finding in observation.findings:
                if finding.index in texts or not finding.has_text:
                    continue
                if code == "hallucination" and finding.state is not State.DETECTED:
                    continue
                texts[finding.index] = notice(code, finding, details=details)
    return texts


def notice(code: str, finding: Finding, *, details: bool) -> str:
    """The words in front of an answer. Markdown block quote: reads well as plain text and when rendered."""
    if code == "unverified_factual":
        return "> ⚠️ Unverified: this request carried no evidence that the answer could be checked against.\n\n"
    count = len(finding.spans)
    claims = "1 statement" if count == 1 else f"{count} statements"
    lines = [f"> ⚠️ Warning: the evidence of this request does not support {claims} in this answer."]
    if details:
        lines += [_detail(span) for span in finding.spans[:MAX_DETAILS]]
        if count > MAX_DETAILS:
            lines.append(f"> - and {count - MAX_DETAILS} more")
    return "\n".join(lines) + "\n\n"


def _detail(span: Span) -> str:
    facts = [f"confidence {span.confidence:.2f}"]
    if span.nli_label is not None:
        facts.append(str(span.nli_label))
    if span.severity is not None:
        facts.append(f"severity {span.severity}")
    line = f"> - “{_quote(span.text)}” at {span.start}–{span.end} ({', '.join(facts)})"
    if span.evidence is not None:
        line += f"; nearest evidence: “{_quote(span.evidence.text)}” ({span.evidence.path})"
    return line


def _quote(text: str) -> str:
    """One line, bounded, and nothing in it that could end the block quote or start markup of its own."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    flat = flat.translate({ord(c): f"\\{c}" for c in "`*_[]<>|\\"})
    return flat if len(flat) <= MAX_QUOTE else flat[: MAX_QUOTE - 1] + "…"


def block_message(code: str) -> str:
    return {
        "hallucination": "The answer was withheld: the evidence of this request does not support all of it.",
        "unverified_factual": "The answer was withheld: this request carried no evidence to check it against.",
        "hallucination_unchecked": "The answer was withheld: it could not be checked against the evidence.",
    }[code]


def response_headers(
    *, recipe: str, decision: str | None, replay_id: str | None, warnings: Sequence[str] = ()
) -> tuple[tuple[str, str], ...]:
    """The headers that every 2xx carries, and the warnings."""
    found = [(RECIPE_HEADER, header_safe(recipe))]
    if decision is not None:
        found.append((DECISION_HEADER, header_safe(decision)))
    if replay_id is not None:
        found.append((REPLAY_HEADER, replay_id))
    if warnings:
        found.append((WARNINGS_HEADER, ",".join(warnings)))
    return tuple(found)


def debug_headers(observations: Sequence[Observation]) -> tuple[tuple[str, str], ...]:
    """Only for clients that asked with ``x-vsr-debug``. ``not_applicable`` is not published."""
    published = [o for o in observations if o.state is not State.NOT_APPLICABLE]
    found: list[tuple[str, str]] = []
    matched = [header_safe(o.rule) for o in published if o.state is State.DETECTED]
    if matched:
        found.append((MATCHED_HEADER, _join(matched, ",")))
    errors = [f"hallucination:{header_safe(o.rule)}={o.error}" for o in published if o.error is not None]
    if errors:
        found.append((ERRORS_HEADER, _join(errors, ",")))
    if published:
        found.append((DETAIL_HEADER, _join([_line(o) for o in published], ", ")))
    return tuple(found)


def _line(observation: Observation) -> str:
    facts = [header_safe(observation.rule), f"state={observation.state}"]
    if observation.confidence is not None:
        facts.append(f"confidence={observation.confidence:.4f}")
    if observation.unsupported_score is not None:
        facts.append(f"unsupported={observation.unsupported_score:.4f}")
    if observation.reason is not None:
        facts.append(f"reason={observation.reason}")
    spans = [f"{f.index}:{span.start}-{span.end}" for f in observation.findings for span in f.spans]
    if spans:
        shown = spans[:20] + ([f"+{len(spans) - 20}"] if len(spans) > 20 else [])
        facts.append("spans=" + "|".join(shown))
    if observation.coverage is not None:
        facts.append(f"coverage={observation.coverage.answer:.4f}/{observation.coverage.grounding:.4f}")
    return "; ".join(facts)


def _join(parts: Sequence[str], glue: str) -> str:
    """Joined, and cut between parts where the whole would be too long for a header."""
    taken: list[str] = []
    length = 0
    for part in parts:
        length += len(part) + len(glue)
        if length > MAX_HEADER and taken:
            break
        taken.append(part)
    return glue.join(taken)[:MAX_HEADER]


@lru_cache(1024)  # the names of a configuration, on every exchange
def header_safe(name: str) -> str:
    """A configured name as a header value: everything that could end or split the field is percent-encoded."""
    return quote(name, safe="!#$&'()*+-./:<>?@[]^_`{|}~ ")


def metadata(
    observations: Sequence[Observation],
    *,
    recipe: str,
    decision: str | None,
    replay_id: str | None,
    actions: Sequence[str | None] = (),
    enforcement: str | None = None,
    verdict: str | None = None,
) -> dict[str, str | float | bool | tuple[str, ...]]:
    """Dynamic metadata in namespace ``vsr``, for access logs: the same facts as the debug headers."""
    found: dict[str, str | float | bool | tuple[str, ...]] = {
        "verdict": verdict if verdict is not None else overall(observations),
        "recipe": recipe,
        "rules": tuple(f"{o.rule}={o.state}" for o in observations),
    }
    if decision is not None:
        found["decision"] = decision
    if replay_id is not None:
        found["replay_id"] = replay_id
    if actions and (applied := sorted({word for word in actions if word is not None})):
        found["action"] = ",".join(applied)
    if enforcement is not None:
        found["enforcement"] = enforcement
    if observations and (reasons := sorted({str(o.reason) for o in observations if o.reason is not None})):
        found["reason"] = ",".join(reasons)
    return found
