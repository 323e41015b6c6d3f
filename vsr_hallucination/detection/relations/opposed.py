"""A word whose opposite the evidence says of the same: "the mayor supported the plan", where she "opposed the plan".

In other words than the line's, so only where what stands before the word, or directly behind it, stands so around the
opposite, and nothing limits either. No stretch of the evidence may say the word itself of the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.parts import stretches, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import Sentence, Text, Token, Turned, content

_JOINTS = lexicon.HALVING | lexicon.CONTRASTS | {"or", "then"}
_LIMITING = (
    lexicon.PARTIAL | lexicon.CLAIMING | lexicon.CONDITIONS | lexicon.EXCEPTIONS | lexicon.TIME_BOUNDS
    | lexicon.POSSIBLE | lexicon.ONCE | lexicon.HALF_DENYING | frozenset("if neither nor than whether would".split())
)  # fmt: skip
_ENDS = frozenset(",;:.!?\n")
_RELATIVE = frozenset("which who".split())  # "the mayor, who opposed the plan": a clause about the word before
_ORDERS = frozenset("closed closes open opens opened".split())
_ANSWERS = frozenset("correct indeed no yes".split())
_LONGEST = 16  # words of a clause


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Words ``first`` to ``last`` of a text, between marks and joints."""

    first: int
    tokens: Sequence[Token]


def opposed_word(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    sentence = sentence.once(trimmed)
    if sentence.text.rstrip()[-1:] == "?":
        return None
    told = [(line, stretch) for line in sentence.whole for stretch in line.once(_stretches)]
    known = frozenset[str]().union(*(line.content for line in sentence.whole))
    for mine in sentence.once(_stretches):
        if len(mine.tokens) > _LONGEST:
            continue
        for at, word in enumerate(mine.tokens):
            against = _against(word)
            if not against or not _plain(mine.tokens, at):
                continue
            before = content(mine.tokens[:at]) - _ANSWERS
            behind = next((t.key for t in mine.tokens[at + 1 :] if t.folded not in FUNCTION_WORDS), None)
            if any(_says(stretch, word, before, behind) for _, stretch in told):
                continue
            for line, stretch in told:
                place = _opposite(stretch, against, before, behind)
                if place is not None and content(mine.tokens) - {word.key} - _ANSWERS <= known:
                    first = mine.first + at
                    return turned_words(sentence, line, "negation", first, first + 1, [stretch.tokens[place]])
    return None


def _against(word: Token) -> frozenset[str]:
    """The words that deny it; converses and degrees deny nothing."""
    found = opposites.opposites_of(word.folded).items()
    alone = word.folded in _ORDERS
    return frozenset(other for other, sort in found if (sort == "negation" or (alone and other in _ORDERS))
                     and other not in FUNCTION_WORDS and other not in opposites.DIRECTED)  # fmt: skip


def _plain(tokens: Sequence[Token], at: int) -> bool:
    """Whether no word but the one at ``at`` denies or limits anything."""
    others = (token.folded for n, token in enumerate(tokens) if n != at)
    return not any(lexicon.negates(word) or word in _LIMITING for word in others)


def _opposite(stretch: _Stretch, against: frozenset[str], before: frozenset[str], behind: str | None) -> int | None:
    """Where a stretch has an opposite, of the same subject and of what stands behind; one of them may be missing."""
    for at, token in enumerate(stretch.tokens):
        if token.folded not in against or not _plain(stretch.tokens, at):
            continue
        follows = next((t.key for t in stretch.tokens[at + 1 :] if t.folded not in FUNCTION_WORDS), None)
        led = content(stretch.tokens[:at])
        same = bool(before) and before <= led
        alike = behind is not None and behind == follows
        if (same and (alike or behind is None or follows is None)) or (not before and alike):
            return at
    return None


def _says(stretch: _Stretch, word: Token, before: frozenset[str], behind: str | None) -> bool:
    """Whether a stretch may say the word itself of the same."""
    keys = {token.key for token in stretch.tokens}
    return word.key in keys and ((bool(before) and before <= keys) or behind in keys or (not before and behind is None))


def _stretches(text: Text) -> tuple[_Stretch, ...]:
    return tuple(
        _Stretch(part.first, text.tokens[part.first : part.last])
        for part in stretches(text, _ENDS, _JOINTS, _RELATIVE)
    )
