"""Values that detection takes and gives: passages, spans, detections, gate results. No code of weight here.

All offsets are code points, half-open. ``confidence`` is how sure the detector is of what it reports;
``unsupported_score`` is how likely the answer's worst part is unsupported, before any threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Reason(StrEnum):
    """Why an answer could not be checked (DESIGN §2, third column)."""

    REQUEST_UNREADABLE = "request_unreadable"
    TOO_LARGE = "too_large"
    UNKNOWN_API = "unknown_api"
    FACT_CHECK_FAILED = "fact_check_failed"
    RESPONSE_UNREADABLE = "response_unreadable"
    NO_TEXT = "no_text"
    DETECTOR_FAILED = "detector_failed"
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"
    NOT_PROVISIONED = "not_provisioned"
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    ANSWER_NOT_READ = "answer_not_read"


class NliLabel(StrEnum):
    """Relation of a premise to a hypothesis."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


class Severity(StrEnum):
    """How bad a span is: a contradiction is high, an unbacked statement medium, a weak doubt low."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class OffsetRun:
    """``length`` code points of a passage's text from ``start`` are those of its source from ``origin``."""

    start: int
    origin: int
    length: int


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of evidence as the model reads it, and where in the request it stands.

    ``path`` is a JSON path to the string it comes from (``$.messages[2].content``). ``text`` may be a readable
    form of that string (flattened JSON); ``origin`` then maps its runs back; empty means text equals the source.
    """

    text: str
    path: str
    role: str = "tool"
    source_id: str | None = None
    trust: str = "tool"
    origin: tuple[OffsetRun, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadEvidence:
    """Evidence that was present but could not be read (an image, an encrypted page): it lowers coverage."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Grounding:
    """All evidence of one request, in order. ``heard``: words with a capital, case folded, that the conversation has
    outside its evidence: they support nothing, but a name among them is not invented."""

    passages: tuple[Passage, ...] = ()
    unread: tuple[UnreadEvidence, ...] = ()
    heard: frozenset[str] = field(default=frozenset(), compare=False)

    def __bool__(self) -> bool:
        return bool(self.passages)


@dataclass(frozen=True, slots=True)
class EvidencePointer:
    """The passage nearest to a span: path, code-point offsets into the source string at that path, the text there."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """An unsupported stretch of one answer that survived the thresholds; ``text == answer[start:end]``."""

    start: int
    end: int
    text: str
    confidence: float
    nli_label: NliLabel | None = None
    nli_confidence: float | None = None
    severity: Severity | None = None
    explanation: str | None = None
    evidence: EvidencePointer | None = None
    explainer_failed: bool = False
    tier: str = "model"  # what found it: "model", "value_check", "relation_check", "endpoint"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stretch that did not survive: kept so that history can be judged again under another threshold."""

    start: int
    end: int
    confidence: float
    why: str  # "threshold", "min_span_length", "nli_entailed", "unsupported_language"
    nli_label: NliLabel | None = None
    nli_confidence: float | None = None
    evidence_path: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares in 0..1: how much of the answer was read, how much of the grounding was read."""

    answer: float
    grounding: float


@dataclass(frozen=True, slots=True)
class DetectorIdentity:
    """Which detector judged, and under which numbers: enough to judge again. ``weights_sha256``: of its files."""

    name: str
    backend: str
    weights_sha256: str | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One answer text to check. ``deadline`` is seconds from now within which the caller needs the result."""

    question: str
    grounding: Grounding
    answer: str
    explain: bool = False  # the rule's use_nli
    deadline: float = 5.0


@dataclass(frozen=True, slots=True)
class Detection:
    """What a detector found in one answer.

    ``clean_confidence`` is the certainty that the least certain part is supported (1 − its unsupported probability).
    ``worst_part`` is the highest probability of any one part: an answer has a span where it reaches the threshold (with
    every length allowed and no NLI filter). None: it is the ``unsupported_score``, which may otherwise lie above it.
    """

    spans: tuple[Span, ...]
    candidates: tuple[Candidate, ...]
    unsupported_score: float
    clean_confidence: float
    coverage: Coverage
    worst_part: float | None = None


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """The check did not (wholly) happen. ``message`` is for logs: it never holds answer or evidence text."""

    reason: Reason
    message: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Outcome of one check. Both may be set: a partial detection beside the failure that cut it short."""

    detector: DetectorIdentity
    detection: Detection | None = None
    failure: CheckFailure | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class GateResult:
    """The fact-check classifier's word on one prompt: ``score`` is P(needs fact check), None where it did not run."""

    needs_fact_check: bool
    score: float | None
    failure: CheckFailure | None = None  # set: the classifier failed or was never provisioned


class Checker(Protocol):
    """A provisioned detector (with its explainer, if any). Never raises but ``asyncio.CancelledError``."""

    @property
    def identity(self) -> DetectorIdentity: ...

    async def check(self, request: CheckRequest) -> CheckResult: ...

    async def probe(self) -> None:
        """Raise if the model does not answer a small check (readiness)."""

    async def aclose(self) -> None: ...


class Gate(Protocol):
    """A provisioned fact-check classifier. Never raises but ``asyncio.CancelledError``."""

    async def classify(self, prompt: str, deadline: float) -> GateResult: ...

    async def probe(self) -> None: ...

    async def aclose(self) -> None: ...
