"""The same Envoy settings as an Istio ``EnvoyFilter``, for the gateway in front of the LLM.

Everything inside the patches is ``envoy_config``'s; this module only says where Istio puts it
(https://istio.io/latest/docs/reference/config/networking/envoy-filter/).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml

from vsr_hallucination.config.addresses import ip_of, is_loopback
from vsr_hallucination.config.schema import Config
from vsr_hallucination.envoy_config import (
    HEADER,
    MANAGER,
    MANAGER_TYPE,
    ONE_SPELLING,
    EnvoyConfigError,
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
    """The EnvoyFilter as plain data. ``EnvoyConfigError``: an address cannot be read, or not be reached from a pod."""
    _check_reachable(config)
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


def _check_reachable(config: Config) -> None:
    """The gateway's pod would look for an address of one machine alone in itself, and its routes would fail open."""
    settings = config.filter.envoy
    addresses = settings.filter_addresses or config.filter.server.listen
    found = next((each for each in addresses if is_loopback(each) or _is_any(each)), None)
    if found is not None:
        where = "" if settings.filter_addresses else ", of filter.server.listen"
        raise EnvoyConfigError(
            f"filter.envoy.filter_addresses: the gateway's pod would look for the filter in itself ({found!r}{where}); "
            "name its Service, for example [vsr-hallucination.llm.svc.cluster.local:50051]"
        )


def _is_any(address: str) -> bool:
    """``0.0.0.0`` and ``[::]`` are for listening: whoever connects to them means itself."""
    ip = ip_of(address.rpartition(":")[0].strip("[]"))
    return ip is not None and ip.is_unspecified


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
