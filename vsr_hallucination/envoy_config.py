"""The Envoy bootstrap that fits a configuration: limits, timeouts, modes and TLS cannot drift apart.

Plain dicts in the shape of envoy/config/bootstrap/v3/bootstrap.proto; the tests read them into
envoy-data-plane's types and into a real Envoy. What is not Envoy's default was found to be needed on 1.40.0.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Final

import yaml

from vsr_hallucination.config.evidence_schema import GroundingSettings
from vsr_hallucination.config.schema import Config, DecisionSource, EnvoySettings, FailureMode

_READ_HEADERS: Final = (
    ":method", ":path", ":status", "content-type", "content-length", "content-encoding", "x-request-id",
)  # fmt: skip
UPSTREAM: Final = "llm_upstream"
FILTER: Final = "vsr_hallucination"
MARGIN: Final = 1.0  # seconds Envoy waits beyond the check's own deadline
IDLE: Final = "300s"
HEADER: Final = "# Made by `vsr-hallucination envoy-config`: change the filter's configuration, make it again."
CA_BUNDLE: Final = "/etc/ssl/certs/ca-certificates.crt"  # in the official Envoy image, Debian and Ubuntu

_TYPE: Final = "type.googleapis.com/envoy."
EXT_PROC: Final = "envoy.filters.http.ext_proc"
MANAGER_TYPE: Final = "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
MANAGER: Final = "envoy.filters.network.http_connection_manager"
# One path has one spelling, or a client could walk around the filter's route (//, %2F, %5C, %63, /../).
ONE_SPELLING: Final[dict[str, str | bool]] = {
    "normalize_path": True,
    "merge_slashes": True,
    "path_with_escaped_slashes_action": "UNESCAPE_AND_FORWARD",
}
_PARAMETERS: Final = "((;|%3[Bb])[^/]*)?"
_HTTP: Final = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

Node = dict[str, Any]


class EnvoyConfigError(ValueError):
    """The settings cannot be made into a bootstrap. The text names the setting and what to do."""


def bootstrap(config: Config) -> Node:
    """The bootstrap as plain data. Raises ``EnvoyConfigError`` for an address that cannot be read."""
    return {
        "admin": {"address": _address(config.filter.envoy.admin, "filter.envoy.admin")},
        "static_resources": {
            "listeners": [_listener(config)],
            "clusters": [_upstream_cluster(config.filter.envoy), filter_cluster(config)],
        },
    }


def bootstrap_yaml(config: Config) -> str:
    """The bootstrap as YAML text, for ``envoy -c``."""
    body: str = yaml.safe_dump(bootstrap(config), sort_keys=False, width=110, allow_unicode=True)
    return f"{HEADER}\n{body}"


def _listener(config: Config) -> Node:
    manager = typed(MANAGER_TYPE) | {
        "stat_prefix": "llm",
        **ONE_SPELLING,
        "stream_idle_timeout": IDLE,
        "http_protocol_options": {
            "enable_trailers": True,
            "accept_http_10": True,
            "default_host_for_http_10": "localhost",
        },
        "access_log": [_access_log()],
        "route_config": _routes(config),
        "http_filters": http_filters(config),
    }
    return {
        "name": "llm",
        "address": _address(config.filter.envoy.listen, "filter.envoy.listen"),
        "filter_chains": [{"filters": [{"name": MANAGER, "typed_config": manager}]}],
    }


def _access_log() -> Node:
    state = "%FILTER_STATE(envoy.filters.http.ext_proc:FIELD:"
    fields = {
        "time": "%START_TIME%",
        "method": "%REQ(:METHOD)%",
        "path": "%REQ(:PATH)%",
        "code": "%RESPONSE_CODE%",
        "details": "%RESPONSE_CODE_DETAILS%",
        "flags": "%RESPONSE_FLAGS%",
        "duration_ms": "%DURATION%",
        "request_id": "%REQ(X-REQUEST-ID)%",
        "verdict": "%DYNAMIC_METADATA(vsr:verdict)%",
        "rules": "%DYNAMIC_METADATA(vsr:rules)%",
        "reason": "%DYNAMIC_METADATA(vsr:reason)%",
        "action": "%DYNAMIC_METADATA(vsr:action)%",
        "enforcement": "%DYNAMIC_METADATA(vsr:enforcement)%",
        "recipe": "%DYNAMIC_METADATA(vsr:recipe)%",
        "decision": "%DYNAMIC_METADATA(vsr:decision)%",
        "replay_id": "%DYNAMIC_METADATA(vsr:replay_id)%",
        "filter_status": f"{state}response_body_last_call_status)%",
        "failed_open": f"{state}failed_open)%",  # the statuses are null then: no call came to an end
        "filter_us": f"{state}response_body_total_latency_us)%",
    }
    return {
        "name": "envoy.access_loggers.stdout",
        "typed_config": typed("extensions.access_loggers.stream.v3.StdoutAccessLog")
        | {"log_format": {"json_format": fields}},
    }


def _routes(config: Config) -> Node:
    checked = [
        {
            "name": path.strip("/").replace("/", "_") or "root",
            "match": {"safe_regex": {"regex": path_regex(path)}},
            "route": {"cluster": UPSTREAM, "timeout": "0s", "idle_timeout": IDLE},
        }
        | checked_route(config)
        for path in config.filter.envoy.paths
    ]
    # Every other route: no ext_proc stream, no buffering, so no limit a large upload could meet.
    other = {
        "name": "other",
        "match": {"prefix": "/"},
        "route": {"cluster": UPSTREAM, "timeout": "0s", "idle_timeout": IDLE},
    }
    return {"name": "llm", "virtual_hosts": [{"name": "llm", "domains": ["*"], "routes": [*checked, other]}]}


def path_regex(path: str) -> str:
    """A path as a regular expression (RE2, the whole path): also with a ``/`` at its end, and with path parameters.

    Model servers take both for the path itself, or redirect to it. A segment's parameters begin with ``;``
    (RFC 3986, 3.3). What Envoy writes alike (``ONE_SPELLING``) needs no branch here.
    """
    return "".join(f"/{re.escape(segment)}{_PARAMETERS}" for segment in path.strip("/").split("/")) + "/?"


def checked_route(config: Config) -> Node:
    """What makes a route a checked one, wherever it comes from: the filter on, its limits, nothing compressed."""
    overrides: Node = {}
    if config.filter.decision_source is DecisionSource.ROUTE:
        # Routes for other recipes (and x-vsr-decision) go beside these; clients cannot set this metadata.
        overrides = {"grpc_initial_metadata": [{"key": "x-vsr-recipe", "value": config.recipes[0].name}]}
    switched_on = typed("extensions.filters.http.ext_proc.v3.ExtProcPerRoute") | {"overrides": overrides}
    return {
        # The limit of BUFFERED bodies, for the response too; over it Envoy answers 413 or 500 itself.
        "request_body_buffer_limit": config.filter.limits.edge,
        "request_headers_to_remove": ["accept-encoding"],  # what is not compressed need not be decoded
        "typed_per_filter_config": {EXT_PROC: switched_on},
    }


def http_filters(config: Config) -> list[Node]:
    """The HTTP filters in their order, the router last; ext_proc is off but where a route switches it on."""
    filters = [_strip_client(allow_debug=config.filter.allow_debug), _ext_proc(config)]
    if config.filter.decision_source is not DecisionSource.UPSTREAM:
        # Listed after ext_proc, it runs before it on responses: what upstream forged is gone, what we set stays.
        # With decisions from upstream the filter must read these headers; it removes them itself.
        strip = {"response_mutations": [{"remove_on_match": {"key_matcher": {"prefix": "x-vsr-"}}}]}
        filters.append(_header_mutation("strip_upstream_vsr", strip))
    router = typed("extensions.filters.http.router.v3.Router")
    return [*filters, {"name": "envoy.filters.http.router", "typed_config": router}]


def _strip_client(*, allow_debug: bool) -> Node:
    matcher: Node = {"prefix": "x-vsr-"}
    if allow_debug:
        matcher = {"safe_regex": {"regex": "x-vsr-" + _anything_but("debug")}}
    return _header_mutation("strip_client_vsr", {"request_mutations": [{"remove_on_match": {"key_matcher": matcher}}]})


def _anything_but(word: str) -> str:
    """A regular expression for every string but ``word``: RE2 has no look-ahead."""
    pattern = ".+"
    for letter in reversed(word):
        pattern = f"(?:[^{letter}].*|{letter}{pattern})?"
    return pattern


def _header_mutation(name: str, mutations: Node) -> Node:
    return {
        "name": name,
        "typed_config": typed("extensions.filters.http.header_mutation.v3.HeaderMutation") | {"mutations": mutations},
    }


def _ext_proc(config: Config) -> Node:
    settings = config.filter
    patience = max(settings.envoy.message_timeout, settings.detection.deadline + MARGIN)
    send = {"response_header_mode": "SEND", "response_trailer_mode": "SEND"}
    opened = settings.failure_mode is FailureMode.OPEN
    settled = typed("extensions.filters.http.ext_proc.v3.ExternalProcessor") | {
        "grpc_service": {"envoy_grpc": {"cluster_name": FILTER}},
        "failure_mode_allow": opened,
        "message_timeout": _seconds(patience),
        "max_message_timeout": _seconds(max(patience, settings.envoy.max_message_timeout)),
        "allow_mode_override": True,
        # Exactly those of wire.messages.ModeOverride: Envoy ignores any other.
        "allowed_override_modes": [
            send | {"request_body_mode": "NONE", "response_body_mode": "STREAMED"},
            send | {"request_body_mode": "NONE", "response_body_mode": "NONE"},
        ],
        "processing_mode": {
            "request_header_mode": "SEND",
            "request_body_mode": "BUFFERED",
            "response_body_mode": "BUFFERED",
        }
        | send,
        "forward_rules": {"allowed_headers": {"patterns": _wanted_headers(settings.grounding)}},
        "metadata_options": {"receiving_namespaces": {"untyped": ["vsr"]}},
    }
    if not opened:
        settled["status_on_error"] = {"code": "ServiceUnavailable"}  # not the client's fault: worth a retry
    # On only where a route configures it.
    return {"name": EXT_PROC, "disabled": True, "typed_config": settled}


def _wanted_headers(grounding: GroundingSettings) -> list[Node]:
    """What the filter reads or removes. Credentials and cookies stay in Envoy."""
    names = [*_READ_HEADERS, *([grounding.header] if grounding.header is not None else [])]
    return [*({"exact": name} for name in names), {"prefix": "x-vsr-"}]


def _upstream_cluster(settings: EnvoySettings) -> Node:
    cluster = {
        "name": UPSTREAM,
        "connect_timeout": "5s",
        # Streams of an LLM last: the defaults (1024) are met early.
        "circuit_breakers": _breakers(),
        "typed_extension_protocol_options": {
            _HTTP: typed("extensions.upstreams.http.v3.HttpProtocolOptions")
            | {"explicit_http_config": {"http_protocol_options": {"enable_trailers": True}}}
        },
    } | _endpoints(UPSTREAM, (settings.upstream,), "filter.envoy.upstream")
    if settings.upstream_tls:
        host = settings.upstream.rpartition(":")[0].strip("[]")
        context = {"common_tls_context": {"validation_context": _trust(CA_BUNDLE, host)}, "sni": host}
        cluster["transport_socket"] = _tls(context)
    return cluster


def filter_cluster(config: Config) -> Node:
    """Where Envoy finds the filter, how it notices that it is gone, and how much it may have open there."""
    settings, server = config.filter.envoy, config.filter.server
    keepalive = {"connection_keepalive": {"interval": "10s", "timeout": "3s"}}
    where = "filter.envoy.filter_addresses" if settings.filter_addresses else "filter.server.listen"
    cluster = {
        "name": FILTER,
        "connect_timeout": "0.5s",
        "typed_extension_protocol_options": {
            _HTTP: typed("extensions.upstreams.http.v3.HttpProtocolOptions")
            | {"explicit_http_config": {"http2_protocol_options": keepalive}}
        },
        "circuit_breakers": _breakers(),  # max_requests counts open ext_proc streams
        # All unhealthy is all unhealthy: the failure mode then acts at once, without waiting for a connection.
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},
        # NOT_SERVING counts at once, whatever the threshold: that is how a drain is noticed. A late answer counts
        # three times over: a filter that is only busy must not let answers pass unchecked.
        "health_checks": [
            {
                "timeout": "2s",
                "interval": "1s",
                "no_traffic_interval": "1s",
                "unhealthy_threshold": 3,
                "healthy_threshold": 1,
                "grpc_health_check": {},
            }
        ],
    } | _endpoints(FILTER, settings.filter_addresses or server.listen, where)
    if server.tls is not None:
        common: Node = {"validation_context": _trust(settings.filter_ca or server.tls.certificate)}
        if settings.client_certificate is not None and settings.client_key is not None:
            pair = {
                "certificate_chain": {"filename": settings.client_certificate},
                "private_key": {"filename": settings.client_key},
            }
            common["tls_certificates"] = [pair]
        elif server.tls.client_ca is not None:
            raise EnvoyConfigError(
                "filter.server.tls.client_ca: the filter will ask Envoy for a certificate; "
                "set filter.envoy.client_certificate and filter.envoy.client_key"
            )
        cluster["transport_socket"] = _tls({"common_tls_context": common | {"alpn_protocols": ["h2"]}})
    return cluster


def _breakers() -> Node:
    limits = {"max_connections": 10_000, "max_pending_requests": 10_000, "max_requests": 10_000}
    return {"thresholds": [limits]}


def _trust(authority: str, host: str | None = None) -> Node:
    context: Node = {"trusted_ca": {"filename": authority}}
    if host is not None:
        kind = "IP_ADDRESS" if _is_ip(host) else "DNS"
        context["match_typed_subject_alt_names"] = [{"san_type": kind, "matcher": {"exact": host}}]
    return context


def _tls(context: Node) -> Node:
    return {
        "name": "envoy.transport_sockets.tls",
        "typed_config": typed("extensions.transport_sockets.tls.v3.UpstreamTlsContext") | context,
    }


def _endpoints(cluster: str, addresses: tuple[str, ...], setting: str) -> Node:
    """The endpoints, and the cluster type they need: names are looked up again and again, addresses are not."""
    made = [_address(address, setting, connect=True) for address in addresses]
    by_name = any("socket_address" in a and not _is_ip(a["socket_address"]["address"]) for a in made)
    if by_name and any("pipe" in a for a in made):
        raise EnvoyConfigError(f"{setting}: host names and unix: sockets cannot be mixed; use IP addresses")
    endpoints = [{"endpoint": {"address": address}} for address in made]
    return {
        "type": "STRICT_DNS" if by_name else "STATIC",
        "load_assignment": {"cluster_name": cluster, "endpoints": [{"lb_endpoints": endpoints}]},
    }


def _address(text: str, setting: str, *, connect: bool = False) -> Node:
    """``host:port`` or ``unix:/path``. ``connect``: an address to listen on everywhere becomes the local one."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        return {"pipe": {"path": path.removeprefix("//") if path.startswith("///") else path}}
    host, colon, port = text.rpartition(":")
    host = host.strip("[]")
    if not colon or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise EnvoyConfigError(f"{setting}: {text!r} is not host:port (or unix:/path)")
    if host == "localhost":
        host = "127.0.0.1"
    if connect and host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return {"socket_address": {"address": host, "port_value": int(port)}}


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def typed(name: str) -> Node:
    return {"@type": _TYPE + name}


def _seconds(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") + "s"
