"""The case: what one exchange knows so far, and the orders that come of it. Whoever drives the machine takes them.

Its request half (``exchange``), its response half (``response``) and its judging (``verdict``) read and write here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from vsr_hallucination.audit import Draft
from vsr_hallucination.config.schema import Config, Decision, DecisionSource, FactCheckMode, HallucinationRule
from vsr_hallucination.detection.types import CheckFailure, GateResult
from vsr_hallucination.intake import Intake, nothing
from vsr_hallucination.judging import decision_by_name, decision_by_rules, decision_without_gate, rules_of, settled
from vsr_hallucination.orders import Classify, Note, Order, Resume, Save, Send
from vsr_hallucination.reading import Head, Reading
from vsr_hallucination.release import Facts, Label
from vsr_hallucination.replay.record import Lifecycle
from vsr_hallucination.stages import Stage
from vsr_hallucination.streaming import Tap
from vsr_hallucination.wire.messages import HeaderMap, Mutation, Phase, Reply, RequestTrailers, ResponseTrailers

Step = Callable[[float], None]
_DETAIL = 200  # characters of what a failure says of itself
_NO_METADATA: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Exempt:
    """What the client and the access log are told of an answer that nothing has to be checked of."""

    headers: tuple[tuple[str, str], ...]
    facts: Facts


class Case:
    """One mutable object, like the ``Draft`` in it: most exchanges carry no rule, and microseconds count."""

    __slots__ = (
        "_decided", "_decision", "_later", "_orders", "checking", "config", "decision_name", "exempt", "finished",
        "gate", "gate_asked", "head", "intake", "left", "metadata", "pending", "reading", "reading_at", "record",
        "stage", "strip", "tap", "unseen",
    )  # fmt: skip

    def __init__(self, config: Config, id: str, metadata: Mapping[str, str] | None) -> None:
        self.config = config
        self.metadata = metadata or _NO_METADATA
        self.stage = Stage.START
        self.record = Draft(id, config.recipes[0].name, config.sha256 or None, store=config.replay.store_bodies)
        self.intake: Intake = nothing(config)
        self.gate: GateResult | None = None
        self.gate_asked = False
        # What is known before a byte of the answer came, where nothing in it can change that: row 4 for all rules.
        # Such an answer is not held: it passes, and is read beside its way only to tell whether it was one (row 1).
        self.exempt: Exempt | None = None
        self.decision_name: str | None = None  # as a route or an upstream router names it
        self.head: Head | None = None
        self.strip: tuple[str, ...] = ()  # upstream's ``x-vsr-*``, which do not go on
        self.tap: Tap | None = None
        self.reading: Reading | None = None
        self.reading_at = 0.0
        self.pending: Phase | None = None  # the message whose reply Envoy waits for
        self.checking: tuple[int, ...] | None = None  # positions of the answers that are being checked
        self.unseen = False  # the body passes unseen: the record is closed with the RPC
        self.finished = False  # the final record is saved
        self._orders: list[Order] = []
        self._later: Step | None = None  # what is left to do with the message just answered
        self.left = 0  # bytes of it
        self._decision: Decision | None = None
        self._decided = False

    # -- orders ----------------------------------------------------------------------------------------------

    def reply(self, reply: Reply) -> None:
        self._orders.append(Send(reply))

    def order(self, order: Order) -> None:
        self._orders.append(order)

    def note(self, event: str, *, warning: bool = False, **fields: str | int | float | bool) -> None:
        self._orders.append(Note(event, {"exchange": self.record.id, **fields}, warning))

    def note_failure(self, event: str, failure: CheckFailure) -> None:
        """A check that did not happen, with the words for it, which never hold text."""
        why = {"detail": failure.message[:_DETAIL]} if failure.message else {}
        self.note(event, warning=True, reason=str(failure.reason), **why)

    def save(self, at: float, lifecycle: Lifecycle) -> None:
        """The final record, once."""
        if self.finished:
            return
        self.finished = True
        self.record.close(lifecycle, at)
        self._orders.append(Save(self.record.freeze()))

    def after_the_reply(self, step: Step, size: int) -> None:
        """``size``: bytes that the step works through."""
        self._later, self.left = step, size
        self._orders.append(Resume())

    def catch_up(self, at: float) -> None:
        step, self._later = self._later, None
        if step is not None:
            step(at)

    def take(self) -> tuple[Order, ...]:
        """The orders since the last time."""
        orders, self._orders = tuple(self._orders), []
        return orders

    # -- the request, and what holds for it ------------------------------------------------------------------

    def take_in(self, intake: Intake) -> None:
        self.intake = intake
        for note in intake.notes:
            self.note(note.event, warning=note.warning, **note.fields)

    def ask_gate(self) -> None:
        request = self.intake.request
        if request is None or not self.intake.readable or self.gate_asked:
            return
        self.gate_asked = True
        if self.config.filter.fact_check is FactCheckMode.ALWAYS:
            self.gate = GateResult(True, None)
        else:
            self._orders.append(Classify(self.intake.recipe.name, request.prompt, held=self.tap is None))

    def hear_gate(self, result: GateResult) -> None:
        """The classifier's word. What follows from it is found out now: upstream still works, and nobody waits."""
        self.gate = result
        if result.failure is None and not result.needs_fact_check and self.reading is None:
            found = settled(self.rules(), self.intake, result, None)
            if found is not None:
                label = self.label()
                self.exempt = Exempt(label.headers(), label.facts(found))

    def rules(self) -> tuple[HallucinationRule, ...]:
        return rules_of(self.intake.recipe, self.decide(), streaming=self.record.streaming)

    def decide(self) -> Decision | None:
        """The decision selected for the request, by whichever source the configuration trusts."""
        if self._decided:
            return self._decision
        self._decided = True
        source = self.config.filter.decision_source
        if self.decision_name is not None:
            self._decision = decision_by_name(self.intake.recipe, self.decision_name)
            if self._decision is None:
                self.note("unknown_decision", warning=True, source=str(source))
        elif source is not DecisionSource.UPSTREAM:
            self._decision = decision_by_rules(self.intake, self.gate)
        if self._decision is not None:
            self.record.decision = self._decision.name
        return self._decision

    def label(self) -> Label:
        """What every 2xx is told. The decision is named once it is known: a stream does not wait for it."""
        decision = self._decision
        named = self.decision_name is not None or self.config.filter.decision_source is DecisionSource.UPSTREAM
        if self.gate is not None or not self.gate_asked or named:
            decision = self.decide()
        elif not self._decided:
            certain, likely = decision_without_gate(self.intake)
            decision = likely if certain else None
        replay_id = self.record.id if self.config.replay.enabled else None
        return Label(self.intake.recipe.name, decision, replay_id, self.strip)


def unforged(message: RequestTrailers | ResponseTrailers) -> Mutation:
    """Trailers are as good a place to forge a verdict as headers."""
    return Mutation(remove=ours(message.headers))


def ours(headers: HeaderMap) -> tuple[str, ...]:
    """The names under ``x-vsr-``: only what we set ourselves may reach the other side."""
    return headers.under("x-vsr-")
