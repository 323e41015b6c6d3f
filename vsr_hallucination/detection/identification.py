"""Which language a text is written in, as far as it takes to know that a model was never trained on it.

Told by py3langid: naive Bayes over byte n-grams (Lui and Baldwin, ACL 2012), 140 languages, in its wheel, offline.
Such a judge errs on names, code and quotations, and a refused answer goes unchecked; so it is asked about running words
only (written small: no names, figures, quotations, code or addresses), of which a text must have a sentence's worth,
and it must be all but sure that the language is none of the model's.

Time is bounded: of a long text as many pieces are read as fit ``_PIECES``, evenly spread over it.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# What is told apart. The judge knows rarer ones too (pidgins, creoles, Latin), which it sees in odd English.
TOLD_APART = frozenset(
    "af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka kk ko lt lv mk ms "
    "mt ne nl nn no pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh".split()
)
_SPELLED = {"nb": "no", "fil": "tl", "iw": "he", "in": "id", "cmn": "zh"}  # other codes of some of these

SURE = 0.95  # probability that the language is none of the model's
SENTENCE_WORDS = 4  # different running words that a text with an end of a sentence must have to be judged
LOOSE_WORDS = 8  # likewise of a text without one: a title, a list, a table
MOST = 0.5  # share of the words, running or not
_PIECE = 600  # code points judged together: two or three sentences
_PIECES = 48  # of one text

_NOT_PROSE = regex.compile(
    r"""```.*?(?:```|$)|`[^`\n]*`
    |"[^"\n]{1,200}"|“[^”\n]{1,200}”|„[^“”\n]{1,200}[“”]|«[^»\n]{1,200}»|‹[^›\n]{1,200}›
    |https?://\S+|\S*[@\\/_=<>{}\[\]|]\S*""",
    regex.DOTALL | regex.VERBOSE,
)
_END_OF_SENTENCE = regex.compile(r"\p{L}[)\]»”\"'’]*[.!?…](?=\s|$)|[。！？]")


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages of one model (ISO 639-1), and a judge that knows them. Safe to share between threads."""

    codes: frozenset[str]
    _words: regex.Pattern[str]

    @classmethod
    def of(cls, languages: Sequence[str], scripts: Sequence[str] = ()) -> Languages | None:
        """For the languages and scripts of a model directory; None where nothing can be said: it names no language, or
        one that is not told apart. Loads the judge (half a second, once a process); raises OSError where there is
        nowhere to unpack it."""
        codes = frozenset(_SPELLED.get(code, code) for code in (name.lower().split("-")[0] for name in languages))
        if not codes or not codes <= TOLD_APART:
            return None
        _judge()
        return cls(codes, _running_words(tuple(scripts)))

    def foreign(self, texts: Sequence[str], alive: Callable[[], None] = lambda: None) -> bool:
        """True where most of ``texts``, all together, is surely in none of the languages."""
        own = other = 0
        for piece in _pieces(texts):
            alive()
            words, told = self._judged(piece)
            own, other = (own, other + words) if told else (own + words, other)
        return other > MOST * (own + other)

    def _judged(self, piece: str) -> tuple[int, bool]:
        """How many words of prose a piece has, and whether they are surely of another language."""
        prose = _NOT_PROSE.sub(" ", piece)
        if not any(map(str.islower, prose)):
            prose = prose.lower()
        words = self._words.findall(prose)
        least = SENTENCE_WORDS if _END_OF_SENTENCE.search(prose) else LOOSE_WORDS
        size = prose.count(" ") + 1
        if len(set(words)) < least:
            return size, False
        found = {code: chance for code, chance in _judge().rank(" ".join(words)) if code in TOLD_APART}
        total = sum(found.values())
        # Over fewer languages a softmax is the same shares of a smaller sum.
        return size, total > 0 and sum(found[code] for code in self.codes) <= (1 - SURE) * total


@functools.lru_cache(maxsize=1)
def _judge() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@functools.lru_cache(maxsize=64)
def _running_words(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    """Words written small, in these scripts: letters of others are ``language``'s matter. "l'été" is one word."""
    named = "".join(rf"\p{{Script={script}}}" for script in scripts) or r"\p{L}"
    small = rf"[[\p{{Ll}}\p{{Lo}}]&&[{named}]]"
    return regex.compile(
        rf"(?<![\p{{L}}\p{{N}}'’.\-]){small}[{small}\p{{M}}]*(?:['’\-]\p{{L}}+)*(?![\p{{L}}\p{{N}}])", regex.V1
    )


def _pieces(texts: Sequence[str]) -> Iterator[str]:
    """``texts``, one after the other, in equal pieces; where they are too many, an even sample of them."""
    ends = list(accumulate(map(len, texts)))
    total = ends[-1] if ends else 0
    count = min(_PIECES, -(-total // _PIECE))
    for n in range(count):
        yield _slice(texts, ends, n * total // count, min(_PIECE, -(-total // count)))


def _slice(texts: Sequence[str], ends: Sequence[int], at: int, size: int) -> str:
    n = bisect_right(ends, at)
    parts: list[str] = []
    while size > 0 and n < len(texts):
        start = at - (ends[n] - len(texts[n]))
        parts.append(texts[n][start : start + size])
        at, size, n = at + len(parts[-1]), size - len(parts[-1]), n + 1
    return "\n".join(parts)
