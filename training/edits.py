"""Faults put into a sentence of a grounded answer, kind by kind: figures, names, and words that turn its meaning."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise

from training.domains import CITIES, MONTHS
from training.faults import NAME, NUMBER, names_of, replaced
from training.records import Text
from training.values import WORDS, wrong_number
from vsr_hallucination.detection.encoding import EvidenceWords

_NUMERAL = r"\d[\d,]*(?:\.\d+)?"
_WORDED = "|".join(WORDS[2:])
_SPANS = r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies))"
_FIGURES: dict[str, re.Pattern[str]] = {
    "percentage": re.compile(rf"({_NUMERAL})(?=\s?(?:%|percent\b|per cent\b))"),
    "currency": re.compile(
        rf"(?<=[$€£])({_NUMERAL})|({_NUMERAL})(?=\s(?:(?:million|billion) )?(?:dollars|euros|pounds|USD|EUR|GBP)\b)"
    ),
    "range": re.compile(rf"(?<![\w.,])({_NUMERAL})(?=\s?(?:–|-|to)\s?{_NUMERAL}(?!\w))|(?<=\d [–-] )({_NUMERAL})"),
    "duration": re.compile(rf"(?<![\w.,])({_NUMERAL}|\b(?:{_WORDED}))(?=[ -]{_SPANS}\b)"),
    "date": re.compile(rf"\b(1[2-9]\d\d|20[0-4]\d)\b(?!\s?(?:%|km|m\b))|\b({'|'.join(MONTHS)})\b"),
    "number words": re.compile(rf"\b({_WORDED})\b"),
    "number": re.compile(rf"(?<![\w.,$€£])({_NUMERAL})(?!\w|\s?%)"),
}
_UNITS = (
    ("kilometers", "miles"), ("kilometres", "miles"), ("km", "miles"), ("meters", "feet"), ("metres", "feet"),
    ("kg", "pounds"), ("kilograms", "pounds"), ("inches", "centimeters"), ("acres", "hectares"),
    ("million", "billion"), ("thousand", "million"), ("hundred", "thousand"), ("years", "months"), ("weeks", "days"),
    ("hours", "minutes"), ("seconds", "minutes"), ("months", "weeks"), ("decades", "years"), ("Celsius", "Fahrenheit"),
    ("percent", "percentage points"), ("dollars", "euros"), ("tons", "pounds"), ("litres", "gallons"),
    ("grams", "kilograms"), ("gallons", "litres"), ("feet", "inches"), ("miles", "yards"), ("centuries", "decades"),
)  # fmt: skip
_COMPARED = (
    ("increased", "decreased"), ("increase", "decrease"), ("increases", "decreases"), ("rose", "fell"), ("more",
    "less"),
    ("higher", "lower"), ("highest", "lowest"), ("larger", "smaller"), ("largest", "smallest"), ("greater", "lesser"),
    ("bigger", "smaller"), ("biggest", "smallest"), ("older", "younger"), ("oldest", "youngest"), ("longer", "shorter"),
    ("longest", "shortest"), ("faster", "slower"), ("fastest", "slowest"), ("most", "least"), ("best", "worst"),
    ("better", "worse"), ("stronger", "weaker"), ("above", "below"), ("over", "under"), ("maximum", "minimum"),
    ("warmer", "colder"), ("cheaper", "dearer"), ("heavier", "lighter"), ("majority", "minority"), ("major", "minor"),
    ("won", "lost"), ("grew", "shrank"), ("high", "low"), ("large", "small"), ("wide", "narrow"), ("deeper",
    "shallower"),
)  # fmt: skip
_ORDERED = (
    ("before", "after"), ("first", "last"), ("earlier", "later"), ("early", "late"), ("followed", "preceded"),
    ("previous", "next"), ("began", "ended"), ("begins", "ends"), ("beginning", "end"), ("opened", "closed"),
    ("first", "second"), ("until", "since"), ("former", "current"), ("started", "stopped"), ("oldest", "newest"),
    ("first", "third"), ("second", "first"), ("prior to", "following"), ("initially", "finally"),
)  # fmt: skip
_OPPOSED = (
    ("with", "without"), ("all", "no"), ("always", "never"), ("north", "south"), ("east", "west"), ("northern",
    "southern"),
    ("eastern", "western"), ("left", "right"), ("male", "female"), ("public", "private"), ("accepted", "rejected"),
    ("safe", "dangerous"), ("legal", "illegal"), ("possible", "impossible"), ("success", "failure"), ("inside",
    "outside"),
    ("likely", "unlikely"), ("available", "unavailable"), ("include", "exclude"), ("includes", "excludes"),
    ("both", "neither"), ("agreed", "refused"), ("hot", "cold"), ("black", "white"), ("rural", "urban"),
)  # fmt: skip
_SOFT = {
    "may": ("must", "will always"), "might": ("must", "will certainly"), "can": ("must", "always"),
    "could": ("must have",),
    "usually": ("always", "never"), "often": ("always", "never"), "sometimes": ("always", "never"),
    "rarely": ("always", "often"), "generally": ("always",), "typically": ("always", "never"), "some": ("all", "no"),
    "many": ("all", "no"), "most": ("all", "no"), "must": ("may", "need not"), "should": ("must", "need not"),
    "several": ("all",), "probably": ("certainly",), "possibly": ("certainly",), "likely": ("certain",),
    "mainly": ("only",), "mostly": ("only",), "about": ("exactly",), "approximately": ("exactly",),
    "nearly": ("more than",), "almost": ("more than",), "suggests": ("proves",),
}  # fmt: skip
_VERB = re.compile(r"\b(is|was|are|were|can|has|have|had|does|did|will|should|could)(n't| not)?\b")
_CONDITION = re.compile(
    r",? \b(?:only (?:if|when)|if|unless|except|provided that|as long as|until|only)\b [^,.;]{8,90}(?=[.,;]|$)"
)
_SAID = re.compile(
    r"\b(?:said|says|argued|argues|claimed|believed|discovered|invented|wrote|written by|designed by|founded by|"
    r"built by|directed by|composed by|created by|developed by|According to|according to|led by|proposed|"
    r"painted by|published by)\b"
)
_PLACED = re.compile(r"\b(?:in|at|from|near|to|of|through|across)\s$")
_NO_NAME = re.compile(
    r"(?:The|A|An|He|She|It|They|We|You|I|In|On|At|His|Her|Its|Their|This|That|These|Those|And|But|For|There|When|While"
    r"|As|If|After|Before|Some|Many|Most|All|However|Although|Since|With|From|By|To|Of|Also|Then|Today|One|Its)\b"
)
_LISTING = re.compile(r"^[\s,]*(?:and|or|,|&|/)*[\s,]*$")
KINDS = (*_FIGURES, "unit", "name", "place", "negation", "modality", "comparison", "order", "roles", "attribution",
         "condition", "elsewhere")  # fmt: skip


def edit(
    rng: random.Random, kind: str, sentence: str, evidence: EvidenceWords, context: str, pool: Sequence[str]
) -> Text | None:
    """The sentence with one fault of ``kind``, or None where it offers no place for one. ``pool``: foreign names."""
    if kind in _FIGURES:
        return _figure(rng, kind, sentence, evidence)
    if kind == "negation":
        return _opposite(rng, sentence, _OPPOSED, evidence) if rng.random() < 0.4 else _negated(rng, sentence)
    tables = {"unit": _UNITS, "comparison": _COMPARED, "order": _ORDERED}
    if kind in tables:
        return _opposite(rng, sentence, tables[kind], evidence if kind == "unit" else None)
    if kind == "modality":
        found = [m for m in re.finditer(r"\b[a-z]+\b", sentence) if m.group() in _SOFT]
        if not found:
            return None
        match = rng.choice(found)
        return replaced(sentence, match.start(), match.end(), rng.choice(_SOFT[match.group()]))
    if kind == "condition":
        return _unconditioned(rng, sentence)
    if kind == "roles":
        return _exchanged(rng, sentence)
    return _named(rng, kind, sentence, evidence, context, pool)


def _figure(rng: random.Random, kind: str, sentence: str, evidence: EvidenceWords) -> Text | None:
    choices = list(_FIGURES[kind].finditer(sentence))
    rng.shuffle(choices)
    for match in choices:
        group = next(i for i, text in enumerate(match.groups(), 1) if text)
        old = match.group(group)
        for _ in range(4):
            new = _other_figure(rng, old, kind)
            if new and new != old and evidence.novel(new):
                return replaced(sentence, *match.span(group), new)
    return None


def _other_figure(rng: random.Random, old: str, kind: str) -> str:
    if old in MONTHS:
        return rng.choice(MONTHS)
    if not old[0].isdigit():
        return rng.choice(WORDS[2:])
    plain = old.replace(",", "")
    if len(plain) > 12:
        return ""
    if kind == "date":
        return str(int(plain) + rng.choice((-1, 1)) * rng.choice((1, 2, 3, 5, 7, 10, 12, 20, 40, 100)))
    new = wrong_number(rng, float(plain) if "." in plain else int(plain))
    return f"{new:,}" if "," in old else str(new)


def _opposite(
    rng: random.Random, sentence: str, pairs: Sequence[tuple[str, str]], evidence: EvidenceWords | None
) -> Text | None:
    found: list[tuple[int, int, str]] = []
    for one, two in pairs:
        for old, new in ((one, two), (two, one)):
            found += [(m.start(), m.end(), new) for m in re.finditer(rf"\b{re.escape(old)}\b", sentence)]
    rng.shuffle(found)
    for start, end, new in found:
        # A unit that the passage gives as well may be right; a word's opposite stands in long passages anyway.
        if evidence is None or evidence.novel(new) or rng.random() < 0.3:
            return replaced(sentence, start, end, new)
    return None


def _negated(rng: random.Random, sentence: str) -> Text | None:
    verbs = list(_VERB.finditer(sentence))
    if not verbs:
        return None
    # Where a negation stands, it goes: else faulty answers would hold more of them than clean ones.
    match = rng.choice([verb for verb in verbs if verb.group(2)] or verbs)
    if match.group(2):
        return replaced(sentence, match.start(), match.end(), match.group(1))
    negation = "never" if rng.random() < 0.2 else "not"
    return replaced(sentence, match.start(), match.end(), f"{match.group(1)} {negation}")


def _unconditioned(rng: random.Random, sentence: str) -> Text | None:
    """The condition goes, what it restricted stays, and is now said of every case: that is what is marked."""
    found = [m for m in _CONDITION.finditer(sentence) if m.start() > 15]
    if not found:
        return None
    match = rng.choice(found)
    before = sentence[: match.start()]
    start = max(before.rfind(mark) + 2 if mark in before else 0 for mark in (", ", "; "))
    if len(before) - start < 25:
        return None
    text = Text()
    text.add(before[:start])
    text.add(before[start:] + rng.choice(("", "", " in every case", " without exception")), bad=True)
    text.add(sentence[match.end() :])
    return text


def _exchanged(rng: random.Random, sentence: str) -> Text | None:
    spans = [
        m.span()
        for m in NAME.finditer(sentence)
        # After a capitalised word it is the second half of a longer name.
        if not _NO_NAME.match(m.group()) and not re.search(r"\b[A-Z][\w’'-]*\s$", sentence[: m.start()])
    ]
    pairs = [
        (a, b)
        for a, b in pairwise(spans)
        if not _LISTING.match(sentence[a[1] : b[0]]) and sentence[a[0] : a[1]] != sentence[b[0] : b[1]]
    ]
    if not pairs:
        return None
    (a, b), (c, d) = rng.choice(pairs)
    text = Text()
    text.add(sentence[:a])
    text.add(sentence[c:d], bad=True)
    text.add(sentence[b:c])
    text.add(sentence[a:b], bad=True)
    text.add(sentence[d:])
    return text


def _named(
    rng: random.Random, kind: str, sentence: str, evidence: EvidenceWords, context: str, pool: Sequence[str]
) -> Text | None:
    if kind == "elsewhere":
        numbers = list(NUMBER.finditer(sentence))
        others = [m.group() for m in NUMBER.finditer(context) if m.group() not in sentence]
        if numbers and others and rng.random() < 0.6:
            match = rng.choice(numbers)
            same = [n for n in others if len(n) == len(match.group())] or others
            return replaced(sentence, match.start(), match.end(), rng.choice(same))
    found = [m for m in NAME.finditer(sentence) if not _NO_NAME.match(m.group())]
    if kind == "attribution":
        found = [m for m in found if _SAID.search(sentence[max(0, m.start() - 24) : m.end() + 16])]
    if kind == "place":
        found = [m for m in found if _PLACED.search(sentence[: m.start()])]
    if not found:
        return None
    match = rng.choice(found)
    size = len(match.group().split())
    known = [n for n in names_of(context) if n not in sentence and match.group() not in n and not _NO_NAME.match(n)]
    foreign = [n for n in (*pool, *(CITIES if kind == "place" else ())) if evidence.novel(n.split()[0])]
    names = known if kind in ("elsewhere", "attribution") else foreign
    same = [n for n in names if len(n.split()) == size and n not in sentence] or [n for n in names if n not in sentence]
    return replaced(sentence, match.start(), match.end(), rng.choice(same)) if same else None
