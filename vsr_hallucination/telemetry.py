"""What the filter counts, for Prometheus. One object with a registry of its own, handed to whoever reports.

Names shared with Semantic Router (``llm_*``) keep its meaning and labels, so one dashboard reads both; what is ours
alone is ``vsr_*``. A label value never comes from a client: names come from the configuration or from our own enums,
and ``LabelBounds`` turns whatever else might slip through into ``other``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from vsr_hallucination import __version__, series
from vsr_hallucination.config.schema import Config
from vsr_hallucination.detection.types import CheckResult, GateResult
from vsr_hallucination.logs import NoteLog
from vsr_hallucination.orders import Note
from vsr_hallucination.replay.record import Lifecycle, Outcome, Record

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SHARES: Final = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_ACTIONS: Final = ("block", "body", "header", "none")  # the strongest first
_CHILDREN: Final = 1024
_DEFAULT_RECIPE: Final = "default"
_CONTEXT_UNAVAILABLE: Final = "hallucination_context_unavailable"


def scoped(recipe: str, name: str) -> str:
    """A signal's or decision's name in the router's metrics: bare in the recipe ``default``, else with its recipe."""
    return name if recipe == _DEFAULT_RECIPE else f"{recipe}::{name}"


class LabelBounds:
    """Lets at most ``limit`` different values through per label; the rest become ``other``."""

    def __init__(self, limit: int = 200) -> None:
        self._limit = limit
        self._seen: dict[str, set[str]] = {}

    def __call__(self, label: str, value: str | None) -> str:
        if not value:
            return "none"
        text = value[:160]  # a recipe's name and a rule's
        seen = self._seen.setdefault(label, set())
        if text in seen:
            return text
        if len(seen) >= self._limit or not text.isprintable():
            return "other"
        seen.add(text)
        return text


