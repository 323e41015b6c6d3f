"""Signs of numbers: a minus of its own, a dash or bracket that may be one, and words that say "less" for it.

``-5``, ``−5``, ``–5``, "minus five", ``$(5)`` and "5 degrees below zero" are negative; a dash that joins ("5-10",
"Q3-5"), stands for an item ("- 5 apples") or is one of punctuation ("the price – 5 euros – is") is no sign. Where the
text does not tell (a bullet's "-5 apples", "(5)", "±5") either sign holds. "Fell by 5 %" says what "-5 %" does, "fell
to 5 %" does not. Words of less are English, with the commonest of German, French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

Sign = Literal["", "-", "?"]  # none or a plus; a minus; may be either
# What a number counts, as far as it tells a minus from a dash: degrees and percent are often below zero.
Kind = Literal["", "year", "things", "degrees"]


class Signed(Protocol):
    """What is known of a number's sign (``values.Value``)."""

    @property
    def negative(self) -> bool: ...

    @property
    def unsure(self) -> bool: ...


_LOOKED_BACK = 24
_MONEY = r"(?:(?:US|A|C)?[$€£¥]|(?:EUR|USD|GBP|CHF)[ \u00a0]?)"
_MARKED = re.compile(r"[-(±]|\\pm|minus|negative", re.IGNORECASE)
# A minus touches its number, but for marks of emphasis and the currency.
_DASH = re.compile(rf"-(?P<gap>[ \u00a0]?)(?:[*_`]{{1,3}})?{_MONEY}?$")
_OPENS = frozenset("([{=:,;|<>*_\"'`$€£/~≈→…≤≥&“”„«")
_JOINS = re.compile(r"[\d%°]$")
_PLUS_MINUS = re.compile(r"(?:±|\\pm ?|\+/?-|-/?\+)[$€£]?$")
_BULLET = re.compile(r"(?:^|\n)[ \t>]*-$")
_BARE_LINE = re.compile(r"[^\w\n]{0,8}[CFK]?[^\w\n]{0,8}(?:\n|$)")
_LEADS_ON = re.compile(
    r"(?<![^\W_])(?:is|was|are|were|be|been|of|to|at|from|by|and|or|than|about|around|approximately|roughly|nearly|below|"
    r"above|under|over|as|only|just|with|between|until|reads?|fell|rose|shows?|equals?|stood|stands|hits?|reach(?:es)?|"
    r"the|not|its?|then|now|[a-z]{2,}ed|ist|war|von|bis|auf|bei|und|est|de|et|es)$",
    re.IGNORECASE,
)
_CLOSING_DASH = re.compile(r"[ \u00a0]?-(?![\w-])")
_WORD = re.compile(r"(?:^|[^\w\s-][ ]|[^\W\d_][ ])(?P<word>minus|negative)[ -][$€£]?$", re.IGNORECASE)
_BELOW_ZERO = re.compile(
    r"[ ]?(?:degrees?[ ]?|°)?(?:celsius|fahrenheit|[CF]\b)?[ ]?(?:below|under)[ ]zero\b", re.IGNORECASE
)
_BRACKET = re.compile(rf"(?P<money>{_MONEY}[ ]?)?\({_MONEY}?$")
_BRACKET_ENDS = re.compile(r"[ ]?%?\)(?P<field>[ ]*(?:[|\t\n]|$))?")
_FIELD_STARTS = re.compile(r"[|\t:=][ ]*$")


def sign(
    text: str, start: int, end: int, after: int, last: int, original: Callable[[int], str], *, kind: Kind
) -> Sign:
    """The sign of the number ``text[start:end]``, whose unit ends at ``after``. ``last``: where the value (with its
    unit) before it ends. ``original``: the character of the source that a folded one stands for."""
    if "zero" in text[end : after + 40].lower() and (_BELOW_ZERO.match(text, after) or _BELOW_ZERO.match(text, end)):
        return "-"
    before = text[max(0, start - _LOOKED_BACK) : start]
    low = max(0, start - _LOOKED_BACK)
    if _MARKED.search(before) is None:
        return ""
    if _PLUS_MINUS.search(before):
        return "?"
    if (word := _WORD.search(before)) is not None:
        return "?" if kind == "things" and word.group("word").lower() == "negative" else "-"
    if (bracket := _BRACKET.search(before)) is not None:
        return _bracketed(text, low + bracket.start(), end, bool(bracket.group("money")))
    if (dash := _DASH.search(before)) is not None:
        spaced = bool(dash.group("gap"))
        return _dashed(text, low + dash.start(), end, after, last, original, spaced=spaced, kind=kind)
    return ""


