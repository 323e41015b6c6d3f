"""The command line. Commands import what they need when they run, so that ``--help`` answers at once."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.cli.parser import make_parser

__all__ = ["main"]

_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_CRASHED = 70  # EX_SOFTWARE of sysexits.h: never one of the codes a command gives a meaning to


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. Errors are one line on stderr (a traceback with VSR_TRACEBACK=1)."""
    args = make_parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A lone surrogate or a narrow locale must not end a command; in JSON the escape is still JSON.
            stream.reconfigure(errors="backslashreplace")
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except Failure as failure:
        print(f"vsr-hallucination {args.command}: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader (head, less) has left: nothing to say, and nothing more to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("VSR_TRACEBACK"):
            raise
        message = " ".join(str(error).split())[:500]
        print(
            f"vsr-hallucination {args.command}: {type(error).__name__}: {message} (VSR_TRACEBACK=1 shows where)",
            file=sys.stderr,
        )
        return _CRASHED
    return code
