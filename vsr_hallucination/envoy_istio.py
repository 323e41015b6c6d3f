"""The same Envoy settings as an Istio ``EnvoyFilter``, for the gateway in front of the LLM.

Everything inside the patches is ``envoy_config``'s; this module only says where Istio puts it
(https://istio.io/latest/docs/reference/config/networking/envoy-filter/).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml

from vsr_hallucination.config.addresses import is_loopback
from vsr_hallucination.config.schema import Config
from vsr_hallucination.envoy_config import (
    HEADER,
    MANAGER,
    MANAGER_TYPE,
    ONE_SPELLING,
    Node,
    checked_route,
    filter_cluster,
    http_filters,
    typed,
)

ROUTER: Final = "envoy.filters.http.router"


@dataclass(frozen=True, slots=True)
class IstioNames:
    """What the patches are for: the gateway's pods, and the named HTTP route of its VirtualService."""

    namespace: str = "istio-ingress"  # where the gateway's pods run
    gateway: str = "ingressgateway"  # value of their label ``istio``
    route: str = "llm"  # ``http[].name`` in the VirtualService


def envoy_filter(config: Config, names: IstioNames | None = None) -> Node:
    """The EnvoyFilter as plain data. Raises ``EnvoyConfigError`` for an address that cannot be read."""
    names = names or IstioNames()
    router = {"filterChain": {"filter": {"name": MANAGER, "subFilter": {"name": ROUTER}}}}
    manager = {"name": MANAGER, "typed_config": typed(MANAGER_TYPE) | ONE_SPELLING}
    patches = [
        _patch("NETWORK_FILTER", {"listener": {"filterChain": {"filter": {"name": MANAGER}}}}, "MERGE", manager),
        # Each goes right before the router: in this order they end up as in the plain configuration.
        *(
            _patch("HTTP_FILTER", {"listener": router}, "INSERT_BEFORE", each)
            for each in http_filters(config)
            if each["name"] != ROUTER
        ),
        _patch(
            "HTTP_ROUTE",
            {"routeConfiguration": {"vhost": {"route": {"name": names.route}}}},
            "MERGE",
            checked_route(config),
        ),
        # A cluster of its own: Istio's would have neither the health check that notices a drain nor the limits.
        _patch("CLUSTER", {}, "ADD", filter_cluster(config)),
    ]
    return {
        "apiVersion": "networking.istio.io/v1alpha3",
        "kind": "EnvoyFilter",
        "metadata": {"name": "vsr-hallucination", "namespace": names.namespace},
        "spec": {"workloadSelector": {"labels": {"istio": names.gateway}}, "configPatches": patches},
    }


def unreachable(config: Config) -> str | None:
    """Why the gateway may not find the filter, and what to do; None where nothing speaks against it."""
    addresses = config.filter.envoy.filter_addresses or config.filter.server.listen
    if not any(is_loopback(address) for address in addresses):
        return None
    return (
        "filter.envoy.filter_addresses: the gateway's pod would look for the filter in itself; where it runs in a pod "
        "of its own, name its Service, for example [vsr-hallucination.llm.svc.cluster.local:50051]"
    )


def envoy_filter_yaml(config: Config, names: IstioNames | None = None) -> str:
    """The EnvoyFilter as YAML text, for ``kubectl apply -f``."""
    body: str = yaml.dump(envoy_filter(config, names), Dumper=_Plain, sort_keys=False, width=110)
    return f"{HEADER}\n{body}"


class _Plain(yaml.SafeDumper):
    """Without anchors: they are YAML, but few expect them in a manifest."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _patch(apply_to: str, match: Node, operation: str, value: Node) -> Node:
    return {
        "applyTo": apply_to,
        "match": {"context": "GATEWAY"} | match,
        "patch": {"operation": operation, "value": value},
    }
