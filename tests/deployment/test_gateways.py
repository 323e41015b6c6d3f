"""Istio's and Envoy Gateway's manifests say what the plain configuration says: one truth, a real Envoy agrees."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from cloudcoil.models.istio.networking import v1 as istio_v1
from cloudcoil.models.istio.networking import v1alpha3 as istio_v1alpha3

from support.deployment import documents, filter_named, manager_of, routes_named, through_gateway, through_istio
from support.envoy import validate
from vsr_hallucination.cli import main
from vsr_hallucination.config.loading import loads
from vsr_hallucination.config.schema import (
    Config,
    DecisionSource,
    DetectionSettings,
    EnvoySettings,
    FailureMode,
    FilterSettings,
    Limits,
)
from vsr_hallucination.envoy_config import EnvoyConfigError, bootstrap, path_regex
from vsr_hallucination.envoy_gateway import GatewayNames, policies, policies_yaml
from vsr_hallucination.envoy_istio import IstioNames, envoy_filter, envoy_filter_yaml

EXT_PROC = "envoy.filters.http.ext_proc"
STRIPS = ("strip_client_vsr", "strip_upstream_vsr")
ENVOY = EnvoySettings(filter_addresses=("vsr-hallucination.llm.svc.cluster.local:50051",))


def of(**ours: Any) -> Config:
    return Config(filter=FilterSettings(envoy=ENVOY, **ours))


VARIANTS = {
    "default": of(),
    "closed": of(failure_mode=FailureMode.CLOSED),
    "route": of(decision_source=DecisionSource.ROUTE),
    "upstream": of(decision_source=DecisionSource.UPSTREAM),
    "no_debug": of(allow_debug=False),
    "small": of(limits=Limits(check=1024), detection=DetectionSettings(deadline=30.25)),
}


def shipped() -> Config:
    """The configuration in the Kubernetes ConfigMap: what the committed manifests are made from."""
    (config_map,) = documents("kubernetes", "configmap.yaml")
    return loads(config_map["data"]["config.yaml"], environment={"VSR_ADMIN_TOKEN": "t"}).config


def made(way: str, config: Config) -> tuple[dict[str, Any], str, str]:
    """The whole Envoy configuration by one way in; the names of its ext_proc filter and of its checked route."""
    if way == "istio":
        return through_istio(envoy_filter(config)), EXT_PROC, "llm"
    return through_gateway(*policies(config)), GatewayNames().filter, "httproute/llm/llm/rule/0"


WAYS = pytest.mark.parametrize("way", ["istio", "gateway"])
EACH = pytest.mark.parametrize("variant", VARIANTS)


def seconds(text: str) -> float:
    """Envoy's and the Gateway API's durations, as far as they are used: 1.5s, 500ms, 1s500ms."""
    whole, _, rest = text.partition("s") if not text.endswith("ms") or "s" in text[:-2] else ("0", "", text)
    return float(whole) + (float(rest.removesuffix("ms")) / 1000 if rest else 0.0)


@WAYS
@pytest.mark.parametrize("variant", ["default", "closed", "route"])
def test_a_real_envoy_accepts_it(way: str, variant: str, tmp_path: Path) -> None:
    tree, _, _ = made(way, VARIANTS[variant])
    assert validate(for_envoy(tree), tmp_path) == ""


def for_envoy(tree: dict[str, Any]) -> str:
    """Envoy reads the Gateway's ``1s500ms`` only after its control plane has; everything else as it stands."""

    def walk(node: Any) -> Any:
        if isinstance(node, dict):
            times = ("message_timeout", "connect_timeout")
            return {k: f"{seconds(v)}s" if k in times else walk(v) for k, v in node.items()}
        return [walk(each) for each in node] if isinstance(node, list) else node

    return yaml.safe_dump(walk(tree))


@WAYS
@EACH
def test_ext_proc_is_set_as_in_the_plain_configuration(way: str, variant: str) -> None:
    config = VARIANTS[variant]
    tree, name, _ = made(way, config)
    theirs, ours = filter_named(tree, name), filter_named(bootstrap(config), EXT_PROC)
    assert theirs["disabled"] is ours["disabled"] is True
    found, wanted = dict(theirs["typed_config"]), dict(ours["typed_config"])
    for each in (found, wanted):
        each.pop("grpc_service")
        each["message_timeout"] = seconds(each["message_timeout"])
    assert found == wanted
    assert found["processing_mode"]["response_body_mode"] == "BUFFERED"  # NONE would check nothing


@WAYS
@EACH
def test_headers_are_stripped_as_in_the_plain_configuration(way: str, variant: str) -> None:
    config = VARIANTS[variant]
    tree, name, _ = made(way, config)
    filters, plain = manager_of(tree)["http_filters"], manager_of(bootstrap(config))["http_filters"]
    assert [f for f in filters if f["name"] in STRIPS] == [f for f in plain if f["name"] in STRIPS]
    order = [f["name"].replace(name, EXT_PROC) for f in filters]
    wanted = [f["name"] for f in plain]
    assert [each for each in order if each in wanted] == wanted
    assert order[-1] == "envoy.filters.http.router"


