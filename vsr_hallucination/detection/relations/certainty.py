"""How sure or how binding a thing is, said at another level: possible for what is impossible, a duty for what is free.

Levels by words and phrases of English, each read only where a text has markers of one level alone. The sentence must
name nothing that the line does not, and no other line may say it at the sentence's own level.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.parts import held, trimmed, turned_words
from vsr_hallucination.detection.relations.reading import Line, Sentence, Text, Turned, content

_HELD = 0.95  # share of what the sentence names that a line names
_FEWEST = 2  # content words of it
_PHRASES: Mapping[tuple[str, ...], str] = MappingProxyType({tuple(words.split()): level for words, level in {
    "impossible": "not", "in no case": "not", "no way": "not", "under no circumstances": "not", "never": "not",
    "by no means": "not", "not possible": "not", "no chance": "not",
    "a chance": "maybe", "possible": "maybe", "possibly": "maybe", "perhaps": "maybe", "maybe": "maybe",
    "might": "maybe", "could": "maybe", "may or may not": "maybe", "in some cases": "maybe", "sometimes": "maybe",
    "not always": "maybe", "not in every case": "maybe", "now and then": "maybe",
    "always": "sure", "without exception": "sure", "without any exception": "sure", "in every case": "sure",
    "in all cases": "sure", "no exception": "sure", "certainly": "sure", "definitely": "sure", "no doubt": "sure",
    "beyond doubt": "sure", "bound to": "sure", "each time": "sure", "every time": "sure",
    "must": "duty", "have to": "duty", "has to": "duty", "required": "duty", "mandatory": "duty", "obliged": "duty",
    "up to": "free", "free to": "free", "optional": "free", "nobody has to": "free", "if they like": "free",
    "need not": "free", "not have to": "free", "not required": "free", "no need": "free", "voluntary": "free",
}.items()})  # fmt: skip
_LONGEST = max(map(len, _PHRASES))
_OPENINGS = frozenset(words[0] for words in _PHRASES)
# What a sentence may not say of what a line says.
_AGAINST: Mapping[str, frozenset[str]] = MappingProxyType(
    {"not": frozenset({"maybe", "sure"}), "maybe": frozenset({"not"}), "sure": frozenset({"not"}),
     "free": frozenset({"duty"})}
)  # fmt: skip
_STOPPED = lexicon.CONDITIONS | lexicon.EXCEPTIONS | lexicon.CLAIMING | lexicon.TIME_BOUNDS | {"than", "whether"}


def said_at_another_level(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None."""
    sentence = sentence.once(trimmed)
    mine = sentence.once(_levels)
    if len(mine) != 1 or sentence.text.rstrip()[-1:] == "?" or _bounded(sentence):
        return None
    level, (first, last) = next(iter(mine.items()))
    names = content((*sentence.tokens[:first], *sentence.tokens[last:]))
    if _denies(sentence, first, last) or len(names) < _FEWEST:
        return None
    near = [line for line in sentence.whole if held(sentence.evidence, names, line.content) >= _HELD]
    if any(level in line.once(_levels) for line in near):
        return None
    for line in near:
        told = line.once(_levels)
        if len(told) == 1 and level in _AGAINST.get(next(iter(told)), frozenset()) and not _bounded(line):
            at = next(iter(told.values()))
            if not _denies(line, *at):
                return turned_words(sentence, line, "modality", first, last, line.tokens[at[0] : at[1]])
    return None


def _denies(text: Text, first: int, last: int) -> bool:
    """Whether anything but the marker [first, last) denies."""
    return any(lexicon.negates(token.folded) for n, token in enumerate(text.tokens) if not first <= n < last)


def _bounded(text: Sentence | Line) -> bool:
    return any(token.folded in _STOPPED and not _marks(text, n) for n, token in enumerate(text.tokens))


def _marks(text: Text, at: int) -> bool:
    """Whether a word is part of a marker ("if they like")."""
    return any(first <= at < last for first, last in text.once(_levels).values())


def _levels(text: Text) -> dict[str, tuple[int, int]]:
    """The levels that a text's markers name, each with the words of its first."""
    found: dict[str, tuple[int, int]] = {}
    at = 0
    folded = [token.folded for token in text.tokens]
    while at < len(folded):
        sizes = range(min(_LONGEST, len(folded) - at), 0, -1) if folded[at] in _OPENINGS else ()
        size = next((size for size in sizes if tuple(folded[at : at + size]) in _PHRASES), 0)
        if size:
            found.setdefault(_PHRASES[tuple(folded[at : at + size])], (at, at + size))
        at += max(size, 1)
    return found
