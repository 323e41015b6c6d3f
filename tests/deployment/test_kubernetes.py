"""The Kubernetes manifests: known to the published schema, and in step with the configuration they carry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from cloudcoil.models.kubernetes.apps.v1 import Deployment
from cloudcoil.models.kubernetes.core.v1 import ConfigMap, Service
from cloudcoil.models.kubernetes.networking.v1 import NetworkPolicy
from cloudcoil.models.kubernetes.policy.v1 import PodDisruptionBudget

from support.deployment import FOLDER, documents
from vsr_hallucination.config.loading import loads
from vsr_hallucination.config.schema import Config, FailureMode
from vsr_hallucination.server.app import FLUSH_WITHIN

KINDS = {
    "configmap.yaml": ConfigMap,
    "deployment.yaml": Deployment,
    "service.yaml": Service,
    "disruption.yaml": PodDisruptionBudget,
    "network.yaml": NetworkPolicy,
}


def one(file: str) -> dict[str, Any]:
    (found,) = documents("kubernetes", file)
    return found


@pytest.fixture(scope="module")
def config() -> Config:
    loaded = loads(one("configmap.yaml")["data"]["config.yaml"], environment={"VSR_ADMIN_TOKEN": "t"})
    assert loaded.warnings == ()
    return loaded.config


@pytest.fixture(scope="module")
def pod() -> dict[str, Any]:
    spec: dict[str, Any] = one("deployment.yaml")["spec"]["template"]["spec"]
    return spec


@pytest.fixture(scope="module")
def container(pod: dict[str, Any]) -> dict[str, Any]:
    (found,) = pod["containers"]
    held: dict[str, Any] = found
    return held


@pytest.mark.parametrize("file", KINDS)
def test_the_schema_knows_every_key(file: str) -> None:
    manifest = one(file)
    read = KINDS[file].model_validate(manifest)
    assert read.model_dump(by_alias=True, exclude_unset=True, mode="json") == manifest  # an unknown key would be gone


def test_a_key_the_schema_does_not_know_would_be_noticed() -> None:
    manifest = one("deployment.yaml")
    manifest["spec"]["template"]["spec"]["terminationGracePeriod"] = 60
    read = Deployment.model_validate(manifest)
    assert read.model_dump(by_alias=True, exclude_unset=True, mode="json") != manifest


def test_kustomize_lists_every_file() -> None:
    listed = yaml.safe_load((FOLDER / "kubernetes/kustomization.yaml").read_text())
    there = {file.name for file in (FOLDER / "kubernetes").iterdir()} - {"kustomization.yaml"}
    assert set(listed["resources"]) == there == set(KINDS)
    (container,) = one("deployment.yaml")["spec"]["template"]["spec"]["containers"]
    assert [image["name"] for image in listed["images"]] == [container["image"]]


def test_two_pods_one_of_which_may_go() -> None:
    deployment, budget = one("deployment.yaml")["spec"], one("disruption.yaml")["spec"]
    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert budget["maxUnavailable"] == 1


def test_everything_selects_the_pods() -> None:
    labels = one("deployment.yaml")["spec"]["template"]["metadata"]["labels"]
    selectors = [
        one("deployment.yaml")["spec"]["selector"]["matchLabels"],
        one("service.yaml")["spec"]["selector"],
        one("disruption.yaml")["spec"]["selector"]["matchLabels"],
        one("network.yaml")["spec"]["podSelector"]["matchLabels"],
        one("deployment.yaml")["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
    ]
    assert all(selector and selector.items() <= labels.items() for selector in selectors)


def test_the_grace_period_covers_the_drain(pod: dict[str, Any], container: dict[str, Any], config: Config) -> None:
    server = config.filter.server
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] >= before + server.drain_wait + server.drain_timeout + FLUSH_WITHIN


def test_compose_waits_for_the_drain() -> None:
    compose = yaml.safe_load((FOLDER / "docker-compose.yaml").read_text())
    demo = loads((FOLDER.parent / "vsr_hallucination/examples/demo.yaml").read_text()).config.filter.server
    grace = float(compose["services"]["filter"]["stop_grace_period"].removesuffix("s"))
    assert grace >= demo.drain_wait + demo.drain_timeout + FLUSH_WITHIN
    assert compose["services"]["filter"]["build"] == {"context": "..", "dockerfile": "envoy/Dockerfile"}


def test_probes_ask_what_the_filter_serves(container: dict[str, Any], config: Config) -> None:
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    (listen,) = config.filter.server.listen
    assert ports == {
        "grpc": int(listen.rpartition(":")[2]),
        "admin": int(config.filter.admin.listen.rpartition(":")[2]),
    }
    assert container["readinessProbe"]["grpc"]["port"] == ports["grpc"]
    assert container["startupProbe"]["httpGet"] == {"path": "/ready", "port": "admin"}
    assert container["livenessProbe"]["httpGet"] == {"path": "/health", "port": "admin"}
    assert not listen.startswith("127.") and not config.filter.admin.listen.startswith("127.")


def test_envoy_finds_the_filter_under_its_service(config: Config) -> None:
    service, space = one("service.yaml"), yaml.safe_load((FOLDER / "kubernetes/kustomization.yaml").read_text())
    port = next(port["port"] for port in service["spec"]["ports"] if port["name"] == "grpc")
    expected = f"{service['metadata']['name']}.{space['namespace']}.svc.cluster.local:{port}"
    assert config.filter.envoy.filter_addresses == (expected,)
    assert service["spec"]["clusterIP"] == "None"
    assert config.filter.failure_mode is FailureMode.OPEN


def test_the_token_comes_from_a_secret(container: dict[str, Any]) -> None:
    (variable,) = container["env"]
    assert variable["name"] == "VSR_ADMIN_TOKEN" and "secretKeyRef" in variable["valueFrom"]
    assert "${VSR_ADMIN_TOKEN}" in one("configmap.yaml")["data"]["config.yaml"]


def test_the_pod_has_no_more_rights_than_it_needs(pod: dict[str, Any], container: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True and pod["automountServiceAccountToken"] is False
    security = container["securityContext"]
    assert security["allowPrivilegeEscalation"] is False and security["readOnlyRootFilesystem"] is True
    assert security["capabilities"] == {"drop": ["ALL"]}


def test_the_configuration_is_mounted_as_a_folder(container: dict[str, Any], pod: dict[str, Any]) -> None:
    """A file mounted by ``subPath`` would never change, and so never be reloaded."""
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    assert "subPath" not in mounts["config"]
    file = Path(container["args"][container["args"].index("--config") + 1])
    assert str(file.parent) == mounts["config"]["mountPath"]
    assert file.name in one("configmap.yaml")["data"]
    (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "config"]
    assert volume["configMap"]["name"] == one("configmap.yaml")["metadata"]["name"]


def test_the_network_policy_knows_the_ports(container: dict[str, Any]) -> None:
    named = {port["name"] for port in container["ports"]}
    opened = {port["port"] for rule in one("network.yaml")["spec"]["ingress"] for port in rule["ports"]}
    assert opened == named
    assert one("network.yaml")["spec"]["egress"] == []
