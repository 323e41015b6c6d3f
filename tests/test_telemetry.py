from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from support.records import outcome, record
from vsr_hallucination import series
from vsr_hallucination.config.schema import Config, HallucinationRule, Recipe
from vsr_hallucination.detection.types import CheckFailure, CheckResult, DetectorIdentity, GateResult, Reason
from vsr_hallucination.orders import Note
from vsr_hallucination.replay.record import Lifecycle
from vsr_hallucination.server.metering import MeteredChecker, MeteredGate, Records
from vsr_hallucination.telemetry import LabelBounds, Telemetry

PACKAGE = Path(series.__file__).parent


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


def value(telemetry: Telemetry, name: str, **labels: str) -> float:
    found = telemetry.registry.get_sample_value(name, labels)
    return 0.0 if found is None else found


def text(telemetry: Telemetry) -> str:
    return generate_latest(telemetry.registry).decode()


def test_a_detected_answer_is_extracted_matched_and_acted_on(telemetry: Telemetry) -> None:
    telemetry.recorded(record())
    rule = {"signal_type": "hallucination", "signal_name": "ungrounded_claims"}
    assert value(telemetry, "llm_signal_extraction_total", **rule) == 1
    assert value(telemetry, "llm_signal_match_total", **rule) == 1
    plugin = {"plugin_type": "hallucination", "decision_name": "checked", "status": "header"}
    assert value(telemetry, "llm_plugin_execution_total", **plugin) == 1
    state = {"recipe": "default", "rule": "ungrounded_claims", "state": "detected", "streaming": "false"}
    assert value(telemetry, "vsr_outcomes_total", **state) == 1
    assert value(telemetry, "vsr_exchange_seconds_sum", streaming="false") == pytest.approx(0.25)
    assert value(telemetry, "vsr_coverage_ratio_sum", part="grounding") == pytest.approx(0.75)


def test_names_are_scoped_to_their_recipe_as_the_router_has_them(telemetry: Telemetry) -> None:
    telemetry.recorded(record(recipe="strict"))
    telemetry.recorded(record())
    for name in ("strict::ungrounded_claims", "ungrounded_claims"):
        assert value(telemetry, "llm_signal_match_total", signal_type="hallucination", signal_name=name) == 1
    for name in ("strict::checked", "checked"):
        plugin = {"plugin_type": "hallucination", "decision_name": name, "status": "header"}
        assert value(telemetry, "llm_plugin_execution_total", **plugin) == 1
    gate = {"signal_type": "fact_check", "signal_name": "strict::needs_fact_check"}
    assert value(telemetry, "llm_signal_match_total", **gate) == 1
    state = {"recipe": "strict", "rule": "ungrounded_claims", "state": "detected", "streaming": "false"}
    assert value(telemetry, "vsr_outcomes_total", **state) == 1, "where the recipe is a label, the name stays bare"


def test_an_unfinished_record_counts_nothing(telemetry: Telemetry) -> None:
    before = text(telemetry)
    telemetry.recorded(record(lifecycle=Lifecycle.IN_PROGRESS))
    assert [line for line in text(telemetry).splitlines() if line.startswith(("vsr_", "llm_"))] == [
        line for line in before.splitlines() if line.startswith(("vsr_", "llm_"))
    ]


def test_an_unavailable_answer_never_counts_as_a_match(telemetry: Telemetry) -> None:
    failed = outcome("unavailable", error="hallucination_evaluation_failed", reason="timeout", action="none")
    bare = outcome("unavailable", error="hallucination_context_unavailable", action="body", spans=())
    telemetry.recorded(record(outcomes=(failed, bare)))
    assert value(telemetry, "vsr_unavailable_total", recipe="default", reason="timeout") == 1
    assert value(telemetry, "vsr_unavailable_total", recipe="default", reason="context_unavailable") == 1
    assert value(telemetry, "llm_unverified_factual_responses_total") == 1
    assert 'llm_signal_match_total{signal_name="ungrounded_claims"' not in text(telemetry)
    plugin = {"plugin_type": "hallucination", "decision_name": "checked", "status": "body"}
    assert value(telemetry, "llm_plugin_execution_total", **plugin) == 1  # once an exchange, the strongest


