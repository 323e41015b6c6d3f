"""Whether a model can read a text at all: an answer its detector cannot read must never come out clean.

A model that names its ``languages`` is held to them (``identification``): what is surely in another one it cannot read.
A detector that names its ``scripts`` (Unicode script names, ``vsr.json``) is held to them: letters of other scripts
count, digits, marks and punctuation do not, so figures and Latin names in a Chinese answer do not hide it. One that
names none is asked through its tokenizer: the share of tokens it has no entry for. The same goes for the evidence.

What a model marks in a text it cannot read is noise: its spans become candidates (``unsupported_language``), the check
fails with that reason, and only the value check, which reads figures in every script, can still find something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import regex

from vsr_hallucination.detection.identification import Languages

MAX_FOREIGN = 0.3  # share of letters outside the detector's scripts
MAX_FOREIGN_EVIDENCE = 0.6  # likewise of the evidence, of which an answer may need just the readable part
MAX_UNKNOWN = 0.3  # share of unknown tokens
_PIECE = 65_536  # characters counted in one go: short enough to stop at a deadline
# One CJK character says about as much as a word of four letters: so it weighs, or names would outweigh a sentence.
_IDEOGRAPH_WEIGHT = 4
_IDEOGRAPH = r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]"
_LATIN = regex.compile("[A-Za-z]+")


def foreign_share(text: str, scripts: Sequence[str], alive: Callable[[], None] = lambda: None) -> float:
    """Share of letters outside ``scripts``, 0..1; 0 for a text without letters or a detector that names no script.

    A long text is counted in equal pieces and the most foreign one is what counts, so that a readable beginning hides
    nothing. Full-width Latin is Latin. Raises ValueError for a script Unicode does not know.
    """
    if not scripts or text.isascii():
        return 0.0
    counter = _Counter(scripts)
    size = -(-len(text) // -(-len(text) // _PIECE))
    worst = 0.0
    for at in range(0, len(text), size):
        alive()
        inside, outside = counter.count(text[at : at + size])
        worst = max(worst, outside / (inside + outside) if outside else 0.0)
    return worst


class _Counter:
    """Counts weighted letters inside and outside some scripts."""

    def __init__(self, scripts: Sequence[str]) -> None:
        named = "".join(rf"\p{{Script={script}}}" for script in scripts)
        try:
            self._own = regex.compile(rf"[\p{{L}}&&[{named}]]+", regex.V1)
            self._other = regex.compile(rf"[\p{{L}}--[{named}]]+", regex.V1)
            self._heavy = regex.compile(rf"[\p{{L}}&&{_IDEOGRAPH}--[{named}]]+", regex.V1)
        except regex.error as error:
            raise ValueError(f"unknown script among {', '.join(scripts)}") from error
        self._latin = "Latin" in scripts

    def count(self, text: str) -> tuple[int, int]:
        if text.isascii():
            letters = _total(_LATIN, text)
            return (letters, 0) if self._latin else (0, letters)
        return _total(self._own, text), _total(self._other, text) + (_IDEOGRAPH_WEIGHT - 1) * _total(self._heavy, text)


def _total(pattern: regex.Pattern[str], text: str) -> int:
    return sum(map(len, pattern.findall(text)))


def unknown_share(ids: Sequence[int], unknown_id: int | None) -> float:
    """Share of unknown tokens, 0..1; 0 for byte-level tokenizers, which know everything."""
    if unknown_id is None or not ids:
        return 0.0
    return sum(1 for token in ids if token == unknown_id) / len(ids)


def evidence_unreadable(
    passages: Sequence[str], scripts: Sequence[str], alive: Callable[[], None] = lambda: None
) -> bool:
    """True where most of the evidence, all passages together, is in scripts the detector does not name."""
    if not scripts or all(passage.isascii() for passage in passages):
        return False
    counter = _Counter(scripts)
    inside = outside = 0
    for passage in passages:
        for at in range(0, len(passage), _PIECE):
            alive()
            own, other = counter.count(passage[at : at + _PIECE])
            inside, outside = inside + own, outside + other
    return outside > MAX_FOREIGN_EVIDENCE * (inside + outside)


def unreadable(
    text: str,
    ids: Sequence[int],
    scripts: Sequence[str],
    unknown_id: int | None,
    alive: Callable[[], None] = lambda: None,
) -> bool:
    """True where the detector cannot read ``text``."""
    if scripts:
        return foreign_share(text, scripts, alive) > MAX_FOREIGN
    return unknown_share(ids, unknown_id) > MAX_UNKNOWN


@dataclass(frozen=True, slots=True)
class Reader:
    """What a model can read. No ``scripts`` and no ``languages``: its tokenizer's unknown tokens are all that tells."""

    scripts: tuple[str, ...] = ()
    languages: Languages | None = None
    unknown_id: int | None = None

    @classmethod
    def of(cls, scripts: Sequence[str], languages: Sequence[str], unknown_id: int | None = None) -> Reader:
        """For what ``vsr.json`` names. Raises OSError as ``Languages.of``, ValueError for an unknown script."""
        return cls(tuple(scripts), Languages.of(languages, scripts), unknown_id)

    def reads(self, text: str, ids: Sequence[int], alive: Callable[[], None] = lambda: None) -> bool:
        """False for an answer, prompt or hypothesis that the model cannot read; ``ids``: its tokens."""
        if unreadable(text, ids, self.scripts, self.unknown_id, alive):
            return False
        return self.languages is None or not self.languages.foreign((text,), alive)

    def reads_evidence(self, passages: Sequence[str], alive: Callable[[], None] = lambda: None) -> bool:
        """False where the model cannot read most of the evidence, all passages together."""
        if evidence_unreadable(passages, self.scripts, alive):
            return False
        return self.languages is None or not self.languages.foreign(passages, alive)
