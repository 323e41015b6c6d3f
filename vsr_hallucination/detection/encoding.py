"""How question, evidence and answer become one input: pair encoding and novelty of answer words.

The input is a sentence pair: (question + newline + evidence window, answer piece). Our own detector is
also told, for each answer token, whether its word occurs anywhere in the WHOLE evidence or in the question:
token type 1 if it does, 2 if not (the type embedding has a third row). A window alone cannot tell the model
that, and it is what makes a number absent from every passage stand out.

Words are compared by reading, not by spelling: case, width, zero-width characters, light English endings,
and the forms of numbers (``9,500`` = ``9500`` = ``9.500,00`` = ``9.5 thousand``; ``three`` = ``3``;
``2024-05-03`` holds ``May``). Pure functions over text, linear in its length; nothing here knows torch.
Offsets are code points, half-open, into the text given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from vsr_hallucination.detection.numerals import SPELLED, spelled
from vsr_hallucination.detection.text import pieces_of

EVIDENCE_TYPE = 0
ANSWER_TYPE = 1
# Longer "words" are no numbers a person wrote (base64, hex dumps): compared as they stand.
_LONGEST_READ = 64

# Invisible characters that may sit inside a word: soft hyphen, zero-width ones, joiners, BOM, marks.
_INVISIBLE = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_INVISIBLE_RE = re.compile(f"[{_INVISIBLE}]")
# Scripts written without spaces: one character is one word.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_DIGITS = rf"\d(?:[{_INVISIBLE}]?\d)*"
# A number is one word with its separators: `9,500`, `9.500,00`, `1'000`, `9 500` with a no-break space.
_NUMBER = rf"{_DIGITS}(?:[.,'’\u00a0\u202f\u2009٫٬]{_DIGITS})*"
_LETTER = rf"[^\W\d_{_UNSPACED}]"
_REST = rf"(?:[^\W_{_UNSPACED}]|[{_INVISIBLE}\u0300-\u036f])"
_WORD_RE = re.compile(rf"{_NUMBER}(?:{_LETTER}{_REST}*)?|{_LETTER}{_REST}*(?:['’]{_LETTER}{_REST}*)*|[{_UNSPACED}]|\w")
_GROUPED_RE = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?![\w])")
_SCALED_RE = re.compile(
    r"(?<![\d.,])(\d[\d.,]{0,20})\s?(thousand|million|billion|trillion|mn|bn|[kmb])\b", re.IGNORECASE
)
_ISO_DATE_RE = re.compile(r"(?<!\d)\d{4}-(\d{2})(?:-\d{2})?(?!\d)")
_DOTTED_DATE_RE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")
_CAMEL_RE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_CITATION_RE = re.compile(r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,9}\]")
_LIST_MARK_RE = re.compile(r"^[ \t]{0,8}(\d{1,3})[.)](?=\s)", re.MULTILINE)
# A number in several words: single ones are read as words.
_SPELLED_RE = re.compile(rf"(?<![A-Za-z]){SPELLED}(?![A-Za-z])", re.IGNORECASE)
_MIXED_RE = re.compile(rf"({_NUMBER})({_LETTER}.*)")

_SCALE = {"thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "b": 9, "trillion": 12}
_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000", "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5",
    "once": "1", "twice": "2", "dozen": "12", "half": "50",
}  # fmt: skip
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_SHORT_MONTHS = {month[:3]: month for month in MONTHS} | {"sept": "september"}
_UNITS = {
    "%": "percent", "pct": "percent", "€": "euro", "eur": "euro", "euros": "euro", "$": "dollar", "usd": "dollar",
    "dollars": "dollar", "£": "pound", "gbp": "pound", "pounds": "pound", "km": "kilometre", "kg": "kilogram",
    "min": "minute", "mins": "minute", "hrs": "hour", "h": "hour", "percentage": "percent",
}  # fmt: skip
_COMPASS = {"NW": "northwest", "NE": "northeast", "SW": "southwest", "SE": "southeast"}
# Words that carry no claim of their own; a JSON record has none of them, so their absence says nothing.
FUNCTION_WORDS = frozenset(
    "a about above according after again against all also although am among an and any are aren't around as at be "
    "because been before being below between both but by can cannot could couldn't did didn't do does doesn't doing "
    "don't down during each either else etc even ever every for from further had hadn't has hasn't have haven't "
    "having he her here hers herself him himself his how however i i'd i'll i'm i've if in into is isn't it it's its "
    "itself just let let's like may me might more most must my myself no nor not now of off on once only or other "
    "our ours out over own per please rather same she should shouldn't since so some such than that that's the their "
    "theirs them themselves then there there's therefore these they they're this those though through thus to too "
    "under until up upon us very via was wasn't we we'll we're were weren't what what's when where whether which "
    "while who whom whose why will with within without won't would wouldn't yes yet you you're your yours yourself "
    "s t re ve ll d m".split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of an answer: its span, and whether neither evidence nor question has it."""

    start: int
    end: int
    novel: bool