def test_a_prompt_without_claims_is_seen_but_not_extracted(telemetry: Telemetry) -> None:
    spared = outcome("not_applicable", action=None, gate_score=0.1, score=None)
    telemetry.recorded(record(outcomes=(spared,)))
    assert (
        value(
            telemetry,
            "llm_signal_extraction_total",
            signal_type="hallucination",
            signal_name="ungrounded_claims",
        )
        == 0
    )
    gate = {"signal_type": "fact_check", "signal_name": "no_fact_check_needed"}
    assert value(telemetry, "llm_signal_match_total", **gate) == 1
    assert "llm_plugin_execution_total{" not in text(telemetry)


def test_streams_are_told_apart(telemetry: Telemetry) -> None:
    telemetry.recorded(
        record(streaming=True, outcomes=(outcome(action=None, enforcement="not_enforced_streaming"),))
    )
    assert (
        value(telemetry, "vsr_exchanges_total", recipe="default", lifecycle="completed", streaming="true")
        == 1
    )
    assert "llm_plugin_execution_total{" not in text(telemetry)


@pytest.mark.parametrize(
    ("note", "metric", "labels"),
    [
        (Note("upstream_error", {"status": 503}), "vsr_upstream_errors_total", {"kind": "status"}),
        (Note("upstream_error", {"in_band": True}), "vsr_upstream_errors_total", {"kind": "in_band"}),
        (Note("unknown_api", {"path": "/secret/path"}), "vsr_unknown_api_total", {}),
        (Note("override_ignored", {}), "vsr_ignored_overrides_total", {}),
        (Note("exchange_failed", {}, warning=True), "vsr_exchange_failures_total", {}),
        (Note("too_large", {"size": 1}), "vsr_events_total", {"event": "too_large"}),
    ],
)
def test_notes_become_metrics(telemetry: Telemetry, note: Note, metric: str, labels: dict[str, str]) -> None:
    telemetry.note(note)
    assert value(telemetry, metric, **labels) == 1
    assert "/secret/path" not in text(telemetry)


def test_a5_upstream_errors_have_a_name_in_metrics(telemetry: Telemetry) -> None:
    telemetry.note(Note("upstream_error", {"status": 200, "in_band": True}))
    assert 'vsr_upstream_errors_total{kind="in_band"} 1.0' in text(telemetry)


def test_c8_ignored_overrides_are_counted(telemetry: Telemetry) -> None:
    telemetry.note(Note("override_ignored", {"stage": "passing"}, warning=True))
    assert "vsr_ignored_overrides_total 1.0" in text(telemetry)


def test_a12_no_metric_turns_into_nan(telemetry: Telemetry) -> None:
    broken = outcome(unsupported_score=math.nan, coverage_answer=math.inf, coverage_grounding=math.nan)
    telemetry.recorded(record(outcomes=(broken,), completed_at=math.nan))
    telemetry.queue_wait("detector", math.nan)
    telemetry.checked(CheckResult(DetectorIdentity("d", "b")), math.inf)
    for family in text_string_to_metric_families(text(telemetry)):
        for sample in family.samples:
            assert math.isfinite(sample.value), sample


def test_names_a_client_might_reach_stay_few() -> None:
    bounds = LabelBounds(limit=3)
    assert [bounds("decision", f"d{n}") for n in range(5)] == ["d0", "d1", "d2", "other", "other"]
    assert bounds("decision", "d1") == "d1"
    assert bounds("decision", None) == "none"
    assert bounds("rule", "x\n") == "other"
    assert bounds("rule", "x" * 500) == "x" * 160


def test_a_thousand_decisions_do_not_make_a_thousand_series(telemetry: Telemetry) -> None:
    for n in range(1000):
        telemetry.recorded(record(decision=f"d{n}", outcomes=(outcome(target_ref=f"hallucination:{n}"),)))
        telemetry.note(Note(f"event_{n}"))
    page = text(telemetry)
    assert telemetry.registry.get_sample_value("vsr_events_total", {"event": "too_large"}) == 0
    for name in ("llm_plugin_execution_total", "vsr_outcomes_total", "vsr_events_total"):
        assert 100 < sum(line.startswith(name + "{") for line in page.splitlines()) <= 201
    assert len(page) < 500_000


