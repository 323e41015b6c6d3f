"""Who did what to whom, the other way round."""

from __future__ import annotations

from vsr_hallucination.detection.relations.reading import Sentence, Turned


def exchanged(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    return None
