"""Evidence from files, read by the same rules as a tool's result in a request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.detection.types import Grounding, UnreadEvidence


def grounding_of(files: Iterable[tuple[str, str]]) -> Grounding:
    """One passage a file with something in it; pointers into it name the file where a request's name a JSON path."""
    grounding = Grounding()
    for name, text in files:
        builder = EvidenceBuilder()
        builder.text(text, (), role="document", source_id=None, trust="document")
        found = builder.grounding()
        grounding = Grounding(
            (*grounding.passages, *(replace(passage, path=name) for passage in found.passages)),
            (*grounding.unread, *(UnreadEvidence(name, each.kind) for each in found.unread)),
        )
    return grounding