def _bracketed(text: str, opens: int, end: int, money: bool) -> Sign:
    closes = _BRACKET_ENDS.match(text, end)
    if closes is None:
        return ""
    of_its_own = closes.group("field") is not None and _FIELD_STARTS.search(text, max(0, opens - 8), opens)
    return "-" if money or of_its_own else "?"


def _dashed(
    text: str, at: int, end: int, after: int, last: int, original: Callable[[int], str], *, spaced: bool, kind: Kind
) -> Sign:
    mark, lead = original(at), text[at - 1 : at]
    if mark in "—―" or (spaced and mark != "−"):
        return ""  # a dash of punctuation
    if lead == "-":
        return "?"
    if lead and not lead.isspace() and lead not in _OPENS:
        return ""
    words = text[max(0, at - 8) : at].rstrip(" \u00a0")
    if lead in " \u00a0" and (_JOINS.search(words) or last >= at - 1 > 0):
        return "?"  # "5 -7", "5 km -7 km"
    if mark != "−" and (_BULLET.search(text, max(0, at - 8), at + 1) is not None and not _BARE_LINE.match(text, end)):
        return "?"
    if kind == "year" and (lead in " \u00a0(" or not lead):
        return "?"
    if mark == "−":
        return "-"
    if lead == ":" and text[at - 2 : at - 1] not in ('"', "'"):
        return "?"  # "price:-500"
    labelled = lead in " \u00a0" and kind != "degrees" and _labelled(text, at)
    return "?" if labelled or (lead in " \u00a0" and _CLOSING_DASH.match(text, max(end, after))) else "-"


def _labelled(text: str, at: int) -> bool:
    """Whether the dash at ``at`` may stand between a label and its number ("flour -200 g")."""
    before = text[max(0, at - _LOOKED_BACK) : at].rstrip(" \u00a0")
    return before[-1:].isalpha() and _LEADS_ON.search(before) is None


def clash(one: Signed, other: Signed) -> bool:
    """Whether one number is surely negative and the other surely not."""
    return not one.unsure and not other.unsure and one.negative != other.negative


