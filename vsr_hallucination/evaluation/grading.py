"""The exact judge: is this reply the gold answer, by text, letter, number, date or time; no model asked.

The rules, in order; the first that applies to the *gold* answer decides:

1. Both are the same text, folded (Unicode, case, quotes, markup, end punctuation, a lead-in such as "Answer:", an
   article in front).
2. Gold is one letter: the reply's letter, as ``A``, ``A.``, ``(A)``, ``Answer: A``, ``**A**``, ``A) text``,
   ``the answer is A``. Two different letters are no answer.
3. Gold is one number (with sign, separators, unit, currency or percent): the reply's number, which is what stands in
   ``\\boxed{}``, else after the last "answer is" or "=", else what the reply begins with, else the only number in it.
   Compared exactly, never as floats. Numbers are read by the detector's value check (``detection.numerals``), and
   ambiguity is settled by its rule: ``8.000`` and ``8,000`` may each mean 8000 or 8, and either may match; ``1,2`` is
   1.2, never 12. Percent: ``28%``, ``28 percent``, ``28`` and ``0.28`` are the same answer to gold ``28%``. Spelled
   numbers count ("seventy-two"). Units count only where both sides name a known one.
4. Gold is one date or time of day: the only one of the reply, the same in every part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from vsr_hallucination.detection.fold import fold
from vsr_hallucination.detection.numerals import MAGNITUDE, style_of
from vsr_hallucination.detection.values import Value, values
from vsr_hallucination.evaluation.abstention import folded

_LONGEST = 16_000  # characters of a reply that are looked at
_LEAD = re.compile(
    r"^(?:(?:so|therefore|thus|hence|the|my|final|correct|best|right|答案|最终答案|正确答案)[\s,:，：]*)*"
    r"(?:answer|option|choice|result|response|答案|选项)?\s*(?:is|are|would be|:|：|=|是|为)\s*"
)
_ARTICLE = re.compile(r"^(?:the|an?)\s+")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\}){1,200})\}")
_MARKED = re.compile(r"(?i)(?:answer(?:\s+is|\s*[:：])|answer\s*=|答案(?:是|为|[:：])|(?<![<>!=])=)\s*")
_LATEX = re.compile(r"\$([^$\n]{1,200})\$")
_HUNDRED = Decimal(100)

_LETTER = r"[A-Ja-j]"
_LETTER_WHOLE = re.compile(rf"({_LETTER})(?:\s*[).:,：，、-].*|)", re.DOTALL)
_LETTER_SAID = re.compile(
    rf"(?i:\b(?:answer|option|choice)(?:\s+is)?\s*[:：]?|答案\s*(?:是|为|选)?\s*[:：]?|选项?)\s*\(?({_LETTER})(?![\w'’])"
)
_CLOTHES = re.compile(r"[*_`\"'“”‘’\[(\]{}$#>]|\\(?:boxed|text|mathrm|textbf)")

_UNIT_FORMS = {
    "km": "km kilometer kilometers kilometre kilometres 公里 千米",
    "m": "m meter meters metre metres 米",
    "cm": "cm centimeter centimeters centimetre centimetres 厘米",
    "mm": "mm millimeter millimeters millimetre millimetres 毫米",
    "mi": "mi mile miles 英里",
    "ft": "ft foot feet 英尺",
    "in": "inch inches",
    "kg": "kg kilogram kilograms 公斤 千克",
    "g": "g gram grams 克",
    "mg": "mg milligram milligrams 毫克",
    "lb": "lb lbs pound pounds",
    "t": "t ton tons tonne tonnes 吨",
    "l": "l liter liters litre litres 升",
    "ml": "ml milliliter milliliters millilitre millilitres 毫升",
    "s": "s sec second seconds 秒",
    "min": "min minute minutes 分钟",
    "h": "h hr hrs hour hours 小时",
    "day": "day days 天",
    "week": "week weeks 周",
    "month": "month months 个月",
    "year": "year years yr yrs 年",
    "celsius": "°c celsius",
    "fahrenheit": "°f fahrenheit",
    "kelvin": "k kelvin",
    "usd": "$ us$ usd dollar dollars 美元",
    "eur": "€ eur euro euros 欧元",
    "gbp": "£ gbp",
    "cny": "¥ cny rmb yuan 元 人民币",
    "inr": "₹ inr rupee rupees",
    "hz": "hz hertz",
    "kw": "kw kilowatt kilowatts",
    "w": "w watt watts",
    "kb": "kb",
    "mb": "mb",
    "gb": "gb",
    "tb": "tb",
    "degree": "° degree degrees",
}
_UNITS = {form: unit for unit, forms in _UNIT_FORMS.items() for form in forms.split()}
_PERCENT = frozenset(("%", "percent", "pct", "per cent", "‰"))
_AFTER = re.compile(r"[ \u00a0]?(°[cf]?|[$€£¥₹%‰]|[^\W\d_]+(?: cent\b)?)", re.IGNORECASE)
_BEFORE = re.compile(r"(US\$|[$€£¥₹]|EUR|USD|GBP|CNY|RMB|INR)[ \u00a0]?$", re.IGNORECASE)


def exact(reply: str, gold: str) -> bool:
    """Whether ``reply`` is right by the rules above. Pure; never raises; False for an empty gold."""
    reply = reply[:_LONGEST]
    wanted = _plain(gold)
    if not wanted:
        return bool(gold.strip()) and reply.strip() == gold.strip()
    if _plain(reply) == wanted:
        # "-3" and "3", "$5" and "5%" fold to one text: what a number means is settled below.
        number = _gold_number(gold)
        return number is None or _numeric(reply, number)
    if len(wanted) == 1 and "a" <= wanted <= "j":
        return letter_of(reply) == wanted.upper()
    number = _gold_number(gold)
    if number is not None:
        return _numeric(reply, number)
    return _same_moment(reply, gold)


def letter_of(reply: str) -> str | None:
    """The option letter (A to J) that a reply gives; None if it gives none or more than one."""
    boxed = _BOXED.findall(reply)
    bare = _CLOTHES.sub("", boxed[-1] if boxed else reply).strip(" \t\r\n.")
    whole = _LETTER_WHOLE.fullmatch(bare)
    if whole is not None:
        return whole.group(1).upper()
    said = {match.group(1).upper() for match in _LETTER_SAID.finditer(_CLOTHES.sub("", reply))}
    if len(said) == 1:
        return said.pop()
    last = _CLOTHES.sub("", reply.strip().rpartition("\n")[2]).strip(" \t\r\n.")
    alone = _LETTER_WHOLE.fullmatch(last)
    return alone.group(1).upper() if alone and not said else None


@dataclass(frozen=True, slots=True)
class Number:
    """A signed number with the unit it names, if a known one. ``start``, ``end``: code points in its text."""

    readings: tuple[Decimal, ...]
    percent: bool
    unit: str | None
    start: int
    end: int

    def same(self, other: Number) -> bool:
        """Equal by a reading of each; a percentage also as a fraction; units only where both are known."""
        mine_is, theirs_is = (n.unit or ("percent" if n.percent else None) for n in (self, other))
        if mine_is and theirs_is and mine_is != theirs_is:
            return False
        mine, theirs = set(self.readings), set(other.readings)
        if mine & theirs:
            return True
        if self.percent and not other.percent:
            return bool({n / _HUNDRED for n in mine} & theirs)
        if other.percent and not self.percent:
            return bool({n / _HUNDRED for n in theirs} & mine)
        return False


def numbers(text: str) -> list[Number]:
    """Every number in ``text``, in order."""
    found = []
    for value in values(text, style_of(text)):
        readings = _readings(value)
        if readings:
            found.append(_signed(text, value, readings))
    return found


def _readings(value: Value) -> tuple[Decimal, ...]:
    if value.kind == "number":
        return value.readings
    if value.kind == "identifier":
        # Ids keep their leading zeros; a long figure without one is compared as the whole number it is.
        if value.key.isdigit() and not value.key.startswith("0"):
            return (Decimal(value.key),)
        if re.fullmatch(r"\d+(?:\.\d+)?e\d{1,3}", value.key):
            try:
                return (Decimal(value.key),)
            except InvalidOperation:
                return ()
    return ()


def _signed(text: str, value: Value, readings: tuple[Decimal, ...]) -> Number:
    head = fold(text[max(0, value.start - 8) : value.start]).text
    currency = _BEFORE.search(head)
    if currency is not None:
        head = head[: currency.start()]
    negative = head.endswith(("-", "−")) and not head[:-1][-1:].isalnum()
    if head.lower().endswith("minus "):
        negative = True
    if negative:
        readings = tuple(-n for n in readings)
    after = _AFTER.match(text, value.end)
    word = after.group(1).casefold() if after else ""
    if word in MAGNITUDE and after is not None:  # "5 million euros"
        after = _AFTER.match(text, after.end())
        word = after.group(1).casefold() if after else ""
    unit = _UNITS.get(currency.group(1).casefold()) if currency else _UNITS.get(word)
    percent = value.percent or word in _PERCENT
    end = after.end() if after is not None and (word in _UNITS or word in _PERCENT) else value.end
    return Number(readings, percent, unit, value.start, max(end, value.end))


def _gold_number(gold: str) -> Number | None:
    """The number that ``gold`` is, if it is one number and nothing else but sign, currency and unit."""
    text = _unmarked(gold)
    found = numbers(text)
    if len(found) != 1:
        return None
    head = _BEFORE.sub("", text[: found[0].start].rstrip(" -−+").replace("minus", ""))
    rest = folded(head + " " + text[found[0].end :])
    rest = " ".join(word for word in rest.split() if word not in MAGNITUDE and word not in _UNITS)
    return None if rest else found[0]


def _numeric(reply: str, gold: Number) -> bool:
    given = _given_number(reply)
    return given is not None and given.same(gold)


def _given_number(reply: str) -> Number | None:
    boxed = _BOXED.findall(reply)
    text = _unmarked(boxed[-1] if boxed else reply)
    marks = list(_MARKED.finditer(text))
    if marks:
        after = numbers(text[marks[-1].end() :])
        if after:
            return after[0]
    found = numbers(text)
    if not found:
        return None
    first = found[0]
    if not folded(text[: first.start]).strip("$€£¥₹+-− ") or all(
        first.same(n) and n.same(first) for n in found
    ):
        return first
    return None


def _unmarked(text: str) -> str:
    boxed = _BOXED.fullmatch(text.strip())
    text = boxed.group(1) if boxed else text
    return _LATEX.sub(r"\1", text).replace("**", "").replace("__", "").replace("`", "").strip()


def _plain(text: str) -> str:
    plain = folded(_unmarked(text))
    lead = _LEAD.match(plain)
    if lead and lead.end() < len(plain):
        plain = folded(plain[lead.end() :])
    return _ARTICLE.sub("", plain) or plain


def _same_moment(reply: str, gold: str) -> bool:
    wanted = list(values(gold))
    if len(wanted) != 1 or wanted[0].kind not in {"date", "time"}:
        return False
    if folded(gold[: wanted[0].start] + gold[wanted[0].end :]):
        return False
    given = [value for value in values(reply) if value.kind == wanted[0].kind]
    if len({(value.dates, value.minutes) for value in given}) != 1:
        return False
    if wanted[0].kind == "time":
        return bool(set(given[0].minutes) & set(wanted[0].minutes))
    return bool(set(given[0].dates) & set(wanted[0].dates))
