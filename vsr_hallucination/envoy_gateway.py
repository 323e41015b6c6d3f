"""The same Envoy settings for Envoy Gateway: an ``EnvoyExtensionPolicy``, and a patch for what it cannot say.

The policy (gateway.envoyproxy.io/v1alpha1) knows body modes, timeout, failure mode and the backend's health check.
Trailers, the allowed overrides, the longest timeout, ``x-vsr-*`` headers and the buffer limit are Envoy's alone: an
``EnvoyPatchPolicy`` brings them, with the values of ``envoy_config``. Names inside the patch are those that Envoy
Gateway gives to what it makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import yaml

from vsr_hallucination.config.schema import Config
from vsr_hallucination.envoy_config import HEADER, EnvoyConfigError, Node, checked_route, filter_cluster, http_filters

POLICY: Final = "vsr-hallucination"
ROUTER: Final = "envoy.filters.http.router"
EXT_PROC: Final = "envoy.filters.http.ext_proc"
_BODIES: Final = {"BUFFERED": "Buffered", "STREAMED": "Streamed"}
_STATUS: Final = {"ServiceUnavailable": 503}
_XDS: Final = "type.googleapis.com/envoy.config."
_API: Final = "gateway.networking.k8s.io"


@dataclass(frozen=True, slots=True)
class GatewayNames:
    """What the policies attach to; they live in the HTTPRoute's namespace, which must be the Gateway's."""

    namespace: str = "llm"
    gateway: str = "llm"
    listener: str = "http"  # ``listeners[].name`` of the Gateway
    route: str = "llm"  # the HTTPRoute whose answers are checked

    @property
    def filter(self) -> str:
        """The name Envoy Gateway gives to the policy's HTTP filter."""
        return f"{EXT_PROC}/envoyextensionpolicy/{self.namespace}/{POLICY}/extproc/0"

    @property
    def xds(self) -> str:
        """The name of the listener and of its route configuration."""
        return f"{self.namespace}/{self.gateway}/{self.listener}"


def policies(config: Config, names: GatewayNames | None = None) -> tuple[Node, Node]:
    """Extension policy and patch policy as plain data. ``EnvoyConfigError``: no Service can be made out."""
    names = names or GatewayNames()
    return _extension(config, names), _patches(config, names)


def policies_yaml(config: Config, names: GatewayNames | None = None) -> str:
    """Both as YAML text, for ``kubectl apply -f``."""
    body: str = yaml.safe_dump_all(policies(config, names), sort_keys=False, width=110)
    return f"{HEADER}\n{body}"


def _ext_proc(config: Config) -> Node:
    settings: Node = next(each for each in http_filters(config) if each["name"] == EXT_PROC)["typed_config"]
    return settings


def _extension(config: Config, names: GatewayNames) -> Node:
    settings, cluster = _ext_proc(config), filter_cluster(config)
    (limits,) = cluster["circuit_breakers"]["thresholds"]
    (health,) = cluster["health_checks"]
    modes = settings["processing_mode"]
    processor: Node = {
        "backendRefs": [_service(config, names)],
        "messageTimeout": _duration(settings["message_timeout"]),
        "failOpen": settings["failure_mode_allow"],
        "processingMode": {
            "allowModeOverride": settings["allow_mode_override"],
            "request": {"body": _BODIES[modes["request_body_mode"]]},
            "response": {"body": _BODIES[modes["response_body_mode"]]},
        },
        "metadata": {"writableNamespaces": settings["metadata_options"]["receiving_namespaces"]["untyped"]},
        "backendSettings": {
            "circuitBreaker": {
                "maxConnections": limits["max_connections"],
                "maxPendingRequests": limits["max_pending_requests"],
                "maxParallelRequests": limits["max_requests"],
            },
            "healthCheck": {
                "panicThreshold": cluster["common_lb_config"]["healthy_panic_threshold"]["value"],
                "active": {
                    "type": "GRPC",
                    "timeout": health["timeout"],
                    "interval": health["interval"],
                    "unhealthyThreshold": health["unhealthy_threshold"],
                    "healthyThreshold": health["healthy_threshold"],
                },
            },
            "timeout": {"tcp": {"connectTimeout": _duration(cluster["connect_timeout"])}},
        },
    }
    if "status_on_error" in settings:
        processor["statusOnError"] = _STATUS[settings["status_on_error"]["code"]]
    target = {"group": _API, "kind": "HTTPRoute", "name": names.route}
    return _policy("EnvoyExtensionPolicy", names, {"targetRefs": [target], "extProc": [processor]})