_FALL = r"(?:drop|decline|decrease|reduction|fall|cut|contraction|dip|slide|slump|plunge|recession|downturn)s?"
# Things that are less than nothing, or go out: they say so wherever they stand.
_AMOUNT = re.compile(
    r"\b(?:loss(?:es)?|los(?:t|es?|ing)|deficits?|shortfalls?|debts?|ow(?:e[ds]?|ing)|overdr\w+|in the red|minus|"
    r"negative\w*|sub-?zero|below (?:zero|freezing|sea|ground|par|average|normal|the)|frost|outflows?|outgoings?|"
    r"expenses?|expenditures?|costs?|paid|pays?|paying|payments?|spen[dt]\w*|charge[sd]?|charging|fees?|debit\w*|"
    r"withdr\w+|transfer\w*|sent|bought|purchas\w*|discount\w*|rebates?|deduct\w*|subtract\w*|sav(?:e[ds]?|ings?)|"
    r"refund\w*|penalt\w+|delet\w*|removals?|impairments?|writ(?:e|ten|ing)[ -]?(?:offs?|downs?)|"
    r"absolute|magnitude|modulus|depth|deep|"
    r"behind|short (?:of|by)|differ\w*|gaps?|deviat\w*|errors?|margins?|chang\w+ (?:of|by)|swing\w*|"
    r"BCE?|ago|verlust\w*|defizit|schulden|unter null|unterschied|pertes?|déficit|dettes?|pérdidas?|deuda)\b"
    rf"|\b(?:the|an?|this|that|its|their|of|percent(?:age)?|annual)[ ](?:[\w-]{{1,20}}[ ])?{_FALL}\b"
    rf"|\b{_FALL}[ ]?[:=(|]|\d ?[°%]?[ ]?(?:degrees?[ ])?(?:(?-i:[WS])|west|south)\b",
    re.IGNORECASE,
)
# Moves downwards, and comparisons: of the distance, not of the level they lead to ("fell to 5").
_MOVE = re.compile(
    r"\b(?:f[ae]ll\w*|drop\w*|declin\w*|decreas\w*|reduc\w*|lower(?:ed|ing|s)?(?! (?:bound|limit|end))|"
    r"down(?:turn|fall|wards?)?|shr[aiu]nk\w*|cut(?:s|ting)?|sl(?:id|ide|ides|iding|ip\w*)|s[aiu]nk\w*|plung\w*|"
    r"plummet\w*|tumbl\w*|slump\w*|contract(?:s|ed|ing|ion\w*)|dip(?:s|ped|ping)?|retreat\w*|reced\w*|recession|"
    r"weak\w*|worse\w*|diminish\w*|dwindl\w*|eas(?:ed|es|ing)|narrow\w*|less(?:er|en\w*)?|fewer|smaller|shorter|"
    r"cooler|colder|slower|lighter|cheaper|improv\w*|better|faster|quicker|earlier|before|prior|trim\w*|trail\w*|"
    r"lag(?:s|ged|ging)?|erod\w*|remov\w*|took|taken? (?:off|away)|off|left|short(?:ened|ens)?|back(?:wards?)?|"
    r"gesunken|sinkt|fiel|gefallen|rückgang|weniger|niedriger|baiss\w*|recul\w*|diminu\w*|chut\w*|moins|"
    r"baj[aóo]\w*|cay[óe]\w*|caí\w*|descen\w*|disminu\w*|menos)\b",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"\b(?:to|from|reach\w*|hits?|as low as|was|is|were|are|be|measured|auf|von|bei|à|hasta|until)[ ]"
    r"(?:(?:about|around|approximately|roughly|nearly|almost|just|only|below|under|over|above|an?|the|low|lows|record|"
    r"minimum|of|new|level|value|some|exactly)[ ]){0,5}[*_`]{0,3}[$€£]?$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"[ -]?(?:(?:degrees?|points?|percentage points|units?)[ ])?(?:below|under|beneath|down|lower|less|fewer|smaller|"
    r"shorter|cooler|colder|slower|worse|decrease|drop|fall|decline|reduction|cut|off|unter)\b",
    re.IGNORECASE,
)
_UNDER = re.compile(r"\b(?:below|under|beneath|unter)\b", re.IGNORECASE)
_HEADING = re.compile(r"[|\t,;]")
_ENGLISH = re.compile(
    r"\b(?:the|an?|of|in|is|was|are|were|at|to|and|for|it|on|by|with|from|that|has|had|have)\b", re.IGNORECASE
)
_NOT_LATIN = re.compile("[\u0400-\u052f\u0590-\u10ff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FEW_WORDS = 4
_AROUND = 2000


@dataclass(slots=True)
class Wording:
    """What the sentences of one text say of their numbers; each is read once, if its numbers come in order."""

    text: str
    question: str = ""
    _read: tuple[int, int] = (-1, -1)
    _amount: bool = False
    _move: bool = False
    _foreign: bool = False
    _asked: bool | None = field(default=None)

    def less(self, sentence: tuple[int, int], start: int, end: int, after: int) -> bool:
        """Whether words say of the number [start, end), its unit ending at ``after``, that it is less by it."""
        self._look_at(sentence)
        if self._amount or self._foreign or _BEHIND.match(self.text, max(end, after)) is not None:
            return True
        if not self._move and not self._in_question():
            return False
        return _LEVEL.search(self.text, max(sentence[0], start - 60), start) is None

    def _look_at(self, sentence: tuple[int, int]) -> None:
        if self._read == sentence:
            return
        self._read = sentence
        low, high = sentence[0], min(sentence[1], sentence[0] + _AROUND)
        # An item or a row is read with what leads to it.
        first = self.text[low:high].lstrip()[:1]
        above = max(0, low - 400) if first in ("|", "-", "*", "•", "+") or first.isdigit() else low
        self._amount = _AMOUNT.search(self.text, above, high) is not None
        self._move = _MOVE.search(self.text, above, high) is not None
        words = self.text[low:high]
        self._foreign = _foreign(words) or _NOT_LATIN.search(self.question[-500:]) is not None

    def _in_question(self) -> bool:
        if self._asked is None:
            asked = self.question[-500:]
            self._asked = _AMOUNT.search(asked) is not None or _MOVE.search(asked) is not None
        return self._asked


def _foreign(words: str) -> bool:
    """Whether words of less would be in a language that is not known here."""
    if _NOT_LATIN.search(words) is not None:
        return True
    return len(re.findall(r"[^\W\d_]{2,}", words)) >= _FEW_WORDS and _ENGLISH.search(words) is None


def heads_less(line: str) -> bool:
    """Whether a line heads rows or a list of things that are less ("Region | Decline")."""
    listed = len(_HEADING.findall(line)) >= 2 and ". " not in line
    if not listed and not line.rstrip(" *_").endswith(":"):
        return False
    return _AMOUNT.search(line) is not None or _MOVE.search(line) is not None


def speaks_of_less(text: str, low: int, high: int) -> bool:
    """Whether ``text[low:high]`` has a word of less at all."""
    return any(words.search(text, low, high) is not None for words in (_AMOUNT, _MOVE, _UNDER))
