"""What the exchange asks of whoever drives it: immutable orders, carried out by ``server.service``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vsr_hallucination.detection.types import CheckRequest
from vsr_hallucination.replay.record import Record
from vsr_hallucination.wire.messages import Reply


@dataclass(frozen=True, slots=True)
class Send:
    """Send this reply to Envoy now."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Resume:
    """Feed ``Exchange.resumed`` once the replies before this are sent: what is left to do must not delay them."""


@dataclass(frozen=True, slots=True)
class Classify:
    """Run the recipe's fact-check classifier over ``prompt`` in a task; feed ``Exchange.gated``.

    ``held``: its word may be needed at once. Otherwise a stream has ended, and nobody waits for it.
    """

    recipe: str
    prompt: str
    held: bool = True


@dataclass(frozen=True, slots=True)
class Check:
    """Check these answers (one a choice) with the recipe's detector; feed ``Exchange.checked`` in the same order.

    ``held``: Envoy waits for the reply. Otherwise a stream: the check runs off it, and outlives the RPC.
    """

    recipe: str
    requests: tuple[CheckRequest, ...]
    held: bool


@dataclass(frozen=True, slots=True)
class Save:
    """Put this record into the replay store (write-behind); a later one with the same id replaces it."""

    record: Record


@dataclass(frozen=True, slots=True)
class Note:
    """A fact for logs and metrics. Fields never hold prompt or answer text."""

    event: str
    fields: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    warning: bool = False


Order = Send | Resume | Classify | Check | Save | Note
