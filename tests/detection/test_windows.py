"""Windows and pieces: evidence united, the answer read whole, cost bounded, coverage honest."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from support.tiny_models import copy_model, encoder, tokenizer
from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.checker import Found, Prepared, Work
from vsr_hallucination.detection.deadline import Deadline
from vsr_hallucination.detection.embedded import ModelMetadata
from vsr_hallucination.detection.pairs import PairEncoder
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.spans import SpanLimits
from vsr_hallucination.detection.token_classification import TokenClassification
from vsr_hallucination.detection.types import DetectorIdentity, Grounding, Passage, Reason, UnreadEvidence
from vsr_hallucination.detection.windows import cut_answer, windows_over

LIMITS = SpanLimits(0.8, 0.6, 2)
FACT = "depot k7 shipped 412 crates in may at a cost of 9,500 euros ."
GOOD = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros."
BAD = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."


class Reader:
    """The backend over a model by hand; remembers the inputs that model saw."""

    def __init__(self, max_length: int = 80, max_windows: int = 512, made: PairEncoder | None = None) -> None:
        self.rows: list[Row] = []
        self._max_length = max_length
        self._encoder = made or encoder(max_length)
        self._max_windows = max_windows

    def read(self, passages: list[str], answer: str, question: str = "", unread: int = 0) -> Found:
        grounding = Grounding(
            tuple(Passage(text, f"$[{n}]") for n, text in enumerate(passages)),
            tuple(UnreadEvidence("$", "image") for _ in range(unread)),
        )
        prepared = Prepared(answer, question, EvidenceIndex.build(grounding))
        self.rows = []
        batcher = Batcher(self._model, name="detector", queue_limit=4, batch_tokens=4096)
        backend = TokenClassification(
            identity=DetectorIdentity("hand", "token_classification"),
            metadata=ModelMetadata("detector", max_answer=self._max_length // 3),
            encoder=self._encoder,
            batcher=batcher,
            supported=[0],
            labels=2,
            limits=LIMITS,
            max_windows=self._max_windows,
        )
        with ThreadPoolExecutor(1) as pool:
            try:
                return asyncio.run(backend.detect(Work(prepared, Deadline.after(60), pool)))
            finally:
                batcher.close()

    def _model(self, rows: Sequence[Row]) -> Sequence[Floats]:
        self.rows.extend(rows)
        return copy_model(rows)


def noise(n: int) -> str:
    source = random.Random(n)
    return " ".join(source.choice("town north boats fish lab people route rail".split()) for _ in range(400))


@pytest.mark.parametrize("at", [0, 5, 11])
def test_d2_the_fact_is_found_wherever_it_stands(at: int) -> None:
    passages = [FACT if n == at else noise(n) for n in range(12)]
    good, bad = Reader().read(passages, GOOD), Reader().read(passages, BAD)
    assert not good.marked.spans
    assert good.coverage.answer == good.coverage.grounding == 1.0
    assert [BAD[s.start : s.end] for s in bad.marked.spans] == ["479"]


@pytest.mark.parametrize("shift", range(0, 48, 6))
def test_d2_a_fact_cut_by_a_window_border_still_supports(shift: int) -> None:
    passage = "town " * (40 + shift) + FACT + " fish" * 90
    assert not Reader().read([passage], GOOD).marked.spans


def test_d2_confidence_of_a_clean_verdict_does_not_rise_with_length() -> None:
    scores = [Reader().read([FACT, *(noise(n) for n in range(k))], GOOD).marked.unsupported_score for k in (0, 3, 9)]
    assert scores[0] <= scores[1] + 1e-6 <= scores[2] + 2e-6


def test_passages_are_apart_and_a_short_grounding_is_one_window() -> None:
    reader = Reader()
    reader.read(["depot", "opens"], "Depot opens.")
    assert len(reader.rows) == 1


def test_a_long_answer_is_read_whole_and_offsets_count_from_its_start() -> None:
    answer = " ".join([GOOD] * 20) + "\n\n   " + BAD
    found = Reader().read([FACT], answer)
    assert found.coverage.answer == 1.0
    (span,) = found.marked.spans
    assert answer[span.start : span.end] == "479" == span.text
    assert span.start > len(GOOD) * 20


def test_every_token_is_owned_by_exactly_one_piece() -> None:
    made = encoder(64)
    text = "The depot opens at nine. " * 40
    tokens = made.tokens(text)
    pieces = cut_answer(tokens, text, 30)
    assert [p.own_first for p in pieces[1:]] == [p.own_last for p in pieces[:-1]]
    assert (pieces[0].own_first, pieces[-1].own_last) == (0, len(tokens))
    assert all(p.last - p.first <= 30 and p.first <= p.own_first and p.own_last <= p.last for p in pieces)


def test_windows_overlap_and_end_flush() -> None:
    windows = windows_over(1000, 100)
    assert windows[0] == (0, 100)
    assert windows[-1] == (900, 1000)
    assert all(b[0] < a[1] for a, b in pairwise(windows))


def test_over_the_budget_the_relevant_windows_are_read_and_coverage_says_so() -> None:
    passages = [noise(n) for n in range(30)] + [FACT] + [noise(n) for n in range(30, 60)]
    reader = Reader(max_windows=4)
    found = reader.read(passages, GOOD)
    assert len(reader.rows) == 4
    assert not found.marked.spans
    assert found.failure is None
    assert 0 < found.coverage.grounding < 0.2
    assert [BAD[s.start : s.end] for s in reader.read(passages, BAD).marked.spans] == ["479"]


def test_an_answer_over_the_budget_is_a_partial_verdict() -> None:
    answer = " ".join([BAD] + [GOOD] * 60)
    found = Reader(max_windows=6).read([FACT], answer)
    assert found.failure is not None
    assert found.failure.reason is Reason.ANSWER_NOT_READ
    assert 0 < found.coverage.answer < 1
    assert [s.text for s in found.marked.spans] == ["479"]


@pytest.mark.parametrize(("pattern", "content"), [(".+", "a"), ("[c-z]", ""), ("(?i)karl meier", "")])
def test_text_that_the_tokenizer_drops_is_not_read(pattern: str, content: str) -> None:
    from tokenizers import Regex, normalizers

    dropping = tokenizer()
    dropping.normalizer = normalizers.Replace(Regex(pattern), content)
    found = Reader(made=PairEncoder(dropping, 80)).read([FACT], "It was run by Karl Meier.")
    assert found.failure is not None and found.failure.reason is Reason.ANSWER_NOT_READ
    assert found.coverage.answer < 1


@pytest.mark.parametrize(
    "answer", [GOOD, "  " + GOOD + "\n\n!!", "Depot K7\u200b shipped\u0000 412\u00ad 🧪 crates\ufe0f."]
)
def test_space_marks_and_what_nobody_sees_between_tokens_is_nothing_unread(answer: str) -> None:
    assert Reader().read([FACT], answer).coverage.answer == 1.0


def test_passages_that_could_not_be_read_lower_the_coverage() -> None:
    found = Reader().read([FACT], GOOD, unread=1)
    assert found.coverage.grounding == pytest.approx(0.5)
    assert found.coverage.answer == 1.0


def test_much_evidence_and_a_long_answer_stay_within_the_budget() -> None:
    passages = [f"The town of number {n} has {n} boats.\n" * 100 for n in range(320)] + [FACT]
    reader = Reader(max_windows=64)
    found = reader.read(passages, GOOD)
    assert len(reader.rows) <= 64
    assert not found.marked.spans
    found = reader.read([FACT], " ".join([GOOD] * 1600))
    assert len(reader.rows) <= 64
    assert found.coverage.answer < 1


def test_an_empty_or_blank_grounding_is_read() -> None:
    for passages in ([], ["  \n "]):
        found = Reader().read(passages, GOOD)
        assert found.coverage.answer == 1.0
        assert found.marked.unsupported_score > 0.9


def test_special_tokens_and_types_follow_the_tokenizer() -> None:
    made = encoder(64)
    row = made.pair([10, 11], [12], [2])
    assert row.ids.tolist() == [2, 10, 11, 3, 12, 3]
    assert row.types.tolist() == [0, 0, 0, 0, 2, 1]
    assert made.second_at(2) == 4
    assert made.single([10]).ids.tolist() == [2, 10, 3]
    assert np.array_equal(made.single([10]).types, [0, 0, 0])


def test_long_texts_are_tokenised_as_short_ones_are() -> None:
    made = encoder(64)
    text = "The depot of the town opens at nine. " * 200
    tokens = made.tokens(text)
    whole = made._tokenizer.encode(text, add_special_tokens=False)
    assert list(tokens.ids) == whole.ids
    assert tokens.offsets() == [tuple(pair) for pair in whole.offsets]
