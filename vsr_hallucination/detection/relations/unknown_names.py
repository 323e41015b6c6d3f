"""A name that neither evidence nor question has: "the telescope stands in Hawaii".

Spared is what a careful answer may add of its own: nations and languages, a fuller form of a known name, what letters
of the evidence stand for ("LIS"), headings, and what system or user messages name (``Grounding.heard``). A country
counts only where the evidence names another, a continent never.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.parts import is_name, trimmed
from vsr_hallucination.detection.relations.reading import (
    Lines,
    Sentence,
    Text,
    Token,
    Turned,
    bare,
    content,
    gap,
    turned,
)
from vsr_hallucination.detection.sentence_features import refuses

_SHORTEST = 3
_MOST = 10_000  # abbreviations that are known
_CAPITALS = re.compile(r"[^\W\d_a-z]{2,12}")
_STEM = 4  # letters that show two words to be one ("Denmark", "Denmark's"; "German", "Germany")
_HEADING = 0.5  # share of words with a capital
_PEOPLES = ("ans", "can", "ean", "ese", "ian", "ish")
_TEACHINGS = ("ic", "ism", "ist", "ists", "man", "men")
_WIDE = frozenset("africa america americas antarctica arctic asia atlantic europe internet latin pacific".split())
_SEASONS = frozenset("autumn century christmas dutch easter fall french spring summer swiss welsh winter".split())
_COURTESY = frozenset("dear feel happy hello here hope let please regards sure thank thanks welcome".split())
_KINDS = lexicon.TITLES | lexicon.DATES | _SEASONS | _WIDE
_WORLD = frozenset(
    "algeria argentina australia austria bangladesh belgium brazil britain "
    "bulgaria canada chile china colombia croatia cuba cyprus denmark ecuador egypt england ethiopia finland "
    "france germany ghana greece hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan "
    "kenya korea kuwait lebanon libya malaysia mexico morocco nepal netherlands nigeria norway pakistan peru "
    "philippines poland portugal qatar romania russia scotland serbia singapore slovakia slovenia somalia spain sudan "
    "sweden switzerland syria taiwan tanzania thailand tunisia turkey uganda uk ukraine usa venezuela vietnam wales "
    "yemen zimbabwe".split()
)


def named_nowhere(sentence: Sentence) -> Turned | None:
    """The first such name of a sentence, or None."""
    sentence = sentence.once(trimmed)
    tokens = sentence.tokens
    if not sentence.lines or sum(token.capital for token in tokens) > _HEADING * len(tokens) or refuses(sentence.text):
        return None
    asked = Text.of(sentence.index, sentence.question)
    for first, last in _runs(sentence):
        name, rest = tokens[first:last], (*tokens[:first], *tokens[last:])
        known = [key for key in content(rest) if sentence.index.knows(key) or key in asked.content]
        if (known or tokens[0].folded in lexicon.PRONOUNS) and _invented(sentence, name, asked):
            return turned(sentence, sentence.lines[0], "named", name[0].start, name[-1].end, "")
    return None


def _runs(sentence: Sentence) -> Sequence[tuple[int, int]]:
    """Names within the sentence: capitalised words in a row, after a word in small letters."""
    text, tokens = sentence.text, sentence.tokens
    found = []
    at = 1
    while at < len(tokens):
        last = at
        while last < len(tokens) and is_name(tokens[last]) and (last == at or gap(text, tokens, last) == " "):
            last += 1
        if last > at and not tokens[at - 1].capital and gap(text, tokens, at) == " ":
            found.append((at, last))
        at = max(last, at + 1)
    return found


def _invented(sentence: Sentence, name: Sequence[Token], asked: Text) -> bool:
    index, evidence = sentence.index, sentence.evidence
    folded = [token.folded.removesuffix("'s") for token in name]
    written = [sentence.text[token.start : token.end] for token in name]
    if any(len(word) < _SHORTEST or not word.isalpha() or not {word, word.removesuffix("s")}.isdisjoint(_KINDS)
           for word in folded):  # fmt: skip
        return False
    if any(word.isupper() for word in written) or folded[-1].endswith(_PEOPLES) or folded[-1] in _COURTESY:
        return False
    if len(name) == 1 and folded[0].endswith(_TEACHINGS):
        return False
    if any(index.knows(token.key) or token.key in asked.keys for token in name):
        return False
    if not index.grounding.heard.isdisjoint(folded):
        return False
    if any(evidence.begins(bare(word)[:_STEM]) for word in folded):
        return False
    if any(word[:_STEM] == other.folded[:_STEM] for word in folded for other in asked.tokens):
        return False
    initials = "".join(word[0].upper() for word in folded)
    if len(name) > 1 and initials in evidence.once(_abbreviations):
        return False
    if _WORLD.isdisjoint(folded):
        return not any(_stands_for(code, folded[0]) for code in evidence.codes(folded[0][:1]))
    return evidence.once(_names_a_country)


def _abbreviations(evidence: Lines) -> str:
    """The evidence's words in capitals, each once: searched for each name, where all of the evidence takes too long."""
    found: set[str] = set()
    for unit in evidence.index.units:
        if len(found) >= _MOST:
            break
        found.update(word for word in _CAPITALS.findall(evidence.index.text(unit)) if word.isupper())
    return " ".join(sorted(found))


def _names_a_country(evidence: Lines) -> bool:
    index = evidence.index
    return any(index.knows(index.key(place.capitalize())) for place in _WORLD)


def _stands_for(code: str, name: str) -> bool:
    """Whether the letters of ``code`` stand in ``name`` in their order."""
    letters = iter(name)
    return all(letter in letters for letter in code)
