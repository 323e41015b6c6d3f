"""Whether a sentence reads like English: the relation rules read no other language."""

from __future__ import annotations

from collections.abc import Iterable

from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.reading import Line, Sentence

_FEWEST = 8  # one small word in as many shows a language
# Words that no other language written in Latin letters has among its commonest.
_OWN = (
    frozenset(
        "about and are because been between but can cannot could does doesn't did didn't each every first from has his "
        "isn't it its may might more most must not now of only should since some such than that the their then there "
        "these they this those through until wasn't were what when where which while who whose will with within "
        "without would you your".split()
    )
    | lexicon.OFTEN
    | lexicon.ALWAYS
    | lexicon.CERTAIN
    | opposites.RISES
    | opposites.FALLS
    | lexicon.LEAVING
    | lexicon.MOVING
)
_SHARED = frozenset("a after all as at before by for had have he in is no on or she to was we".split())
_FOREIGN = frozenset(
    "al aan che con da das dans de dei del della den der des det di die du een ein eine el en est et ist het i il la "
    "las le les lo los met mit na niet och os par para pour que sich sie sont sur una und une van voor von w y za zijn "
    "zu".split()
)


def is_english(sentence: Sentence) -> bool:
    """By its small words and those of the lines it is held against: enough of English ones, and more of them than of
    its neighbours'."""
    words = [token.folded for token in sentence.tokens]
    common = sum(word in _OWN or word in _SHARED for word in words)
    foreign = sum(token.folded in _FOREIGN and not token.capital for token in sentence.tokens)
    if common <= foreign or _FEWEST * common < len(words):
        return False
    return any(word in _OWN for word in words) or _any_own(sentence.lines)


def _any_own(lines: Iterable[Line]) -> bool:
    return any(token.folded in _OWN for line in lines for token in line.tokens)
