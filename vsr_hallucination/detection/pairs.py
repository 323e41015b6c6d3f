"""Tokens of long texts, and pairs of them as any encoder wants them.

Works with every fast tokenizer (WordPiece, BPE, Unigram): what stands before, between and after the two texts, and
their token types, is read off the tokenizer's own encoding of a small pair, never assumed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vsr_hallucination.detection.batching import Row
from vsr_hallucination.detection.text import replace_surrogates, sentences, split_long

_SEGMENT = 2000  # code points tokenised as one text; cuts fall before white space, where tokenizers cut anyway
_BATCH = 64  # segments a call: the tokenizer lets go of the interpreter within it, and deadlines are looked at between


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one text: ids and code-point offsets into it."""

    ids: array[int]
    starts: array[int]
    ends: array[int]

    def __len__(self) -> int:
        return len(self.ids)

    def offsets(self, first: int = 0, last: int | None = None) -> list[tuple[int, int]]:
        return list(zip(self.starts[first:last], self.ends[first:last], strict=True))


@dataclass(frozen=True, slots=True)
class _Template:
    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    alone_after: tuple[int, ...]
    first_type: int
    second_type: int


class PairEncoder:
    """Tokenises and assembles inputs for one model. ``tokenizer``: a ``tokenizers.Tokenizer``. Thread-safe.

    ``max_length`` counts tokens of a whole input, special ones included.
    """

    def __init__(self, tokenizer: Any, max_length: int, *, novelty_type: int | None = None) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._template = _template_of(tokenizer)
        self.max_length = max_length
        self.novelty_type = novelty_type
        unknown = getattr(tokenizer.model, "unk_token", None)
        self.unknown_id: int | None = tokenizer.token_to_id(unknown) if unknown else None

    @property
    def room(self) -> int:
        """Tokens of text that fit into a pair."""
        t = self._template
        return self.max_length - len(t.before) - len(t.between) - len(t.after)

    @property
    def room_alone(self) -> int:
        """Tokens of text that fit into a single input."""
        return self.max_length - len(self._template.before) - len(self._template.alone_after)

    def tokens(self, text: str, alive: Callable[[], None] = lambda: None) -> Tokens:
        """All tokens of ``text``, however long, without special tokens."""
        found = Tokens(array("q"), array("q"), array("q"))
        text = replace_surrogates(text)
        segments = list(_segments(text))
        for n in range(0, len(segments), _BATCH):
            alive()
            batch = segments[n : n + _BATCH]
            encodings = self._tokenizer.encode_batch([text[a:b] for a, b in batch], add_special_tokens=False)
            for (start, _), encoding in zip(batch, encodings, strict=True):
                found.ids.extend(encoding.ids)
                for low, high in encoding.offsets:
                    found.starts.append(start + low)
                    found.ends.append(start + high)
        return found

    def pair(self, first: Sequence[int], second: Sequence[int], second_types: Iterable[int] | None = None) -> Row:
        """One input of two texts. ``second_types``: token types of the second one (novelty), else the model's own."""
        t = self._template
        ids = (*t.before, *first, *t.between, *second, *t.after)
        head = len(t.before) + len(first) + len(t.between)
        types = np.full(len(ids), t.second_type, dtype=np.int64)
        types[:head] = t.first_type
        if second_types is not None:
            types[head : head + len(second)] = np.fromiter(second_types, dtype=np.int64, count=len(second))
        return Row(np.asarray(ids, dtype=np.int64), types)

    def second_at(self, first_tokens: int) -> int:
        """Position of the second text's first token in a pair whose first text has that many."""
        return len(self._template.before) + first_tokens + len(self._template.between)

    def single(self, ids: Sequence[int]) -> Row:
        """One input of one text."""
        t = self._template
        whole = np.asarray((*t.before, *ids, *t.alone_after), dtype=np.int64)
        return Row(whole, np.full(len(whole), t.first_type, dtype=np.int64))


def _segments(text: str) -> Iterable[tuple[int, int]]:
    if len(text) <= _SEGMENT:
        return [(0, len(text))] if text else []
    merged: list[tuple[int, int]] = []
    for start, end in split_long(text, sentences(text), _SEGMENT):
        # The white space after a sentence goes with the next one: byte-level BPE spells " The" as one token.
        end = start + len(text[start:end].rstrip()) if end < len(text) else end
        start = merged[-1][1] if merged else 0
        if merged and end - merged[-1][0] <= _SEGMENT:
            merged[-1] = (merged[-1][0], end)
        elif end > start:
            merged.append((start, end))
    return merged


def _template_of(tokenizer: Any) -> _Template:
    pair = tokenizer.encode("a", "b")
    alone = tokenizer.encode("a")
    sides = list(pair.sequence_ids)
    first = [n for n, side in enumerate(sides) if side == 0]
    second = [n for n, side in enumerate(sides) if side == 1]
    ids = list(pair.ids)
    last = max(n for n, side in enumerate(alone.sequence_ids) if side == 0)
    return _Template(
        before=tuple(ids[: first[0]]),
        between=tuple(ids[first[-1] + 1 : second[0]]),
        after=tuple(ids[second[-1] + 1 :]),
        alone_after=tuple(alone.ids[last + 1 :]),
        first_type=pair.type_ids[first[0]],
        second_type=pair.type_ids[second[0]],
    )


def pad(rows: Sequence[Row], pad_id: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Padded ids, mask and types, each (rows, longest), int64."""
    longest = max(len(row.ids) for row in rows)
    ids = np.full((len(rows), longest), pad_id, dtype=np.int64)
    mask = np.zeros((len(rows), longest), dtype=np.int64)
    types = np.zeros((len(rows), longest), dtype=np.int64)
    for n, row in enumerate(rows):
        size = len(row.ids)
        ids[n, :size], mask[n, :size], types[n, :size] = row.ids, 1, row.types
    return ids, mask, types
