"""The generated bootstrap: read by Envoy's own types, accepted by a real Envoy, fitting its configuration."""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from envoy_data_plane.envoy.config.bootstrap import v3 as bootstrap_v3
from envoy_data_plane.envoy.extensions.access_loggers.stream import v3 as _access_log
from envoy_data_plane.envoy.extensions.filters.http.ext_proc import v3 as ext_proc_v3
from envoy_data_plane.envoy.extensions.filters.http.header_mutation import v3 as _header_mutation
from envoy_data_plane.envoy.extensions.filters.http.router import v3 as _router
from envoy_data_plane.envoy.extensions.filters.network.http_connection_manager import v3 as _manager
from envoy_data_plane.envoy.extensions.transport_sockets.tls import v3 as _tls
from envoy_data_plane.envoy.extensions.upstreams.http import v3 as _http

from support.envoy import validate
from support.tls import certificates
from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.config.loading import load
from vsr_hallucination.config.schema import (
    Config,
    DecisionSource,
    DetectionSettings,
    EnvoySettings,
    FailureMode,
    FilterSettings,
    Limits,
    ServerSettings,
    TlsSettings,
)
from vsr_hallucination.envoy_config import EnvoyConfigError, bootstrap, bootstrap_yaml, path_regex
from vsr_hallucination.wire import codec
from vsr_hallucination.wire.messages import Continue, ModeOverride, Phase

EXTENSIONS = (_access_log, _header_mutation, _router, _manager, _tls, _http)  # importing them makes them known
ROOT = Path(__file__).resolve().parents[1]
TLS = TlsSettings("server.pem", "server.key")


def config(*, envoy: EnvoySettings | None = None, server: ServerSettings | None = None, **ours: Any) -> Config:
    settings = FilterSettings(envoy=envoy or EnvoySettings(), server=server or ServerSettings(), **ours)
    return Config(filter=settings)


VARIANTS: dict[str, Config] = {
    "default": Config(),
    "closed": config(failure_mode=FailureMode.CLOSED),
    "route": config(decision_source=DecisionSource.ROUTE),
    "upstream": config(decision_source=DecisionSource.UPSTREAM),
    "no_debug": config(allow_debug=False),
    "unix": config(server=ServerSettings(listen=("unix:/run/vsr.sock", "unix:///run/vsr2.sock"))),
    "two_workers": config(server=ServerSettings(listen=("0.0.0.0:50051", "[::]:50052"))),
    "names": config(envoy=EnvoySettings(upstream="llm.internal:8443", upstream_tls=True,
                                        filter_addresses=("filter-a:50051", "filter-b:50051"))),
    "upstream_ip_tls": config(envoy=EnvoySettings(upstream="10.0.0.7:443", upstream_tls=True)),
    "paths": config(envoy=EnvoySettings(paths=("/v1/chat/completions", "/openai/v1/responses/", "/", "/a.b/%20+(y)"))),
    "ipv6": config(envoy=EnvoySettings(listen="[::]:8801", upstream="[::1]:8000", admin="localhost:9901")),
    "small": config(limits=Limits(check=1024), detection=DetectionSettings(deadline=0.5)),
}  # fmt: skip


def part(tree: Any, **wanted: Any) -> Any:
    """The first mapping in ``tree`` that has the given items."""
    stack = [tree]
    while stack:
        node = stack.pop(0)
        if isinstance(node, dict):
            if all(node.get(key) == value for key, value in wanted.items()):
                return node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    raise AssertionError(f"no {wanted}")


def ext_proc_of(settings: Config) -> dict[str, Any]:
    found: dict[str, Any] = part(bootstrap(settings), name="envoy.filters.http.ext_proc")
    return found


@pytest.mark.parametrize("name", VARIANTS)
def test_envoy_accepts_it(name: str, tmp_path: Path) -> None:
    assert validate(bootstrap_yaml(VARIANTS[name]), tmp_path) == ""


def test_envoy_accepts_tls_to_the_filter(tmp_path: Path) -> None:
    folder = certificates(tmp_path)
    tls = TlsSettings(str(folder / "server.pem"), str(folder / "server.key"), str(folder / "ca.pem"))
    envoy = EnvoySettings(
        filter_ca=str(folder / "ca.pem"),
        client_certificate=str(folder / "client.pem"),
        client_key=str(folder / "client.key"),
    )
    settings = config(envoy=envoy, server=ServerSettings(tls=tls))
    assert validate(bootstrap_yaml(settings), tmp_path) == ""
    plain = replace(settings, filter=replace(settings.filter, envoy=EnvoySettings()))
    with pytest.raises(EnvoyConfigError, match=r"set filter\.envoy\.client_certificate"):
        bootstrap(plain)


