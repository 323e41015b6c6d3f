"""What a model's labels mean: read from its own ``id2label``, by name, never by position.

Only where a model has two unnamed labels (``LABEL_0``, ``LABEL_1``) the convention of token detectors and fact-check
classifiers applies: 1 is the positive one. Names nobody knows are an error at load, not a guess at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vsr_hallucination.detection.types import NliLabel

_UNSUPPORTED = {"unsupported", "hallucinated", "hallucination", "label1", "baseless", "conflict", "fabricated"}
_SUPPORTED = {"supported", "nothallucinated", "grounded", "faithful", "label0", "o", "clean", "consistent"}
_NEEDS = {"needsfactcheck", "factcheckneeded", "factcheck", "label1", "needed", "needsgrounding", "factual", "yes"}
_NO_NEED = {
    "nofactcheckneeded", "nofactcheck", "factchecknotneeded", "label0", "notneeded", "nofactchecking", "nonfactual",
    "notfactcheckneeded", "no",
}  # fmt: skip
_NLI = {
    "entailment": NliLabel.ENTAILMENT, "entail": NliLabel.ENTAILMENT, "entailed": NliLabel.ENTAILMENT,
    "neutral": NliLabel.NEUTRAL, "undetermined": NliLabel.NEUTRAL, "notenoughinfo": NliLabel.NEUTRAL,
    "contradiction": NliLabel.CONTRADICTION, "contradict": NliLabel.CONTRADICTION,
    "contradicted": NliLabel.CONTRADICTION, "refutes": NliLabel.CONTRADICTION, "supports": NliLabel.ENTAILMENT,
}  # fmt: skip

Labels = Iterable[tuple[int, str]]


class UnknownLabels(ValueError):
    """The labels of a model do not say what this task needs."""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def supported_ids(labels: Labels) -> tuple[int, ...]:
    """Label numbers of a detector that mean "supported"; everything else is unsupported."""
    known = {number: _plain(name) for number, name in labels}
    good = tuple(number for number, name in known.items() if name in _SUPPORTED)
    bad = [number for number, name in known.items() if name in _UNSUPPORTED]
    if good and len(good) < len(known):
        return good
    if bad and len(bad) < len(known):
        return tuple(number for number in known if number not in bad)
    raise UnknownLabels(f"cannot tell supported from unsupported by the labels {sorted(known.values())}")


def needs_ids(labels: Labels) -> tuple[int, ...]:
    """Label numbers of a fact-check classifier that mean "needs a fact check"."""
    known = {number: _plain(name) for number, name in labels}
    needs = tuple(number for number, name in known.items() if name in _NEEDS)
    if needs and len(needs) < len(known):
        return needs
    no_need = [number for number, name in known.items() if name in _NO_NEED]
    if no_need and len(no_need) < len(known):
        return tuple(number for number in known if number not in no_need)
    raise UnknownLabels(f"no label among {sorted(known.values())} says that a prompt needs a fact check")


def nli_ids(labels: Labels) -> dict[int, NliLabel]:
    """Label numbers of an NLI model. Two-class models (entailment or not) are refused: "not" is no contradiction."""
    found = {number: _NLI[_plain(name)] for number, name in labels if _plain(name) in _NLI}
    if set(found.values()) != set(NliLabel):
        raise UnknownLabels("the labels must name entailment, neutral and contradiction")
    return found