def test_configuration_and_models_follow_a_reload(telemetry: Telemetry) -> None:
    telemetry.config_loaded(Config(sha256="a" * 64), 1000.0)
    telemetry.model_state("legal", "detector", loaded=True)
    telemetry.config_loaded(Config(sha256="b" * 64), 2000.0)
    telemetry.model_state("default", "detector", loaded=False)
    telemetry.reloaded(accepted=True)
    assert value(telemetry, "vsr_config_info", sha256="b" * 64) == 1
    assert 'sha256="aaa' not in text(telemetry) and 'recipe="legal"' not in text(telemetry)
    assert value(telemetry, "vsr_config_loaded_timestamp_seconds") == 2000.0
    assert value(telemetry, "vsr_model_loaded", recipe="default", model="detector") == 0
    assert value(telemetry, "vsr_config_reloads_total", result="accepted") == 1


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("vsr_detection_dropped_total", {"model": "detector", "reason": "overloaded"}),
        ("vsr_detection_dropped_total", {"model": "checker", "reason": "overloaded"}),
        ("vsr_config_reloads_total", {"result": "rejected"}),
        ("vsr_replay_lost_total", {"reason": "overflow"}),
        ("vsr_upstream_errors_total", {"kind": "in_band"}),
        ("vsr_events_total", {"event": "check_failed"}),
        ("vsr_checks_total", {"result": "timeout"}),
        ("vsr_fact_checks_total", {"result": "fact_check_failed"}),
        ("vsr_exchange_seconds_count", {"streaming": "true"}),
        ("vsr_coverage_ratio_count", {"part": "grounding"}),
    ],
)
def test_a_series_stands_at_zero_before_its_first_event(
    telemetry: Telemetry, name: str, labels: dict[str, str]
) -> None:
    assert telemetry.registry.get_sample_value(name, labels) == 0


def test_series_of_a_configuration_stand_at_zero_once_it_is_in_force(telemetry: Telemetry) -> None:
    rules = (HallucinationRule("claims"),)
    config = Config(recipes=(Recipe("default"), Recipe("legal", hallucination=rules)), sha256="a" * 64)
    assert "vsr_unavailable_total{" not in text(telemetry)
    telemetry.config_loaded(config, 1000.0)
    found = telemetry.registry.get_sample_value
    for reason in (*Reason, "context_unavailable"):
        assert found("vsr_unavailable_total", {"recipe": "legal", "reason": reason}) == 0
    assert 'vsr_unavailable_total{reason="timeout",recipe="default"}' not in text(telemetry), "it checks nothing"
    assert found("vsr_exchanges_total", {"recipe": "default", "lifecycle": "aborted", "streaming": "true"}) == 0
    outcome_labels = {"recipe": "legal", "rule": "claims", "state": "detected", "streaming": "false"}
    assert found("vsr_outcomes_total", outcome_labels) == 0
    telemetry.recorded(record(recipe="legal", outcomes=(outcome(target_ref="hallucination:claims"),)))
    telemetry.config_loaded(config, 2000.0)
    assert found("vsr_outcomes_total", outcome_labels) == 1, "a reload forgets nothing"


def test_a_configuration_of_a_thousand_rules_does_not_make_eight_thousand_series(telemetry: Telemetry) -> None:
    rules = tuple(HallucinationRule(f"r{n}") for n in range(1000))
    telemetry.config_loaded(Config(recipes=(Recipe(hallucination=rules),), sha256="a" * 64), 1000.0)
    assert sum(line.startswith("vsr_outcomes_total{") for line in text(telemetry).splitlines()) == 800


