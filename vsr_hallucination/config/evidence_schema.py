"""The settings that say what counts as evidence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroundingSettings:
    """``filter.grounding``: evidence beyond tool results and documents, all of it off by default, and its limit.

    ``tags``: sections of prompt text between these tags, in messages of ``tag_sources`` (``system``, ``user``).
    ``fields``: paths of request fields, as their steps. ``header`` (lower-case) and ``metadata``: a request header and
    a key of the ext_proc call's metadata that carry evidence; whoever can set them is trusted.
    """

    max_passages: int = 2048
    tags: tuple[str, ...] = ()
    tag_sources: tuple[str, ...] = ("system",)
    message_names: tuple[str, ...] = ()
    fields: tuple[tuple[str | int, ...], ...] = ()
    header: str | None = None
    metadata: str | None = None