class Telemetry:
    """Counts what is reported to it. No method blocks or raises; any thread may call."""

    def __init__(self, registry: CollectorRegistry | None = None, log: NoteLog | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._log = log or NoteLog()
        self._label = LabelBounds()
        self._ended: dict[tuple[str, Lifecycle, str], tuple[Counter, Histogram]] = {}
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._gauge("vsr_build_info", "The running version; always 1.", "version").labels(__version__).set(1)
        # Semantic Router's names
        signal = ("signal_type", "signal_name")
        self._extractions = self._counter("llm_signal_extraction_total", "Observations published, by signal.", *signal)
        self._matches = self._counter("llm_signal_match_total", "Observations that matched, by signal.", *signal)
        self._signal_seconds = self._histogram(
            "llm_signal_extraction_latency_seconds", "Time to evaluate a signal.", _SECONDS, "signal_type"
        )
        self._plugin = self._counter(
            "llm_plugin_execution_total",
            "Hallucination plugin at work on a held answer; status is the strongest action applied.",
            *("plugin_type", "decision_name", "status"),
        )
        self._detection_seconds = self._histogram(
            "llm_hallucination_detection_latency_seconds", "Time of one check, queueing included.", _SECONDS
        )
        self._unverified = self._counter(
            "llm_unverified_factual_responses_total",
            "Answers that needed grounding where the request carried none.",
        )
        # ours: exchanges and outcomes
        self._exchanges = self._counter(
            "vsr_exchanges_total", "Exchanges that ended.", "recipe", "lifecycle", "streaming"
        )
        self._exchange_seconds = self._histogram(
            "vsr_exchange_seconds", "From the request's headers to the final record.", _SECONDS, "streaming"
        )
        self._outcomes = self._counter(
            "vsr_outcomes_total", "Rule outcomes by state.", "recipe", "rule", "state", "streaming"
        )
        self._unavailable = self._counter(
            "vsr_unavailable_total", "Answers that could not be checked, by reason.", "recipe", "reason"
        )
        self._coverage = self._histogram("vsr_coverage_ratio", "Share that was read, 0 to 1.", _SHARES, "part")
        self._unsupported = self._histogram(
            "vsr_unsupported_score", "How likely the answer's worst part is unsupported.", _SHARES, "recipe"
        )
        self._open = self._gauge("vsr_open_exchanges", "ext_proc streams open now.")
        # ours: what goes wrong around an exchange
        self._events = self._counter("vsr_events_total", "Noteworthy events of exchanges, by name.", "event")
        self._upstream_errors = self._counter(
            "vsr_upstream_errors_total",
            "Upstream failures: an error status, or an error inside a 2xx.",
            "kind",
        )
        self._unknown_api = self._counter("vsr_unknown_api_total", "Requests of an API this filter does not read.")
        self._ignored_overrides = self._counter(
            "vsr_ignored_overrides_total", "Body messages that show that Envoy did not take a mode override."
        )
        self._failures = self._counter(
            "vsr_exchange_failures_total", "Exchanges given up after an error of ours (they fail open)."
        )
        # ours: detection
        self._queue = self._gauge("vsr_detection_queue_size", "Checks waiting for a model.", "model")
        self._batch = self._histogram("vsr_detection_batch_size", "Windows in one model call.", _SIZES, "model")
        self._wait = self._histogram("vsr_detection_queue_wait_seconds", "Wait of a check.", _SECONDS, "model")
        self._dropped = self._counter(
            "vsr_detection_dropped_total", "Checks dropped before any work.", "model", "reason"
        )
        self._checks = self._counter("vsr_checks_total", "Single checks by result: ok, or why not.", "result")
        self._gates = self._counter("vsr_fact_checks_total", "Classifier runs by result.", "result")
        self._models = self._gauge("vsr_model_loaded", "1 if the model is loaded and answered.", "recipe", "model")
        # ours: configuration and replay
        self._config = self._gauge("vsr_config_info", "The configuration in force; always 1.", "sha256")
        self._config_at = self._gauge("vsr_config_loaded_timestamp_seconds", "When it was loaded; age is now - this.")
        self._reloads = self._counter("vsr_config_reloads_total", "Reloads by result.", "result")
        self._backlog = self._gauge("vsr_replay_backlog", "Replay records not yet in the store.")
        self._written = self._counter("vsr_replay_records_written_total", "Replay records written.")
        self._write_seconds = self._histogram(
            "vsr_replay_write_seconds", "Time of a batch, retries included.", _SECONDS
        )
        self._lost = self._counter("vsr_replay_lost_total", "Replay records (or bodies) lost, by reason.", "reason")
        self._pruned = self._counter("vsr_replay_pruned_total", "Replay records removed by retention.")
        self._begin()

    def _begin(self) -> None:
        """Every series whose labels are known, at 0."""
        for metric, values in (
            (self._events, [(self._label("event", each),) for each in series.EVENTS]),
            (self._dropped, [(self._label("model", of), self._label("dropped", why)) for of, why in series.DROPPED]),
            (self._lost, [(self._label("lost", each),) for each in series.LOST]),
            (self._upstream_errors, zip(series.UPSTREAM_ERRORS)),
            (self._checks, zip(series.CHECKS)),
            (self._gates, zip(series.FACT_CHECKS)),
            (self._reloads, zip(series.RELOADS)),
            (self._exchange_seconds, zip(series.STREAMING)),
            (self._signal_seconds, zip(series.SIGNALS)),
            (self._coverage, zip(series.PARTS)),
            (self._batch, zip(series.MODELS)),
            (self._wait, zip(series.MODELS)),
        ):
            for labels in values:
                metric.labels(*labels)

    # -- exchanges -------------------------------------------------------------------------------------------

    def note(self, note: Note) -> None:
        """A ``Note`` order: counted, and logged (warnings as such; a flood of one event is thinned out)."""
        self._events.labels(self._label("event", note.event)).inc()
        if note.event == "upstream_error":
            self._upstream_errors.labels("in_band" if note.fields.get("in_band") else "status").inc()
        elif note.event == "unknown_api":
            self._unknown_api.inc()
        elif note.event == "override_ignored":
            self._ignored_overrides.inc()
        elif note.event == "exchange_failed":
            self._failures.inc()
        self._log.write(note)

    def recorded(self, record: Record) -> None:
        """A replay record. Counts final ones: an exchange has exactly one of those."""
        if record.lifecycle is Lifecycle.IN_PROGRESS:
            return
        streaming = "true" if record.streaming else "false"
        ended = (record.recipe, record.lifecycle, streaming)
        found = self._ended.get(ended)  # looking children up by their labels costs more than all the rest
        if found is None:
            counter = self._exchanges.labels(self._label("recipe", record.recipe), record.lifecycle.value, streaming)
            found = counter, self._exchange_seconds.labels(streaming)
            if len(self._ended) < _CHILDREN:
                self._ended[ended] = found
        found[0].inc()
        if record.completed_at is not None:
            _observe(found[1], record.completed_at - record.created_at)
        if not record.outcomes:
            return
        for outcome in record.outcomes:
            self._outcome(outcome, record.recipe, streaming)
        actions = [outcome.action for outcome in record.outcomes]
        applied = next((action for action in _ACTIONS if action in actions), None)
        if applied is not None:
            decision = scoped(record.recipe, record.decision) if record.decision else None
            self._plugin.labels("hallucination", self._label("decision", decision), applied).inc()
        if any(outcome.error == _CONTEXT_UNAVAILABLE for outcome in record.outcomes):
            self._unverified.inc()
        self._fact_check(record.outcomes, record.recipe)

    def watch_open_exchanges(self, read: Callable[[], int]) -> None:
        """``read`` is asked at each scrape."""
        self._open.set_function(read)

    def _outcome(self, outcome: Outcome, recipe_name: str, streaming: str) -> None:
        recipe = self._label("recipe", recipe_name)
        name = outcome.target_ref.removeprefix("hallucination:")
        rule, signal = self._label("rule", name), self._label("signal", scoped(recipe_name, name))
        state = self._label("state", outcome.verdict)
        self._outcomes.labels(recipe, rule, state, streaming).inc()
        if state != "not_applicable":  # that one is not published
            self._extractions.labels("hallucination", signal).inc()
        if state == "detected":
            self._matches.labels("hallucination", signal).inc()
        if state == "unavailable":
            context = outcome.error == _CONTEXT_UNAVAILABLE
            reason = series.CONTEXT_UNAVAILABLE if context else self._label("reason", outcome.reason)
            self._unavailable.labels(recipe, reason).inc()
        _observe(self._coverage.labels("answer"), outcome.coverage_answer)
        _observe(self._coverage.labels("grounding"), outcome.coverage_grounding)
        _observe(self._unsupported.labels(recipe), outcome.unsupported_score)

    def _fact_check(self, outcomes: Sequence[Outcome], recipe: str) -> None:
        if all(outcome.gate_score is None for outcome in outcomes):
            return
        spared = all(outcome.verdict == "not_applicable" for outcome in outcomes)
        verdict = "no_fact_check_needed" if spared else "needs_fact_check"
        name = self._label("signal", scoped(recipe, verdict))
        self._extractions.labels("fact_check", name).inc()
        self._matches.labels("fact_check", name).inc()

    # -- detection -------------------------------------------------------------------------------------------

    def queue_size(self, model: str, size: int) -> None:
        """Checks that wait for ``model`` (detector, fact_check, explainer)."""
        self._queue.labels(self._label("model", model)).set(size)

    def batch_size(self, model: str, size: int) -> None:
        """Windows in one call of the model."""
        _observe(self._batch.labels(self._label("model", model)), size)

    def queue_wait(self, model: str, seconds: float) -> None:
        """How long a check waited before the model began."""
        _observe(self._wait.labels(self._label("model", model)), seconds)

    def dropped(self, model: str, why: str) -> None:
        """A check was turned away or dropped before the model saw it (overloaded, late, departed)."""
        self._dropped.labels(self._label("model", model), self._label("dropped", why)).inc()

    def checked(self, result: CheckResult, seconds: float) -> None:
        """One check of one answer has ended, one way or the other."""
        self._checks.labels(str(result.failure.reason) if result.failure is not None else "ok").inc()
        _observe(self._detection_seconds, seconds)
        _observe(self._signal_seconds.labels("hallucination"), seconds)

    def gated(self, result: GateResult, seconds: float) -> None:
        """The classifier has read one prompt, or failed to."""
        failed = str(result.failure.reason) if result.failure is not None else None
        verdict = "needs_fact_check" if result.needs_fact_check else "no_fact_check_needed"
        self._gates.labels(failed or verdict).inc()
        _observe(self._signal_seconds.labels("fact_check"), seconds)

    def model_state(self, recipe: str, model: str, *, loaded: bool) -> None:
        """Whether a provisioned model is loaded and answers."""
        self._models.labels(self._label("recipe", recipe), self._label("model", model)).set(1 if loaded else 0)

    # -- configuration and replay ----------------------------------------------------------------------------

    def config_loaded(self, config: Config, at: float) -> None:
        """A configuration is in force from now on (UNIX seconds); models report themselves anew, its recipes and rules
        are counted from 0."""
        self._config.clear()
        self._config.labels(config.sha256[:64]).set(1)
        self._config_at.set(at)
        self._models.clear()
        for recipe, lifecycle, streaming in series.exchanges(config):
            self._exchanges.labels(self._label("recipe", recipe), lifecycle, streaming)
        for recipe, reason in series.unavailable(config):
            self._unavailable.labels(self._label("recipe", recipe), self._label("reason", reason))
        for recipe, rule, state, streaming in series.outcomes(config):
            names = self._label("recipe", recipe), self._label("rule", rule)
            self._outcomes.labels(*names, self._label("state", state), streaming)

    def reloaded(self, *, accepted: bool) -> None:
        """A reload was tried; a rejected one left the old configuration in force."""
        self._reloads.labels("accepted" if accepted else "rejected").inc()

    def replay_backlog(self, size: int) -> None:
        self._backlog.set(size)

    def replay_written(self, count: int, seconds: float) -> None:
        self._written.inc(count)
        _observe(self._write_seconds, seconds)

    def replay_lost(self, count: int, why: str) -> None:
        self._lost.labels(self._label("lost", why)).inc(count)

    def replay_pruned(self, count: int) -> None:
        self._pruned.inc(count)

    # -- making ----------------------------------------------------------------------------------------------

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(name, text, labels, registry=self.registry, buckets=buckets)


def _observe(histogram: Any, value: float | None) -> None:
    """NaN would poison a sum for ever, and a clock that went back must not shrink it."""
    if value is not None and math.isfinite(value):
        histogram.observe(max(0.0, value))
