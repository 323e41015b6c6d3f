"""A condition dropped."""

from __future__ import annotations

from vsr_hallucination.detection.relations.reading import Sentence, Turned


def unconditioned(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    return None
