"""Label values that are known before anything happens: their series stand at 0 from the start.

An alert on ``increase()`` sees no incident in a series that begins with it, at 1 (Prometheus, "Instrumentation",
"Avoid missing metrics").
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from vsr_hallucination.config.schema import Config
from vsr_hallucination.detection.types import Reason
from vsr_hallucination.observation import State
from vsr_hallucination.replay.record import Lifecycle

CONTEXT_UNAVAILABLE: Final = "context_unavailable"
MODELS: Final = ("detector", "fact_check", "explainer")
STREAMING: Final = ("false", "true")
PARTS: Final = ("answer", "grounding")  # of what was read
SIGNALS: Final = ("hallucination", "fact_check")
EVENTS: Final = (
    "check_failed", "exchange_failed", "fact_check_failed", "message_unknown", "override_ignored",
    "request_unreadable", "response_skipped", "response_unreadable", "too_large", "unknown_api", "unknown_decision",
    "unknown_recipe", "upstream_error",
)  # fmt: skip
UPSTREAM_ERRORS: Final = ("status", "in_band")
DROPPED: Final = (*product(MODELS, ("overloaded", "late", "departed")), ("checker", "overloaded"))
CHECKS: Final = (
    "ok",
    *map(str, (Reason.DETECTOR_FAILED, Reason.TIMEOUT, Reason.OVERLOADED, Reason.NOT_PROVISIONED)),
    *map(str, (Reason.NO_TEXT, Reason.UNSUPPORTED_LANGUAGE, Reason.ANSWER_NOT_READ)),
)
FACT_CHECKS: Final = ("needs_fact_check", "no_fact_check_needed", str(Reason.FACT_CHECK_FAILED))
RELOADS: Final = ("accepted", "rejected")
LOST: Final = ("closed", "details", "overflow", "rejected", "unavailable")
UNAVAILABLE: Final = (CONTEXT_UNAVAILABLE, *map(str, Reason))
ENDS: Final = tuple(str(each) for each in Lifecycle if each is not Lifecycle.IN_PROGRESS)
_MOST_RULES = 100  # each has eight series; of more, those come that something happens to


def exchanges(config: Config) -> Iterator[tuple[str, str, str]]:
    """(recipe, lifecycle, streaming) of ``vsr_exchanges_total``."""
    return product((recipe.name for recipe in config.recipes[:_MOST_RULES]), ENDS, STREAMING)


def unavailable(config: Config) -> Iterator[tuple[str, str]]:
    """(recipe, reason) of ``vsr_unavailable_total``, where a recipe checks anything."""
    return product((each.name for each in config.recipes[:_MOST_RULES] if each.needs_models), UNAVAILABLE)


def outcomes(config: Config) -> Iterator[tuple[str, str, str, str]]:
    """(recipe, rule, state, streaming) of ``vsr_outcomes_total``."""
    rules = [(recipe.name, rule.name) for recipe in config.recipes for rule in recipe.hallucination]
    for (recipe, rule), state, streaming in product(rules[:_MOST_RULES], map(str, State), STREAMING):
        yield recipe, rule, state, streaming
