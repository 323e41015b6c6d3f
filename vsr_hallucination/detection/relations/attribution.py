"""One party's statement, work or value given to another."""

from __future__ import annotations

from vsr_hallucination.detection.relations.reading import Sentence, Turned


def attributed(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    return None
