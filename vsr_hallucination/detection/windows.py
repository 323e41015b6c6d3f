"""Which windows of the evidence are read with which piece of the answer.

The answer is read whole: longer than its share of the input it is cut into pieces at sentence or line ends, each with
some context around it; every token is judged in the one piece that owns it. The evidence is one stream (passages apart
by a newline) under overlapping windows, so that a fact cut by one border is whole in a neighbour. What the
windows say of a piece is united by ``union.unite``.

Cost is bounded by ``max_windows`` (windows × pieces). Over it, each piece keeps the windows that hold the lines sharing
most with it (rare words and numbers first), and ``Coverage.grounding`` says how much was read: the mean over pieces
of the share of characters read, passages that could not be read at all counted as average ones. Pieces beyond the
budget (``max_pieces``) are not read: ``Coverage.answer`` < 1.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from vsr_hallucination.detection.encoding import answer_pieces
from vsr_hallucination.detection.pairs import PairEncoder, Tokens
from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.types import Coverage, Grounding

PIECE_CONTEXT = 12  # tokens around a piece of a long answer
_OVERLAP = 0.25  # of a window, shared with the next one
_CHARS_PER_TOKEN = 4
_LINES_PER_PIECE = 64  # candidate lines per piece when not all windows can be read
_BLOCK = 1500  # characters of evidence tokenised together when not all of it is

Alive = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Piece:
    """Answer tokens [first, last) as read; it owns [own_first, own_last)."""

    first: int
    last: int
    own_first: int
    own_last: int


@dataclass(frozen=True, slots=True)
class Block:
    """Characters [start, end) of a passage, tokenised as evidence tokens [first, last)."""

    passage: int
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Stream:
    """The evidence as tokens: block after block. ``starts`` are offsets within the block's passage."""

    ids: array[int]
    starts: array[int]
    blocks: tuple[Block, ...]

    def token_at(self, passage: int, offset: int) -> int | None:
        """The evidence token at a character of a passage; None where that was not tokenised."""
        n = bisect_right(self.blocks, (passage, offset), key=lambda block: (block.passage, block.start)) - 1
        if n < 0 or self.blocks[n].passage != passage or offset >= self.blocks[n].end:
            return None
        block = self.blocks[n]
        return min(bisect_left(self.starts, offset, block.first, block.last), max(block.first, block.last - 1))


@dataclass(frozen=True, slots=True)
class Plan:
    """``reads``: (piece number, first and last + 1 evidence token) of every model input."""

    pieces: tuple[Piece, ...]
    reads: tuple[tuple[int, int, int], ...]
    stream: Stream
    coverage: Coverage


