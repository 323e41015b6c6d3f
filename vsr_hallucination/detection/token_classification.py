"""The in-process detector: a token classifier over (question + evidence window, answer piece).

Any encoder for token classification serves (LettuceDetect, HaluGate); a directory with our ``vsr.json`` is also told
which answer words occur nowhere in the evidence (``encoding.EvidenceWords``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.checker import Found, Prepared, Work
from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.embedded import ModelMetadata
from vsr_hallucination.detection.encoding import EvidenceWords, premise_text, token_types
from vsr_hallucination.detection.language import unreadable
from vsr_hallucination.detection.loading import trusted
from vsr_hallucination.detection.pairs import PairEncoder, Tokens
from vsr_hallucination.detection.pointer import pieces_of
from vsr_hallucination.detection.spans import SpanLimits, mark
from vsr_hallucination.detection.types import CheckFailure, DetectorIdentity, Reason
from vsr_hallucination.detection.windows import Plan, plan

_QUESTION_SHARE = 6  # of the input, where the model's metadata names no limit
_ANSWER_SHARE = 3


@dataclass(frozen=True, slots=True)
class _Encoded:
    tokens: Tokens
    plan: Plan
    rows: tuple[Row, ...]
    question: int
    unreadable: bool


class TokenClassification:
    """Backend over a ``Batcher``. ``supported``: label numbers that mean "supported" (``labels.supported_ids``)."""

    def __init__(
        self,
        *,
        identity: DetectorIdentity,
        metadata: ModelMetadata,
        encoder: PairEncoder,
        batcher: Batcher,
        supported: Sequence[int],
        labels: int,
        limits: SpanLimits,
        max_windows: int,
    ) -> None:
        self.identity = identity
        self.limits = limits
        self._metadata = metadata
        self._encoder = encoder
        self._batcher = batcher
        self._supported = list(supported)
        self._labels = labels
        self._max_windows = max_windows
        self._max_question = metadata.max_question or max(8, encoder.max_length // _QUESTION_SHARE)
        self._max_answer = metadata.max_answer or max(16, encoder.max_length // _ANSWER_SHARE)

    async def detect(self, work: Work) -> Found:
        """Spans of one answer. Raises DetectionError where the model gave no verdict."""
        encoded = await work.in_thread(lambda: self._encode(work.prepared, work.deadline))
        outputs = await self._batcher.run(encoded.rows, work.deadline)
        return await work.in_thread(lambda: self._decode(work.prepared, encoded, outputs))

    async def probe(self, deadline: Deadline) -> None:
        """Runs a real, small check through queue and model; raises DetectionError if it does not answer."""
        small = Prepared.small()
        encoded = self._encode(small, deadline)
        self._decode(small, encoded, await self._batcher.run(encoded.rows, deadline))

    async def aclose(self) -> None:
        self._batcher.close(timeout=0.5)

    def _encode(self, prepared: Prepared, deadline: Deadline) -> _Encoded:
        encoder, alive = self._encoder, deadline.check
        answer = prepared.answer
        tokens = encoder.tokens(answer, alive)
        question = encoder.tokens(premise_text(prepared.question, "")[: 64 * self._max_question]).ids[
            : self._max_question
        ]
        made = plan(
            answer,
            tokens,
            prepared.index,
            encoder,
            question_tokens=len(question),
            max_answer=self._max_answer,
            max_windows=self._max_windows,
            alive=alive,
        )
        types = self._types(prepared, tokens, deadline)
        rows = []
        for number, low, high in made.reads:
            piece = made.pieces[number]
            rows.append(
                encoder.pair(
                    [*question, *made.stream.ids[low:high]],
                    tokens.ids[piece.first : piece.last],
                    None if types is None else types[piece.first : piece.last],
                )
            )
        foreign = unreadable(answer, tokens.ids, self._metadata.scripts, encoder.unknown_id)
        return _Encoded(tokens, made, tuple(rows), len(question), foreign)

    def _types(self, prepared: Prepared, tokens: Tokens, deadline: Deadline) -> list[int] | None:
        novel = self._encoder.novelty_type
        if novel is None:
            return None

        def texts() -> Iterator[str]:
            for text in (prepared.question, *(passage.text for passage in prepared.index.grounding.passages)):
                for low, high in pieces_of(text):
                    deadline.check()
                    yield text[low:high]

        words = EvidenceWords.from_texts(texts())
        return token_types(tokens.offsets(), words.words(prepared.answer), novel)

    def _decode(self, prepared: Prepared, encoded: _Encoded, outputs: Sequence[Floats]) -> Found:
        made, tokens = encoded.plan, encoded.tokens
        # The minimum over windows: supported where any window supports it.
        unsupported = np.full(len(tokens), np.inf, dtype=np.float32)
        for (number, low, high), row, output in zip(made.reads, encoded.rows, outputs, strict=True):
            piece = made.pieces[number]
            found = trusted(output, (len(row.ids), self._labels), self.identity.name)
            at = self._encoder.second_at(encoded.question + high - low)
            owned = slice(at + piece.own_first - piece.first, at + piece.own_last - piece.first)
            chance = 1.0 - found[owned][:, self._supported].sum(axis=1)
            own = unsupported[piece.own_first : piece.own_last]
            np.minimum(own, np.clip(chance, 0.0, 1.0), out=own)
        read = int(np.argmax(np.isinf(unsupported))) if bool(np.isinf(unsupported).any()) else len(tokens)
        marked = mark(prepared.answer, tokens.starts[:read], tokens.ends[:read], unsupported[:read], self.limits)
        failure = None
        if made.coverage.answer < 1:
            failure = CheckFailure(
                Reason.ANSWER_NOT_READ, f"{made.coverage.answer:.0%} of the answer fit into max_windows"
            )
        elif encoded.unreadable:
            failure = CheckFailure(
                Reason.UNSUPPORTED_LANGUAGE, f"{self.identity.name} cannot read the answer's language"
            )
        elif not len(tokens):
            raise DetectionError(Reason.DETECTOR_FAILED, "the tokenizer found no token in the answer")
        return Found(marked, made.coverage, failure)