@dataclass(frozen=True, slots=True)
class EvidenceWords:
    """The readings of every word in a grounding (and question): built once per exchange, then asked often."""

    readings: frozenset[str]

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> EvidenceWords:
        """Collects the words of all passages and of the question. About 0.5 s for a million characters."""
        found: set[str] = set()
        for text in texts:
            clean = _INVISIBLE_RE.sub("", text) if not text.isascii() else text
            words = set(_WORD_RE.findall(clean))
            for word in words:
                found.update(readings(word))
                for part in _listed(word):
                    found.update(readings(part))
                if len(word) <= _LONGEST_READ and word != word.lower() and not word.isupper():
                    for part in _CAMEL_RE.findall(word):
                        found.update(readings(part))
            found.update(_combined_readings(clean))
        return cls(frozenset(found))

    def novel(self, word: str) -> bool:
        """Whether ``word`` says something that no passage and not the question says."""
        forms = readings(word)
        if not forms or any(form in self.readings for form in forms):
            return False
        parts = _listed(word)
        return not parts or any(self.novel(part) for part in parts)

    def words(self, answer: str) -> tuple[Word, ...]:
        """Every word of ``answer`` in order, with its novelty. Citations and list marks are never novel."""
        spared: set[int] = set()
        joined: dict[int, tuple[str, ...]] = {}
        for low, high in pieces_of(answer):
            spared |= {low + at for at in _spared(answer[low:high])}
            joined |= {low + at: forms for at, forms in _joined(answer[low:high]).items()}
        cache: dict[str, bool] = {}
        result: list[Word] = []
        for match in _WORD_RE.finditer(answer):
            start, end = match.span()
            word = match.group()
            if start in spared:
                result.append(Word(start, end, False))
                continue
            novel = cache.get(word)
            if novel is None:
                novel = cache[word] = self.novel(word)
            if novel and start in joined:
                novel = not any(form in self.readings for form in joined[start])
            result.append(Word(start, end, novel))
        return tuple(result)


def spare(words: Sequence[Word], known: Sequence[tuple[int, int]]) -> tuple[Word, ...]:
    """The words, none novel that lies within a stretch of ``known`` (both in text order)."""
    result: list[Word] = []
    at = 0
    for word in words:
        while at < len(known) and known[at][1] <= word.start:
            at += 1
        inside = word.novel and at < len(known) and known[at][0] <= word.start and word.end <= known[at][1]
        result.append(Word(word.start, word.end, False) if inside else word)
    return tuple(result)


def readings(word: str) -> tuple[str, ...]:
    """The keys under which a word is known; two words agree if they share one. Empty for function words."""
    key = unicodedata.normalize("NFKC", _INVISIBLE_RE.sub("", word)).casefold().replace("’", "'")
    if not key:
        return ()
    if len(key) > _LONGEST_READ:
        return (key,)
    if key[0].isdecimal():
        return _number_readings(key)
    if key in FUNCTION_WORDS:
        return ("may",) if key == "may" and word[:1] == "M" else ()
    if key.endswith("'s"):
        key = key[:-2]
    forms = [_stem(_UNITS.get(key, _SHORT_MONTHS.get(key, key)))]
    if word in _COMPASS:
        forms.append(_COMPASS[word])
    if key in _NUMBER_WORDS:
        forms.append(_NUMBER_WORDS[key])
    return tuple(forms)


def premise_text(question: str, window: str) -> str:
    """First text of the pair. Directories without a question convention get the same."""
    return f"{question}\n{window}" if question else window


def token_types(offsets: Sequence[tuple[int, int]], words: Sequence[Word], novel_type: int) -> list[int]:
    """Token types of answer tokens: ``novel_type`` where the token lies in a novel word, else 1.

    ``offsets`` and ``words`` are in text order and count from the same origin; both are read once.
    """
    types: list[int] = []
    position = 0
    for start, end in offsets:
        while position < len(words) and words[position].end <= start:
            position += 1
        inside = position < len(words) and words[position].start < end and start < words[position].end
        types.append(novel_type if inside and words[position].novel else ANSWER_TYPE)
    return types