@pytest.mark.parametrize("name", VARIANTS)
def test_it_is_a_bootstrap_in_envoys_own_types(name: str) -> None:
    read = bootstrap_v3.Bootstrap.from_dict(yaml.safe_load(bootstrap_yaml(VARIANTS[name])))
    assert [c.name for c in read.static_resources.clusters] == ["llm_upstream", "vsr_hallucination"]
    (listener,) = read.static_resources.listeners
    assert listener.filter_chains[0].filters[0].typed_config.value  # packed: every extension's type was known


def test_a_field_that_envoy_does_not_know_would_be_noticed() -> None:
    tree = bootstrap(Config())
    part(tree, name="envoy.filters.http.ext_proc")["typed_config"]["messages_timeout"] = "1s"
    with pytest.raises(KeyError, match="messages_timeout"):
        bootstrap_v3.Bootstrap.from_dict(tree)


def test_c8_allowed_overrides_are_exactly_those_we_ask_for() -> None:
    typed = dict(ext_proc_of(Config())["typed_config"])
    allowed = [ext_proc_v3.ProcessingMode.from_dict(mode) for mode in typed["allowed_override_modes"]]
    asked = [
        ext_proc_v3.ProcessingMode.parse(
            codec.encode(Continue(Phase.RESPONSE_HEADERS, mode=mode)).mode_override.SerializeToString()
        )
        for mode in ModeOverride
    ]
    assert sorted(map(bytes, allowed)) == sorted(map(bytes, asked))


def test_c4_limits_come_from_one_setting() -> None:
    for check in (1 << 10, 16 << 20):
        tree = bootstrap(config(limits=Limits(check=check)))
        assert part(tree, name="v1_chat_completions")["request_body_buffer_limit"] == 4 * check


@pytest.mark.parametrize(
    ("deadline", "message", "longest", "sent", "sent_longest"),
    [(8.0, 10.0, 60.0, "10s", "60s"), (30.0, 10.0, 20.0, "31s", "31s"), (0.25, 0.5, 1.0, "1.25s", "1.25s")],
)
def test_c4_envoy_is_more_patient_than_a_check(
    deadline: float, message: float, longest: float, sent: str, sent_longest: str
) -> None:
    envoy = EnvoySettings(message_timeout=message, max_message_timeout=longest)
    typed = ext_proc_of(config(envoy=envoy, detection=DetectionSettings(deadline=deadline)))["typed_config"]
    assert (typed["message_timeout"], typed["max_message_timeout"]) == (sent, sent_longest)


def test_failure_mode() -> None:
    opened, closed = (ext_proc_of(VARIANTS[name])["typed_config"] for name in ("default", "closed"))
    assert opened["failure_mode_allow"] is True and "status_on_error" not in opened
    assert closed["failure_mode_allow"] is False and closed["status_on_error"] == {"code": "ServiceUnavailable"}


def test_one_endpoint_an_address() -> None:
    def addresses(settings: Config) -> list[Any]:
        cluster = part(bootstrap(settings), name="vsr_hallucination")
        (group,) = cluster["load_assignment"]["endpoints"]
        return [e["endpoint"]["address"] for e in group["lb_endpoints"]]

    assert addresses(VARIANTS["unix"]) == [{"pipe": {"path": "/run/vsr.sock"}}, {"pipe": {"path": "/run/vsr2.sock"}}]
    assert addresses(VARIANTS["two_workers"]) == [
        {"socket_address": {"address": "127.0.0.1", "port_value": 50051}},
        {"socket_address": {"address": "::1", "port_value": 50052}},
    ]
    assert part(bootstrap(VARIANTS["names"]), name="vsr_hallucination")["type"] == "STRICT_DNS"


@pytest.mark.parametrize("listen", ["nonsense", ":1", "host:", "host:0x1", "host:99999", "h:٣"])
def test_an_address_that_is_none_is_named(listen: str) -> None:
    with pytest.raises(EnvoyConfigError, match=r"filter\.envoy\.listen: .* is not host:port"):
        bootstrap(config(envoy=EnvoySettings(listen=listen)))


