"""The configuration file as a running filter sees it: read when asked, and watched for edits that nobody read yet."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

from vsr_hallucination.config import yamltext
from vsr_hallucination.config.loading import Loaded, load

WATCH_EVERY = 2.0  # seconds between looks at the file; two looks the same, and it has settled

Stamp = tuple[int, int, int]


class ConfigFile:
    """One edit is one reading: what a signal had read already, the watch does not report again.

    ``sha256``: of the content that was read before this began.
    """

    def __init__(self, path: Path, sha256: str) -> None:
        self._path = path
        self._stamp: Stamp | None = None
        self._sha256: str | None = sha256

    async def read(self) -> Loaded:
        """Raises ConfigError. What the file holds now is no news to ``changed`` from here on, usable or not."""
        self._stamp = _stamp(self._path)  # before the content: a later edit must differ from it
        return await asyncio.to_thread(self._load)

    async def changed(self) -> None:
        """Returns once the file holds something that was not read, and has settled."""
        before = _stamp(self._path)
        while True:
            await asyncio.sleep(WATCH_EVERY)
            found = _stamp(self._path)
            # None: between two versions of it. Not as at the look before: perhaps still being written.
            if found is not None and found == before and found != self._stamp:
                sha256 = await asyncio.to_thread(_digest, self._path)
                if found != self._stamp:  # not read meanwhile
                    if sha256 is not None and sha256 != self._sha256:
                        return
                    self._stamp = found  # touched, or replaced by its like
            before = found

    def _load(self) -> Loaded:
        self._sha256 = _digest(self._path)
        return load(self._path)


def _stamp(path: Path) -> Stamp | None:
    """What changes when the file does (followed through links, as mounted configuration has them)."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(path: Path) -> str | None:
    """Of as much as is ever read of it; None where it cannot be read."""
    try:
        with path.open("rb") as handle:
            return hashlib.sha256(handle.read(yamltext.MAX_BYTES + 1)).hexdigest()
    except OSError:
        return None
