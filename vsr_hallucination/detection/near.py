"""What one sentence of an answer is held against where a whole window would drown it: its nearest evidence lines.

The lines that share its rarest words; a sentence of few words gets those of the question too ("In 1998." says nothing
by itself).
"""

from __future__ import annotations

from collections.abc import Sequence

from vsr_hallucination.detection.pointer import EvidenceIndex, Unit

MAX_LINES = 12
_FEW_TERMS = 10
_ASKED = 0.3  # weight of the question's words where the sentence has few


def near_units(index: EvidenceIndex, terms: Sequence[str], asked: Sequence[str]) -> list[Unit]:
    """The lines nearest to a sentence of these ``terms``, best first. ``asked``: the question's terms."""
    if not few(terms):
        return index.nearest(terms, MAX_LINES)
    boosts = dict.fromkeys(asked, _ASKED) | dict.fromkeys(terms, 1.0)
    return index.nearest([*terms, *asked], MAX_LINES, boosts)


def few(terms: Sequence[str]) -> bool:
    """Whether a sentence of these terms needs its question to be understood."""
    return len(terms) < _FEW_TERMS
