"""A field that is true or false, said the other way round: "the account is blocked", where the record has
``blocked: false``."""

from __future__ import annotations

import re

from vsr_hallucination.detection.pointer import Unit
from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.parts import trimmed, turned_words
from vsr_hallucination.detection.relations.reading import Lines, Sentence, Token, Turned

_FIELD = re.compile(
    r"\s*[\"']?(?:[\w-]+(?:\[\d+\])?\.)*([A-Za-z][\w-]{0,60})[\"']?\s*[:=]\s*(true|false|yes|no)\s*,?\s*", re.IGNORECASE
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SAID_OF_IT = lexicon.BE | frozenset("has have had".split())
_OPENING = frozenset("are can has have is was were".split())
_MOST = 4000  # lines of evidence that are looked through for fields
_LONGEST = 120  # characters of such a line
_ALIKE = 32  # fields whose names end in one word
_NEAR = 4  # words from "is" to the word of the field
_Field = tuple[Unit, tuple[str, ...], bool]  # line, words of its name, whether it is
_OPEN = lexicon.CONDITIONS | lexicon.EXCEPTIONS | lexicon.POSSIBLE | lexicon.TIME_BOUNDS | {"whether", "was", "were"}


def flag_turned(sentence: Sentence) -> Turned | None:
    """The first such fault of a sentence, or None. Where records differ in a field, it says nothing."""
    sentence = sentence.once(trimmed)
    folded = {token.folded for token in sentence.tokens}
    denials = sum(lexicon.negates(token.folded) for token in sentence.tokens)
    if denials > 1 or folded & _OPEN or sentence.text.rstrip()[-1:] == "?":
        return None
    fields = sentence.evidence.once(_fields)
    for word in dict.fromkeys(token.folded for token in sentence.tokens):
        for unit, words, holds in fields.get(word, ()):
            at = _stands(sentence.tokens, words) if folded.issuperset(words) else None
            if at is None:
                continue
            before = sentence.tokens[max(0, at[0] - _NEAR) : at[0]]
            verb = next((n for n, one in enumerate(before) if _says(one)), None)
            if verb is None:
                continue
            denied = any(lexicon.negates(one.folded) for one in before[verb:])
            if denied == bool(denials) == holds:
                line = sentence.evidence.at(unit)
                return turned_words(sentence, line, "negation", at[0] - len(before) + verb, at[1], line.tokens)
    return None


def _fields(evidence: Lines) -> dict[str, list[_Field]]:
    """The evidence's fields that are true or false in all records, by the last word of their names."""
    found: dict[tuple[str, ...], dict[bool, Unit]] = {}
    for unit in evidence.index.units[:_MOST]:
        match = _FIELD.fullmatch(evidence.index.text(unit)) if unit.end - unit.start <= _LONGEST else None
        if match is None:
            continue
        words = tuple(word.lower() for word in _WORDS.findall(match.group(1)))
        words = words[1:] if len(words) > 1 and words[0] in _OPENING else words
        if words:
            found.setdefault(words, {}).setdefault(match.group(2).lower() in ("true", "yes"), unit)
    named: dict[str, list[_Field]] = {}
    for words, told in found.items():
        alike = named.setdefault(words[-1], [])
        if len(told) == 1 and len(alike) < _ALIKE:
            alike.extend((unit, words, holds) for holds, unit in told.items())
    return named


def _says(token: Token) -> bool:
    return token.folded in _SAID_OF_IT or token.folded.endswith("n't")


def _stands(tokens: tuple[Token, ...], words: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the words of a field stand in a row; of "email_verified" the last alone, if the others come before it."""
    for size in {len(words), 1} if words else ():
        for at in range(1, len(tokens) - size + 1):
            if tuple(token.folded for token in tokens[at : at + size]) == words[-size:]:
                known = {token.folded for token in tokens[:at]}
                if size == len(words) or known.issuperset(words[:-size]):
                    return at, at + size
    return None
