"""Faults put into grounded answers: one clean answer in, the same answer with labelled, unsupported content out."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from training.records import Text
from training.values import WORDS
from vsr_hallucination.detection.encoding import EvidenceWords, readings

Sentence = tuple[str, str]
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[]?[A-Z0-9•\-*])|\n+")
NEGATED = re.compile(r"\b(?:not|never|no|cannot)\b|n['’]t\b")
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
NAME = re.compile(r"(?<=[a-z,;:] )(?:[A-Z][\w’'-]+|[A-Z]{2,})(?:(?: of| the| de| and)? (?:[A-Z][\w’'-]+|[A-Z]{2,}))*")
_PHRASE = re.compile(
    r"(,? (?:which|who|including|making|such as|especially|because of|because|due to|according to|along with|"
    r"as well as|in order to|while|where|after|before|since|until|despite|with|by|from|for|in|during|under|through|"
    r"after|near|against) [^,.;:()\n]{8,70})(?=[.,;])"
)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A similar row: where plausible foreign content comes from."""

    sentences: tuple[str, ...]
    names: tuple[str, ...]


def split_sentences(text: str) -> list[Sentence]:
    """(sentence, separator after it); joined together they give ``text`` back."""
    result: list[Sentence] = []
    start = 0
    for match in _SENTENCE.finditer(text):
        whole = text[start : match.end()]
        body = whole.rstrip()
        result.append((body, whole[len(body) :]))
        start = match.end()
    result.append((text[start:], ""))
    return [(s, sep) for s, sep in result if s.strip()] or [(text, "")]


def names_of(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(m.group() for m in NAME.finditer(text) if len(m.group()) < 40))


def content_novelty(sentence: str, evidence: EvidenceWords) -> tuple[float, int]:
    """(share of content words the evidence lacks, number of content words)."""
    words = [w for w in evidence.words(sentence) if len(sentence[w.start : w.end]) > 2]
    content = [w for w in words if w.novel or not evidence.novel(sentence[w.start : w.end])]
    content = [w for w in content if readings(sentence[w.start : w.end])]
    return (sum(w.novel for w in content) / len(content) if content else 0.0), len(content)


def replaced(sentence: str, start: int, end: int, new: str) -> Text:
    text = Text()
    text.add(sentence[:start])
    text.add(new, bad=True)
    text.add(sentence[end:])
    return text


def phrases_of(sentence: str) -> list[str]:
    return [m.group(1) for m in _PHRASE.finditer(sentence)]


def add_phrase(
    rng: random.Random, sentence: str, evidence: EvidenceWords, neighbours: Sequence[Neighbour]
) -> Text | None:
    """A phrase of a similar text is appended to the sentence."""
    if not sentence.rstrip().endswith("."):
        return None
    for neighbour in rng.sample(list(neighbours), min(5, len(neighbours))):
        pool = [p for s in neighbour.sentences for p in phrases_of(s)]
        for phrase in rng.sample(pool, min(4, len(pool))):
            share, count = content_novelty(phrase, evidence)
            if count and share >= 0.5:
                body = sentence.rstrip()
                text = Text()
                text.add(body[:-1])
                text.add(phrase, bad=True)
                text.add(".")
                return text
    return None


def foreign_sentence(
    rng: random.Random, evidence: EvidenceWords, neighbours: Sequence[Neighbour], own_names: Sequence[str]
) -> str | None:
    """A sentence of a similar text; its own names are sometimes replaced by ours, so that it stays on topic."""
    for neighbour in rng.sample(list(neighbours), min(6, len(neighbours))):
        pool = [s for s in neighbour.sentences if 25 < len(s) < 260]
        for sentence in rng.sample(pool, min(3, len(pool))):
            new = sentence
            names = names_of("a " + sentence)
            if names and own_names and rng.random() < 0.6:
                new = sentence.replace(names[0], own_names[0])
            share, count = content_novelty(new, evidence)
            if count >= 3 and share >= 0.4:
                return new
    return None


def withhold(rng: random.Random, context: str, sentences: Sequence[Sentence]) -> tuple[str, int] | None:
    """Takes out of the evidence what supports one answer sentence; gives (context left, index of the sentence)."""
    parts = split_sentences(context)
    if len(parts) < 4:
        return None
    order = list(range(len(sentences)))
    rng.shuffle(order)
    for index in order:
        sentence = sentences[index][0]
        own = EvidenceWords.from_texts([sentence])
        left = [(s, sep) for s, sep in parts if _overlap(s, own) < 0.3]
        if not 2 <= len(left) < len(parts):
            continue
        remaining = "".join(s + (sep or " ") for s, sep in left).strip()
        evidence = EvidenceWords.from_texts([remaining])
        share, count = content_novelty(sentence, evidence)
        if count < 3 or share < 0.45:
            continue
        others = [s for j, (s, _) in enumerate(sentences) if j != index]
        before = EvidenceWords.from_texts([context])
        if all(content_novelty(o, evidence)[0] - content_novelty(o, before)[0] < 0.12 for o in others):
            return remaining, index
    return None


def _overlap(sentence: str, answer: EvidenceWords) -> float:
    share, count = content_novelty(sentence, answer)
    return 1.0 - share if count else 0.0


def reformat_values(rng: random.Random, answer: str) -> str:
    """The same numbers written another way: grouping, percent sign, small numbers in words. Still true."""

    def number(match: re.Match[str]) -> str:
        text = match.group()
        if "," in text and re.fullmatch(r"\d{1,3}(,\d{3})+", text):
            return text.replace(",", "") if rng.random() < 0.5 else text
        if text.isdigit() and 2 <= int(text) <= 20 and rng.random() < 0.3:
            return WORDS[int(text)]
        if text.isdigit() and len(text) > 4 and rng.random() < 0.6:
            return f"{int(text):,}"
        return text

    changed = NUMBER.sub(number, answer)

    def percent(match: re.Match[str]) -> str:
        return match.group(1) + rng.choice((" percent", "%", " %"))

    return re.sub(r"(\d)\s?(?:%|percent)", percent, changed)
