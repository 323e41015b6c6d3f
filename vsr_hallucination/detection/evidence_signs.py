"""With which sign each number of a grounding stands, in which unit; and which of them words make less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from vsr_hallucination.detection.signs import Wording, heads_less, speaks_of_less
from vsr_hallucination.detection.text import pieces_of, sentences, split_long
from vsr_hallucination.detection.values import Value, values

_BARE, _COUNTS = "", "#"
# Where there is more to read than this, any number may be less.
_SEARCHED = 1 << 20  # characters searched for words of less
_READ = 1 << 16  # characters of the lines that have one
_LONGEST = 1000


@dataclass(slots=True)
class Signs:
    """Numbers without their sign, each with what it is measured in. ``lessened``: read at the first need."""

    negative: set[tuple[Decimal, str]] = field(default_factory=set)
    plain: set[tuple[Decimal, str]] = field(default_factory=set)
    _negatives: set[Decimal] = field(default_factory=set)
    _lessened: frozenset[Decimal] | None = None
    _all_lessened: bool = False

    def add(self, value: Value) -> None:
        tags = value.units or ((_COUNTS,) if value.counts or value.spelled else (_BARE,))
        found = [(number, tag) for number in (*value.readings, *value.parts) for tag in tags]
        if value.negative or value.unsure:
            self.negative.update(found)
            self._negatives.update(number for number, _ in found)
        if not value.negative:
            self.plain.update(found)

    def add_plain(self, numbers: Iterable[Decimal]) -> None:
        """Numbers that have no sign: parts of dates and names."""
        self.plain.update((number, _BARE) for number in numbers)

    def any_negative(self) -> bool:
        return bool(self._negatives)

    def hold(self, number: Decimal, value: Value, tags: Iterable[str], texts: Sequence[str]) -> bool:
        """Whether ``number``, known here in ``tags``, has the sign of ``value``. ``texts``: the grounding."""
        if value.unsure or not number:
            return True
        if value.negative:
            return number in self._negatives or self._is_less(number, texts)
        if number not in self._negatives:
            return True
        mine = (*value.units, _BARE) if value.units else (*tags, _BARE, _COUNTS)
        if any((number, tag) in self.plain for tag in mine):
            return True
        # "-5 °C" is no other sign of "5 crates": another unit is for ``Measures`` to judge.
        return bool(value.units) and all((number, tag) not in self.negative for tag in mine)

    def _is_less(self, number: Decimal, texts: Sequence[str]) -> bool:
        if self._lessened is None:
            self._lessened = frozenset(self._read(texts))
        return self._all_lessened or number in self._lessened

    def _read(self, texts: Sequence[str]) -> Iterable[Decimal]:
        found: set[Decimal] = set()
        searched = read = 0
        for text in texts:
            for low, high in pieces_of(text):
                searched += high - low
                if searched > _SEARCHED:
                    self._all_lessened = True
                    return found
                if not speaks_of_less(text, low, high):
                    continue
                piece = text[low:high]
                wording = Wording(piece)
                for start, end in split_long(piece, sentences(piece), _LONGEST):
                    if not speaks_of_less(piece, start, end):
                        continue
                    read += end - start
                    if read > _READ or heads_less(piece[start:end]):
                        self._all_lessened = True
                        return found
                    found.update(_lessened(piece, (start, end), wording))
        return found


def _lessened(text: str, sentence: tuple[int, int], wording: Wording) -> Iterable[Decimal]:
    low, high = sentence
    for value in values(text[low:high]):
        after = low + max(value.end, value.unit_end)
        if value.kind == "number" and wording.less(sentence, low + value.start, low + value.end, after):
            yield from (*value.readings, *value.parts)