@WAYS
@EACH
def test_only_the_checked_route_has_the_filter_and_the_limit(way: str, variant: str) -> None:
    config = VARIANTS[variant]
    tree, name, route = made(way, config)
    (plain,) = routes_named(bootstrap(config), "v1_chat_completions")
    for checked in (found := routes_named(tree, route)):
        for field in ("request_body_buffer_limit", "request_headers_to_remove"):
            assert checked[field] == plain[field]
        assert checked["request_body_buffer_limit"] == config.filter.limits.edge
        given = checked["typed_per_filter_config"][name]
        metadata = plain["typed_per_filter_config"][EXT_PROC]["overrides"].get("grpc_initial_metadata")
        assert given.get("overrides", {}).get("grpc_initial_metadata") == metadata
    assert len(found) == len(EnvoySettings().paths)
    (host,) = manager_of(tree)["route_config"]["virtual_hosts"]
    others = [each for each in host["routes"] if each not in found]
    assert others and all("typed_per_filter_config" not in each for each in others)


@WAYS
def test_a_drain_is_noticed_as_in_the_plain_configuration(way: str) -> None:
    config = VARIANTS["default"]
    tree, name, _ = made(way, config)
    grpc = filter_named(tree, name)["typed_config"]["grpc_service"]["envoy_grpc"]
    (theirs,) = [c for c in tree["static_resources"]["clusters"] if c["name"] == grpc["cluster_name"]]
    (ours,) = [c for c in bootstrap(config)["static_resources"]["clusters"] if c["name"] == "vsr_hallucination"]
    for field in ("common_lb_config", "circuit_breakers"):
        assert theirs[field] == ours[field]
    (found,), (wanted,) = theirs["health_checks"], ours["health_checks"]
    assert {k: v for k, v in wanted.items() if k != "no_traffic_interval"}.items() <= found.items()
    assert seconds(theirs["connect_timeout"]) == seconds(ours["connect_timeout"])


def test_one_path_has_one_spelling_behind_istio() -> None:
    for field in ("normalize_path", "merge_slashes", "path_with_escaped_slashes_action"):
        plain = manager_of(bootstrap(VARIANTS["default"]))
        assert manager_of(made("istio", VARIANTS["default"])[0])[field] == plain[field]


