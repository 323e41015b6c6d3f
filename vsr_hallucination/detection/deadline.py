"""A check's clock: when its caller needs the result, and whether there still is a caller."""

from __future__ import annotations

import time
from dataclasses import dataclass

from vsr_hallucination.detection.types import CheckFailure, Reason


class DetectionError(Exception):
    """A check cannot go on. ``reason`` is what the product reports; the message is for logs and holds no texts."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason

    def failure(self) -> CheckFailure:
        return CheckFailure(self.reason, str(self))


@dataclass(slots=True)
class Deadline:
    """``at`` is on ``time.monotonic``. Read by worker threads, cancelled by the caller's: one flag, no lock needed."""

    at: float
    cancelled: bool = False

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + max(0.0, seconds))

    @property
    def left(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.cancelled or time.monotonic() >= self.at

    def check(self) -> None:
        """Raises DetectionError(TIMEOUT) once nobody waits any more: long work calls it now and then."""
        if self.passed:
            raise DetectionError(Reason.TIMEOUT, "the deadline passed while the check was being prepared")
