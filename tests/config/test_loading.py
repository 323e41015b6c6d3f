"""What a file becomes: the values, the defaults they stand over, and how a file is refused."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from vsr_hallucination.config import Config, ConfigError, Severity, load, loads, report
from vsr_hallucination.config.schema import (
    Action,
    AdminSettings,
    DecisionSource,
    DetectionSettings,
    EnvoySettings,
    FactCheckMode,
    FailureMode,
    FilterSettings,
    GroundingSettings,
    Leaf,
    Limits,
    Node,
    Operator,
    Recipe,
    ServerSettings,
    TlsSettings,
)

FOLDER = Path(__file__).parents[1] / "configs" / "valid"
PLUGIN = "decisions: [{name: d, plugins: [{type: hallucination, configuration: {enabled: true}}]}]"
RULE = f"routing: {{signals: {{hallucination: [{{name: a}}]}}, {PLUGIN}}}\n"


def config(name: str, **environment: str) -> Config:
    loaded = load(FOLDER / f"{name}.yaml", environment)
    assert loaded.warnings == ()
    return loaded.config


def refused(text: str, **environment: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        loads(text, "f", environment)
    return [str(problem) for problem in caught.value.problems]


def test_one_rule_is_enough_and_everything_else_has_its_default() -> None:
    made = load(FOLDER.parent / "warning" / "rule_only.yaml").config
    assert made.recipes == (Recipe(hallucination=made.recipes[0].hallucination),)
    assert made.filter == FilterSettings() and made.entrypoints == ()
    assert made.recipes[0].needs_models and not made.recipes[0].needs_explainer


def test_the_hash_is_that_of_the_bytes() -> None:
    path = FOLDER / "rule_only_on_purpose.yaml"
    made = load(path).config
    assert made.sha256 == hashlib.sha256(path.read_bytes()).hexdigest() and made.source == str(path)
    assert loads(path.read_text(), "x").config.sha256 == made.sha256


def test_all_filter_settings_are_read() -> None:
    assert config("filter_everything").filter == FilterSettings(
        failure_mode=FailureMode.CLOSED,
        evaluation_failed_action=Action.BLOCK,
        fact_check=FactCheckMode.ALWAYS,
        decision_source=DecisionSource.ROUTE,
        allow_debug=False,
        limits=Limits(check=1 << 20),
        detection=DetectionSettings(False, False, 2.0, 8, 2, 4, 4096, 64),
        grounding=GroundingSettings(max_passages=100),
        server=ServerSettings(
            ("0.0.0.0:50051", "unix:/run/vsr.sock"), TlsSettings("/tls/tls.crt", "/tls/tls.key", "/tls/ca.crt"), 5, 60
        ),
        admin=AdminSettings(listen="[::1]:9091"),
        envoy=EnvoySettings(
            listen="0.0.0.0:8801",
            upstream="llm.internal:443",
            upstream_tls=True,
            filter_addresses=("filter-a:50051", "filter-b:50051"),
            filter_ca="/tls/ca.crt",
            client_certificate="/tls/envoy.crt",
            client_key="/tls/envoy.key",
            message_timeout=3.0,
            max_message_timeout=30.0,
            paths=("/v1/chat/completions", "/v1/messages"),
        ),
        log_level="debug",
    )
    assert not config("filter_everything").replay.enabled


def test_durations_and_sizes_are_seconds_and_bytes() -> None:
    made = config("durations_and_sizes")
    assert made.filter.limits.check == 512 << 10 and made.filter.limits.edge == 2 << 20
    assert made.filter.detection.deadline == 1.5
    assert (made.filter.server.drain_wait, made.filter.server.drain_timeout) == (0.0, 90.0)
    assert (made.filter.envoy.message_timeout, made.filter.envoy.max_message_timeout) == (2.0, 1800.0)
    assert made.replay.max_age == 7 * 86400


def test_variables_go_into_values_of_parts_that_are_read_only() -> None:
    made = config("environment", RULE_NAME="mine", THRESHOLD="0.55", MODELS="/models", ADMIN_TOKEN="t0ken", EMPTY="")
    recipe = made.recipes[0]
    assert recipe.hallucination[0].name == "mine"
    assert recipe.keywords[0].keywords == ("US$", "$5", "${x}", "fallback", "filled")
    assert (recipe.detector.threshold, recipe.detector.model) == (0.55, "/models/detector")
    assert made.filter.admin.token == "t0ken" and made.replay.url is None


def test_secrets_are_in_no_repr() -> None:
    made = config("environment", RULE_NAME="a", THRESHOLD="1", MODELS="m", ADMIN_TOKEN="t0ken", EMPTY="")
    assert "t0ken" not in repr(made)
    assert "p@ss" not in repr(config("replay_router_postgres", DB_PASSWORD="p@ss"))
    assert "k3y" not in repr(config("backend_endpoint_block", DETECTOR_KEY="k3y"))


def test_a_faulty_number_from_a_variable_is_told_without_its_value() -> None:
    (line,) = refused(RULE + "filter: {detection: {queue: '${SECRET}'}}", SECRET="hunter2")
    assert "${SECRET}" in line and "hunter2" not in line


def test_words_that_yaml_1_1_takes_for_truth_stay_words() -> None:
    recipe = config("words_that_look_like_truth").recipes[0]
    assert recipe.hallucination[0].name == "yes"
    assert recipe.keywords[0].keywords == ("no", "off", "911", "1.50", "true", "~")
    assert recipe.decisions[0].name == "off"


def test_rule_trees() -> None:
    nested, empty_and, empty, none = config("decision_rules").recipes[0].decisions
    assert nested.rules == Node(
        Operator.AND,
        (
            Leaf("keyword", "urgent"),
            Node(
                Operator.OR,
                (Leaf("fact_check", "needs_fact_check"), Node(Operator.NOT, (Leaf("keyword", "billing"),))),
            ),
        ),
    )
    assert (nested.priority, nested.tier, nested.selectable) == (10, 2, True)
    assert [decision.rules for decision in (empty_and, empty, none)] == [None] * 3


def test_merged_and_shared_settings() -> None:
    default, other = config("merge_keys_and_aliases").recipes
    plugins = [decision.plugin for decision in default.decisions]
    assert [plugin.hallucination_action for plugin in plugins if plugin] == [Action.BLOCK, Action.BODY]
    assert all(plugin is not None and plugin.enabled for plugin in plugins)
    assert default.hallucination == other.hallucination


def test_all_problems_come_at_once_errors_and_warnings_apart() -> None:
    path = FOLDER.parent / "invalid" / "all_at_once.yaml"
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert len(caught.value.errors) == 4 and len(caught.value.warnings) == 1
    assert {p.severity for p in caught.value.errors} == {Severity.ERROR}
    assert str(caught.value).count("\n") == 3 and f"{path}:4:22: routing.signals" in str(caught.value)


def test_exit_codes(tmp_path: Path) -> None:
    for name, text, codes in (("c", RULE, (0, 0)), ("w", RULE + "x: 1", (0, 1)), ("e", "filter: 1", (2, 2))):
        path = tmp_path / name
        path.write_text(text)
        assert (report(path).code, report(path, strict=True).code) == codes


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"a: 1\nb: \xe9\n")
    (tmp_path / "long").write_bytes(b"# " + b"x" * (4 << 20))
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbf" + RULE.encode())
    for name, word in (("missing", "cannot be read"), (".", "cannot be read"), ("latin", "line 2"), ("long", "4 MiB")):
        found = report(tmp_path / name)
        problems, code = found.problems, found.code
        assert code == 2 and word in str(problems[0]) and str(problems[0]).startswith(str(tmp_path / name))
    found = report(tmp_path / "bom")
    assert (found.problems, found.code) == ((), 0)


def test_message_form() -> None:
    assert refused(RULE + "filter: {log_level: loud}") == [
        "f:2:10: filter.log_level: `loud` is not known; write one of: debug, info, warning or error"
    ]


def test_importing_the_configuration_loads_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "numpy", "pydantic", "sqlalchemy", "grpc")
    code = f"import sys, vsr_hallucination.config; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_what_counts_as_evidence_is_read() -> None:
    settings = config("filter_grounding").filter
    assert settings.grounding == GroundingSettings(
        tags=("context", "documents"),
        tag_sources=("user", "system"),
        message_names=("search_results",),
        fields=(("metadata", "context"), ("rag", "the passages", 0)),
        header="x-rag-context",
        metadata="x-kb",
    )
    assert settings.apis == (("/team/ask", "anthropic_messages"), ("/ask", "openai_responses"))
