"""The processes of a run: one upstream, and for each alternative a server and an Envoy of its own.

bare      Envoy without the filter
noop      the no-op server, all four messages, streams in STREAMED mode
noop-none the no-op server that asks for no bodies
none      the filter, a recipe with no rule and no plugin
full      the filter, embedded models, one rule
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from vsr_hallucination.config import load
from vsr_hallucination.demo.processes import ChildFailed, Children, choose_ports, listening
from vsr_hallucination.demo.setup import missing_models, serving
from vsr_hallucination.envoy_config import bootstrap

ALTERNATIVES = ("bare", "noop", "noop-none", "none", "full")
_KINDS = ("envoy", "envoy-admin", "filter", "admin", "lag")
_START_WAIT = 180.0
_EXT_PROC = "envoy.filters.http.ext_proc"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Where one alternative is reached, and the process id of its server (None for ``bare``)."""

    envoy: int
    admin: int
    lag: int
    pid: int | None


async def start(
    folder: Path, children: Children, envoy: tuple[str, ...], client: httpx.AsyncClient
) -> dict[str, Alternative]:
    """Start everything, one alternative after another. Raises ChildFailed naming what did not come up."""
    wanted = [(f"{name} {kind}", 0) for name in ALTERNATIVES for kind in _KINDS]
    ports = choose_ports((("upstream", 0), *wanted), {})
    await children.start("upstream", *_module("bench.upstream"), str(ports["upstream"]))
    await children.ready("upstream", lambda: listening(ports["upstream"]), 30.0)
    return {
        name: await _start(
            name, {kind: ports[f"{name} {kind}"] for kind in _KINDS} | {"upstream": ports["upstream"]},
            folder, children, envoy, client,
        )
        for name in ALTERNATIVES
    }  # fmt: skip


async def _start(
    name: str,
    ports: Mapping[str, int],
    folder: Path,
    children: Children,
    envoy: tuple[str, ...],
    client: httpx.AsyncClient,
) -> Alternative:
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(_config(ports, checked=name == "full")), encoding="utf-8")
    server = f"{name}-server"
    if name.startswith("noop"):
        mode = "none" if name == "noop-none" else "buffered"
        await children.start(server, *_module("bench.noop"), str(ports["filter"]), str(ports["lag"]), mode)
        await children.ready(server, lambda: listening(ports["filter"]), _START_WAIT)
    elif name != "bare":
        await children.start(server, *_module("bench.filter"), str(file), str(ports["lag"]))
        await children.ready(server, lambda: serving(ports["filter"]), _START_WAIT)
        if missing := await missing_models(client, f"http://127.0.0.1:{ports['admin']}"):
            raise ChildFailed(f"{name}: the filter lacks models: {'; '.join(missing)}")
    plain = bootstrap(load(file).config)
    text = yaml.safe_dump(without_filter(plain) if name == "bare" else plain)
    (folder / f"{name}-envoy.yaml").write_text(text, encoding="utf-8")
    command = (part.replace("{config}", str(folder / f"{name}-envoy.yaml")) for part in envoy)
    await children.start(f"{name}-envoy", *command)
    await children.ready(f"{name}-envoy", lambda: _envoy_up(client, ports, name), 30.0)
    pid = None if name == "bare" else children.pid(server)
    return Alternative(ports["envoy"], ports["admin"], ports["lag"], pid)


def _config(ports: Mapping[str, int], *, checked: bool) -> dict[str, Any]:
    signals = {"hallucination": [{"name": "claims"}]} if checked else {}
    return {
        "version": "v0.3",
        "routing": {"signals": signals},
        "filter": {
            "server": {"listen": [f"127.0.0.1:{ports['filter']}"], "drain_wait": "100ms"},
            "admin": {"listen": f"127.0.0.1:{ports['admin']}"},
            "detection": {"deadline": "50s"},
            "envoy": {
                "listen": f"127.0.0.1:{ports['envoy']}",
                "admin": f"127.0.0.1:{ports['envoy-admin']}",
                "upstream": f"127.0.0.1:{ports['upstream']}",
                "message_timeout": "60s",
            },
        },
    }


def without_filter(plain: dict[str, Any]) -> dict[str, Any]:
    """The same Envoy without ext_proc: the filter, its routes' settings and its cluster are taken out."""
    resources = plain["static_resources"]
    for listener in resources["listeners"]:
        manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
        manager["http_filters"] = [each for each in manager["http_filters"] if each["name"] != _EXT_PROC]
        for host in manager["route_config"]["virtual_hosts"]:
            for route in host["routes"]:
                route.get("typed_per_filter_config", {}).pop(_EXT_PROC, None)
    return plain


def _module(name: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-m", f"vsr_hallucination.{name}")


async def _envoy_up(client: httpx.AsyncClient, ports: Mapping[str, int], name: str) -> bool:
    try:
        admin = f"http://127.0.0.1:{ports['envoy-admin']}"
        if (await client.get(f"{admin}/ready")).status_code != 200:
            return False
        healthy = f"::127.0.0.1:{ports['filter']}::health_flags::healthy"
        return name == "bare" or healthy in (await client.get(f"{admin}/clusters")).text
    except httpx.HTTPError:
        return False
