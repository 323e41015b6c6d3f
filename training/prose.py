"""Generated passages about people, firms and rules, with answers that say the same in other words, or say it wrong.

Every fact has several wordings for the passage and others for the answer, so that a right answer is a paraphrase; and
for each kind of fault a statement that uses (almost) only words of the passage: roles swapped, a comparison, an order
or a negation turned round, a condition dropped, another's statement. What differs is marked. Each wrong statement
comes with the passage of which the same words are true.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from training.prose_families import FAMILIES, KINDS
from training.prose_slots import Slots

__all__ = ["CLOSE", "FAMILIES", "KINDS", "OPEN", "Statement", "fill", "statement"]

# In answers, what stands between « and » is what the fault is.
OPEN, CLOSE = "«", "»"


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact drawn: its sentence in the passage, what a right or a wrong answer says, and the question.

    ``wrong``: (kind of fault, answer with the fault marked); ``made_true``: for each of them, a sentence of a passage
    about which the same answer is right.
    """

    told: str
    said: str
    wrong: tuple[tuple[str, str], ...]
    made_true: tuple[str, ...]
    ask: str

    def right(self, rng: random.Random) -> tuple[str, str]:
        """(sentence of the passage, right answer): the words of a wrong answer as often as others."""
        if rng.random() < 0.5:
            return self.told, self.said
        at = rng.randrange(len(self.wrong))
        return self.made_true[at], unmarked(self.wrong[at][1])


def unmarked(wording: str) -> str:
    """The answer without the marks around its fault."""
    return wording.replace(OPEN, "").replace(CLOSE, "")


def _lowered(text: str) -> str:
    """A slot that begins with an article or a subject, inside a sentence: no capital."""
    for lead in ("The ", "Members", "Employees", "Visitors", "Customers", "Students", "Tenants", "Subscribers",
                 "Residents", "Guests", "Cold ", "Delivery", "Recovery"):  # fmt: skip
        if text.startswith(lead):
            return text[0].lower() + text[1:]
    return text


def fill(pattern: str, slots: Slots) -> str:
    """The pattern with its slots; capital only where the sentence begins."""
    result = pattern
    for name, value in slots.items():
        while (at := result.find("{" + name + "}")) >= 0:
            before = result[:at].rstrip(OPEN + " ")
            begins = not before or before[-1] in ".?!"
            shown = value[0].upper() + value[1:] if begins else _lowered(value) if name.islower() else value
            if not begins and before[-1] in ";:,":
                shown = _lowered(value)
            result = result[:at] + shown + result[at + len(name) + 2 :]
    return result


def statement(rng: random.Random, kind: str = "") -> Statement:
    """One fact; where ``kind`` is given, of a family that knows that fault, with its wrong wordings only."""
    family = rng.choice([f for f in FAMILIES if not kind or any(fault.kind == kind for fault in f.wrong)])
    slots = family.draw(rng)
    faults = [fault for fault in family.wrong if not kind or fault.kind == kind]
    # The question is put with the slots of either passage, so that it does not tell which is the true one.
    asked = rng.choice(faults).exchanged(slots) if rng.random() < 0.5 else slots
    return Statement(
        fill(rng.choice(family.told), slots),
        fill(rng.choice(family.said), slots),
        tuple((fault.kind, fill(fault.wording, slots)) for fault in faults),
        tuple(fill(rng.choice(fault.told or family.told), fault.exchanged(slots)) for fault in faults),
        fill(rng.choice(family.ask), asked),
    )
