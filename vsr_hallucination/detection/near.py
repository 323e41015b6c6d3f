"""What one sentence of an answer is held against where a whole window would drown it: its nearest evidence lines.

The lines that share its rarest words; a sentence of few words gets those of the question too ("In 1998." says nothing
by itself).
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from vsr_hallucination.detection.pointer import EvidenceIndex, Unit

MAX_LINES = 12
_FEW_TERMS = 10
_ASKED = 0.3  # weight of the question's words where the sentence has few
_NO_WORDS: frozenset[str] = frozenset()


def near_units(index: EvidenceIndex, terms: Sequence[str], asked: Set[str]) -> tuple[Unit, ...]:
    """The lines nearest to a sentence of these ``terms``, best first. ``asked``: the question's terms.

    The index remembers the answer: several rules ask for the same sentence's lines, and looking up costs most.
    """
    own, also = frozenset(terms), frozenset(asked) if few(terms) else _NO_WORDS
    found = index.remembered.get((own, also))
    if found is None:
        boosts = dict.fromkeys(also, _ASKED) | dict.fromkeys(own, 1.0)
        found = tuple(index.nearest(own | also, MAX_LINES, boosts))
        index.remembered.put((own, also), found)
    return found


def few(terms: Sequence[str]) -> bool:
    """Whether a sentence of these terms needs its question to be understood."""
    return len(terms) < _FEW_TERMS
