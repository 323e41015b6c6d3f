"""What the tour sends and what must come of it. Each step states its expectation; the tour checks it.

The scripted upstream answers by the request's ``model``: the answer stands beside the question here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

QUESTION = "How many crates did depot K7 ship in May, and at what cost?"
EVIDENCE = '{"depot":"K7","month":"May","crates":412,"cost_eur":9500}'
GROUNDED = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros."
INVENTED = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."
POEM = (
    "Crates at dawn, in quiet rows,\nrain on tin where the river slows,\nand nobody counts them as they go."
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the client and the audit record must show. ``None`` in ``warnings``/``outcome`` fields: must be absent.

    ``marked``: texts of which each must lie in an unsupported span. ``begins``: the client's text starts with it.
    """

    status: int = 200
    warnings: str | None = None
    verdict: str | None = None
    action: str | None = None
    enforcement: str | None = None
    error: str | None = None
    reason: str | None = None
    marked: tuple[str, ...] = ()
    answer_kept: bool = True  # the upstream's text reaches the client, whole
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One exchange of the tour. ``broken`` sends it to the second set-up, whose detector is not there."""

    model: str
    title: str
    answer: str
    expect: Expectation
    question: str = QUESTION
    evidence: str | None = EVIDENCE
    stream: bool = False
    broken: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def request(self) -> dict[str, Any]:
        """The body of the client's request: OpenAI Chat Completions, evidence as a tool's result."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": self.question}]
        if self.evidence is not None:
            call = {
                "id": "call_a1",
                "type": "function",
                "function": {"name": "depot_stats", "arguments": "{}"},
            }
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": "call_a1", "content": self.evidence})
        return {
            "model": self.model,
            "messages": messages,
            **({"stream": True} if self.stream else {}),
            **self.extra,
        }


def steps() -> tuple[Step, ...]:
    """The tour, in order."""
    return (
        Step(
            "grounded",
            "A grounded answer passes as it is",
            GROUNDED,
            Expectation(verdict="not_detected"),
        ),
        Step(
            "invented",
            "An invented number is found; the policy is a warning header",
            INVENTED,
            Expectation(warnings="hallucination", verdict="detected", action="header", marked=("479",)),
        ),
        Step(
            "no-evidence",
            "A factual question without evidence: unverified, never verified",
            GROUNDED,
            Expectation(
                warnings="unverified_factual",
                verdict="unavailable",
                action="header",
                error="hallucination_context_unavailable",
            ),
            evidence=None,
        ),
        Step(
            "creative",
            "A creative prompt makes no claim worth checking",
            POEM,
            Expectation(verdict="not_applicable"),
            question="Write a short poem about crates in the rain.",
            evidence=None,
        ),
        Step(
            "detector-down",
            "The detector is not there: the answer passes, and says that nobody checked it",
            INVENTED,
            Expectation(
                warnings="hallucination_unchecked",
                verdict="unavailable",
                action="header",
                error="hallucination_evaluation_failed",
                reason="not_provisioned",
            ),
            broken=True,
        ),
        Step(
            "stream",
            "A stream passes untouched and at once; it is checked at its end, off the stream",
            INVENTED,
            Expectation(verdict="detected", enforcement="not_enforced_streaming", marked=("479",)),
            stream=True,
        ),
        Step(
            "body",
            "Policy `body`: the warning stands in front of the answer",
            INVENTED,
            Expectation(verdict="detected", action="body", marked=("479",), begins="> "),
            question=f"For the newsletter: {QUESTION}",
        ),
        Step(
            "block",
            "Policy `block`: the client gets an error instead of the answer",
            INVENTED,
            Expectation(
                status=403,
                warnings="hallucination",
                verdict="detected",
                action="block",
                marked=("479",),
                answer_kept=False,
            ),
            question=f"For the audit: {QUESTION}",
        ),
    )
