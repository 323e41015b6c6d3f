"""Values in a text: numbers, amounts, percentages, dates, times, versions and identifiers, with their offsets.

Pure and linear: every pattern is bounded, so hostile text costs no more than honest text. Dates follow ISO 8601 and
the usual written forms of English, German, French and Spanish months; ``03/04/2024`` keeps both readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from vsr_hallucination.detection.fold import Folded, folded_chunks, latin_skeleton
from vsr_hallucination.detection.numerals import (
    CORE,
    LOOSE_MAGNITUDE,
    MAGNITUDE,
    NO_STYLE,
    SPELLED,
    Style,
    readings,
    spelled,
)
from vsr_hallucination.detection.signs import Kind, Sign, sign
from vsr_hallucination.detection.text import UNSPACED
from vsr_hallucination.detection.units import PERCENT, UNITS, Reading, unit_at

Date = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Value:
    """One value at source offsets [start, end).

    ``readings``: what a number may mean. ``key``: an identifier's comparable form. ``dates``: year, month, day, each
    possibly unknown. ``minutes``: a time of day. ``ambiguous``: never flagged. ``spelled``: written in words.
    ``negative``: it is below zero (``signs``); ``readings`` are without the sign. ``unsure``: either sign holds.
    ``range``: the number is an endpoint of it. ``parts``: numbers inside that may stand for it.
    ``units``: what a number may be measured in, to ``unit_end``; ``counts``: a noun follows that is no known unit.
    ``ordinal``: "19th". ``decade``: "1890s". ``worded``: an amount without a figure
    (``quantities``).
    """

    start: int
    end: int
    kind: Literal["number", "date", "time", "identifier"]
    readings: tuple[Decimal, ...] = ()
    key: str = ""
    dates: tuple[Date, ...] = ()
    minutes: tuple[int, ...] = ()
    percent: bool = False
    scaled: bool = False
    ambiguous: bool = False
    spelled: bool = False
    negative: bool = False
    unsure: bool = False
    range: tuple[Decimal, Decimal] | None = None
    parts: tuple[Decimal, ...] = ()
    units: tuple[str, ...] = ()
    unit_end: int = 0
    counts: bool = False
    ordinal: bool = False
    decade: bool = False
    worded: bool = False


_MONTHS = (
    "january jan januar janvier enero|february feb februar février febrero|march mar märz mars marzo|"
    "april apr avril abril|may mai mayo|june jun juni juin junio|july jul juli juillet julio|"
    "august aug août agosto|september sep sept septembre septiembre|october oct oktober octobre octubre|"
    "november nov novembre noviembre|december dec dezember décembre diciembre"
)
_MONTH = {name: n + 1 for n, names in enumerate(_MONTHS.split("|")) for name in names.split()}
_M = "|".join(sorted(_MONTH, key=len, reverse=True))
_LET = rf"[^\W\d_{UNSPACED}]"
_ALNUM = rf"[^\W_{UNSPACED}]"
_S = "[ \u00a0]"
_CURRENCY = r"(?:EUR|USD|GBP|CHF|JPY|CNY|INR|US\$|A\$|C\$|Rs\.?)"
_SUFFIX = (
    r"(?:st|nd|rd|th|s|x|k|K|m|M|b|B|t|T|bn|Bn|BN|mn|Mn|Mio|Mrd|km|cm|mm|kg|g|mg|l|ml|h|hrs?|min|sec|ms|kW|MW|GW|kWh|"
    r"MWh|GB|MB|TB|KB|kB|Hz|kHz|MHz|GHz|pp|px|pt|ft|in|lb|lbs|oz|C|F|V|W|A|am|pm|EUR|USD|GBP|CHF|e|eur|usd|years?|"
    r"days?|percent|pct)"
)
_SCAN = re.compile(
    rf"""(?:(?<!{_ALNUM})|(?<=\dT))(?={_ALNUM})(?:
    (?P<iso>(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}))(?!\d|[-/.]\d)
    |(?P<num3>(\d{{1,2}})([./-])(\d{{1,2}})\7(\d{{4}}|\d{{2}}))(?!\d|[-/.]\d)
    |(?P<cjk>(\d{{4}}){_S}?年(?:{_S}?(\d{{1,2}}){_S}?月(?:{_S}?(\d{{1,2}}){_S}?日)?)?)
    |(?P<dmy>(\d{{1,2}})(?:st|nd|rd|th|\.)?{_S}(?:of{_S}|de{_S})?(?i:({_M}))\b\.?(?:,?{_S}(?:de{_S})?(\d{{4}})(?!\d))?)
    |(?P<mdy>(?i:({_M}))\.?{_S}(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|[.,]\d|{_LET})(?:,?{_S}(\d{{4}})(?!\d))?)
    |(?P<my>(?i:({_M}))\.?,?{_S}(?:of{_S})?(\d{{4}})(?!\d|[.,]\d))
    |(?P<time>(\d{{1,2}}):(\d{{2}})(?::\d{{2}})?(?:{_S}?([ap])\.?m\b\.?)?|(\d{{1,2}}){_S}?([ap])\.?m\b\.?)(?!\d)
    |(?P<id>(?=[\w.-]{{0,64}}?{_LET})(?=[\w.-]{{0,64}}?\d){_ALNUM}{{1,64}}(?:[-_.]{{1,2}}{_ALNUM}{{1,64}}){{0,16}})
    |(?P<run>\d+(?:[-.]\d+){{2,16}}(?![\d,]))(?<!\.)
    |(?P<num>{CORE})(?:{_SUFFIX}(?!{_ALNUM}))?(?!{_ALNUM}|[.]\d|,\d)
    |(?P<bare>\d+)
    |(?i:(?P<words>{SPELLED})(?!{_ALNUM}))
    )""",
    re.VERBOSE,
)
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3}){2,}")
_AS_NUMBER = re.compile(rf"(?:{_CURRENCY})?({CORE})(?:-?({_SUFFIX}(?:-[a-z]+)*|[A-Z]?[a-z]{{2,}}(?:-[a-z]+)*))?")
_WORD_NUMBER = re.compile(rf"[a-z]{{2,}}(?:-[a-z]+)*-({CORE})")
_RANGE_UNIT = re.compile(rf"({CORE})-({CORE})({_SUFFIX})")
_SCALES = "|".join(sorted((word for word in MAGNITUDE if word.isascii()), key=len, reverse=True))
_AFTER = re.compile(
    rf"(?:{_S}?(?P<cjk>百万|[千万萬亿億])|{_S}?-?(?P<word>{_SCALES}"
    rf"|m|b|t)\b\.?)?(?P<percent>{_S}?(?:%|‰|percent\b|per{_S}cent\b|pct\b|Prozent\b|pour{_S}cent\b))?",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![^\W_])")
_DECADE = re.compile(r"[ ]?'?[ ]?s(?![^\W_])")
_LABEL = re.compile(r"\b(?:passage|document|source|doc|text|page|step)[ ]$", re.IGNORECASE)
_HALF_MORE = re.compile(r"[ -]and[ -]a[ -]half(?![^\W_])")
_JOIN = re.compile(rf"(?:{_S}?-{_S}?|{_S}(?:to|bis|à|through|until){_S}|~)[$€£]?")
_LISTED = re.compile(rf"{_S}?(?:,|/|&|,?{_S}(?:and|or|und|oder|et|ou|y|o)){_S}?")
_AND = re.compile(rf"{_S}(?:and|und|et|y){_S}[$€£]?")
_BETWEEN = re.compile(rf"\b(?:between|zwischen|entre){_S}[$€£]?$", re.IGNORECASE)


def values(text: str, style: Style = NO_STYLE) -> Iterator[Value]:
    """Every value in ``text``, in order. ``style`` settles ambiguous forms (``numerals.readings``)."""
    for chunk in folded_chunks(text):
        yield from _in_chunk(chunk, text, style)


def _in_chunk(chunk: Folded, source: str, style: Style) -> Iterator[Value]:
    held: tuple[int, int, Sign, Value] | None = None  # a number that the next one may turn into a range
    for start, end, found in _scan(chunk.text, style):
        minus = _sign(found, start, end, max(held[1], held[3].unit_end) if held else -1, chunk, source)
        if held is not None:
            gap = chunk.text[held[1] : start] if start - held[1] <= 12 else "\n"
            joined = _JOIN.fullmatch(gap) or (
                _AND.fullmatch(gap) and _BETWEEN.search(chunk.text[max(0, held[0] - 12) : held[0]])
            )
            first = held[3]
            if joined and found.kind == "number":
                first, found = _as_range(first, found)
            bare = first.kind == "number" and not first.units and not first.counts
            if bare and found.units and (joined or _LISTED.fullmatch(gap)):
                first = replace(first, units=found.units, percent=found.percent)  # "10 and 20 percent"
            yield _placed(chunk, held[0], held[1], held[2], first)
        held = (start, end, minus, found)
    if held is not None:
        yield _placed(chunk, *held)


def _sign(found: Value, start: int, end: int, last: int, chunk: Folded, source: str) -> Sign:
    if found.kind != "number":
        return ""
    return sign(
        chunk.text, start, end, max(end, found.unit_end), last, lambda at: source[chunk.at(at, at + 1)[0]],
        kind=_kind(found),
    )  # fmt: skip


def _kind(found: Value) -> Kind:
    dimension = UNITS[found.units[0]].dimension if found.units else ""
    if dimension in ("temperature", "percent"):
        return "degrees"
    if found.counts or dimension == "time":
        return "things"
    number = found.readings[0]
    if not found.units and not found.scaled and 1000 <= number <= 2200 and number == number.to_integral_value():
        return "year"
    return ""


def _placed(chunk: Folded, start: int, end: int, minus: Sign, found: Value) -> Value:
    first, last = chunk.at(start, end)
    unit_end = chunk.at(start, found.unit_end)[1] if found.unit_end > end else last
    return replace(found, start=first, end=last, unit_end=unit_end, negative=minus == "-", unsure=minus == "?")


def _as_range(first: Value, last: Value) -> tuple[Value, Value]:
    if first.kind != "number" or first.range is not None:
        return first, last
    low, high = first.readings[0], last.readings[0]
    if last.scaled and not first.scaled:
        # "5-10 million": the magnitude is that of both.
        unscaled = last.parts[0]
        if not unscaled or low >= unscaled:
            return first, last
        low = low * (high / unscaled)
        first = replace(first, readings=(low,), scaled=True)
    if not low < high:
        return first, last
    if last.percent:
        first = replace(first, percent=True)
    if 1000 <= low <= 2200 and high <= 2200 and low == low.to_integral_value():
        return first, last  # a span of years: each year stands for itself
    return replace(first, range=(low, high)), replace(last, range=(low, high))


def _scan(text: str, style: Style) -> Iterator[tuple[int, int, Value]]:
    at = 0
    while (match := _SCAN.search(text, at)) is not None:
        start, end = match.span()
        found, start, end = _read(match, text, style)
        at = max(end, match.start() + 1)
        if found is not None:
            yield start, end, found


def _read(match: re.Match[str], text: str, style: Style) -> tuple[Value | None, int, int]:
    start, end = match.span()
    kind = next(name for name, group in match.groupdict().items() if group is not None)
    token = match.group(kind)
    if kind == "mdy" and token.startswith("may"):
        return None, start, start + 3  # the verb
    if kind in {"iso", "num3", "cjk", "dmy", "mdy", "my"}:
        dates = _dates(kind, [g for g in match.groups() if g is not None and g != token])
        if dates:
            return Value(0, 0, "date", dates=dates), start, start + len(token.rstrip(" .,"))
        return Value(0, 0, "identifier", key=token), start, start + len(token)
    if kind == "time" and _LABEL.search(text[max(0, start - 12) : start]) and "m" not in token.lower():
        return None, start, start + token.index(":")  # "passage 3:49,124 samples"
    if kind == "time":
        minutes = _minutes(token)
        return (Value(0, 0, "time", minutes=minutes) if minutes else None), start, end
    if kind == "words":
        value = spelled(token)
        if value is None:
            # Two phrases in a row ("two three"): the first word alone, the rest on the next search.
            token = re.match(r"(?i:an? )?\w+", token).group()  # type: ignore[union-attr]
            value = spelled(token)
        return (
            (None if value is None else _number(start, start + len(token), (value,), text, spelt=True)),
            start,
            start + len(token),
        )
    if kind == "id":
        return _identifier(token, start, text, style)
    if kind == "run":
        if _GROUPED.fullmatch(token):
            return _digits(token, start, start + len(token), text, style)
        return Value(0, 0, "identifier", key=token), start, start + len(token)
    return _digits(token, start, start + len(token), text, style)


def _digits(token: str, start: int, end: int, text: str, style: Style) -> tuple[Value, int, int]:
    if token.isdigit() and (len(token) > 15 or (len(token) > 2 and token[0] == "0")):
        # Beyond 2^53, or zero-padded: an id, compared as a string.
        return Value(0, 0, "identifier", key=token), start, end
    meanings, ambiguous = readings(token, style)
    found = _number(start, end, meanings, text, ambiguous=ambiguous)
    if found.percent:
        after = _AFTER.match(text, end)
        end = after.end() if after and text[after.end() - 1] in "%‰" else end
    parts = (
        tuple(Decimal(p) for p in token.split(" ")) if " " in token and "." not in token and "," not in token else ()
    )
    return (replace(found, parts=parts) if parts else found), start, end


def _number(
    start: int, end: int, meanings: tuple[Decimal, ...], text: str, *, ambiguous: bool = False, spelt: bool = False
) -> Value:
    after = _AFTER.match(text, end)
    scaled = False
    original = meanings
    if after is not None and (word := after.group("cjk") or after.group("word")) and not spelt:
        folded = word.lower()
        power = MAGNITUDE.get(folded) or LOOSE_MAGNITUDE.get(folded)
        attached = after.start("word") == end or after.group("cjk") is not None
        if power is not None and (folded in MAGNITUDE or attached):
            grown = tuple(m.scaleb(power) for m in meanings)
            loose = folded in LOOSE_MAGNITUDE
            meanings, scaled, ambiguous = grown + (meanings if loose else ()), not loose, False
    if (half := _HALF_MORE.match(text, end)) is not None:
        meanings, ambiguous = (meanings[0] + Decimal("0.5"), *meanings), False
    percent = after is not None and after.group("percent") is not None
    ordinal, decade = _ORDINAL.match(text, end) is not None, not spelt and _DECADE.match(text, end) is not None
    measured = half.end() if half else after.end("word") if after and scaled and after.group("word") else end
    beside = unit_at(text, start, measured) if not ordinal and not decade else Reading(end=end)
    if percent and after is not None:
        beside = Reading((PERCENT,), after.end())
    return Value(
        0, 0, "number", readings=meanings, percent=beside.units == (PERCENT,), scaled=scaled, ambiguous=ambiguous,
        spelled=spelt, parts=original if scaled else (), units=beside.units,
        unit_end=beside.end, counts=beside.counts, ordinal=ordinal, decade=decade,
    )  # fmt: skip


def _identifier(token: str, start: int, text: str, style: Style) -> tuple[Value | None, int, int]:
    end = start + len(token)
    if (ranged := _RANGE_UNIT.fullmatch(token)) is not None:
        return _digits(ranged.group(1), start, start + len(ranged.group(1)), text, style)
    if (number := _AS_NUMBER.fullmatch(token)) is not None:
        first, last = start + number.start(1), start + number.end(1)
        found, first, last = _digits(number.group(1), first, last, text, style)
        if found.kind == "number":
            return found, first, last
    key = latin_skeleton(token).casefold()
    if re.fullmatch(r"v\d[\d.]*", key):
        key = key[1:]
    worded = _WORD_NUMBER.fullmatch(token)
    parts = readings(worded.group(1), style)[0] if worded else ()
    return Value(0, 0, "identifier", key=key, parts=parts), start, end


def _dates(kind: str, groups: list[str]) -> tuple[Date, ...]:
    def month(name: str) -> int:
        return _MONTH[name.lower()]

    found: list[Date] = []
    if kind in {"iso", "cjk"}:
        numbers = [int(g) for g in groups] + [None, None]
        found = [(numbers[0], numbers[1], numbers[2])]
    elif kind == "num3":
        a, b, y = int(groups[0]), int(groups[2]), int(groups[3])
        year = y if y > 99 else 2000 + y if y < 70 else 1900 + y
        found = [(year, b, a), (year, a, b)]
    elif kind == "dmy":
        found = [(int(groups[2]) if len(groups) > 2 else None, month(groups[1]), int(groups[0]))]
    elif kind == "mdy":
        found = [(int(groups[2]) if len(groups) > 2 else None, month(groups[0]), int(groups[1]))]
    else:
        found = [(int(groups[1]), month(groups[0]), None)]
    return tuple(f for f in found if (f[1] is None or 1 <= f[1] <= 12) and (f[2] is None or 1 <= f[2] <= 31))


def _minutes(token: str) -> tuple[int, ...]:
    numbers = [int(n) for n in re.findall(r"\d+", token)]
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    half = re.search(r"[ap](?=\.?m)", token, re.IGNORECASE)
    if hour > 24 or minute > 59:
        return ()
    if half is None:
        return (hour * 60 + minute,)
    return ((hour % 12 + (12 if half.group().lower() == "p" else 0)) * 60 + minute,)
