"""One check from request to result: prepare, the rules' checks, detector, explainer, under one deadline.

Nothing here blocks the event loop: texts are worked on in a small pool of threads, models run behind their batchers.
A check never raises but ``CancelledError``. What the value and relation checks found stands even where the detector
failed: a span that survived outranks a failure (DESIGN §2, row 9 before row 10).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from vsr_hallucination.config.schema import DetectionSettings
from vsr_hallucination.detection.batching import NO_HOOKS, Hooks, tell
from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.evidence_values import ValueSet
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.check import RELATION_CHECK_CONFIDENCE, check_relations, told_otherwise
from vsr_hallucination.detection.spans import Marked, SpanLimits, with_flagged
from vsr_hallucination.detection.text import replace_surrogates, sentences, split_long
from vsr_hallucination.detection.text_threads import TextThreads, in_thread
from vsr_hallucination.detection.types import (
    CheckFailure,
    CheckRequest,
    CheckResult,
    Coverage,
    Detection,
    DetectorIdentity,
    Grounding,
    Passage,
    Reason,
    Span,
)
from vsr_hallucination.detection.value_check import (
    NO_FINDINGS,
    Flagged,
    ValueFindings,
    check_values,
    point_at_value,
)

PROBE_SECONDS = 20.0
_MERGE_SECONDS = 1.0
_POINTERS = 256  # spans of one answer that get an evidence pointer
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The texts of a check without lone surrogates, the evidence indexed, values and relations judged."""

    answer: str
    question: str
    index: EvidenceIndex
    values: ValueFindings = NO_FINDINGS
    turned: tuple[Flagged, ...] = ()

    @classmethod
    def small(cls) -> Prepared:
        """A check that any detector must be able to run."""
        grounding = Grounding((Passage("The gate opens at nine.", "$"),))
        return cls("The gate opens at ten.", "When does the gate open?", EvidenceIndex.build(grounding))


@dataclass(frozen=True, slots=True)
class Work:
    """What a backend gets: the prepared texts, the clock, and threads to work in."""

    prepared: Prepared
    deadline: Deadline
    pool: ThreadPoolExecutor

    async def in_thread(self, job: Callable[[], _T]) -> _T:
        """Runs ``job`` off the event loop. Raises DetectionError(TIMEOUT) when the deadline passes first."""
        return await in_thread(self.pool, job, self.deadline)


@dataclass(frozen=True, slots=True)
class Found:
    """A backend's verdict. ``failure`` beside it: the verdict is partial."""

    marked: Marked
    coverage: Coverage
    failure: CheckFailure | None = None


class Backend(Protocol):
    """A span detector. ``detect`` raises DetectionError where there is no verdict at all."""

    @property
    def identity(self) -> DetectorIdentity: ...

    @property
    def limits(self) -> SpanLimits: ...

    async def detect(self, work: Work) -> Found: ...

    async def probe(self, deadline: Deadline) -> None: ...

    async def aclose(self) -> None: ...


class SpanExplainer(Protocol):
    """Labels spans by NLI; may move spans to candidates. Never raises but CancelledError."""

    async def explain(self, work: Work, detection: Detection) -> Detection: ...

    async def probe(self, deadline: Deadline) -> None: ...

    async def aclose(self) -> None: ...


