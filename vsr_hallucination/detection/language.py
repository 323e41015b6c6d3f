"""Whether a detector can read an answer at all: an answer it cannot read must never come out clean.

A detector that names its ``scripts`` (Unicode script names, ``vsr.json``) is held to them: letters of other scripts
count, digits, marks and punctuation do not, so figures and Latin names in a Chinese answer do not hide it. One that
names none is asked through its tokenizer: the share of tokens it has no entry for. The same goes for the evidence.

What a model marks in a text it cannot read is noise: its spans become candidates (``unsupported_language``), the check
fails with that reason, and only the value check, which reads figures in every script, can still find something.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

MAX_FOREIGN = 0.3  # share of letters outside the detector's scripts
MAX_FOREIGN_EVIDENCE = 0.6  # likewise of the evidence, of which an answer may need just the readable part
MAX_UNKNOWN = 0.3  # share of unknown tokens
_SAMPLE = 65_536
# One CJK character says about as much as a word of four letters: so it weighs, or names would outweigh a sentence.
_IDEOGRAPH_WEIGHT = 4
_LETTER = regex.compile(r"\p{L}")
_IDEOGRAPH = regex.compile(r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]")


def foreign_share(text: str, scripts: Sequence[str]) -> float:
    """Share of letters outside ``scripts``, 0..1; 0 for a text without letters or a detector that names no script.

    Full-width Latin is Latin. Raises ValueError for a script Unicode does not know.
    """
    if not scripts or text.isascii():
        return 0.0
    try:
        own = regex.compile("[" + "".join(rf"\p{{Script={script}}}" for script in scripts) + "]")
    except regex.error as error:
        raise ValueError(f"unknown script among {', '.join(scripts)}") from error
    inside = outside = 0
    for char in _LETTER.findall(text[:_SAMPLE]):
        if own.match(char):
            inside += 1
        else:
            outside += _IDEOGRAPH_WEIGHT if _IDEOGRAPH.match(char) else 1
    return outside / (inside + outside) if outside else 0.0


def unknown_share(ids: Sequence[int], unknown_id: int | None) -> float:
    """Share of unknown tokens, 0..1; 0 for byte-level tokenizers, which know everything."""
    if unknown_id is None or not ids:
        return 0.0
    return sum(1 for token in ids if token == unknown_id) / len(ids)


def evidence_unreadable(passages: Sequence[str], scripts: Sequence[str]) -> bool:
    """True where most of the evidence is in scripts the detector does not name."""
    sample, size = [], 0
    for passage in passages:
        sample.append(passage[: _SAMPLE - size])
        size += len(sample[-1])
        if size >= _SAMPLE:
            break
    return foreign_share("\n".join(sample), scripts) > MAX_FOREIGN_EVIDENCE


def unreadable(text: str, ids: Sequence[int], scripts: Sequence[str], unknown_id: int | None) -> bool:
    """True where the detector cannot read ``text``."""
    if scripts:
        return foreign_share(text, scripts) > MAX_FOREIGN
    return unknown_share(ids, unknown_id) > MAX_UNKNOWN
