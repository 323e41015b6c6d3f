"""Folding: the form in which values are compared, with a map back to the characters they stand on.

Digits of any script become ASCII, full-width forms narrow, invisible characters vanish, look-alike Cyrillic and
Greek capitals beside digits read as Latin (UTS #39 skeletons), group spaces become U+00A0, dashes ``-``. Nothing the
client sees is changed: folding happens on a copy, and ``Folded.at`` leads back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from vsr_hallucination.detection.text import INVISIBLE, sentence_gap

CHUNK = 2048  # characters folded and scanned at a time: prose without a value is one search, of 0.9 ms
_ODD = re.compile(r"[^\x00-\x7f]|\\[,;! ]|\{,\}|&nbsp;")
_INVISIBLE = re.compile(f"[{INVISIBLE}\ufe00-\ufe0f]")
_SPACES = "\u00a0\u202f\u2009\u2007\u2008\u200a\u2005\u2006"
_FIXED = {
    **dict.fromkeys(_SPACES, "\u00a0"),
    **dict.fromkeys("’‘ʼ´`＇\u02bc", "'"),
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
    "\u066b": ".",
    "\u066c": ",",
    "\u060c": ",",
    "\\,": "",
    "\\;": "",
    "\\!": "",
    "\\ ": "\u00a0",
    "{,}": ",",
    "&nbsp;": "\u00a0",
    "½": ".5",
    "¼": ".25",
    "¾": ".75",
}
_LOOKALIKE = str.maketrans("АВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧасеорхуі", "ABEKMHOPCTXIJSABEZHIKMNOPTYXaceopxyi")


@dataclass(frozen=True, slots=True)
class Folded:
    """``text`` is the folded form. ``index[i]`` is the source offset of ``text[i]``; empty: the offsets are equal."""

    text: str
    index: tuple[int, ...] = ()
    base: int = 0

    def at(self, start: int, end: int) -> tuple[int, int]:
        """Source offsets of ``text[start:end]``."""
        if not self.index:
            return self.base + start, self.base + end
        return self.index[start], (self.index[end - 1] + 1 if end > start else self.index[start])


def fold(text: str, base: int = 0) -> Folded:
    """The folded form of ``text``, whose first character stands at ``base`` in its source."""
    if text.isascii() and "\\" not in text and "{,}" not in text and "&nbsp;" not in text:
        return Folded(text, (), base)
    pieces: list[str] = []
    index: list[int] = []
    done = 0
    for match in _ODD.finditer(text):
        if match.start() > done:
            pieces.append(text[done : match.start()])
            index.extend(range(base + done, base + match.start()))
        piece = _fold_one(match.group(), text, match.start())
        pieces.append(piece)
        # A character that folds to several ends on its own last character.
        index.extend([base + match.start()] * len(piece))
        done = match.end()
    pieces.append(text[done:])
    index.extend(range(base + done, base + len(text)))
    return Folded("".join(pieces), tuple(index), base)


def _fold_one(odd: str, text: str, at: int) -> str:
    fixed = _FIXED.get(odd)
    if fixed is not None:
        if odd in "½¼¾" and not (at and text[at - 1].isdigit()):
            return "0" + fixed
        return fixed
    if len(odd) > 1 or _INVISIBLE.match(odd):
        return ""
    digit = unicodedata.decimal(odd, None)
    if digit is not None:
        return str(digit)
    if unicodedata.category(odd) == "No" and at and text[at - 1].isdigit():
        return "^"  # the mark of a note, or a power: not one more digit
    narrow = unicodedata.normalize("NFKC", odd)
    return narrow if len(narrow) == 1 else odd


def latin_skeleton(token: str) -> str:
    """An identifier with look-alike Cyrillic and Greek letters read as Latin, for comparison only."""
    return token.translate(_LOOKALIKE)


def folded_chunks(text: str) -> Iterator[Folded]:
    """``text`` folded in pieces of about ``CHUNK`` characters, cut at the end of a line or sentence or at a space,
    never inside a number."""
    start, size = 0, len(text)
    while start < size:
        end = min(size, start + CHUNK)
        if end < size:
            half = start + CHUNK // 2
            cut = text.rfind("\n", half, end)
            if cut < 0:
                cut = sentence_gap(text, half, end)
            if cut < 0:
                cut = _safe_space(text, half, end)
            end = end if cut < 0 else cut + 1
        yield fold(text[start:end], start)
        start = end


def _safe_space(text: str, low: int, high: int) -> int:
    """Last space in the range with no digit near it ("9 500", "3. Mai", "2 %" must not be cut); -1 if there is none."""
    cut = text.rfind(" ", low, high)
    while cut > low and any(map(str.isdigit, text[cut - 2 : cut + 3])):
        cut = text.rfind(" ", low, cut)
    return cut
