"""What Istio and Envoy Gateway make of the manifests, as one Envoy bootstrap that a real Envoy can validate.

Neither control plane runs here. Each builds a gateway's plain configuration in the shape that it is documented to
have, then applies the manifest's patches by the rules of its own reference.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jsonpath
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "envoy"
MANAGER = "envoy.filters.network.http_connection_manager"
EXTENSION = "type.googleapis.com/envoy.extensions.filters."
TYPE = EXTENSION + "http."
Node = dict[str, Any]


def documents(*parts: str) -> list[Node]:
    return [each for each in yaml.safe_load_all(FOLDER.joinpath(*parts).read_text("utf-8")) if each]


def cluster(name: str, host: str, port: int) -> Node:
    address = {"socket_address": {"address": host, "port_value": port}}
    endpoints = [{"lb_endpoints": [{"endpoint": {"address": address}}]}]
    return {
        "name": name,
        "type": "STRICT_DNS",
        "load_assignment": {"cluster_name": name, "endpoints": endpoints},
    }


def plain_filter(name: str, message: str) -> Node:
    return {"name": f"envoy.filters.http.{name}", "typed_config": {"@type": f"{TYPE}{message}"}}


def gateway_bootstrap(listener: str, routes: list[Node], filters: list[Node], clusters: list[Node]) -> Node:
    """A gateway as a control plane makes it, before any patch."""
    hosts = [{"name": "llm.example.com:80", "domains": ["*"], "routes": routes}]
    manager = {
        "@type": EXTENSION + "network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "gateway",
        "route_config": {"name": listener, "virtual_hosts": hosts},
        "http_filters": [*filters, plain_filter("router", "router.v3.Router")],
    }
    found = {
        "name": listener,
        "address": {"socket_address": {"address": "127.0.0.1", "port_value": 10080}},
        "per_connection_buffer_limit_bytes": 32768,  # Envoy Gateway's; a body over it must be held all the same
        "default_filter_chain": {"filters": [{"name": MANAGER, "typed_config": manager}]},
    }
    return {"static_resources": {"listeners": [found], "clusters": clusters}}


def manager_of(bootstrap: Node) -> Node:
    (listener,) = bootstrap["static_resources"]["listeners"]
    chain = listener.get("default_filter_chain") or listener["filter_chains"][0]
    manager: Node = chain["filters"][0]["typed_config"]
    return manager


def routes_named(bootstrap: Node, name: str) -> list[Node]:
    """Those of one name, in order: Istio gives it to each match of a route; Envoy Gateway numbers them."""
    (host,) = manager_of(bootstrap)["route_config"]["virtual_hosts"]
    found = [each for each in host["routes"] if each["name"] == name or each["name"].startswith(f"{name}/match/")]
    assert found, f"no route is named {name}"
    return found


def filter_named(bootstrap: Node, name: str) -> Node:
    (found,) = [each for each in manager_of(bootstrap)["http_filters"] if each["name"] == name]
    one: Node = found
    return one


# -- Istio: https://istio.io/latest/docs/reference/config/networking/envoy-filter/


def merge(into: Node, value: Node) -> None:
    """As protobuf merges: messages field by field, lists are appended to, scalars replaced."""
    for key, new in value.items():
        old = into.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            merge(old, new)
        elif isinstance(old, list) and isinstance(new, list):
            old.extend(new)
        else:
            into[key] = new


def through_istio(manifest: Node, route: str = "llm") -> Node:
    """The gateway's configuration once Istio has applied the EnvoyFilter."""
    upstream = "outbound|8000||llm.llm.svc.cluster.local"
    _, service = documents("istio", "routes.yaml")
    (http,) = service["spec"]["http"]
    matches = [{"safe_regex": {"regex": match["uri"]["regex"]}} for match in http["match"]]
    routes = [
        *({"name": route, "match": match, "route": {"cluster": upstream, "timeout": "0s"}} for match in matches),
        {"name": "default", "match": {"prefix": "/"}, "route": {"cluster": upstream, "timeout": "0s"}},
    ]
    filters = [plain_filter("cors", "cors.v3.Cors"), plain_filter("fault", "fault.v3.HTTPFault")]
    made = gateway_bootstrap("0.0.0.0_8080", routes, filters, [cluster(upstream, "llm.llm.svc.cluster.local", 8000)])
    for each in copy.deepcopy(manifest["spec"]["configPatches"]):
        value, operation = each["patch"]["value"], each["patch"]["operation"]
        match each["applyTo"], operation:
            case "NETWORK_FILTER", "MERGE":
                assert each["match"]["listener"]["filterChain"]["filter"]["name"] == value["name"] == MANAGER
                merge(manager_of(made), value["typed_config"])
            case "HTTP_FILTER", "INSERT_BEFORE":
                there = manager_of(made)["http_filters"]
                before = each["match"]["listener"]["filterChain"]["filter"]["subFilter"]["name"]
                there.insert([one["name"] for one in there].index(before), value)
            case "HTTP_ROUTE", "MERGE":
                for one in routes_named(made, each["match"]["routeConfiguration"]["vhost"]["route"]["name"]):
                    merge(one, copy.deepcopy(value))
            case "CLUSTER", "ADD":
                made["static_resources"]["clusters"].append(value)
            case other:
                raise AssertionError(f"not an operation of an EnvoyFilter that is used here: {other}")
    return made