def answer_pieces(offsets: Sequence[tuple[int, int]], text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Cuts an answer of many tokens into pieces of at most ``limit`` tokens: (first, last + 1) token indexes.

    Cuts after a sentence or line where one ends in the second half of the piece, else between words.
    """
    start = 0
    while start < len(offsets):
        end = min(start + limit, len(offsets))
        if end < len(offsets):
            end = _cut(offsets, text, start, end)
        yield start, end
        start = end


def _cut(offsets: Sequence[tuple[int, int]], text: str, start: int, end: int) -> int:
    between_words = end
    for i in range(end, start + max(1, (end - start) // 2), -1):
        gap = text[offsets[i - 1][1] : offsets[i][0]]
        before = text[max(0, offsets[i - 1][1] - 1) : offsets[i - 1][1]]
        if "\n" in gap or (gap and before in ".!?。！？"):
            return i
        if gap and between_words == end:
            between_words = i
    return between_words


def _number_readings(key: str) -> tuple[str, ...]:
    mixed = _MIXED_RE.fullmatch(key)
    if mixed is None:
        return _values(key)
    number, letters = mixed.groups()
    if letters in ("st", "nd", "rd", "th", "s"):
        return (*_values(number), key)
    if letters in _SCALE:
        return (*_scaled(number, letters), key)
    return (key, *(f"{value}{_UNITS.get(letters, letters)}" for value in _values(number)))


def _values(number: str) -> tuple[str, ...]:
    """Canonical decimals a written number may mean: ``1.234`` may be 1234 or 1.234."""
    digits = [c if c.isdecimal() else "." if c in ".٫" else "," for c in number]
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in digits)
    marks = [c for c in text if c in ".,"]
    if not marks:
        return (_plain(text),)
    forms = {_plain(text.replace(".", "").replace(",", ""))} if _grouped(text) else set()
    last = max(text.rfind("."), text.rfind(","))
    whole, fraction = text[:last], text[last + 1 :]
    if marks.count(text[last]) == 1 and (not set(marks) - {text[last]} or _grouped(whole)):
        bare = whole.replace(".", "").replace(",", "")
        forms.add(_plain(f"{bare}.{fraction}"))
    return tuple(sorted(forms)) or (text,)


def _listed(word: str) -> list[str]:
    """Numbers a comma may only list (``2018,428,2`` in CSV), or the parts of a dotted date; else nothing."""
    if len(word) > _LONGEST_READ or not word[0].isdecimal():
        return []
    if "," in word and not _grouped(word):
        return [part for part in word.split(",") if part]
    return word.split(".") if _DOTTED_DATE_RE.fullmatch(word) else []


def _grouped(text: str) -> bool:
    head, *groups = re.split("[.,]", text)
    return 1 <= len(head) <= 3 and bool(groups) and all(len(group) == 3 for group in groups)


def _plain(text: str) -> str:
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def _scaled(number: str, scale: str) -> tuple[str, ...]:
    exponent = _SCALE[scale.lower()]
    return tuple(
        _plain(f"{Decimal(value).scaleb(exponent):f}") for value in _values(number.rstrip(".,")) if len(value) < 30
    )


def _combined_readings(text: str) -> Iterator[str]:
    """Readings that take more than one word: spaced groups, scaled numbers, the month of an ISO date."""
    for match in _GROUPED_RE.finditer(text):
        yield _plain(match.group().replace(" ", ""))
    for match in _SCALED_RE.finditer(text):
        yield from _scaled(match.group(1), match.group(2))
    for match in _ISO_DATE_RE.finditer(text):
        month = int(match.group(1))
        if 1 <= month <= 12:
            yield _stem(MONTHS[month - 1])
            yield str(month)
    for match in _SPELLED_RE.finditer(text):
        yield from _spelled_out(match.group())
    for sign in "%€$£":
        if sign in text:
            yield _UNITS[sign]


def _joined(answer: str) -> dict[int, tuple[str, ...]]:
    """Readings of words that mean something together with their neighbours, by the words' start."""
    result: dict[int, tuple[str, ...]] = {}
    for match in _GROUPED_RE.finditer(answer):
        whole = (_plain(match.group().replace(" ", "")),)
        result |= {match.start() + part.start(): whole for part in re.finditer(r"\d+", match.group())}
    for match in _SCALED_RE.finditer(answer):
        result[match.start(1)] = _scaled(match.group(1), match.group(2))
        result[match.start(2)] = result[match.start(1)]
    for match in _ISO_DATE_RE.finditer(answer):
        month = int(match.group(1))
        if 1 <= month <= 12:
            result[match.start(1)] = (_stem(MONTHS[month - 1]), str(month))
    for match in _SPELLED_RE.finditer(answer):
        value = _spelled_out(match.group())
        if value:
            result |= {match.start() + part.start(): value for part in re.finditer("[A-Za-z]+", match.group())}
    return result


def _spelled_out(phrase: str) -> tuple[str, ...]:
    """The value of ``four hundred and twelve``; empty where the words are no single number."""
    value = spelled(phrase)
    return () if value is None else (_plain(f"{value:f}"),)


def _spared(answer: str) -> frozenset[int]:
    """Starts of numbers that are citations (``[2]``) or list marks (``3.``), not claims."""
    starts = {
        match.start() + part.start()
        for match in _CITATION_RE.finditer(answer)
        for part in re.finditer(r"\d+", match.group())
    }
    return frozenset(starts | {match.start(1) for match in _LIST_MARK_RE.finditer(answer)})


def _stem(word: str) -> str:
    """A light English stem: plural, past and -ing endings off. Over-merging is cheap here, misses are not."""
    if len(word) < 4 or not word.isascii():
        return word
    for ending, shortest in (("ingly", 9), ("edly", 8), ("ing", 6), ("ied", 5), ("ies", 5), ("ed", 5), ("es", 5),
                             ("ly", 6), ("er", 7), ("s", 4)):  # fmt: skip
        if word.endswith(ending) and len(word) >= shortest and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word
