"""The line to beat: a counter of words that stand in neither evidence nor question. No weights.

Read are words of three letters or more and numbers, folded (``fold``) and without regard to case; scripts written
without spaces are read as overlapping pairs of characters. English function words are never new. ``count`` is the
number of new words, each occurrence counted; ``share`` is ``count`` over all words read. The unsupported score is
``count / (count + 3.5)``: it rises with the count and reaches the default threshold of 0.8 at 14 words, about the 95th
percentile of supported answers of several sentences in the training sets (SummEdits, HaluEval summaries, ExpertQA).

Every span carries the answer's score as its confidence: the counter judges answers, not words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from vsr_hallucination.detection.checker import Found, Prepared, Work
from vsr_hallucination.detection.deadline import Deadline
from vsr_hallucination.detection.fold import folded_chunks
from vsr_hallucination.detection.spans import Marked, SpanLimits, sift
from vsr_hallucination.detection.text import UNSPACED, count_words, tidy_span
from vsr_hallucination.detection.types import Coverage, DetectorIdentity

HALF = 3.5  # new words at which the score is one half
BRIDGE = 2  # words that may stand between two new words of one span

# The closed classes of English: pronouns, articles, prepositions, conjunctions, auxiliaries, degree words.
STOP_WORDS = frozenset(
    """
    about above across after again against all almost along already also always among and another any anyone anything
    are around because been before being below between both but can cannot could did does doing don down during each
    either else ever every everyone everything few for from further had has have having hence her here hers herself him
    himself his how however into its itself just many may might more most much must myself neither never nor not now off
    often once only other others our ours ourselves out over own per perhaps quite rather same several shall she should
    since some someone something still such than that the their theirs them themselves then there therefore these they
    this those though through thus too toward towards under unless until upon very via was were what when where whether
    which while who whom whose why will with within without would yet you your yours yourself yourselves although
    """.split()
)
_LETTER = rf"[^\W\d_{UNSPACED}]"
_TOKEN = re.compile(rf"{_LETTER}(?:'?{_LETTER}){{2,}}|\d+(?:[.,]\d+)*|[{UNSPACED}]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SENTENCE_END = re.compile(r"[.!?…](?:\s|$)|[\n。！？]")


@dataclass(frozen=True, slots=True)
class Novelty:
    """What the counter read in one answer. ``places``: code points of each new word, half-open, in text order."""

    places: tuple[tuple[int, int], ...]
    words: int

    @property
    def count(self) -> int:
        return len(self.places)

    @property
    def share(self) -> float:
        """New words over words read, 0..1; 0 for an answer without words."""
        return self.count / self.words if self.words else 0.0

    @property
    def score(self) -> float:
        """The unsupported score, 0..1."""
        return self.count / (self.count + HALF)


def novelty(answer: str, question: str, evidence: Iterable[str], alive: Callable[[], None] = lambda: None) -> Novelty:
    """Counts the words of ``answer`` that neither ``question`` nor ``evidence`` holds.

    Linear in all texts. ``alive`` is called now and then and may raise to stop the work.
    """
    known = set(STOP_WORDS)
    for text in (question, *evidence):
        known.update(word for word, _, _ in _words(text, alive))
    places: list[tuple[int, int]] = []
    read = 0
    for word, start, end in _words(answer, alive):
        read += 1
        if word not in known:
            places.append((start, end))
    return Novelty(tuple(places), read)


def _words(text: str, alive: Callable[[], None]) -> Iterator[tuple[str, int, int]]:
    for folded in folded_chunks(text):
        alive()
        for match in _TOKEN.finditer(folded.text):
            word = match.group()
            if not _UNSPACED.match(word):
                yield (word.casefold(), *folded.at(*match.span()))
            elif len(word) == 1:
                yield (word, *folded.at(*match.span()))
            else:
                for at in range(match.start(), match.end() - 1):
                    yield (folded.text[at : at + 2], *folded.at(at, at + 2))


def stretches(answer: str, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """New words joined to spans: over at most two other words between them, never over a sentence's end."""
    out: list[tuple[int, int]] = []
    for place in places:
        tidied = tidy_span(answer, *place)
        if tidied is None:
            continue
        start, end = tidied
        if out and _joined(answer, out[-1][1], start):
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _joined(answer: str, end: int, start: int) -> bool:
    if start <= end:
        return True
    gap = answer[end:start]
    return len(gap) < 64 and not _SENTENCE_END.search(gap) and count_words(gap) <= BRIDGE


class Lexical:
    """The Backend (``checker.Backend``) over ``novelty``. It reads every answer whole, in any script."""

    def __init__(self, identity: DetectorIdentity, limits: SpanLimits) -> None:
        self._identity = identity
        self._limits = limits

    @property
    def identity(self) -> DetectorIdentity:
        return self._identity

    @property
    def limits(self) -> SpanLimits:
        return self._limits

    async def detect(self, work: Work) -> Found:
        """Raises DetectionError(TIMEOUT) when the deadline passes first."""
        marked = await work.in_thread(lambda: self._mark(work.prepared, work.deadline))
        return Found(marked, Coverage(1.0, 1.0))

    def _mark(self, prepared: Prepared, deadline: Deadline) -> Marked:
        passages = (passage.text for passage in prepared.index.grounding.passages)
        found = novelty(prepared.answer, prepared.question, passages, deadline.check)
        marked = [(start, end, found.score) for start, end in stretches(prepared.answer, found.places)]
        return replace(sift(prepared.answer, marked, self._limits, "lexical"), unsupported_score=found.score)

    async def probe(self, deadline: Deadline) -> None:
        """Always answers."""
        self._mark(Prepared.small(), deadline)

    async def aclose(self) -> None:
        """Nothing to close."""
