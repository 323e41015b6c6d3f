"""Text rules that both models and the value check rely on: sentences, words, span borders.

Offsets are code points, half-open. Everything here is linear in the text and never raises on any ``str``.
Grapheme clusters follow Unicode UAX #29 (the ``regex`` package's ``\\X``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import regex

# Scripts written without spaces: a character is a word there (UAX #29 calls them complex or ideographic).
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Format characters that show nothing: soft hyphen, zero-width ones, bidi marks, BOM.
INVISIBLE = "\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_BORDER = re.compile(
    r"\n\s*|[.!?…]+[\"'”’»)\]*_`]*[ \t\u00a0\u202f]+|[。！？｡．]+[」』”’）\]]*\s*|[.!?…]+[\"'”’»)\]*_`]*(?=\n)"
)
STOPS = (".", "!", "?", "\n")  # what ends a sentence of a line that was cut
# Characters handled in one go: whoever waits for the interpreter waits for the end of a call into C, and the slowest
# pattern takes 2.5 ms for 16,384 characters.
PIECE = 4096
_COPIED = 65_536  # likewise where nothing but one class of characters is looked for
_ABBREVIATION = frozenset(
    "mr mrs ms dr prof sr jr st vs etc eg ie e.g i.e cf al no nos vol fig figs eq sec dept inc ltd co corp gen col "
    "lt sgt rev hon pres gov sen rep capt approx ca est jan feb mar apr jun jul aug sep sept oct nov dec mon tue "
    "wed thu fri sat sun a.m p.m u.s u.k u.n ph.d b.sc m.sc z.b d.h u.a bzw nr str usw ggf inkl m.e av bd p pp ed "
    "eds art ch op mt ft rd ave blvd min max avg".split()
)
_LIST_MARK = re.compile(r"(?:^|\n)[ \t>]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})$")
_LAST_WORD = re.compile(r"[\w.]+$")
# Joints inside a number: separators and group spaces between digits, LaTeX's {,}; markup never.
_NUMBER = re.compile(
    rf"[^\W_]*\d(?:[^\W_]|[{INVISIBLE}]|\{{,\}}(?=\d)|[.,:'’/_\-\u2010-\u2012\u2212\u00b7\u066b\u066c](?=[{INVISIBLE}]*[^\W_])"
    r"|[\u00a0\u202f\u2009\u2007](?=\d)| (?=\d{3}(?!\d)))*"
)
_EDGE = " \t\r\n\f\v\u00a0\u202f\u2009\u3000.,;:!?…、。，；：！？*_`|~>#-–—"
_NEVER_A_NAME = frozenset(
    "the a an it its this that these those he she they we you i in on at of to for from by with and or but if as is "
    "are was were be has have had no not yes there here then when where which who what how why so also however "
    "their his her our my your all some many most more each both after before during since while".split()
)
_UNIT = re.compile(
    r"(?:km|cm|mm|kg|mg|µg|ml|kwh|mwh|kw|mw|gb|mb|kb|tb|ghz|mhz|hz|°c|°f|euros?|eur|usd|gbp|dollars?|pounds?|yen|"
    r"percent|%|‰|met(?:er|re)s?|miles?|hours?|minutes?|seconds?|days?|weeks?|months?|years?|tons?|tonnes?|"
    r"lit(?:er|re)s?|inch(?:es)?|feet|acres?|hectares?|degrees?|volts?|amps?|watts?)",
    re.IGNORECASE,
)


def replace_surrogates(text: str) -> str:
    """Lone surrogates become U+FFFD one for one, so that offsets stay and no encoder fails."""
    if text.isascii():
        return text
    return "".join(_SURROGATE.sub("\ufffd", text[at : at + _COPIED]) for at in range(0, len(text), _COPIED))


def sentences(text: str) -> list[tuple[int, int]]:
    """Sentence spans that partition ``text``: split at newlines, at ``.!?…`` before a space, and at CJK stops.

    Abbreviations, initials, decimals and list marks do not end one. Whitespace belongs to the sentence before it.
    """
    out: list[tuple[int, int]] = []
    start = 0
    for match in _BORDER.finditer(text):
        end = match.end()
        if end <= start or (match.group()[0] in ".…" and not _ends_sentence(text, start, match.start(), end)):
            continue
        if text[start:end].strip() or not out:
            out.append((start, end))
        else:
            out[-1] = (out[-1][0], end)
        start = end
    if start < len(text):
        out.append((start, len(text)))
    return out


def _ends_sentence(text: str, start: int, stop: int, end: int) -> bool:
    if end < len(text) and text[end].islower() and "\n" not in text[stop:end]:
        return False
    before = text[max(start, stop - 24) : stop]
    if _LIST_MARK.search(text[max(0, stop - 24) : stop]):
        return False
    last = _LAST_WORD.search(before)
    if last is None:
        return True
    word = last.group().lower()
    return not (word in _ABBREVIATION or (len(word) == 1 and word.isalpha()))


def split_long(text: str, spans: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """Cuts spans longer than ``limit`` code points, at whitespace where there is some. Still a partition."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        while end - start > limit:
            cut = max(
                text.rfind(" ", start + limit // 2, start + limit), text.rfind("\n", start + limit // 2, start + limit)
            )
            cut = start + limit if cut < 0 else cut + 1
            out.append((start, cut))
            start = cut
        if end > start:
            out.append((start, end))
    return out


def lengthened(
    text: str, start: int, end: int, reach: int, opens: Iterable[str], closes: Iterable[str]
) -> tuple[int, int]:
    """A line ``text[start:end]`` with what it was cut off from where it was too long for one: from behind the last of
    ``opens`` up to the first of ``closes``, at most ``reach`` code points on either side."""
    before = text[max(0, start - reach) : start]
    if before.rstrip(" ")[-1:] not in ("", *STOPS):
        start -= len(before) - max(before.rfind(mark) + 1 for mark in opens)
    after = text[end : end + reach]
    if text[start:end].rstrip(" ")[-1:] not in ("", *STOPS):
        end += min((at for at in (after.find(mark) for mark in closes) if at >= 0), default=len(after))
    return start, end


def pieces_of(text: str) -> list[tuple[int, int]]:
    """Stretches of at most ``PIECE`` characters, cut after a newline, a sentence or a space where there is one."""
    out: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + PIECE)
        if end < len(text):
            half = start + PIECE // 2
            cut = max(text.rfind("\n", half, end), sentence_gap(text, half, end))
            cut = cut if cut >= half else text.rfind(" ", end - 256, end)
            end = cut + 1 if cut > start else end
        out.append((start, end))
        start = end
    return out


