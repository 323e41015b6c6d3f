"""From the configuration to a store and its writer."""

from __future__ import annotations

from vsr_hallucination.config.schema import ReplaySettings
from vsr_hallucination.replay.memory import MemoryStore
from vsr_hallucination.replay.store import Store
from vsr_hallucination.replay.writer import Hooks, ReplayWriter, WriterSettings


def open_store(settings: ReplaySettings) -> Store:
    """The store that ``settings.url`` names; ``StoreConfigError`` if it names none we know. Connects to nothing yet."""
    if settings.url is None:
        return MemoryStore(settings.max_records)
    from vsr_hallucination.replay.sql import SqlStore  # SQLAlchemy only where it is used

    return SqlStore(settings.url)


def open_writer(settings: ReplaySettings, hooks: Hooks | None = None) -> ReplayWriter:
    """A writer over that store; call ``start`` on the running loop, ``aclose`` before it ends."""
    bounds = WriterSettings(
        queue=settings.queue,
        batch=max(1, min(500, settings.queue)),
        max_records=settings.max_records,
        max_age=settings.max_age,
    )
    return ReplayWriter(open_store(settings), bounds, hooks)
