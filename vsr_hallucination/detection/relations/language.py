"""Whether a sentence reads like English: the relation rules read no other language."""

from __future__ import annotations

from vsr_hallucination.detection.relations import lexicon, opposites
from vsr_hallucination.detection.relations.reading import Sentence

_FEWEST = 8  # one small word in as many shows a language
_SEVERAL = 2
_BARE = 6  # small words of a sentence that may have none of a language's
_ENDINGS = ("ed", "ing", "s")
# Words that no other language written in Latin letters has among its commonest.
_OWN = (
    frozenset(
        "about and are because been between but can cannot could does doesn't did didn't don't each every first from "
        "has his isn't it its may might more most must not now of only should since some such than that the their then "
        "there these they this those through until wasn't were what when where which while who whose will with within "
        "without would you your get gets got make makes need needs new open own owns use used user users uses".split()
    )
    | lexicon.OFTEN
    | lexicon.ALWAYS
    | lexicon.CERTAIN
    | opposites.RISES
    | opposites.FALLS
    | lexicon.LEAVING
    | lexicon.MOVING
)
_SHARED = frozenset(
    "a after all an as at be before by for had have he her if in into is no on or said she to was we".split()
)
_FOREIGN = frozenset(
    "al aan che con da das dans de dei del della den der des det di die du een ein eine el en est et ist het i il la "
    "las le les lo los met mit na niet och os par para pour que sich sie sont sur una und une van voor von w y za zijn "
    "zu".split()
)


def is_english(sentence: Sentence) -> bool:
    """By its small words and those of the lines it is held against: enough of English ones, more of them than of its
    neighbours', and one that no other language has or several of those it shares. Names and figures say nothing."""
    small = [token.folded for token in sentence.tokens if not token.capital and not token.key[:1].isdecimal()]
    first = [token.folded for token in sentence.tokens[:1] if token.capital]
    common = sum(word in _OWN or word in _SHARED for word in (*first, *small))
    seen = {*first, *small, *(token.folded for line in sentence.lines for token in line.tokens)}
    if 0 < len(small) <= _BARE and seen.isdisjoint(_FOREIGN):  # "Ann Bell hired Carl Dean": names, and a verb
        english = len((_OWN | _SHARED) & seen) + any(word.endswith(_ENDINGS) for word in small)
        return english > 0 if common else english >= _SEVERAL or any(word.endswith("ed") for word in small)
    if common <= sum(word in _FOREIGN for word in small) or _FEWEST * common < len(small):
        return False
    return not _OWN.isdisjoint(seen) or len(_SHARED & seen) >= _SEVERAL
