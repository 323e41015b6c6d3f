"""Token probabilities of many answers through the run-time path, kept on disk so that a fit costs seconds."""

from __future__ import annotations

import asyncio
import hashlib
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from training.detector_rows import DetectorRow
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.batching import Batcher
from vsr_hallucination.detection.checker import Prepared, Work, flagged_relations
from vsr_hallucination.detection.cores import on_threads
from vsr_hallucination.detection.deadline import Deadline
from vsr_hallucination.detection.encoding import EvidenceWords, Word, spare
from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.labels import supported_ids
from vsr_hallucination.detection.loading import load
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.sentence_features import Described, TokenProbabilities, describe
from vsr_hallucination.detection.spans import SpanLimits
from vsr_hallucination.detection.token_classification import TokenClassification
from vsr_hallucination.detection.types import DetectorIdentity, Grounding, Passage
from vsr_hallucination.detection.value_check import check_values

_DEADLINE = 3600.0
_TOGETHER = 48  # rows read at once: their windows share batches, and little of a batch is padding


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything the sentence model may know of one answer."""

    row: DetectorRow
    tokens: TokenProbabilities
    words: tuple[Word, ...]
    flagged: tuple[tuple[int, int], ...]
    turned: tuple[tuple[int, int], ...]
    described: Described


def prepared_of(row: DetectorRow) -> Prepared:
    """As the checker prepares it: the evidence indexed, values and relations judged."""
    index = EvidenceIndex.build(Grounding((Passage(row.context, "$.context"),)))
    values = check_values(row.answer, row.question, ValueSet.build((row.context,)), index)
    return Prepared(row.answer, row.question, index, values, flagged_relations(row.answer, row.question, index))


def read_all(rows: Sequence[DetectorRow], model: Path, cache: Path, threads: int = 1) -> list[Seen]:
    """Readings and features of all rows, in order; new readings are added to ``cache``."""
    torch.set_num_threads(threads)
    loaded = load(str(model), "detector")
    path = cache / f"readings-{loaded.sha256[:12]}-{loaded.metadata.temperature}.pkl"
    known: dict[str, TokenProbabilities] = pickle.loads(path.read_bytes()) if path.is_file() else {}

    batcher = Batcher(
        on_threads(loaded.run, threads),
        name="detector",
        queue_limit=10_000,
        batch_tokens=8192,
        threads=1,
    )
    settings = DetectorSettings()
    backend = TokenClassification(
        identity=DetectorIdentity(loaded.name, settings.backend, loaded.sha256),
        metadata=loaded.metadata,
        encoder=loaded.encoder,
        batcher=batcher,
        supported=supported_ids(loaded.metadata.labels),
        labels=len(loaded.metadata.labels),
        limits=SpanLimits(1.0, 1.0, 1),
        max_windows=DetectionSettings().max_windows,
    )

    async def fill(missing: Sequence[DetectorRow]) -> None:
        with ThreadPoolExecutor(1) as pool:
            progress = tqdm(total=len(missing), desc="readings", mininterval=10)
            for start in range(0, len(missing), _TOGETHER):
                part = missing[start : start + _TOGETHER]
                works = [Work(prepared_of(row), Deadline.after(_DEADLINE), pool) for row in part]
                for row, reading in zip(part, await asyncio.gather(*map(backend.read, works)), strict=True):
                    known[key_of(row)] = reading.tokens
                progress.update(len(part))
                if start % (8 * _TOGETHER) == 0:
                    _save(path, known)
            progress.close()
        await backend.aclose()

    missing = [row for row in rows if key_of(row) not in known]
    if missing:
        asyncio.run(fill(missing))
        _save(path, known)
    return [seen_of(row, known[key_of(row)]) for row in tqdm(rows, desc="features", mininterval=10)]


def seen_of(row: DetectorRow, tokens: TokenProbabilities) -> Seen:
    """Features from a reading."""
    prepared = prepared_of(row)
    words = EvidenceWords.from_texts([row.question, row.context]).words(row.answer)
    words = spare(words, prepared.values.confirmed)
    flagged = tuple((value.start, value.end) for value in prepared.values.flagged)
    described = describe(row.answer, row.question, prepared.index, words, tokens, flagged)
    turned = tuple((found.start, found.end) for found in prepared.turned)
    return Seen(row, tokens, words, flagged, turned, described)


def words_only(row: DetectorRow) -> Seen:
    """Features of a row that no model has read: every word counts as half supported."""
    words = EvidenceWords.from_texts([row.question, row.context]).words(row.answer)
    starts, ends = (np.array([getattr(word, side) for word in words], dtype=np.int64) for side in ("start", "end"))
    return seen_of(row, TokenProbabilities(starts, ends, np.full(len(words), 0.5)))


def key_of(row: DetectorRow) -> str:
    text = "\x00".join((row.context, row.question, row.answer))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _save(path: Path, known: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_bytes(pickle.dumps(known))
    partial.replace(path)
