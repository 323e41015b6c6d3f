"""The second reading: every sentence of an answer against its nearest evidence lines, by an inference model.

A window of evidence shows the token model everything and lets it compare nothing: who did what to whom, what came
before what, which record a value belongs to. A few lines beside one sentence do. What the inference model says
(entailed, neutral, contradicted) is no verdict: it is more numbers for the sentence model, which has learnt how far to
believe them. A directory asks for it in ``vsr.json`` (``"second_reading": "embedded"``, the shipped explainer).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vsr_hallucination.detection.batching import Batcher, Row
from vsr_hallucination.detection.batching import Floats as Outputs
from vsr_hallucination.detection.checker import Prepared
from vsr_hallucination.detection.deadline import Deadline
from vsr_hallucination.detection.loading import trusted
from vsr_hallucination.detection.near import few, near_units, premise_of, veiled
from vsr_hallucination.detection.pairs import PairEncoder
from vsr_hallucination.detection.pointer import Unit
from vsr_hallucination.detection.sentence_features import Floats, sentence_spans
from vsr_hallucination.detection.types import NliLabel

MAX_READ = 128  # sentences of one answer; what lies beyond is judged by the first reading alone
_HYPOTHESIS = 96  # tokens
_NOTHING_NEAR = (0.0, 1.0, 0.0)
_ORDER = (NliLabel.ENTAILMENT, NliLabel.NEUTRAL, NliLabel.CONTRADICTION)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: ``rows[i]`` is about sentence ``at[i]`` of ``count``; ``lines``: each read sentence's nearest."""

    rows: tuple[Row, ...]
    at: tuple[int, ...]
    count: int
    lines: tuple[tuple[Unit, ...], ...]


class SecondReading:
    """Pairs of sentences and lines through a three-class model. ``labels``: number → meaning (``labels.nli_ids``)."""

    def __init__(self, encoder: PairEncoder, batcher: Batcher, labels: dict[int, NliLabel], classes: int) -> None:
        self._encoder = encoder
        self._batcher = batcher
        self._labels = labels
        self._classes = classes

    def ask(self, prepared: Prepared, deadline: Deadline) -> Asked:
        """The pairs of an answer. Raises DetectionError when the deadline passes."""
        index, answer = prepared.index, prepared.answer
        asked = index.terms(prepared.question)
        spans = sentence_spans(answer)
        rows: list[Row] = []
        at: list[int] = []
        lines: list[tuple[Unit, ...]] = []
        for n, (start, end) in enumerate(spans[:MAX_READ]):
            deadline.check()
            text = answer[start:end].strip()
            terms = index.terms(text)
            units = tuple(near_units(index, terms, asked)) if terms else ()
            lines.append(units)
            premise = premise_of(index, units, prepared.question, few(terms))
            if premise:
                premise, text = veiled(premise, text)
                hypothesis = self._encoder.tokens(text).ids[:_HYPOTHESIS]
                room = self._encoder.room - len(hypothesis)
                rows.append(self._encoder.pair(self._encoder.tokens(premise).ids[:room], hypothesis))
                at.append(n)
        return Asked(tuple(rows), tuple(at), len(spans), tuple(lines))

    async def run(self, asked: Asked, deadline: Deadline) -> Floats:
        """(sentences, 3): entailment, neutral, contradiction. A sentence that no line shares a word with is neutral to
        the evidence; NaN beyond ``MAX_READ``.

        Raises DetectionError as the batcher does."""
        return self.read(asked, await self._batcher.run(asked.rows, deadline))

    def read(self, asked: Asked, outputs: Sequence[Outputs]) -> Floats:
        """``run``'s result from the model's outputs."""
        found = np.full((asked.count, len(_ORDER)), np.nan)
        found[: len(asked.lines)] = _NOTHING_NEAR
        for n, output in zip(asked.at, outputs, strict=True):
            chances = trusted(output, (self._classes,), self._batcher.name)
            row = np.zeros(len(_ORDER))
            for number, label in self._labels.items():
                row[_ORDER.index(label)] += float(chances[number])
            found[n] = row
        return found

    def close(self) -> None:
        self._batcher.close(timeout=0.5)
