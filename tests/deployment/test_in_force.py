"""What Istio and Envoy Gateway make of the manifests, running: a real Envoy with it, a filter, an upstream."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from support import http1
from support import upstream as up
from support.deployment import documents, filter_named, through_gateway, through_istio
from support.driving import EVIDENCE, WRONG, chat_request, chat_response, delta, policy, sse
from support.envoy import Envoy, on_ports, running_envoy
from support.stack import Stack, running_stack
from vsr_hallucination.envoy_gateway import GatewayNames

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
WARNINGS = "x-vsr-response-warnings"
FORGED = [*up.JSON, (WARNINGS, "none"), ("x-vsr-other", "forged")]
REQUEST = [("x-vsr-recipe", "forged"), ("accept-encoding", "gzip")]


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with running_stack(policy(), tmp_path_factory.mktemp("plain")) as running:
        yield running


def made(way: str) -> dict[str, Any]:
    if way == "istio":
        return through_istio(*documents("istio", "envoyfilter.yaml"))
    return through_gateway(*documents("gateway", "policies.yaml"))


@asynccontextmanager
async def envoy_by(way: str, stack: Stack, folder: Path, tree: dict[str, Any] | None = None) -> AsyncIterator[Envoy]:
    """An Envoy with the manifest's configuration; only addresses are those of this machine."""
    config, tree = on_ports(stack.config), copy.deepcopy(tree or made(way))
    (listener,) = tree["static_resources"]["listeners"]
    _place(listener["address"], config.filter.envoy.listen)
    tree["admin"] = {"address": _place({"socket_address": {}}, config.filter.envoy.admin)}
    for cluster in tree["static_resources"]["clusters"]:
        to_filter = "health_checks" in cluster
        address = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]
        _place(address, stack.filter.addresses[0] if to_filter else stack.upstream.address)
        if to_filter and cluster["connect_timeout"] == "500ms":
            cluster["connect_timeout"] = "0.5s"  # the Gateway API's spelling
    async with running_envoy(config, folder, wait_for_filter=False, text=yaml.safe_dump(tree)) as envoy:
        stack.upstream.answer = up.plain(chat_response("Depot K7."))
        for _ in range(100):  # until the health check has found the filter
            answer = await http1.send(envoy.port, chat_request())
            if answer.header("x-vsr-selected-recipe") is not None:
                break
            await asyncio.sleep(0.1)
        await stack.fresh()
        yield envoy


def _place(address: dict[str, Any], where: str) -> dict[str, Any]:
    host, _, port = where.rpartition(":")
    address["socket_address"] |= {"address": host, "port_value": int(port)}
    return address


@pytest.mark.parametrize("way", ["istio", "gateway"])
async def test_answers_are_checked_and_streams_pass(way: str, stack: Stack, tmp_path: Path) -> None:
    async with envoy_by(way, stack, tmp_path) as envoy:
        # Held and checked; what client and upstream claim in our name is gone.
        stack.upstream.answer = up.plain(chat_response(WRONG), headers=FORGED)
        response = await http1.send(envoy.port, chat_request(), headers=REQUEST)
        assert response.status == 200 and response.header(WARNINGS) == "hallucination"
        assert response.header("x-vsr-other") is None
        assert stack.upstream.requests[-1].header("x-vsr-recipe") is None
        assert stack.upstream.requests[-1].header("accept-encoding") is None
        for path in ("/v1/chat/completions/", "/v1/chat/completions;a=1"):  # no way around the filter
            assert (await http1.send(envoy.port, chat_request(), path=path)).header(WARNINGS) == "hallucination"
        for path in ("/v1/completions", "/v1/responses", "/v1/messages"):  # seen: not in these APIs' shape
            unread = await http1.send(envoy.port, chat_request(), path=path)
            assert unread.header(WARNINGS) == "hallucination_unchecked"

        # A body over the gateway's own buffer limit is held too.
        large = chat_response(WRONG + " " + "padding " * 200_000)
        stack.upstream.answer = up.plain(large)
        response = await http1.send(envoy.port, chat_request())
        assert response.status == 200 and response.header(WARNINGS) == "hallucination"
        assert response.body == large

        # A stream passes as it is and is checked at its end: the mode override was allowed.
        await stack.fresh()
        events = [sse(delta("Depot K7 shipped 479")), sse(delta(" crates in May.", finish="stop")), sse("[DONE]")]
        stack.upstream.answer = up.sse(events, gap=0.05)
        response = await http1.send(envoy.port, chat_request(EVIDENCE, stream=True))
        assert response.complete and response.body == b"".join(events)
        (record,) = await stack.final()
        assert [outcome.enforcement for outcome in record.outcomes] == ["not_enforced_streaming"]

        # Another route has no filter, and nobody can pretend there either.
        await stack.fresh()
        stack.upstream.answer = up.plain(b'{"data": []}', headers=FORGED)
        response = await http1.send(envoy.port, b"{}", path="/v1/embeddings", headers=REQUEST)
        assert response.status == 200 and not [name for name, _ in response.headers if name.startswith("x-vsr-")]
        assert stack.upstream.requests[-1].header("x-vsr-recipe") is None


async def test_the_gateway_s_grpc_timeout_does_not_end_a_slow_exchange(stack: Stack, tmp_path: Path) -> None:
    """Envoy Gateway gives the gRPC service a timeout of 10 s: it must not bound an exchange, which may take longer."""
    tree = made("gateway")
    filter_named(tree, GatewayNames().filter)["typed_config"]["grpc_service"]["timeout"] = "0.5s"
    async with envoy_by("gateway", stack, tmp_path, tree) as envoy:
        stack.upstream.answer = up.plain(chat_response(WRONG), delay=1.5)
        response = await http1.send(envoy.port, chat_request())
        assert response.header(WARNINGS) == "hallucination"


async def test_without_the_patch_answers_are_checked_but_large_ones_fail(stack: Stack, tmp_path: Path) -> None:
    """What docs/deployment.md says of an Envoy Gateway whose patches are switched off."""
    extension, patch = documents("gateway", "policies.yaml")
    patch["spec"]["jsonPatches"] = []
    async with envoy_by("gateway", stack, tmp_path, through_gateway(extension, patch)) as envoy:
        stack.upstream.answer = up.plain(chat_response(WRONG), headers=FORGED)
        response = await http1.send(envoy.port, chat_request())
        assert response.header(WARNINGS) == "hallucination" and response.header("x-vsr-other") is None
        response = await http1.send(envoy.port, b"{}", path="/v1/embeddings")
        assert response.header("x-vsr-other") == "forged"
        stack.upstream.answer = up.plain(chat_response(WRONG + " " + "padding " * 200_000))
        assert (await http1.send(envoy.port, chat_request())).status == 500
