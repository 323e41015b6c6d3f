"""Every rule reads every text, as evidence and as an answer. How long a sentence may take: ``test_check``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vsr_hallucination.detection.relations.attribution import attributed
from vsr_hallucination.detection.relations.conditions import unconditioned
from vsr_hallucination.detection.relations.deeds import deed_of_another
from vsr_hallucination.detection.relations.reading import Sentence, Turned
from vsr_hallucination.detection.relations.roles import exchanged
from vsr_hallucination.detection.relations.wording import reworded

_RULES = {rule.__name__: rule for rule in (reworded, unconditioned, exchanged, attributed, deed_of_another)}
_PLAIN = (
    "The fee covers towels and lockers, but not lessons.",
    "They may stay only if they pay.",
    "Acme bought Tidewater.",
    "Ann Bell argued that the road was badly built, while Carl Dean held that it met every standard.",
    "Anna Weber restarted the gateway. Tom Reed approved the rollback.",
    "The supplier paid the agency.",
    "DHL has 53 letters in the north and 39 in the south.",
)
_TEXTS = (
    "", "\x00", "\ud800 not \udfff is not", "\ud800 if only \x00", "\ud800 bought \x00 by", "\ud800 said \x00 that",
    "a" * 100_000, "9" * 100_000, "not " * 50_000, "if " * 5_000, "before after " * 20_000, "«,;:" * 30_000,
    "than taller than " * 10_000, "if unless if " * 9_000, "I can't " * 9_000, "the " + "never-" * 20_000,
    "1st 2nd first, last, and then " * 5_000, "Acme bought " * 2_000,
    "Anna Weber restarted and " * 4_000, "the agency paid " * 6_000, "Ann said " * 2_000, "only if unless",
    "was by to from", "according to, the view of", "لا يشمل السعر وجبة الإفطار", "不包括早餐", "א אם רק",
    "שלום was bought by", "אמר said that",
)  # fmt: skip


@pytest.mark.parametrize("text", _TEXTS, ids=range(len(_TEXTS)))
@pytest.mark.parametrize("name", _RULES)
def test_any_text_is_read(reading: Callable[..., Sentence], name: str, text: str) -> None:
    rule: Callable[[Sentence], Turned | None] = _RULES[name]
    rule(reading(text, text[:4000]))
    for plain in _PLAIN:
        rule(reading(f"{text} {plain}", text[:4000]))
        rule(reading(plain, text[:4000]))
        found = rule(reading(text, plain))
        assert found is None or 0 <= found.start < found.end <= len(plain)
