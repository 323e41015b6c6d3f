"""The one error that a command ends with on purpose."""

from __future__ import annotations

USAGE = 2


class Failure(Exception):
    """What went wrong, where, and what to do, in one line; ``code`` is the exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code
