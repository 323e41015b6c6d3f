"""A moment as people and programs write it. Standard library only: the command line reads it too."""

from __future__ import annotations

import math
from datetime import UTC, datetime


def unix_seconds(text: str) -> float | None:
    """UNIX seconds of UNIX seconds, or of an ISO 8601 date or time (UTC where it names no zone); None of all else."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    return seconds if math.isfinite(seconds) and abs(seconds) <= 1e11 else None