def sentence_gap(text: str, low: int, high: int) -> int:
    """The last space in the range behind a full stop, -1 if there is none; "3. Mai" is a date, no sentence's end."""
    stop = text.rfind(". ", low, high)
    while stop > low and text[stop - 1].isdigit():
        stop = text.rfind(". ", low, stop)
    return stop + 1 if stop > low else -1


def words(text: str) -> list[str]:
    """Words in order; a character of an unspaced script (CJK, Thai) is a word of its own."""
    return _WORD.findall(text)


def count_words(text: str) -> int:
    """Words as ``min_span_length`` counts them: a CJK character is one."""
    return sum(1 for _ in _WORD.finditer(text))


def tidy_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Borders of a reportable span: grown to whole words, numbers and graphemes, outer space and marks cut off.

    ``None`` where nothing but space and punctuation is left.
    """
    start, end = max(0, start), min(len(text), end)
    while start < end and text[start] in _EDGE and not _inside_number(text, start):
        start += 1
    while end > start and text[end - 1] in _EDGE and not _inside_number(text, end - 1):
        end -= 1
    if start >= end:
        return None
    start, end = _grow_word(text, start, end)
    start, end = _grow_number(text, start, end)
    start, end = _grow_grapheme(text, start, end)
    while start < end and text[start].isspace():  # a blank that bears a combining mark is a grapheme, and no text
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def _inside_number(text: str, at: int) -> bool:
    if text[at] == "-" and at + 1 < len(text) and text[at + 1].isdigit():
        return at == 0 or not text[at - 1].isspace() or at + 1 < len(text)
    return 0 < at < len(text) - 1 and text[at - 1].isdigit() and text[at + 1].isdigit() and not text[at].isspace()


def _joins(char: str) -> bool:
    return (char.isalnum() or char == "\u0301" or regex.match(r"\p{M}", char) is not None) and not _UNSPACED.match(char)


def _grow_word(text: str, start: int, end: int) -> tuple[int, int]:
    limit = 256  # a "word" beyond this is hostile, and a cut in it harms nobody
    low, high = max(0, start - limit), min(len(text), end + limit)
    while start > low and _joins(text[start]) and _joins(text[start - 1]):
        start -= 1
    while end < high and _joins(text[end - 1]) and _joins(text[end]):
        end += 1
    return start, end


def _grow_number(text: str, start: int, end: int) -> tuple[int, int]:
    low, high = max(0, start - 64), min(len(text), end + 64)
    for match in _NUMBER.finditer(text, low, high):
        if match.start() >= end:
            break
        if match.end() > start and not _UNSPACED.search(match.group()):
            start, end = min(start, match.start()), max(end, match.end())
    return start, end


def _grow_grapheme(text: str, start: int, end: int) -> tuple[int, int]:
    low, high = max(0, start - 64), min(len(text), end + 64)
    if text[low:high].isascii():
        return start, end
    # Flags pair up from their beginning, so the scan starts before the run of regional indicators.
    for match in regex.finditer(r"\X", text[low:high]):
        first, last = low + match.start(), low + match.end()
        if first < start < last:
            start = first
        if first < end < last:
            end = last
        if first >= end:
            break
    return start, end


@lru_cache(maxsize=4096)
def _is_unit(word: str) -> bool:
    return _UNIT.fullmatch(word) is not None


def always_survives(text: str) -> bool:
    """True for what ``min_span_length`` must not drop: a number, date, unit, identifier or capitalised name."""
    if any(char.isnumeric() for char in text) or "%" in text:
        return True
    for word in _WORD.findall(text):
        if _is_unit(word) or (word[0].isupper() and word.lower() not in _NEVER_A_NAME):
            return True
    return False
