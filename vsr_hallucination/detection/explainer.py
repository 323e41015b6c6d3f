"""The explainer: what the evidence says about a span's sentence, by natural language inference.

Hypothesis: the sentence that holds the span. Premises: every passage, in overlapping windows. A contradiction in any
window outranks an entailment in another; "entailment" needs a passage that was read to its end and a hypothesis that
was not cut. NLI filtering (``enable_nli_filtering``, and the rule asks for explanations) drops a span only where the
label is entailment at ``nli_entailment_threshold`` or more **and** every passage was read, so that none contradicts.
Labels follow the model's own ``id2label``. Failing changes no state: the span stays, ``explainer_failed`` beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.checker import Prepared, Work
from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.language import Reader
from vsr_hallucination.detection.loading import trusted
from vsr_hallucination.detection.pairs import PairEncoder
from vsr_hallucination.detection.spans import RULES
from vsr_hallucination.detection.text import sentences, split_long
from vsr_hallucination.detection.types import (
    Candidate,
    Detection,
    EvidencePointer,
    NliLabel,
    Reason,
    Severity,
    Span,
)
from vsr_hallucination.detection.value_check import VALUE_CHECK_CONFIDENCE
from vsr_hallucination.detection.windows import windows_over

MAX_EXPLAINED = 64  # spans of one answer; the rest keep a null label without being marked as failed
_HYPOTHESIS_CHARS = 1000
_NEARBY = 400  # characters around a line, read where the whole evidence is over the budget
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ExplainerLimits:
    """``threshold``: a contradiction this sure is of high severity. ``entailment`` drops, if ``filtering``."""

    threshold: float = 0.9
    filtering: bool = True
    entailment: float = 0.75
    max_windows: int = 512


@dataclass(frozen=True, slots=True)
class _Premise:
    """A stretch of a passage; ``whole``: with its sibling windows it is the passage to its end."""

    passage: int
    ids: Sequence[int]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of the model about one sentence; ``complete``: all evidence, uncut hypothesis."""

    premises: tuple[_Premise, ...]
    rows: tuple[Row, ...]
    hypothesis_whole: bool
    complete: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """The label of one sentence; ``droppable``: entailed, everything read, nothing contradicts."""

    label: NliLabel
    confidence: float
    passage: int | None
    droppable: bool = False