def test_every_event_reason_and_loss_that_the_code_names_has_its_series() -> None:
    code = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    events = re.findall(r'(?:\bNote\(|\.note\(|note_failure\()\s*"([a-z_]+)"', code)
    assert set(events) == set(series.EVENTS)
    assert set(re.findall(r'self\._lose\([^"\n]*"([a-z]+)"\)', code)) == set(series.LOST)
    dropped = [line for line in code.splitlines() if "hooks.dropped," in line]
    assert set(re.findall(r'"([a-z]+)"', " ".join(dropped))) == {why for pair in series.DROPPED for why in pair} - {
        *series.MODELS
    }


def test_open_exchanges_are_read_at_the_scrape(telemetry: Telemetry) -> None:
    open_now = [3]
    telemetry.watch_open_exchanges(lambda: open_now[0])
    assert value(telemetry, "vsr_open_exchanges") == 3
    open_now[0] = 5
    assert value(telemetry, "vsr_open_exchanges") == 5


def test_detection_and_replay_hooks(telemetry: Telemetry) -> None:
    telemetry.queue_size("detector", 7)
    telemetry.batch_size("detector", 16)
    telemetry.queue_wait("fact_check", 0.02)
    telemetry.dropped("detector", "late")
    telemetry.replay_backlog(9)
    telemetry.replay_written(4, 0.01)
    telemetry.replay_lost(2, "overflow")
    telemetry.replay_pruned(3)
    assert value(telemetry, "vsr_detection_queue_size", model="detector") == 7
    assert value(telemetry, "vsr_detection_batch_size_sum", model="detector") == 16
    assert value(telemetry, "vsr_detection_queue_wait_seconds_count", model="fact_check") == 1
    assert value(telemetry, "vsr_detection_dropped_total", model="detector", reason="late") == 1
    assert value(telemetry, "vsr_replay_backlog") == 9
    assert value(telemetry, "vsr_replay_records_written_total") == 4
    assert value(telemetry, "vsr_replay_lost_total", reason="overflow") == 2
    assert value(telemetry, "vsr_replay_pruned_total") == 3


def test_two_telemetries_share_nothing() -> None:
    first, second = Telemetry(CollectorRegistry()), Telemetry(CollectorRegistry())
    first.note(Note("unknown_api"))
    assert value(second, "vsr_unknown_api_total") == 0


class FixedChecker:
    identity = DetectorIdentity("fixed", "test")

    async def check(self, request: object) -> CheckResult:
        return CheckResult(self.identity, failure=CheckFailure(Reason.OVERLOADED))

    async def probe(self) -> None: ...

    async def aclose(self) -> None: ...


class FixedGate:
    async def classify(self, prompt: str, deadline: float) -> GateResult:
        return GateResult(True, 0.9)

    async def probe(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_metered_models_report_time_and_result(telemetry: Telemetry) -> None:
    checker, gate = MeteredChecker(FixedChecker(), telemetry), MeteredGate(FixedGate(), telemetry)
    assert (await checker.check(None)).failure is not None  # type: ignore[arg-type]
    assert (await gate.classify("How many crates?", 1.0)).score == 0.9
    assert checker.identity.name == "fixed"
    await checker.probe(), await gate.probe(), await checker.aclose(), await gate.aclose()
    assert value(telemetry, "vsr_checks_total", result="overloaded") == 1
    assert value(telemetry, "llm_hallucination_detection_latency_seconds_count") == 1
    assert value(telemetry, "llm_signal_extraction_latency_seconds_count", signal_type="hallucination") == 1
    assert value(telemetry, "llm_signal_extraction_latency_seconds_count", signal_type="fact_check") == 1
    assert value(telemetry, "vsr_fact_checks_total", result="needs_fact_check") == 1


def test_records_are_counted_whether_or_not_they_are_kept(telemetry: Telemetry) -> None:
    kept: list[object] = []

    class Writer:
        put = staticmethod(kept.append)

    Records(telemetry, Writer()).put(record())
    Records(telemetry, None).put(record("r2"))
    assert (
        value(telemetry, "vsr_exchanges_total", recipe="default", lifecycle="completed", streaming="false")
        == 2
    )
    assert kept == [record()]