def test_names_and_sockets_cannot_be_mixed() -> None:
    mixed = ServerSettings(listen=("unix:/a", "filter:50051"))
    with pytest.raises(EnvoyConfigError, match="cannot be mixed"):
        bootstrap(config(server=mixed))


def header_pattern(settings: Config) -> Callable[[str], bool]:
    matcher = part(bootstrap(settings), name="strip_client_vsr")["typed_config"]["mutations"]["request_mutations"]
    key = matcher[0]["remove_on_match"]["key_matcher"]
    if "prefix" in key:
        return lambda name: name.startswith(key["prefix"])
    return lambda name: re.fullmatch(key["safe_regex"]["regex"], name) is not None


def test_b7_every_x_vsr_header_of_a_client_goes_but_debug() -> None:
    gone = header_pattern(Config())
    for name in ("x-vsr-", "x-vsr-d", "x-vsr-deb", "x-vsr-debu", "x-vsr-debugx", "x-vsr-decision", "x-vsr-recipe",
                 "x-vsr-dxbug", "x-vsr-x", "x-vsr-debuf", "x-vsr-debug-"):  # fmt: skip
        assert gone(name), name
    assert not gone("x-vsr-debug") and not gone("x-vsp-debug") and not gone("x-vs")
    assert header_pattern(VARIANTS["no_debug"])("x-vsr-debug")


def test_upstream_decisions_reach_the_filter() -> None:
    assert "strip_upstream_vsr" in bootstrap_yaml(Config())
    assert "strip_upstream_vsr" not in bootstrap_yaml(VARIANTS["upstream"])


def test_the_committed_bootstrap_is_current() -> None:
    text = (ROOT / "envoy" / "bootstrap.yaml").read_text("utf-8")
    assert text == bootstrap_yaml(Config()), "vsr-hallucination envoy-config > envoy/bootstrap.yaml"


def test_the_committed_bootstrap_fits_the_shipped_example() -> None:
    example = load(str(ROOT / "vsr_hallucination" / "examples" / "demo.yaml")).config
    assert bootstrap_yaml(example) == (ROOT / "envoy" / "bootstrap.yaml").read_text("utf-8")


def test_the_compose_file_starts_envoy_and_filter() -> None:
    compose = yaml.safe_load((ROOT / "envoy" / "docker-compose.yaml").read_text("utf-8"))
    assert set(compose["services"]) == {"envoy", "filter"}
    envoy = compose["services"]["envoy"]
    assert envoy["image"].startswith("envoyproxy/envoy:v1.40")
    (mount,) = [v for v in envoy["volumes"] if "bootstrap.yaml" in v]
    assert (ROOT / "envoy" / mount.split(":")[0]).is_file()
    assert mount.split(":")[1] in envoy["command"]


def test_secrets_stay_out() -> None:
    names = {field.name for field in fields(EnvoySettings)}
    assert not any("password" in name or "token" in name for name in names)


@pytest.mark.parametrize("path", EnvoySettings().paths)
def test_the_default_paths_are_those_of_the_apis_in_every_spelling(path: str) -> None:
    pattern = re.compile(path_regex(path))
    last = path.rpartition("/")[2]
    for same in (path, path + "/", path + ";a=1", path + "%3Ba/", path + "%3ba", path.replace("/v1", "/v1;x=1")):
        assert pattern.fullmatch(same) and (api := api_for_path(same)) is not None, same
        assert api is api_for_path(path)
    for other in (path + "/x", path + "x", path[:-1], path.upper(), "/x" + path, path.replace(last, "x" + last), "/"):
        assert not pattern.fullmatch(other), other


def test_a_path_is_no_pattern() -> None:
    pattern = re.compile(path_regex("/a.b/x+(y)|"))
    assert pattern.fullmatch("/a.b/x+(y)|")
    assert not pattern.fullmatch("/acb/x+(y)|") and not pattern.fullmatch("/a.b/xxy")
    assert re.compile(path_regex("/")).fullmatch("/") and not re.compile(path_regex("/")).fullmatch("/x")


def test_each_of_the_four_apis_has_a_checked_route() -> None:
    (listener,) = bootstrap(Config())["static_resources"]["listeners"]
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    (host,) = manager["route_config"]["virtual_hosts"]
    assert [r["name"] for r in host["routes"]] == [
        "v1_chat_completions", "v1_completions", "v1_responses", "v1_messages", "other"
    ]  # fmt: skip
    assert ["typed_per_filter_config" in r for r in host["routes"]] == [True] * 4 + [False]
