"""``envoy-config``: the same settings for a plain Envoy, for Envoy Gateway or for Istio."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.config.schema import Config
from vsr_hallucination.envoy_config import bootstrap_yaml
from vsr_hallucination.envoy_gateway import GatewayNames, policies_yaml
from vsr_hallucination.envoy_istio import IstioNames, envoy_filter_yaml

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")  # of a Kubernetes object (RFC 1123)


def envoy_config_text(config: Config, target: str, names: Mapping[str, str]) -> str:
    """What is printed. ``Failure`` names an option that does not belong to ``target`` or is no name."""
    allowed = {"envoy": (), "gateway": ("namespace", "gateway", "listener", "route")}.get(
        target, ("namespace", "gateway", "route")
    )
    for option, value in names.items():
        if option not in allowed:
            raise Failure(f"--{option} means nothing with --for {target}")
        if _NAME.fullmatch(value) is None:
            raise Failure(f"--{option}: {value!r} is no name of a Kubernetes object (a-z, 0-9, '-' and '.')")
    if target == "gateway":
        return policies_yaml(config, GatewayNames(**names))
    if target == "istio":
        return envoy_filter_yaml(config, IstioNames(**names))
    return bootstrap_yaml(config)