class DetectorChecker:
    """The Checker of ``types``: a backend with value check and explainer around it."""

    def __init__(
        self,
        backend: Backend,
        settings: DetectionSettings,
        *,
        explainer: SpanExplainer | None = None,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self._backend = backend
        self._settings = settings
        self._explainer = explainer
        self._hooks = hooks
        self._threads = TextThreads("detection", settings.threads)
        self._running = 0
        self._lock = threading.Lock()

    @property
    def identity(self) -> DetectorIdentity:
        return self._backend.identity

    async def check(self, request: CheckRequest) -> CheckResult:
        """Checks one answer. Never raises but ``CancelledError``; the result comes within the request's deadline."""
        started = time.monotonic()
        deadline = Deadline.after(request.deadline)
        with self._lock:
            admitted = self._running < self._settings.queue
            self._running += admitted
        if not admitted:
            tell(self._hooks.dropped, "checker", "overloaded")
            failure = CheckFailure(Reason.OVERLOADED, f"{self._settings.queue} checks are running or waiting already")
            return CheckResult(self.identity, None, failure, time.monotonic() - started)
        try:
            detection, failure_or_none = await self._check(request, deadline)
        except DetectionError as error:
            detection, failure_or_none = None, error.failure()
        # The protocol's promise: whatever goes wrong in here is a failed check, never an exception.
        except Exception as error:
            detection, failure_or_none = None, CheckFailure(Reason.DETECTOR_FAILED, type(error).__name__)
        finally:
            deadline.cancelled = True  # tells threads still at work that nobody waits
            with self._lock:
                self._running -= 1
        return CheckResult(self.identity, detection, failure_or_none, time.monotonic() - started)

    async def probe(self) -> None:
        """Raises DetectionError if detector or explainer do not answer a small check."""
        await self._backend.probe(Deadline.after(PROBE_SECONDS))
        if self._explainer is not None:
            await self._explainer.probe(Deadline.after(PROBE_SECONDS))

    async def aclose(self) -> None:
        await self._backend.aclose()
        if self._explainer is not None:
            await self._explainer.aclose()
        self._threads.close()

    async def _check(self, request: CheckRequest, deadline: Deadline) -> tuple[Detection | None, CheckFailure | None]:
        if not request.answer.strip():
            return None, CheckFailure(Reason.NO_TEXT, "the answer is empty")
        pool = self._threads.of(_size(request))
        prepared = await in_thread(pool, lambda: self._prepare(request, deadline), deadline)
        work = Work(prepared, deadline, pool)
        try:
            found = await self._backend.detect(work)
        except DetectionError as error:
            # Nothing was read by the model; what the rules found still counts.
            found = Found(Marked(), Coverage(0.0, 0.0), error.failure())
        # What was found in time is worth a moment more; thousands of spans are not worth the caller's patience.
        grace = Deadline.after(max(deadline.left, _MERGE_SECONDS))
        detection = await in_thread(pool, lambda: self._merge(prepared, found), grace)
        failure = found.failure
        if failure is not None and not detection.spans and found.coverage.answer == 0:
            return None, failure
        if request.explain and self._explainer is not None and detection.spans:
            detection = await self._explainer.explain(work, detection)
        return detection, failure

    def _prepare(self, request: CheckRequest, deadline: Deadline) -> Prepared:
        passages = tuple(
            passage if passage.text.isascii() else replace(passage, text=replace_surrogates(passage.text))
            for passage in request.grounding.passages
        )
        grounding = Grounding(passages, request.grounding.unread, request.grounding.heard)
        answer, question = replace_surrogates(request.answer), replace_surrogates(request.question)
        index = EvidenceIndex.build(grounding, deadline.check)
        values = NO_FINDINGS
        if self._settings.value_check:
            known = ValueSet.build((passage.text for passage in passages), deadline.check)
            values = check_values(answer, question, known, index, deadline.check)
        turned: tuple[Flagged, ...] = ()
        if self._settings.relation_check:
            turned = flagged_relations(answer, question, index, deadline.check)
        return Prepared(answer, question, index, values, turned)

    def _merge(self, prepared: Prepared, found: Found) -> Detection:
        answer = prepared.answer
        marked = with_flagged(answer, found.marked, prepared.values.flagged, self._backend.limits)
        marked = with_flagged(answer, marked, prepared.turned, self._backend.limits)
        return Detection(
            spans=tuple(self._pointed(prepared, marked.spans)),
            candidates=marked.candidates,
            unsupported_score=marked.unsupported_score,
            clean_confidence=1.0 - marked.unsupported_score,
            coverage=found.coverage,
            worst_part=marked.worst_part,
        )

    @staticmethod
    def _pointed(prepared: Prepared, spans: tuple[Span, ...]) -> list[Span]:
        parts = split_long(prepared.answer, sentences(prepared.answer), 600) if spans else []
        out: list[Span] = []
        at = 0
        for n, span in enumerate(spans):
            while at + 1 < len(parts) and parts[at][1] <= span.start:
                at += 1
            if span.evidence is None and n < _POINTERS:
                context = prepared.answer[parts[at][0] : parts[at][1]] if parts else ""
                near = point_at_value(prepared.answer, span.start, span.end, prepared.index)
                span = replace(span, evidence=near or prepared.index.point_for(span.text, context))
            out.append(span)
        return out


def flagged_relations(
    answer: str, question: str, index: EvidenceIndex, alive: Callable[[], None] = lambda: None
) -> tuple[Flagged, ...]:
    """What the relation check found, as it is merged with the model's spans."""
    return tuple(
        Flagged(
            found.start, found.end, found.evidence, "relation_check", RELATION_CHECK_CONFIDENCE, told_otherwise(found)
        )
        for found in check_relations(answer, question, index, alive)
    )


def _size(request: CheckRequest) -> int:
    return len(request.answer) + sum(len(passage.text) for passage in request.grounding.passages)