# -- Envoy Gateway: EnvoyExtensionPolicy and EnvoyPatchPolicy (v1alpha1)


def through_gateway(policy: Node, patch: Node) -> Node:
    """The gateway's configuration once Envoy Gateway has translated the policy and applied the patch."""
    space = policy["metadata"]["namespace"]
    (target,) = policy["spec"]["targetRefs"]
    (processor,) = policy["spec"]["extProc"]
    (backend,) = processor["backendRefs"]
    prefix = f"envoyextensionpolicy/{space}/{policy['metadata']['name']}"
    name = f"envoy.filters.http.ext_proc/{prefix}/extproc/0"
    modes = {"Buffered": "BUFFERED", "Streamed": "STREAMED", "BufferedPartial": "BUFFERED_PARTIAL"}
    request, response = (processor["processingMode"].get(side) for side in ("request", "response"))
    settings: Node = {
        "@type": TYPE + "ext_proc.v3.ExternalProcessor",
        "grpc_service": {
            "envoy_grpc": {"cluster_name": f"{prefix}/0", "authority": f"{backend['name']}.{space}:{backend['port']}"},
            "timeout": "10s",
        },
        "message_timeout": processor["messageTimeout"],
        "failure_mode_allow": processor["failOpen"],
        "allow_mode_override": processor["processingMode"]["allowModeOverride"],
        "processing_mode": {
            "request_header_mode": "SKIP" if request is None else "SEND",
            "response_header_mode": "SKIP" if response is None else "SEND",
            "request_body_mode": modes[request["body"]],
            "response_body_mode": modes[response["body"]],
            "request_trailer_mode": "SKIP",
            "response_trailer_mode": "SKIP",
        },
        "metadata_options": {"receiving_namespaces": {"untyped": processor["metadata"]["writableNamespaces"]}},
    }
    if "statusOnError" in processor:
        settings["status_on_error"] = {"code": {503: "ServiceUnavailable"}[processor["statusOnError"]]}
    route = f"httproute/{space}/{target['name']}/rule/0"
    switched_on = {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": {}}
    _, http_route = documents("gateway", "routes.yaml")
    (rule,) = http_route["spec"]["rules"]
    assert {match["path"]["type"] for match in rule["matches"]} == {"RegularExpression"}
    routes: list[Node] = [
        *(
            {
                "name": f"{route}/match/{number}/*",
                "match": {"safe_regex": {"regex": match["path"]["value"]}},
                "route": {"cluster": route, "timeout": "0s"},
                "typed_per_filter_config": {name: copy.deepcopy(switched_on)},
            }
            for number, match in enumerate(rule["matches"])
        ),
        {
            "name": f"httproute/{space}/other/rule/0/match/0/*",
            "match": {"prefix": "/"},
            "route": {"cluster": route},
        },
    ]
    listener = f"{space}/{patch['spec']['targetRef']['name']}/http"
    health = processor["backendSettings"]["healthCheck"]
    active, limits = health["active"], processor["backendSettings"]["circuitBreaker"]
    to_filter = cluster(f"{prefix}/0", f"{backend['name']}.{space}.svc", backend["port"]) | {
        "connect_timeout": processor["backendSettings"]["timeout"]["tcp"]["connectTimeout"],
        "common_lb_config": {"healthy_panic_threshold": {"value": health["panicThreshold"]}},
        "circuit_breakers": {
            "thresholds": [
                {
                    "max_connections": limits["maxConnections"],
                    "max_pending_requests": limits["maxPendingRequests"],
                    "max_requests": limits["maxParallelRequests"],
                }
            ]
        },
        "health_checks": [
            {
                "timeout": active["timeout"],
                "interval": active["interval"],
                "unhealthy_threshold": active["unhealthyThreshold"],
                "healthy_threshold": active["healthyThreshold"],
                f"{active['type'].lower()}_health_check": {},
            }
        ],
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
    }
    filters = [{"name": name, "disabled": True, "typed_config": settings}]
    made = gateway_bootstrap(listener, routes, filters, [cluster(route, "llm.llm.svc", 8000), to_filter])
    for each in patch["spec"]["jsonPatches"]:
        assert each["name"] == listener, "the patch names another listener"
        kind = each["type"].rpartition(".")[2]
        (found,) = made["static_resources"]["listeners"]
        document = found if kind == "Listener" else manager_of(made)["route_config"]
        assert kind in ("Listener", "RouteConfiguration")
        _add(document, copy.deepcopy(each["operation"]))
    return made


def _add(document: Node, operation: Node) -> None:
    """One JSON Patch ``add`` at every place the JSONPath finds, ``path`` appended to each (as the CRD says)."""
    assert operation["op"] == "add"
    expression = operation["jsonPath"]
    places = [str(hit.pointer()) for hit in jsonpath.finditer("$" * expression.startswith(".") + expression, document)]
    assert places, f"the patch finds nothing: {expression}"
    tail = "/" + operation["path"].removeprefix("/") if "path" in operation else ""
    patch = [{"op": "add", "path": place + tail, "value": operation["value"]} for place in places]
    jsonpath.patch.apply(patch, document)