class Explainer:
    """SpanExplainer over a three-class NLI model. ``labels``: number → meaning (``labels.nli_ids``)."""

    def __init__(
        self,
        *,
        encoder: PairEncoder,
        batcher: Batcher,
        labels: dict[int, NliLabel],
        classes: int,
        limits: ExplainerLimits,
        reader: Reader | None = None,
    ) -> None:
        self._encoder = encoder
        self._reader = reader
        self._batcher = batcher
        self._labels = labels
        self._classes = classes
        self._limits = limits

    async def explain(self, work: Work, detection: Detection) -> Detection:
        """Labels the spans of ``detection``. Never raises but CancelledError."""
        prepared = work.prepared
        chosen = detection.spans[:MAX_EXPLAINED]
        try:
            asked = await work.in_thread(lambda: self._ask(prepared, chosen, work.deadline))
            rows = [row for question in asked.values() for row in question.rows]
            outputs = await self._batcher.run(rows, work.deadline)
            verdicts = self._judge(asked, outputs)
        # Cancellation is no Exception; everything else means: no explanation.
        except Exception:
            failed = tuple(replace(span, explainer_failed=True) for span in chosen)
            return replace(detection, spans=failed + detection.spans[MAX_EXPLAINED:])
        return self._applied(prepared, detection, verdicts)

    async def probe(self, deadline: Deadline) -> None:
        """Runs a real, small pair through queue and model."""
        tokens = self._encoder.tokens("The gate opens at nine.").ids
        (output,) = await self._batcher.run([self._encoder.pair(tokens, tokens)], deadline)
        trusted(output, (self._classes,), self._batcher.name)

    async def aclose(self) -> None:
        self._batcher.close(timeout=0.5)

    def _ask(self, prepared: Prepared, spans: Sequence[Span], deadline: Deadline) -> dict[tuple[int, int], _Question]:
        wanted = dict.fromkeys(sentence_of(prepared.answer, span) for span in spans)
        passages = prepared.index.grounding.passages
        self._must_read(prepared, deadline)
        per_sentence = max(1, self._limits.max_windows // max(1, len(wanted)))
        small = sum(len(p.text) for p in passages) <= self._limits.max_windows * self._encoder.room * _CHARS_PER_TOKEN
        whole = self._whole_passages(prepared, deadline) if small else ()
        asked: dict[tuple[int, int], _Question] = {}
        for sentence in wanted:
            deadline.check()
            text = prepared.answer[sentence[0] : sentence[1]]
            hypothesis = self._encoder.tokens(text).ids
            kept = hypothesis[: self._encoder.room // 2]
            complete = small and len(whole) <= per_sentence
            premises = whole if complete else self._nearest(prepared, text, per_sentence, whole)
            room = self._encoder.room - len(kept)
            rows = tuple(self._encoder.pair(premise.ids[:room], kept) for premise in premises)
            asked[sentence] = _Question(premises, rows, len(kept) == len(hypothesis), complete)
        return asked

    def _must_read(self, prepared: Prepared, deadline: Deadline) -> None:
        """A label over texts in a language the model does not know would be noise, and could drop a span."""
        texts = [passage.text for passage in prepared.index.grounding.passages]
        reader, alive = self._reader, deadline.check
        if reader is not None and not (
            reader.reads(prepared.answer, (), alive) and reader.reads_evidence(texts, alive)
        ):
            raise DetectionError(Reason.UNSUPPORTED_LANGUAGE, f"{self._batcher.name} cannot read the language")

    def _whole_passages(self, prepared: Prepared, deadline: Deadline) -> tuple[_Premise, ...]:
        room = self._encoder.room - self._encoder.room // 2  # what a hypothesis of any length leaves
        out: list[_Premise] = []
        for number, passage in enumerate(prepared.index.grounding.passages):
            tokens = self._encoder.tokens(passage.text, deadline.check)
            out += [_Premise(number, tokens.ids[a:b], True) for a, b in windows_over(len(tokens), room) if b > a]
        return tuple(out)

    def _nearest(self, prepared: Prepared, text: str, count: int, whole: tuple[_Premise, ...]) -> tuple[_Premise, ...]:
        """Premises around the lines nearest to a sentence: all windows of a passage if they fit, else a cut one."""
        index = prepared.index
        units = index.nearest(index.terms(text), count)
        by_passage: dict[int, list[_Premise]] = {}
        for premise in whole:
            by_passage.setdefault(premise.passage, []).append(premise)
        out: list[_Premise] = []
        done: set[int] = set()
        for unit in units:
            if unit.passage in done or len(out) >= count:
                continue
            windows = by_passage.get(unit.passage, [])
            if windows and len(out) + len(windows) <= count:
                done.add(unit.passage)
                out += windows
                continue
            passage = index.grounding.passages[unit.passage].text
            around = passage[max(0, unit.start - _NEARBY) : unit.end + _NEARBY]
            out.append(_Premise(unit.passage, self._encoder.tokens(around).ids, len(around) == len(passage)))
        return tuple(out)

    def _judge(
        self, asked: dict[tuple[int, int], _Question], outputs: Sequence[Floats]
    ) -> dict[tuple[int, int], Verdict]:
        verdicts: dict[tuple[int, int], Verdict] = {}
        at = 0
        for sentence, question in asked.items():
            part = outputs[at : at + len(question.rows)]
            at += len(question.rows)
            found = [trusted(output, (self._classes,), self._batcher.name) for output in part]
            verdicts[sentence] = self._verdict(question, found)
        return verdicts

    def _verdict(self, question: _Question, outputs: Sequence[Floats]) -> Verdict:
        best: dict[NliLabel, tuple[float, int]] = {}
        neutral = 0.0
        for premise, output in zip(question.premises, outputs, strict=True):
            chance = dict.fromkeys(NliLabel, 0.0)
            for number, label in self._labels.items():
                chance[label] += float(output[number])
            label = max(chance, key=lambda one: chance[one])
            neutral = max(neutral, chance[NliLabel.NEUTRAL])
            if label is NliLabel.ENTAILMENT and not (premise.whole and question.hypothesis_whole):
                continue  # what stands beyond the cut may say otherwise
            if label not in best or chance[label] > best[label][0]:
                best[label] = (chance[label], premise.passage)
        if NliLabel.CONTRADICTION in best:
            return Verdict(NliLabel.CONTRADICTION, *best[NliLabel.CONTRADICTION])
        if NliLabel.ENTAILMENT in best:
            confidence, passage = best[NliLabel.ENTAILMENT]
            return Verdict(NliLabel.ENTAILMENT, confidence, passage, droppable=question.complete)
        return Verdict(NliLabel.NEUTRAL, neutral, None)

    def _applied(self, prepared: Prepared, detection: Detection, verdicts: dict[tuple[int, int], Verdict]) -> Detection:
        spans: list[Span] = []
        dropped: list[Candidate] = []
        for span in detection.spans[:MAX_EXPLAINED]:
            verdict = verdicts[sentence_of(prepared.answer, span)]
            filtered = self._limits.filtering and verdict.droppable and verdict.confidence >= self._limits.entailment
            # What a rule found word by word is not argued away by a sentence that sounds alike; nor is a span of the
            # model that stands in its place, which has the rule's explanation.
            if filtered and span.tier not in RULES and span.explanation is None:
                path = span.evidence.path if span.evidence else None
                dropped.append(
                    Candidate(
                        span.start, span.end, span.confidence, "nli_entailed", verdict.label, verdict.confidence, path
                    )
                )
            else:
                spans.append(self._explained(span, verdict))
        candidates = tuple(sorted((*detection.candidates, *dropped), key=lambda c: c.start))
        return replace(detection, spans=(*spans, *detection.spans[MAX_EXPLAINED:]), candidates=candidates)

    def _explained(self, span: Span, verdict: Verdict) -> Span:
        sure = verdict.confidence >= self._limits.threshold or span.confidence >= VALUE_CHECK_CONFIDENCE
        if verdict.label is NliLabel.CONTRADICTION:
            severity = Severity.HIGH if sure else Severity.MEDIUM
        elif verdict.label is NliLabel.NEUTRAL:
            severity = Severity.MEDIUM
        else:
            severity = Severity.LOW if span.tier not in RULES else Severity.MEDIUM
        return replace(
            span,
            nli_label=verdict.label,
            nli_confidence=verdict.confidence,
            severity=severity,
            explanation=span.explanation or explanation(verdict.label, span.evidence),
        )


def explanation(label: NliLabel, evidence: EvidencePointer | None) -> str:
    """One line for people: what the label means here, and the nearest evidence."""
    near = f": “{' '.join(evidence.text.split())[:120]}” ({evidence.path})" if evidence else ""
    if label is NliLabel.CONTRADICTION:
        return f"The evidence says otherwise{near}"
    if label is NliLabel.ENTAILMENT:
        return f"A passage seems to support the sentence, but not this part of it{near}"
    return f"No passage states this; the nearest one reads{near}" if near else "No passage states this"


def sentence_of(answer: str, span: Span) -> tuple[int, int]:
    """Borders of the sentence(s) that hold ``span``, without outer space; at most 1000 characters around its start."""
    low = max(0, span.start - _HYPOTHESIS_CHARS)
    part = answer[low : span.end + _HYPOTHESIS_CHARS]
    holding = [
        (a, b)
        for a, b in split_long(part, sentences(part), _HYPOTHESIS_CHARS)
        if a < span.end - low and span.start - low < b
    ]
    if not holding:
        return span.start, span.end
    start, end = low + holding[0][0], low + holding[-1][1]
    end = min(end, start + 2 * _HYPOTHESIS_CHARS)
    text = answer[start:end]
    return start + len(text) - len(text.lstrip()), end - (len(text) - len(text.rstrip()))
