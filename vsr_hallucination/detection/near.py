"""What one sentence of an answer is held against where a whole window would drown it: its nearest evidence lines.

The lines that share its rarest words, in text order, after the beginning of the passage that holds the best of them (a
table's header, a record's name). A sentence of few words gets the question too: "In 1998." says nothing by itself.
Training makes its premises with the same function, so that the model reads at run time what it has learnt to read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit

MAX_LINES = 12
MAX_CHARS = 420  # of all lines together, about a hundred tokens
_OPENING = 120
_QUESTION = 160
_FEW_TERMS = 10
# One token each in the vocabularies of BERT; of no meaning that evidence in English would rely on.
_SIGNS = "αβγδεζηθ"
_NAME = re.compile(r"[A-Z][\w’'\-]+(?: (?:(?:of|de|von|van|the|&) )?[A-Z][\w’'\-]+)*")
_ASKED = 0.3  # weight of the question's words where the sentence has few


def near_units(index: EvidenceIndex, terms: Sequence[str], asked: Sequence[str]) -> list[Unit]:
    """The lines nearest to a sentence of these ``terms``, best first. ``asked``: the question's terms."""
    if len(terms) >= _FEW_TERMS:
        return index.nearest(terms, MAX_LINES)
    boosts = dict.fromkeys(asked, _ASKED) | dict.fromkeys(terms, 1.0)
    return index.nearest([*terms, *asked], MAX_LINES, boosts)


def premise_of(index: EvidenceIndex, units: Sequence[Unit], question: str, few_terms: bool) -> str:
    """The text of ``units`` (best first) within ``MAX_CHARS``, in text order; "" where there are none."""
    if not units:
        return ""
    best = units[0]
    chosen: list[Unit] = []
    left = MAX_CHARS
    for unit in units:
        size = unit.end - unit.start
        if size <= left:
            chosen.append(unit)
            left -= size
    chosen.sort(key=lambda unit: (unit.passage, unit.start))
    parts = [" ".join(question[:_QUESTION].split())] if few_terms and question.strip() else []
    if all(unit.passage != best.passage or unit.start > 0 for unit in chosen):
        opening = index.grounding.passages[best.passage].text[:_OPENING]
        parts.append(opening.split("\n", 1)[0])
    parts += [index.text(unit).strip() for unit in chosen]
    return "; ".join(part for part in parts if part)


def few(terms: Sequence[str]) -> bool:
    """Whether a sentence of these terms needs its question to be understood."""
    return len(terms) < _FEW_TERMS


def veiled(premise: str, sentence: str) -> tuple[str, str]:
    """Both texts with the names they share replaced by signs, in the sentence's order.

    Who is meant is settled by the evidence and not by what a model knows of a name; and who did what to whom is easier
    to compare where every name is one token."""
    signs = [sign for sign in _SIGNS if sign not in premise and sign not in sentence]
    known: dict[str, str] = {}
    for match in _NAME.finditer(sentence):
        name = match.group()
        if name not in known and len(known) < len(signs) and _is_name(name, premise):
            known[name] = signs[len(known)]
    for name in sorted(known, key=len, reverse=True):
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        premise, sentence = pattern.sub(known[name], premise), pattern.sub(known[name], sentence)
    lasts = Counter(name.rsplit(" ", 1)[-1] for name in known if " " in name)
    for name, sign in known.items():
        last = name.rsplit(" ", 1)[-1]
        if last != name and lasts[last] == 1:
            # Behind another name it is the end of a third one.
            pattern = re.compile(rf"([A-Z][\w’'\-]* )?(?<!\w){re.escape(last)}(?!\w)")
            premise = pattern.sub(lambda found, sign=sign: found.group() if found.group(1) else sign, premise)  # type: ignore[misc]
    return premise, sentence


def _is_name(name: str, premise: str) -> bool:
    """Whether the premise has it too, and never as a plain word."""
    if name not in premise or (" " not in name and name.casefold() in FUNCTION_WORDS):
        return False
    return re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", premise) is None