def _patches(config: Config, names: GatewayNames) -> Node:
    settings = _ext_proc(config)
    ours = f"..http_filters[?(@.name=='{names.filter}')]"
    patches = [
        _patch("listener.v3.Listener", names, {"jsonPath": ours, "path": f"typed_config/{field}"}, settings[field])
        for field in ("max_message_timeout", "allowed_override_modes", "processing_mode", "forward_rules")
    ]
    before, _, after = (tuple(group) for group in _around(http_filters(config)))
    for each in before:  # first in the list: seen before any other filter acts on it
        patches.append(_patch("listener.v3.Listener", names, {"jsonPath": "..http_filters", "path": "0"}, each))
    for each in after:  # where the router is: it moves back by one
        place = {"jsonPath": f"..http_filters[?(@.name=='{ROUTER}')]"}
        patches.append(_patch("listener.v3.Listener", names, place, each))
    route = f"..routes[?match(@.name, 'httproute/{names.namespace}/{names.route}/rule/.*')]"
    for field, value in checked_route(config).items():
        if field == "typed_per_filter_config":
            continue  # Envoy Gateway switches its filter on by itself; what it is given comes below
        patches.append(_patch("route.v3.RouteConfiguration", names, {"jsonPath": route, "path": field}, value))
    overrides = checked_route(config)["typed_per_filter_config"][EXT_PROC]
    if overrides["overrides"]:
        place = {"jsonPath": route, "path": "typed_per_filter_config/" + names.filter.replace("/", "~1")}
        patches.append(_patch("route.v3.RouteConfiguration", names, place, overrides))
    target = {"group": _API, "kind": "Gateway", "name": names.gateway}
    return _policy(
        "EnvoyPatchPolicy", names, {"targetRef": target, "type": "JSONPatch", "jsonPatches": patches}
    )


def _around(filters: list[Node]) -> tuple[list[Node], Node, list[Node]]:
    """What stands before ext_proc, ext_proc itself, what stands between it and the router."""
    at = next(index for index, each in enumerate(filters) if each["name"] == EXT_PROC)
    return filters[:at], filters[at], [each for each in filters[at + 1 :] if each["name"] != ROUTER]


def _service(config: Config, names: GatewayNames) -> Node:
    addresses = config.filter.envoy.filter_addresses
    host, _, port = addresses[0].rpartition(":") if len(addresses) == 1 else ("", "", "")
    labels = host.split(".")
    if len(labels) < 3 or labels[2] != "svc" or not port.isdigit():
        raise EnvoyConfigError(
            "filter.envoy.filter_addresses: Envoy Gateway finds the filter through a Kubernetes Service; name one, for "
            "example [vsr-hallucination.llm.svc.cluster.local:50051]"
        )
    found: Node = {"group": "", "kind": "Service", "name": labels[0], "port": int(port)}
    if labels[1] != names.namespace:
        found["namespace"] = labels[1]  # there a ReferenceGrant must allow it
    return found


def _duration(text: str) -> str:
    """An Envoy duration (``1.25s``) as the Gateway API writes it: no fractions, five digits a unit."""
    milliseconds = round(float(text.removesuffix("s")) * 1000)
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds}s{rest}ms" if seconds and rest else f"{rest}ms" if rest else f"{seconds}s"


def _patch(kind: str, names: GatewayNames, place: Node, value: object) -> Node:
    return {"type": _XDS + kind, "name": names.xds, "operation": {"op": "add"} | place | {"value": value}}


def _policy(kind: str, names: GatewayNames, spec: Node) -> Node:
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": POLICY, "namespace": names.namespace},
        "spec": spec,
    }