def cut_answer(tokens: Tokens, text: str, limit: int) -> list[Piece]:
    """Pieces of an answer: one if it fits ``limit`` tokens, else owners of limit − 2 × context tokens each."""
    size = len(tokens)
    if size <= limit:
        return [Piece(0, size, 0, size)]
    context = min(PIECE_CONTEXT, limit // 4)
    own = answer_pieces(tokens.offsets(), text, limit - 2 * context)
    return [Piece(max(0, a - context), min(size, b + context), a, b) for a, b in own]


def windows_over(total: int, room: int) -> list[tuple[int, int]]:
    """Overlapping windows of ``room`` tokens over ``total``; the last one is flush with the end."""
    if total <= room:
        return [(0, total)]
    step = max(1, room - int(room * _OVERLAP))
    return [(at, at + room) for at in (*range(0, total - room, step), total - room)]


def plan(
    answer: str,
    tokens: Tokens,
    index: EvidenceIndex,
    encoder: PairEncoder,
    *,
    question_tokens: int,
    max_answer: int,
    max_windows: int,
    max_pieces: int | None = None,
    alive: Alive = lambda: None,
) -> Plan:
    """The model inputs of one check. ``max_answer``: tokens of an answer piece; the rest of the room is evidence's."""
    grounding = index.grounding
    pieces = cut_answer(tokens, answer, max_answer)
    kept = pieces[: max_pieces or max_windows]
    room = max(8, encoder.room - question_tokens - max((p.last - p.first for p in kept), default=0))
    per_piece = max(1, max_windows // max(1, len(kept)))
    lines = _Lines([_text_of(piece, tokens, answer) for piece in kept], index, alive)
    stream = _read(index, encoder, lines, max_windows * room * _CHARS_PER_TOKEN, alive)
    windows = windows_over(len(stream.ids), room)
    reads: list[tuple[int, int, int]] = []
    shares: list[float] = []
    for n in range(len(kept)):
        alive()
        chosen = windows if len(windows) <= per_piece else lines.windows(n, windows, stream, per_piece)
        reads.extend((n, low, high) for low, high in chosen)
        if chosen is not windows or not shares:
            shares.append(_read_share(chosen, stream, grounding))
    grounding_share = sum(shares) / len(shares) if shares else 0.0
    if grounding.unread:
        grounding_share *= len(grounding.passages) / (len(grounding.passages) + len(grounding.unread))
    coverage = Coverage(_answer_share(pieces, kept, tokens, answer), grounding_share)
    return Plan(tuple(kept), tuple(reads), stream, coverage)


class _Lines:
    """The evidence lines that share most with each piece; looked up only where not everything can be read."""

    def __init__(self, pieces: list[str], index: EvidenceIndex, alive: Alive) -> None:
        self._pieces = pieces
        self._index = index
        self._alive = alive
        self._found: dict[int, list[Unit]] = {}

    def of(self, piece: int) -> list[Unit]:
        """Lines for a piece, best first."""
        found = self._found.get(piece)
        if found is None:
            self._alive()
            found = self._index.nearest(self._index.terms(self._pieces[piece]), _LINES_PER_PIECE)
            self._found[piece] = found
        return found

    def ranked(self, rank: int) -> Iterator[Unit]:
        """The line of that rank of every piece that has one."""
        for piece in range(len(self._pieces)):
            found = self.of(piece)
            if rank < len(found):
                yield found[rank]

    def windows(self, piece: int, windows: list[tuple[int, int]], stream: Stream, count: int) -> list[tuple[int, int]]:
        """``count`` windows for a piece: those around its lines, then the first ones."""
        chosen: dict[tuple[int, int], None] = {}
        for unit in self.of(piece):
            token = stream.token_at(unit.passage, unit.start)
            if token is not None and len(chosen) < count:
                # The window that begins last before the line has most of what follows it; the one before that, more
                # of its context: whichever holds the line nearer to its middle.
                at = max(0, bisect_right(windows, token, key=lambda window: window[0]) - 1)
                around = [windows[n] for n in (at, at - 1) if n >= 0 and windows[n][1] > token]
                best = min(around, key=lambda w: abs((w[0] + w[1]) / 2 - token), default=windows[at])
                chosen[best] = None
        for window in windows:
            if len(chosen) >= count:
                break
            chosen[window] = None
        return sorted(chosen)


def _text_of(piece: Piece, tokens: Tokens, answer: str) -> str:
    return answer[tokens.starts[piece.first] : tokens.ends[piece.last - 1]] if piece.last > piece.first else ""


def _read(index: EvidenceIndex, encoder: PairEncoder, lines: _Lines, budget: int, alive: Alive) -> Stream:
    """Tokenises all evidence, or (over ``budget`` characters) the blocks around the lines nearest to the answer."""
    passages = index.grounding.passages
    if sum(len(passage.text) for passage in passages) <= budget:
        wanted = [(n, 0, len(passage.text)) for n, passage in enumerate(passages)]
    else:
        wanted = _blocks_within(index, lines, budget)
    ids, starts = array("q"), array("q")
    blocks: list[Block] = []
    for n, start, end in wanted:
        found = encoder.tokens(passages[n].text[start:end] + "\n", alive)
        blocks.append(Block(n, start, end, len(ids), len(ids) + len(found)))
        ids.extend(found.ids)
        starts.extend(start + offset for offset in found.starts)
    return Stream(ids, starts, tuple(blocks))


def _blocks_within(index: EvidenceIndex, lines: _Lines, budget: int) -> list[tuple[int, int, int]]:
    """Blocks worth about ``budget`` characters: each piece's best lines in turn, then from the beginning."""
    passages = index.grounding.passages
    picked: dict[tuple[int, int], int] = {}
    size = 0

    def pick(passage: int, block: int) -> bool:
        nonlocal size
        if (passage, block) not in picked:
            picked[passage, block] = min(_BLOCK, len(passages[passage].text) - block * _BLOCK)
            size += picked[passage, block]
        return size < budget

    ranked = ((unit.passage, unit.start // _BLOCK) for rank in range(_LINES_PER_PIECE) for unit in lines.ranked(rank))
    plain = ((n, b) for n, passage in enumerate(passages) for b in range(-(-len(passage.text) // _BLOCK)))
    for passage, block in chain(ranked, plain):
        if not pick(passage, block):
            break
    return [(n, b * _BLOCK, b * _BLOCK + length) for (n, b), length in sorted(picked.items())]


def _answer_share(pieces: Sequence[Piece], kept: Sequence[Piece], tokens: Tokens, answer: str) -> float:
    """Share of the answer under the tokens that are read. Letters and digits that no token stands for (a tokenizer
    whose normalizer drops them) are not read either; space and punctuation between tokens are."""
    if not answer:
        return 1.0
    lost = _uncovered(tokens, answer)
    if len(kept) == len(pieces) and not lost:
        return 1.0
    whole = len(kept) == len(pieces)
    end = len(answer) if whole else tokens.ends[kept[-1].own_last - 1] if kept else 0
    return min(max(0, end - lost) / len(answer), 0.999_999)


def _uncovered(tokens: Tokens, answer: str) -> int:
    """How many letters and digits of the answer lie in no token."""
    lost = done = 0
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        if start > done + 1 or (start > done and not answer[done].isspace()):
            lost += sum(map(str.isalnum, answer[done:start]))
        done = max(done, end)
    return lost + sum(map(str.isalnum, answer[done:]))


def _read_share(chosen: Sequence[tuple[int, int]], stream: Stream, grounding: Grounding) -> float:
    """Share of the grounding's characters under the windows; within a block by its share of tokens."""
    total = sum(len(passage.text) for passage in grounding.passages)
    merged: list[tuple[int, int]] = []
    for low, high in sorted(chosen):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    read = 0.0
    for block in stream.blocks:
        size = block.last - block.first
        if not size:
            read += block.end - block.start
            continue
        at = max(0, bisect_right(merged, block.first, key=lambda window: window[0]) - 1)
        inside = 0
        while at < len(merged) and merged[at][0] < block.last:
            inside += max(0, min(block.last, merged[at][1]) - max(block.first, merged[at][0]))
            at += 1
        read += (block.end - block.start) * inside / size
    return min(1.0, read / total) if total else 1.0
