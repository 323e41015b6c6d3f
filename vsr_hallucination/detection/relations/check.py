"""All sentences of an answer against their nearest lines: what turns a relation, in text order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from vsr_hallucination.detection.alignment import is_record
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.attribution import attributed
from vsr_hallucination.detection.relations.certainty import said_at_another_level
from vsr_hallucination.detection.relations.conditions import unconditioned
from vsr_hallucination.detection.relations.deeds import deed_of_another
from vsr_hallucination.detection.relations.exclusive import unbounded
from vsr_hallucination.detection.relations.flags import flag_turned
from vsr_hallucination.detection.relations.language import is_english
from vsr_hallucination.detection.relations.opposed import opposed_word
from vsr_hallucination.detection.relations.reading import Kind, Lines, Turned, read_sentence
from vsr_hallucination.detection.relations.roles import exchanged
from vsr_hallucination.detection.relations.splices import spliced
from vsr_hallucination.detection.relations.unknown_names import named_nowhere
from vsr_hallucination.detection.relations.wording import reworded
from vsr_hallucination.detection.sentence_features import sentence_spans
from vsr_hallucination.detection.text import pieces_of

# How sure a finding is: see "Relation check" in the detector's card.
RELATION_CHECK_CONFIDENCE = 0.85
_MOST_SENTENCES = 400
_QUESTION = 2000  # code points of it that are read
_KINDS: Mapping[Kind, str] = {
    "negation": "Turned into its opposite",
    "modality": "Said with another certainty",
    "comparison": "A comparison turned round",
    "order": "An order turned round",
    "roles": "Who did what to whom, turned round",
    "attribution": "Given to another",
    "condition": "Said without its condition",
    "elsewhere": "Another stands in its place",
    "named": "Named nowhere in the evidence",
}
# A record's field ("crates: 412") has no words to turn: its values are for the value check and the alignment.
_TURNING = (
    reworded, unconditioned, exchanged, attributed, deed_of_another, spliced, unbounded, opposed_word,
    said_at_another_level,
)  # fmt: skip
_ANY = (flag_turned, named_nowhere)  # of records, too


def told_otherwise(turned: Turned) -> str:
    """One line for people."""
    if turned.kind == "named":
        return f"{_KINDS[turned.kind]}: “{turned.said}”"
    told = f"the evidence says “{turned.told}”" if turned.told else "the evidence does not say so"
    near = f": “{' '.join(turned.evidence.text.split())[:120]}” ({turned.evidence.path})"
    return f"{_KINDS[turned.kind]}: the answer says “{turned.said}”, {told}{near}"


def _sentences(answer: str) -> Iterator[tuple[int, int]]:
    """As they are judged elsewhere, but cut piece by piece: no search runs through more of the answer than that."""
    for low, high in pieces_of(answer):
        for start, end in sentence_spans(answer[low:high]):
            yield low + start, low + end


def check_relations(
    answer: str, question: str, index: EvidenceIndex, alive: Callable[[], None] = lambda: None
) -> tuple[Turned, ...]:
    """What ``answer`` turns of the evidence; offsets into ``answer``. Pure; ``alive`` may raise to stop the work."""
    asked = frozenset(index.terms(question[:_QUESTION]))
    evidence = Lines(index)
    found: list[Turned] = []
    for start, end in islice(_sentences(answer), _MOST_SENTENCES):
        alive()
        sentence = read_sentence(evidence, answer[start:end], question, asked)
        if not is_english(sentence):
            continue
        told = any(not is_record(line.text) for line in sentence.lines)
        rules = (*_TURNING, *_ANY) if told else _ANY
        turned = next((one for rule in rules if (one := rule(sentence)) is not None), None)
        if turned is not None:
            found.append(replace(turned, start=start + turned.start, end=start + turned.end))
    return tuple(found)