@pytest.mark.parametrize("target", ["istio", "gateway"])
@pytest.mark.parametrize(
    "ours",
    [
        "",
        "server: {listen: '0.0.0.0:50051'}",
        "server: {listen: '[::]:50051'}",
        "envoy: {filter_addresses: ['127.0.0.1:50051']}",
        "envoy: {filter_addresses: ['localhost.:50051']}",
        "envoy: {filter_addresses: ['[::ffff:127.0.0.1]:50051']}",
        "envoy: {filter_addresses: ['[::ffff:0.0.0.0]:50051']}",
        "envoy: {filter_addresses: ['vsr.llm.svc.cluster.local:50051', 'localhost:50051']}",
        "envoy: {filter_addresses: ['unix:/run/vsr.sock']}",
    ],
)
def test_a_filter_that_the_gateway_s_pod_would_look_for_in_itself_is_refused(
    ours: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(f"version: v0.3\nfilter: {{{ours}}}\n")
    assert main(["envoy-config", "--config", str(tmp_path / "config.yaml"), "--for", target]) == 2
    shown = capsys.readouterr()
    assert "filter.envoy.filter_addresses" in shown.err and "svc.cluster.local:50051" in shown.err
    assert shown.out == ""


def test_istio_takes_any_address_that_a_pod_can_reach() -> None:
    for address in ("vsr.llm.svc.cluster.local:50051", "10.0.0.7:50051", "filter.internal:50051"):
        config = Config(filter=FilterSettings(envoy=EnvoySettings(filter_addresses=(address,))))
        assert address.partition(":")[0] in envoy_filter_yaml(config)


def test_the_committed_manifests_are_current() -> None:
    folder = Path(__file__).resolve().parents[2] / "envoy"
    again = "vsr-hallucination envoy-config --config the ConfigMap's --for"
    assert (folder / "istio/envoyfilter.yaml").read_text() == envoy_filter_yaml(shipped()), f"{again} istio"
    assert (folder / "gateway/policies.yaml").read_text() == policies_yaml(shipped()), f"{again} gateway"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_envoyfilter_is_what_istio_s_schema_knows(variant: str) -> None:
    manifest = yaml.safe_load(envoy_filter_yaml(VARIANTS[variant]))
    read = istio_v1alpha3.EnvoyFilter.model_validate(manifest)
    assert read.model_dump(by_alias=True, exclude_unset=True, mode="json") == manifest  # an unknown key would be gone


def test_istio_s_routes_are_those_the_filter_names() -> None:
    gateway, service = documents("istio", "routes.yaml")
    for kind, manifest in ((istio_v1.Gateway, gateway), (istio_v1.VirtualService, service)):
        read = kind.model_validate(manifest)
        assert read.model_dump(by_alias=True, exclude_unset=True, mode="json") == manifest
    names = IstioNames()
    assert service["spec"]["gateways"] == [gateway["metadata"]["name"]]
    assert {gateway["metadata"]["namespace"], service["metadata"]["namespace"]} == {names.namespace}
    assert gateway["spec"]["selector"] == {"istio": names.gateway}
    (route,) = service["spec"]["http"]
    assert route["name"] == names.route
    assert [match["uri"]["regex"] for match in route["match"]] == [path_regex(path) for path in EnvoySettings().paths]


def test_the_gateway_s_routes_are_those_the_policies_name() -> None:
    gateway, route = documents("gateway", "routes.yaml")
    names = GatewayNames()
    assert (gateway["metadata"]["name"], route["metadata"]["name"]) == (names.gateway, names.route)
    assert {gateway["metadata"]["namespace"], route["metadata"]["namespace"]} == {names.namespace}
    (listener,) = gateway["spec"]["listeners"]
    assert listener["name"] == names.listener
    assert route["spec"]["parentRefs"] == [{"name": names.gateway, "sectionName": names.listener}]
    (rule,) = route["spec"]["rules"]
    assert {match["path"]["type"] for match in rule["matches"]} == {"RegularExpression"}
    assert [match["path"]["value"] for match in rule["matches"]] == [path_regex(path) for path in EnvoySettings().paths]


def test_the_gateway_s_policy_names_the_service() -> None:
    policy, _ = policies(shipped())
    (backend,) = policy["spec"]["extProc"][0]["backendRefs"]
    (service,) = documents("kubernetes", "service.yaml")
    assert backend["name"] == service["metadata"]["name"]
    assert backend["port"] in [port["port"] for port in service["spec"]["ports"]]


def test_a_service_of_another_namespace_is_named_with_it() -> None:
    policy, _ = policies(VARIANTS["default"], GatewayNames(namespace="edge"))
    assert policy["spec"]["extProc"][0]["backendRefs"][0]["namespace"] == "llm"


@EACH
def test_durations_are_written_as_the_gateway_api_reads_them(variant: str) -> None:
    policy, _ = policies(VARIANTS[variant])
    (processor,) = policy["spec"]["extProc"]
    active, tcp = (processor["backendSettings"][each] for each in ("healthCheck", "timeout"))
    written = [
        processor["messageTimeout"],
        tcp["tcp"]["connectTimeout"],
        active["active"]["timeout"],
        active["active"]["interval"],
    ]
    for text in written:  # the pattern of gateway.networking.k8s.io's Duration (GEP-2257)
        assert re.fullmatch(r"([0-9]{1,5}(h|m|s|ms)){1,4}", text), text
    plain = filter_named(bootstrap(VARIANTS[variant]), EXT_PROC)["typed_config"]["message_timeout"]
    assert seconds(processor["messageTimeout"]) == seconds(plain)


@pytest.mark.parametrize("addresses", [(), ("10.0.0.7:50051",), ("a.b.svc:1", "c.b.svc:1"), ("filter:50051",)])
def test_envoy_gateway_needs_a_service(addresses: tuple[str, ...]) -> None:
    envoy = replace(ENVOY, filter_addresses=addresses)
    with pytest.raises(EnvoyConfigError, match=r"filter\.envoy\.filter_addresses: .*svc\.cluster\.local"):
        policies(Config(filter=FilterSettings(envoy=envoy)))


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "vsr_hallucination", "envoy-config", *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_names_are_given_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"filter: {{envoy: {{filter_addresses: [{ENVOY.filter_addresses[0]}]}}}}\n")
    istio = ("--config", str(file), "--for", "istio")
    done = command(*istio, "--namespace", "edge", "--gateway", "public", "--route", "chat")
    manifest = yaml.safe_load(done.stdout)
    assert manifest["metadata"]["namespace"] == "edge"
    assert manifest["spec"]["workloadSelector"]["labels"] == {"istio": "public"}
    assert manifest == envoy_filter(of(), IstioNames("edge", "public", "chat"))
    assert names_of_routes(manifest) == {"chat"}


def names_of_routes(manifest: dict[str, Any]) -> set[str]:
    patches = [p for p in manifest["spec"]["configPatches"] if p["applyTo"] == "HTTP_ROUTE"]
    return {p["match"]["routeConfiguration"]["vhost"]["route"]["name"] for p in patches}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--for", "istio", "--listener", "http"), "--listener means nothing with --for istio"),
        (("--namespace", "x"), "--namespace means nothing with --for envoy"),
        (("--for", "gateway", "--route", "a'b"), "--route: \"a'b\" is no name"),
        (("--for", "gateway"), "filter.envoy.filter_addresses: Envoy Gateway finds the filter"),
    ],
)
def test_what_cannot_be_printed_is_said(arguments: tuple[str, ...], words: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2 and words in done.stderr and done.stdout == ""
