"""One row of the detector's training, and the phrases answers are dressed with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

Span = tuple[int, int]

OPENERS = (
    "Based on the given passages, ",
    "According to the passage, ",
    "Based on the provided information, ",
    "According to the context, ",
    "The passages state that ",
    "Sure! ",
    "Based on the passages provided: ",
    "Here is the answer based on the documents: ",
    "In short, ",
    "As described in the text, ",
    "To answer your question: ",
)
CLOSERS = (
    " I hope this helps!",
    " Let me know if you have any other questions.",
    " Overall, this is what the passages say.",
    " Please consult the source for more details.",
    " Is there anything else you would like to know?",
)
REFUSALS = (
    "Unable to answer based on given passages.", "The given passages do not contain this information.",
    "I'm sorry, but the provided text does not mention that.", "The passage does not say {x}.",
    "Based on the provided passages, I cannot determine the answer.",
    "There is not enough information in the context to answer.",
    "I don't know. The documents do not cover this.", "The passages do not provide details on this question.",
    "Hello! How can I help you today?", "You're welcome!",
    "Thanks for your question. Could you tell me more about what you need?",
    "I could not find this in the documents I was given, so I would rather not guess.",
)  # fmt: skip
HEADERS = ("", "", "passage {i}:", "Passage {i}: ", "[{i}] ", "Document {i}:\n", "Source {i}: ", "- ", "({i}) ")


@dataclass(frozen=True, slots=True)
class DetectorRow:
    """``spans``: unsupported parts of the answer; ``ignored``: parts with no trusted label. Code points.

    ``whole``: only the answer as a whole is labelled: its span covers all of it, or there is none.
    """

    context: str
    question: str
    answer: str
    spans: tuple[Span, ...]
    group: str
    ignored: tuple[Span, ...] = ()
    key: str = ""
    whole: bool = False

    def digest(self) -> str:
        """Names the row in a run's list of what it was trained on."""
        return hashlib.sha256(f"{self.context}\x00{self.answer}".encode("utf-8", "replace")).hexdigest()[:16]
