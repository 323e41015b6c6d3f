"""How a sentence lies on its nearest evidence line, word by word: what was put in the place of what.

Signs of a relation that was turned in words the evidence has, each counted only as far as the sentence follows the
line: a value or name that stands elsewhere, where the line has another of its sort ("misplaced"; from one record into
another: "crossed"); names in another order ("inverted"); single words replaced by such as the evidence has, or a
negation more or less, within a copied stretch ("substituted"; by other words: "reworded"). Records spelt out over
several lines (``[2].name: …``) count as one. Pure and bounded: a few lines, at most ``_WORDS`` words of each. Edits
in the place of inference, as natural logic takes them (MacCartney & Manning 2007).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, pairwise

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.text import STOPS, lengthened

_WORDS = 120
_LINES = 12
_OPENING = " \t\n\"'“”‘’([*_`–—•#|-"
_NUMBERED = re.compile(r"\W{0,4}\d{1,3}[.)]\s")
_LABEL = re.compile(r"(?: [A-Z]\w*){0,3}[*_` ]{0,4}:")
_FIELD = re.compile(r"[|=;:]|,(?! )|\t")
_RECORD = re.compile(r"\s*+((?:[\w .\-]*\[\d+\])+)[.:]")
_WORD = re.compile(r"[^\W_]+(?:(?:['’]|(?<=\d)[.,](?=\d))[^\W_]+)*")
_NEGATIONS = frozenset(
    "not no never cannot can't without neither nor isn't aren't wasn't weren't don't doesn't didn't won't".split()
)
_PRONOUNS = frozenset("he she it they this these that those his her its their him them who which".split())
_FEWEST = 5  # words of a sentence that can be a copy with one word changed
_JOINING = frozenset({"and", "or"})
_ASKED = 0.5  # weight of the question's words beside the sentence's own
_COPIED = 0.6  # share of the sentence's words that follow the line, from which it counts as its copy


@dataclass(frozen=True, slots=True)
class Alignment:
    """Signs of a turned relation. ``copied``: share of the sentence's words that stand in the line in its order."""

    crossed: float = 0.0
    misplaced: float = 0.0
    inverted: float = 0.0
    substituted: float = 0.0
    reworded: float = 0.0
    copied: float = 0.0


@dataclass(frozen=True, slots=True)
class _Token:
    key: str  # comparable form; function words are kept
    anchor: str  # "number", "name" or ""
    word: str


@dataclass(frozen=True, slots=True)
class _Line:
    """What stands together: a line, or the lines of one record."""

    tokens: tuple[_Token, ...]
    keys: frozenset[str]
    record: bool


def align(index: EvidenceIndex, sentence: str, units: Sequence[Unit], asked: Iterable[str] = ()) -> Alignment:
    """``units``: the sentence's nearest lines, best first; ``asked``: the question's terms, which say whose value a
    sentence without a name gives."""
    said = _tokens(index, sentence)
    lines = _lines(index, units, len(sentence))
    if not said or not lines:
        return Alignment()
    weights = {token.key: _weight(index, token) for token in said if token.key not in FUNCTION_WORDS}
    meant = {key: _ASKED * index.weight(key) for key in asked} | weights
    crossed, misplaced = _misplaced(index, said, lines, meant)
    best = max(lines, key=lambda line: _held(weights, line))
    matcher = SequenceMatcher(None, [t.key for t in best.tokens], [t.key for t in said], autojunk=False)
    copied = sum(block.size for block in matcher.get_matching_blocks()) / len(said)
    if copied < _COPIED or len(said) < _FEWEST:
        return Alignment(crossed, 0.0, copied=copied)
    substituted, reworded = _substituted(index, best.tokens, said, matcher.get_opcodes())
    return Alignment(crossed, misplaced, _inverted(best.tokens, said), substituted, reworded, copied)


def _tokens(index: EvidenceIndex, text: str) -> tuple[_Token, ...]:
    found: list[_Token] = []
    numbered = _NUMBERED.match(text)
    matches = list(islice(_WORD.finditer(text, numbered.end() if numbered else 0), _WORDS))
    # What a row or a field begins with names the field.
    first_cell = text.find("|", text.find("|") + 1) if text.lstrip().startswith("|") else 0
    for n, match in enumerate(matches):
        word = match.group()
        key = index.key(word) or word.casefold()
        anchor = ""
        if key[:1].isdecimal():
            anchor = "number"
        elif word[0].isupper() and word.casefold() not in FUNCTION_WORDS:
            follows = matches[n + 1].group()[:1] if n + 1 < len(matches) else ""
            before = text[: match.start()].rstrip(_OPENING)
            opens = not before or before[-1] in ".:!?"
            anchor = "name" if not opens or follows.isupper() or follows.isdigit() else ""
        if anchor == "name" and (match.start() < first_cell or _LABEL.match(text, match.end())):
            anchor = ""
        found.append(_Token(key, anchor, word))
    return tuple(found)


def _weight(index: EvidenceIndex, token: _Token) -> float:
    return index.weight(token.key) or sum(index.weight(term) for term in index.terms(token.word))


