"""What a confidence threshold means for a service: named points, from drafting to high stakes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """``t``: the least confidence at which an answer goes out without a person looking at it."""

    name: str
    t: float
    use: str


OPERATING_POINTS = (
    OperatingPoint("drafting", 0.5, "drafts and triage: much is answered, people look at all of it"),
    OperatingPoint("assistive", 0.75, "support suggestions and FAQ answers with their sources shown"),
    OperatingPoint("self-serve", 0.9, "public automatic replies outside regulated processes"),
    OperatingPoint("high-stakes", 0.95, "regulated or brand-critical: whatever is below goes to a person"),
)


def point_at(t: float) -> OperatingPoint | None:
    """The most demanding point that ``t`` reaches; None below all of them."""
    reached = [point for point in OPERATING_POINTS if point.t <= t + 1e-12]
    return reached[-1] if reached else None
