"""A word put in the place of its opposite."""

from __future__ import annotations

from vsr_hallucination.detection.relations.reading import Sentence, Turned


def reworded(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    return None