def _known(index: EvidenceIndex, token: _Token) -> bool:
    return index.knows(token.key) or all(index.knows(term) for term in index.terms(token.word))


def _lines(index: EvidenceIndex, units: Sequence[Unit], size: int) -> list[_Line]:
    groups: dict[tuple[int, str], list[Unit]] = {}
    for unit in units[:_LINES]:
        record = _RECORD.match(index.text(unit))
        groups.setdefault((unit.passage, record.group(1) if record else f"@{unit.start}"), []).append(unit)
    lines = []
    for (passage, name), members in groups.items():
        if name.startswith("@"):
            text, only = index.grounding.passages[passage].text, members[0]
            start, end = lengthened(text, only.start, only.end, size, STOPS, STOPS)
            texts = [text[start:end]]
        else:
            texts = [index.text(unit) for unit in sorted(members, key=lambda unit: unit.start)]
        tokens = tuple(token for text in texts for token in _tokens(index, text))[:_WORDS]
        fields = not name.startswith("@") or is_record(texts[0])
        lines.append(_Line(tokens, frozenset(token.key for token in tokens), fields))
    return lines


def is_record(line: str) -> bool:
    """Whether a line reads like a row of a table or the fields of a record: a mark for every few words."""
    line = line.strip()
    words = len(_WORD.findall(line))
    return line[-1:] not in ".!?" and 4 * len(_FIELD.findall(line)) >= words > 1


def _held(weights: dict[str, float], line: _Line) -> float:
    return sum(weight for key, weight in weights.items() if key in line.keys)


def _anchors(said: Sequence[_Token]) -> list[tuple[_Token, ...]]:
    """Numbers, each by itself, and names; capitalised words in a row are one name."""
    found: list[tuple[_Token, ...]] = []
    before = ""
    for token in said:
        if token.anchor == before == "name":
            found[-1] = (*found[-1], token)
        elif token.anchor:
            found.append((token,))
        before = token.anchor
    return found


def _misplaced(
    index: EvidenceIndex, said: Sequence[_Token], lines: Sequence[_Line], weights: dict[str, float]
) -> tuple[float, float]:
    """How many anchors stand only outside the line that holds the rest of the sentence, which has another in its
    place; each weighs as much as that line holds more of the rest: (between records, elsewhere)."""
    keys = {token.key for token in said}
    anchors = _anchors(said)
    crossed = misplaced = 0.0
    for anchor in anchors:
        if not all(_known(index, token) for token in anchor):
            continue
        own = {token.key for token in anchor}
        rest = {key: weight for key, weight in weights.items() if key not in own}
        whole = sum(rest.values())
        others = [
            line for line in lines if any(t.anchor == anchor[0].anchor and t.key not in keys for t in line.tokens)
        ]
        holders = [line for line in lines if own & line.keys]
        if whole <= 0 or not others:
            continue
        best = max(others, key=lambda line: _held(rest, line))
        holder = max(holders, key=lambda line: _held(rest, line), default=None)
        gap = _held(rest, best) - (0.0 if holder is None else _held(rest, holder))
        if best in holders or gap <= 0:
            continue
        if holder is not None and any(
            {t.key for t in other} & holder.keys - best.keys for other in anchors if other is not anchor
        ):
            continue  # the sentence draws on both lines
        if best.record and holder is not None and holder.record:
            crossed += gap / whole
        else:
            misplaced += gap / whole
    return crossed, misplaced


def _inverted(line: Sequence[_Token], said: Sequence[_Token]) -> float:
    """Neighbouring names of the sentence that stand the other way round in the line; of names that come once in each,
    and not as parts of a list or of one name."""
    counts, own = Counter(token.key for token in line), Counter(token.key for token in said)
    at = {token.key: n for n, token in enumerate(line)}
    names = [n for n, token in enumerate(said) if token.anchor == "name"]
    total = 0
    for one, two in pairwise(names):
        first, second = said[one].key, said[two].key
        apart = any(token.key not in _JOINING for token in said[one + 1 : two])
        if apart and counts[first] == own[first] == counts[second] == own[second] == 1:
            total += at[second] < at[first]
    return float(total)


def _substituted(
    index: EvidenceIndex,
    line: Sequence[_Token],
    said: Sequence[_Token],
    opcodes: Sequence[tuple[str, int, int, int, int]],
) -> tuple[float, float]:
    """Replacements of one or two words by as few between copied stretches (by words the evidence has, by others), and
    among the first kind negations that only one side has."""
    known = novel = 0.0
    for n, (kind, a, b, c, d) in enumerate(opcodes):
        replaced = kind == "replace" and 0 < n < len(opcodes) - 1 and b - a <= 2 and d - c <= 2
        # A name in the place of a pronoun says who is meant.
        if replaced and not all(token.key in _PRONOUNS for token in line[a:b]):
            if all(_known(index, token) for token in said[c:d]):
                known += 1
            else:
                novel += 1
        elif kind != "equal" and max(b - a, d - c) <= 3:
            known += any(t.key in _NEGATIONS for t in line[a:b]) != any(t.key in _NEGATIONS for t in said[c:d])
    return known, novel
