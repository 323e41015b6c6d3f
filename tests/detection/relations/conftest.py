"""What a rule makes of one sentence over a little evidence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.reading import Lines, Sentence, read_sentence
from vsr_hallucination.detection.types import Grounding, Passage


@pytest.fixture
def reading() -> Callable[..., Sentence]:
    """reading(evidence, sentence, question="")"""

    def read(evidence: str, sentence: str, question: str = "") -> Sentence:
        index = EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))
        return read_sentence(Lines(index), sentence, question, frozenset(index.terms(question)))

    return read
