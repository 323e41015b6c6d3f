"""Reading the user's files: UTF-8 text, exactly as it stands (offsets into it are reported).

A byte order mark at the very start is the file's signature and no part of its text (Unicode 16.0, 23.8), here as in the
other readers (configuration, data sets): ``open(name, encoding="utf-8-sig", newline="")`` reads the same text.
"""

from __future__ import annotations

import sys
from pathlib import Path

from vsr_hallucination.cli.failure import Failure


def read_text(name: str) -> str:
    """The text of a file, or of standard input for ``-``. Raises Failure in words a person can act on."""
    shown = "standard input" if name == "-" else name
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except FileNotFoundError as error:
        raise Failure(f"{shown}: no such file") from error
    except IsADirectoryError as error:
        raise Failure(f"{shown}: is a directory, a file is needed") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Failure(f"{shown}: cannot be read: {reason}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failure(
            f"{shown}: not UTF-8 text (byte {error.start}): convert it, for example with iconv"
        ) from error
