"""What the client sees when something is gone, hangs or breaks; and other ways to connect the two. Real Envoy."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support import http1
from support import upstream as up
from support.driving import WRONG, chat_request, chat_response, delta, policy, sse
from support.envoy import on_ports, running_envoy
from support.scripted import Collected, ModelOf, RuntimeOf
from support.stack import check_479, running_stack, says_yes
from support.tls import certificates
from vsr_hallucination.config.schema import (
    Action,
    Config,
    DecisionSource,
    DetectionSettings,
    EnvoySettings,
    FailureMode,
    FilterSettings,
    ServerSettings,
    TlsSettings,
)
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.server.grpc_server import GrpcServer
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import Service

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
WARNINGS = "x-vsr-response-warnings"
ANSWER = chat_response(WRONG)


@pytest.mark.parametrize("mode", list(FailureMode))
async def test_the_filter_is_gone(tmp_path: Path, mode: FailureMode) -> None:
    config = policy(filter_settings=FilterSettings(failure_mode=mode))
    async with running_stack(config, tmp_path) as stack:
        stack.upstream.answer = up.plain(ANSWER)
        assert (await http1.send(stack.envoy.port, chat_request())).header(WARNINGS) == "hallucination"
        await stack.filter.stop()
        await stack.envoy.wait_for_filter(healthy=False)
        response = await http1.send(stack.envoy.port, chat_request())
        other = await http1.send(stack.envoy.port, b"x", path="/other")
        assert other.status == 200, "routes without the filter never notice"
        if mode is FailureMode.OPEN:
            assert response.status == 200 and response.body == ANSWER and response.header(WARNINGS) is None
        else:
            assert response.status == 503 and WRONG.encode() not in response.body
        checked, gone, beside = await stack.envoy.access_log(3)
        passed = "1" if mode is FailureMode.OPEN else "0"
        assert (checked["filter_status"], checked["failed_open"]) == ("0", "0")
        assert (gone["filter_status"], gone["failed_open"]) == (None, passed), "no call came to an end: no status"
        assert ("no_healthy_upstream" in gone["details"]) is (mode is FailureMode.CLOSED)
        assert (beside["filter_status"], beside["failed_open"]) == (None, None), "the filter was not asked"


async def test_a_filter_that_is_only_busy_stays_in_use(tmp_path: Path) -> None:
    async with running_stack(policy(), tmp_path) as stack:
        stack.upstream.answer = up.plain(ANSWER)
        for _ in range(2):
            time.sleep(1.2)  # holds the loop that answers health checks
            response = await http1.send(stack.envoy.port, chat_request())
            assert response.header(WARNINGS) == "hallucination", "no answer passes unchecked"


async def test_an_exchange_that_breaks_passes_the_answer_and_the_next_works(tmp_path: Path) -> None:
    broken: list[str] = []

    class Breaks(Exchange):
        def checked(self, results: Any, at: float) -> Any:
            if broken:
                raise RuntimeError(broken.pop())
            return super().checked(results, at)

    async with running_stack(policy(Action.BLOCK), tmp_path, new_exchange=Breaks) as stack:
        stack.upstream.answer = up.plain(ANSWER)
        broken.append("once")
        response = await http1.send(stack.envoy.port, chat_request())
        assert response.status == 200 and response.body == ANSWER
        assert "exchange_failed" in stack.out.events()
        assert (await http1.send(stack.envoy.port, chat_request())).status == 403


async def test_a_detector_that_hangs_is_given_up_in_time(tmp_path: Path) -> None:
    async def hangs(_: Any) -> Any:
        await asyncio.sleep(60)

    settings = FilterSettings(
        detection=DetectionSettings(deadline=0.3), envoy=EnvoySettings(message_timeout=0.5, max_message_timeout=5.0)
    )
    async with running_stack(policy(Action.BLOCK, filter_settings=settings), tmp_path, check=hangs) as stack:
        stack.upstream.answer = up.plain(ANSWER)
        response = await http1.send(stack.envoy.port, chat_request(), timeout=3)
        assert response.status == 200 and response.body == ANSWER
        assert response.header(WARNINGS) == "hallucination_unchecked"
        (record,) = await stack.final()
        assert (record.outcomes[0].verdict, record.outcomes[0].reason) == ("unavailable", "timeout")


async def test_a_check_longer_than_the_message_timeout_asks_for_more(tmp_path: Path) -> None:
    async def slow(request: Any) -> Any:
        await asyncio.sleep(1.8)
        return await check_479(request)

    short = FilterSettings(envoy=EnvoySettings(message_timeout=0.5, max_message_timeout=10.0))
    longer = replace(short, detection=DetectionSettings(deadline=4.0))
    async with running_stack(policy(filter_settings=replace(short, detection=DetectionSettings(deadline=0.2))),
                             tmp_path, check=slow) as stack:  # fmt: skip
        # Envoy was made for a deadline of 0.2 s and waits 1.2 s; the configuration in force now allows 4 s.
        current = stack.slot.current
        stack.slot.swap(RuntimeOf(policy(filter_settings=longer), current.gate("default"), current.checker("default")))  # type: ignore[arg-type]
        stack.upstream.answer = up.plain(ANSWER)
        response = await http1.send(stack.envoy.port, chat_request())
        assert response.header(WARNINGS) == "hallucination"


async def test_a_rolling_restart_loses_nothing(tmp_path: Path) -> None:
    """Two filters; one drains under load: no request fails, and none goes unchecked."""
    config = policy(filter_settings=FilterSettings(server=ServerSettings(drain_wait=2.5, drain_timeout=5.0)))
    out = Collected()

    async def start() -> tuple[GrpcServer, str]:
        slot = RuntimeSlot(RuntimeOf(config, ModelOf(classify=says_yes), ModelOf(check=check_479)))
        settings = replace(config.filter.server, listen=("127.0.0.1:0",))
        server = GrpcServer(settings, config.filter.limits, Service(slot, Exchange, out, out.note))
        (address,) = await server.start()
        await server.set_serving(True)
        return server, address

    (first, one), (second, two) = await start(), await start()
    seen: list[tuple[int, str | None]] = []
    stop = asyncio.Event()

    async def load(port: int) -> None:
        while not stop.is_set():
            response = await http1.send(port, chat_request())
            seen.append((response.status, response.header(WARNINGS)))

    async with up.running_upstream(up.plain(ANSWER, delay=0.01)) as upstream:
        placed = on_ports(config, upstream=upstream.address)
        placed = replace(
            placed,
            filter=replace(placed.filter, envoy=replace(placed.filter.envoy, filter_addresses=(one, two))),
        )
        async with running_envoy(placed, tmp_path) as envoy:
            clients = [asyncio.create_task(load(envoy.port)) for _ in range(3)]
            await asyncio.sleep(0.3)
            await first.drain()
            await asyncio.sleep(0.3)
            stop.set()
            await asyncio.gather(*clients)
    await second.stop()
    assert len(seen) > 50 and set(seen) == {(200, "hallucination")}


@pytest.mark.parametrize("transport", ["unix", "tls", "mtls"])
async def test_other_ways_to_the_filter(tmp_path: Path, transport: str) -> None:
    folder = certificates(tmp_path)
    server, envoy_settings = ServerSettings(drain_wait=0.0), EnvoySettings()
    address = f"unix:{tmp_path}/filter.sock" if transport == "unix" else "127.0.0.1:0"
    if transport != "unix":
        client_ca = str(folder / "ca.pem") if transport == "mtls" else None
        server = replace(server, tls=TlsSettings(str(folder / "server.pem"), str(folder / "server.key"), client_ca))
        # Without filter_ca Envoy trusts the filter's own certificate, and no other.
        envoy_settings = EnvoySettings(
            filter_ca=str(folder / "ca.pem") if transport == "mtls" else None,
            client_certificate=str(folder / "client.pem") if transport == "mtls" else None,
            client_key=str(folder / "client.key") if transport == "mtls" else None,
        )
    config = policy(filter_settings=FilterSettings(server=server, envoy=envoy_settings))
    out, slot = Collected(), RuntimeSlot(RuntimeOf(config, ModelOf(classify=says_yes), ModelOf(check=check_479)))
    service = Service(slot, Exchange, out, out.note)
    grpc_server = GrpcServer(replace(server, listen=(address,)), config.filter.limits, service)
    (bound,) = await grpc_server.start()
    await grpc_server.set_serving(True)
    try:
        async with up.running_upstream(up.plain(ANSWER)) as upstream:
            placed = on_ports(config, filter_address=bound, upstream=upstream.address)
            async with running_envoy(placed, tmp_path / "envoy") as envoy:
                assert (await http1.send(envoy.port, chat_request())).header(WARNINGS) == "hallucination"
    finally:
        await grpc_server.stop()


def sourced(source: DecisionSource) -> Config:
    base = policy(filter_settings=FilterSettings(decision_source=source))
    named = replace(base.recipes[0], name="strict", decisions=(replace(base.recipes[0].decisions[0], name="named"),))
    return replace(base, recipes=(named, *base.recipes))


async def test_decisions_from_the_route(tmp_path: Path) -> None:
    async with running_stack(sourced(DecisionSource.ROUTE), tmp_path) as stack:
        stack.upstream.answer = up.plain(ANSWER, headers=[*up.JSON, ("x-vsr-selected-recipe", "default")])
        response = await http1.send(stack.envoy.port, chat_request(), headers=[("x-vsr-recipe", "default")])
        assert response.all("x-vsr-selected-recipe") == ["strict"]


async def test_decisions_from_a_router_further_upstream(tmp_path: Path) -> None:
    headers = [*up.JSON, ("x-vsr-selected-recipe", "strict"), ("x-vsr-selected-decision", "named"), (WARNINGS, "other")]
    async with running_stack(sourced(DecisionSource.UPSTREAM), tmp_path) as stack:
        stack.upstream.answer = up.plain(ANSWER, headers=headers)
        response = await http1.send(stack.envoy.port, chat_request())
        assert response.all("x-vsr-selected-recipe") == ["strict"]
        assert response.all("x-vsr-selected-decision") == ["named"]
        assert response.all(WARNINGS) == ["hallucination"], "what the upstream set is gone"


async def test_overhead_free_routes_open_no_stream(tmp_path: Path) -> None:
    made: list[str] = []

    class Counted(Exchange):
        def __init__(self, config: Config, *, id: str, metadata: Mapping[str, str] | None = None) -> None:
            made.append(id)
            super().__init__(config, id=id, metadata=metadata)

    async with running_stack(policy(), tmp_path, new_exchange=Counted) as stack:
        stack.upstream.answer = up.sse([sse(delta("x")), sse("[DONE]")])
        await http1.send(stack.envoy.port, b"", path="/v1/models")
        assert made == []
        await http1.send(stack.envoy.port, chat_request())
        assert len(made) == 1
