"""The in-process detector: a token classifier over (question + evidence window, answer piece).

Any encoder for token classification serves (LettuceDetect, HaluGate); a directory with our ``vsr.json`` is also told
which answer words occur nowhere in the evidence (``encoding.EvidenceWords``). Its tokens become spans by ``spans.mark``
or, where the directory holds a sentence model (``sentence_score``), by ``sentence_spans.mark_sentences``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.checker import Found, Prepared, Work
from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.embedded import ModelMetadata
from vsr_hallucination.detection.encoding import EvidenceWords, Word, premise_text, spare, token_types
from vsr_hallucination.detection.language import Reader
from vsr_hallucination.detection.loading import trusted
from vsr_hallucination.detection.pairs import PairEncoder, Tokens
from vsr_hallucination.detection.sentence_features import TokenProbabilities, describe
from vsr_hallucination.detection.sentence_score import SentenceModel
from vsr_hallucination.detection.sentence_spans import mark_sentences
from vsr_hallucination.detection.spans import Marked, SpanLimits, mark
from vsr_hallucination.detection.text import pieces_of, sentences
from vsr_hallucination.detection.types import Candidate, CheckFailure, Coverage, DetectorIdentity, Reason
from vsr_hallucination.detection.union import unite
from vsr_hallucination.detection.windows import Plan, plan

_DISGUISED = 3  # letters: a list's ① or a unit's sign is no text
_QUESTION_SHARE = 6  # of the input, where the model's metadata names no limit
_ANSWER_SHARE = 3


@dataclass(frozen=True, slots=True)
class _Encoded:
    tokens: Tokens
    plan: Plan
    words: tuple[Word, ...]
    rows: tuple[Row, ...]
    sentences: tuple[tuple[int, int], ...]
    question: int
    unreadable: bool
    disguised: int  # code points of ``length``
    length: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model saw in one answer, windows united; only tokens up to the first unread one."""

    tokens: TokenProbabilities
    doubts: npt.NDArray[np.float64]  # (tokens,) as ``tokens.values``, but by ``union.unite``: never below it
    words: tuple[Word, ...]
    coverage: Coverage
    failure: CheckFailure | None
    unreadable: bool  # in a language the model does not know


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
        max_pieces: int | None = None,
        sentence: SentenceModel | None = None,
        reader: Reader | None = None,
    ) -> None:
        self.identity = identity
        self.limits = limits
        self._metadata = metadata
        self._encoder = encoder
        self._batcher = batcher
        self._supported = list(supported)
        self._labels = labels
        self._max_windows = max_windows
        self._max_pieces = max_pieces
        self._sentence = sentence
        self._reader = reader or Reader(metadata.scripts, unknown_id=encoder.unknown_id)
        self._max_question = metadata.max_question or max(8, encoder.max_length // _QUESTION_SHARE)
        self._max_answer = metadata.max_answer or max(16, encoder.max_length // _ANSWER_SHARE)

    async def detect(self, work: Work) -> Found:
        """Spans of one answer. Raises DetectionError where the model gave no verdict."""
        reading = await self.read(work)
        return await work.in_thread(lambda: self._found(work.prepared, reading, work.deadline))

    async def read(self, work: Work) -> Reading:
        """Token probabilities of one answer, before any rule. Raises DetectionError where the model gave none."""
        encoded = await work.in_thread(lambda: self._encode(work.prepared, work.deadline))
        outputs = await self._batcher.run(encoded.rows, work.deadline)
        return await work.in_thread(lambda: self._united(encoded, outputs))

    async def probe(self, deadline: Deadline) -> None:
        """Runs a real, small check through queue and model; raises DetectionError if it does not answer."""
        small = Prepared.small()
        encoded = self._encode(small, deadline)
        self._found(small, self._united(encoded, await self._batcher.run(encoded.rows, deadline)), deadline)

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
            max_pieces=self._max_pieces,
            alive=alive,
        )
        words = self._words(prepared, deadline)
        novel = encoder.novelty_type
        types = None if novel is None else token_types(tokens.offsets(), words, novel)
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
        passages = [passage.text for passage in prepared.index.grounding.passages]
        foreign = not (self._reader.reads(answer, tokens.ids, alive) and self._reader.reads_evidence(passages, alive))
        disguised = disguised_letters(answer, tokens, encoder.unknown_id)
        found = tuple(sentences(answer))
        return _Encoded(tokens, made, words, tuple(rows), found, len(question), foreign, disguised, len(answer))

    def _words(self, prepared: Prepared, deadline: Deadline) -> tuple[Word, ...]:
        """The answer's words with their novelty; none where neither the model nor its sentence model asks."""
        if self._encoder.novelty_type is None and self._sentence is None:
            return ()

        def texts() -> Iterator[str]:
            for text in (prepared.question, *(passage.text for passage in prepared.index.grounding.passages)):
                for low, high in pieces_of(text):
                    deadline.check()
                    yield text[low:high]

        words = EvidenceWords.from_texts(texts()).words(prepared.answer)
        return spare(words, prepared.values.confirmed)

    def _united(self, encoded: _Encoded, outputs: Sequence[Floats]) -> Reading:
        made, tokens = encoded.plan, encoded.tokens
        unsupported = np.full(len(tokens), np.inf, dtype=np.float64)
        doubts = np.full(len(tokens), np.inf, dtype=np.float64)
        found_by: list[list[Floats]] = [[] for _ in made.pieces]
        for (number, low, high), row, output in zip(made.reads, encoded.rows, outputs, strict=True):
            piece = made.pieces[number]
            found = trusted(output, (len(row.ids), self._labels), self.identity.name)
            at = self._encoder.second_at(encoded.question + high - low)
            owned = slice(at + piece.own_first - piece.first, at + piece.own_last - piece.first)
            chance = 1.0 - found[owned][:, self._supported].sum(axis=1)
            found_by[number].append(np.clip(chance, 0.0, 1.0))
        starts = np.array([start for start, _ in encoded.sentences], dtype=np.int64)
        for piece, windows in zip(made.pieces, found_by, strict=True):
            if windows:
                own = np.array(tokens.starts[piece.own_first : piece.own_last], dtype=np.int64)
                sentence = np.searchsorted(starts, own, side="right")
                together = np.stack(windows).astype(np.float64)
                doubts[piece.own_first : piece.own_last] = unite(together, sentence)
                # A token is supported if any window supports it. A sentence model has learnt to read the doubts.
                least = together.min(axis=0) if self._sentence is None else doubts[piece.own_first : piece.own_last]
                unsupported[piece.own_first : piece.own_last] = least
        coverage = made.coverage
        if encoded.disguised:
            readable = 1 - encoded.disguised / max(1, encoded.length)
            coverage = Coverage(min(coverage.answer, readable), coverage.grounding)
        failure = None
        if coverage.answer < 1:
            failure = CheckFailure(
                Reason.ANSWER_NOT_READ,
                f"{coverage.answer:.0%} of the answer could be read (max_windows, or text the tokenizer drops)",
            )
        elif encoded.unreadable:
            who = self.identity.name
            failure = CheckFailure(Reason.UNSUPPORTED_LANGUAGE, f"{who} cannot read the language of answer or evidence")
        elif not len(tokens):
            raise DetectionError(Reason.DETECTOR_FAILED, "the tokenizer found no token in the answer")
        read = int(np.argmax(np.isinf(unsupported))) if bool(np.isinf(unsupported).any()) else len(tokens)
        seen = TokenProbabilities(
            np.array(tokens.starts[:read], dtype=np.int64),
            np.array(tokens.ends[:read], dtype=np.int64),
            unsupported[:read],
        )
        return Reading(seen, doubts[:read], encoded.words, coverage, failure, encoded.unreadable)

    def _found(self, prepared: Prepared, reading: Reading, deadline: Deadline) -> Found:
        marked = self._marked(prepared, reading, deadline)
        if reading.unreadable:
            return Found(_demoted(marked), Coverage(0.0, reading.coverage.grounding), reading.failure)
        return Found(marked, reading.coverage, reading.failure)

    def _marked(self, prepared: Prepared, reading: Reading, deadline: Deadline) -> Marked:
        seen, answer = reading.tokens, prepared.answer
        if self._sentence is None:
            return mark(answer, seen.starts.tolist(), seen.ends.tolist(), seen.values, self.limits, reading.doubts)
        flagged = [(value.start, value.end) for value in prepared.values.flagged]
        described = describe(answer, prepared.question, prepared.index, reading.words, seen, flagged, deadline.check)
        scores, rule = self._sentence.score(described), self._sentence.rule
        return mark_sentences(answer, described, scores, seen, reading.words, flagged, rule, self.limits)


def disguised_letters(answer: str, tokens: Tokens, unknown: int | None) -> int:
    """Code points of words that say something to a reader and nothing to the model: circled, squared or mathematical
    letters its tokenizer has no token for (three letters or more; UAX #15, NFKC, tells what they stand for)."""
    found = 0
    for id, start, end in zip(tokens.ids, tokens.starts, tokens.ends, strict=True):
        if id != unknown:
            continue
        text = answer[start:end]
        plain = unicodedata.normalize("NFKC", text)
        if plain != text and sum(map(str.isalpha, plain)) >= _DISGUISED:
            found += end - start
    return found


def _demoted(marked: Marked) -> Marked:
    """What a model marks in a text it cannot read is noise: kept for the record, without effect."""
    noise = tuple(Candidate(s.start, s.end, s.confidence, "unsupported_language") for s in marked.spans)
    candidates = tuple(sorted((*marked.candidates, *noise), key=lambda found: found.start))
    return Marked((), candidates, marked.unsupported_score)
