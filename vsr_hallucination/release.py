"""How a held response is released: the reply to Envoy that carries the verdict. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vsr_hallucination import enforcement as enforce
from vsr_hallucination.apis.base import Api, ResponseUnreadable
from vsr_hallucination.config.schema import Action, Decision
from vsr_hallucination.observation import Observation
from vsr_hallucination.reading import VALIDATORS, Reading
from vsr_hallucination.wire.messages import Continue, Immediate, ModeOverride, Mutation, Phase, Reply

NOT_ENFORCED = "not_enforced_streaming"

Facts = Mapping[str, str | float | bool | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Label:
    """What names an exchange to its client: the headers every 2xx carries. ``strip``: upstream's ``x-vsr-*``."""

    recipe: str
    decision: Decision | None
    replay_id: str | None
    strip: tuple[str, ...] = ()

    def headers(self, warnings: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
        decision = self.decision.name if self.decision is not None else None
        return enforce.response_headers(
            recipe=self.recipe, decision=decision, replay_id=self.replay_id, warnings=warnings
        )

    def facts(
        self,
        observations: Sequence[Observation],
        actions: Sequence[str | None] = (),
        *,
        streaming: bool = False,
    ) -> Facts:
        """Dynamic metadata. A stream's verdict is not known while its headers go out, and is not guessed."""
        return enforce.metadata(
            observations,
            recipe=self.recipe,
            decision=self.decision.name if self.decision is not None else None,
            replay_id=self.replay_id,
            actions=actions,
            enforcement=NOT_ENFORCED if streaming else None,
            verdict="streaming" if streaming else None,
        )


def release(
    phase: Phase,
    reading: Reading,
    observations: Sequence[Observation],
    label: Label,
    *,
    api: Api | None,
    failed_action: Action,
    debug: bool,
    mode: ModeOverride | None,
) -> tuple[Reply, tuple[str | None, ...]]:
    """The reply, and the word each outcome records. Headers can be changed in every phase but the trailers."""
    plugin = label.decision.plugin if label.decision is not None else None
    made = enforce.plan(observations, plugin, failed_action)
    shown = enforce.debug_headers(observations) if debug else ()
    if phase is Phase.RESPONSE_TRAILERS:  # the headers are gone: nothing can be said any more
        actions: tuple[str | None, ...] = tuple("none" if act is not None else None for act in made.acts)
        return Continue(phase, Mutation(remove=label.strip), metadata=label.facts(observations, actions)), actions
    if made.blocks and api is not None:
        actions = made.applied(body_written=False)
        code = made.code_blocked
        fields = (("content-type", "application/json"), *label.headers((code,)), *shown)
        body = api.error_body(message=enforce.block_message(code), code=code)
        return Immediate(403, body, fields, metadata=label.facts(observations, actions)), actions
    body_codes = made.codes(Action.BODY)
    written: bytes | None = None
    if body_codes and phase is Phase.RESPONSE_BODY and api is not None:
        details = plugin is not None and plugin.include_hallucination_details
        texts = enforce.notices(made, observations, details=details, codes=body_codes)
        written = _rewritten(api, reading, texts) if texts else None
    actions = made.applied(body_written=written is not None)
    unwritten = body_codes if written is None else ()  # a warning that found no place still reaches the client
    wanted = {*made.codes(Action.HEADER), *unwritten}
    fields = (*label.headers([code for code in enforce.CODES if code in wanted]), *shown)
    remove = label.strip if phase is Phase.RESPONSE_HEADERS else ()
    if written is not None:
        fields += (("content-length", str(len(written))),)
        remove += VALIDATORS
    metadata = label.facts(observations, actions)
    return Continue(phase, Mutation(fields, remove), written, mode, metadata), actions


def _rewritten(api: Api, reading: Reading, texts: Mapping[int, str]) -> bytes | None:
    """The body with its warnings, or None where they found no place (they then go into a header)."""
    try:
        edited = api.prepend(reading.plain, texts, reading.view)
    except ResponseUnreadable:
        return None
    return edited if edited != reading.plain else None
