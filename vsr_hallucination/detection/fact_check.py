"""The fact-check classifier: does a prompt make claims worth grounding?

A sequence classifier over windows of the prompt; the score is P(needs fact check), the maximum over windows, so that a
factual question at the end of a long prompt is not averaged away. A prompt in a language the classifier was not trained
on says nothing to it, and counts as one that needs grounding: whether its answer can be checked is the detector's word.
"""

from __future__ import annotations

from collections.abc import Sequence

from vsr_hallucination.detection.batching import Batcher, Row
from vsr_hallucination.detection.checker import PROBE_SECONDS
from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.language import Reader
from vsr_hallucination.detection.loading import trusted
from vsr_hallucination.detection.pairs import PairEncoder
from vsr_hallucination.detection.text_threads import TextThreads, in_thread
from vsr_hallucination.detection.types import CheckFailure, GateResult, Reason
from vsr_hallucination.detection.windows import windows_over

MAX_WINDOWS = 64  # of one prompt: the first and the last half of them, where questions stand
_CHARS_PER_TOKEN = 8


class FactCheckGate:
    """The Gate of ``types``. ``needs``: label numbers that mean "needs" (``labels.needs_ids``)."""

    def __init__(
        self,
        *,
        encoder: PairEncoder,
        batcher: Batcher,
        needs: Sequence[int],
        classes: int,
        threshold: float,
        reader: Reader | None = None,
    ) -> None:
        self._encoder = encoder
        self._batcher = batcher
        self._needs = tuple(needs)
        self._classes = classes
        self.threshold = threshold
        self._reader = reader
        self._threads = TextThreads("fact-check")

    async def classify(self, prompt: str, deadline: float) -> GateResult:
        """Scores one prompt. Never raises but ``CancelledError``; a failure says ``fact_check_failed``."""
        clock = Deadline.after(deadline)
        try:
            score = await self._score(prompt, clock)
        except DetectionError as error:
            failure = CheckFailure(Reason.FACT_CHECK_FAILED, f"{error.reason}: {error}")
            return GateResult(needs_fact_check=False, score=None, failure=failure)
        # The protocol's promise, as in the checker.
        except Exception as error:
            failure = CheckFailure(Reason.FACT_CHECK_FAILED, type(error).__name__)
            return GateResult(needs_fact_check=False, score=None, failure=failure)
        finally:
            clock.cancelled = True
        return GateResult(needs_fact_check=score is None or score >= self.threshold, score=score)

    async def probe(self) -> None:
        """Raises DetectionError if the classifier does not answer."""
        await self._score("How tall is the tower?", Deadline.after(PROBE_SECONDS))

    async def aclose(self) -> None:
        self._batcher.close(timeout=0.5)
        self._threads.close()

    async def _score(self, prompt: str, clock: Deadline) -> float | None:
        """P(needs a fact check); None where the classifier cannot read the prompt."""
        if not prompt.strip():
            return 0.0  # nothing was said, so nothing was claimed
        rows = await in_thread(self._threads.of(len(prompt)), lambda: self._encode(prompt, clock), clock)
        if rows is None:
            return None
        outputs = await self._batcher.run(rows, clock)
        found = [trusted(output, (self._classes,), self._batcher.name) for output in outputs]
        return max(float(sum(output[n] for n in self._needs)) for output in found)

    def _encode(self, prompt: str, clock: Deadline) -> list[Row] | None:
        room = self._encoder.room_alone
        budget = MAX_WINDOWS * room * _CHARS_PER_TOKEN
        if len(prompt) > budget:
            prompt = prompt[: budget // 2] + "\n" + prompt[-(budget // 2) :]
        tokens = self._encoder.tokens(prompt, clock.check)
        if self._reader is not None and not self._reader.reads(prompt, tokens.ids, clock.check):
            return None
        windows = windows_over(len(tokens), room)
        if len(windows) > MAX_WINDOWS:
            windows = windows[: MAX_WINDOWS // 2] + windows[-(MAX_WINDOWS // 2) :]
        return [self._encoder.single(tokens.ids[a:b]) for a, b in windows]
