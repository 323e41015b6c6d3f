"""The filter as a process: start, readiness, reload (whole or not at all), drain, and what it says when it cannot."""

import asyncio
import signal
import socket
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from support.ext_proc import Client, connect, request_headers, response_headers
from support.process import FilterProcess, running_filter

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
SERVING, NOT_SERVING = 1, 2


def quiet(**ours: Any) -> dict[str, Any]:
    """A configuration that checks nothing, and so loads no model."""
    return {"filter": {"server": {"drain_wait": 0.3, "drain_timeout": 5}, **ours}}


async def health(client: Client) -> int:
    stub = health_pb2_grpc.HealthStub(client.channel)
    return int((await stub.Check(health_pb2.HealthCheckRequest(), timeout=20)).status)


async def sha(filter_process: FilterProcess) -> str:
    answer = await filter_process.get("/")
    return str(answer.json()["config_sha256"]) if answer is not None else ""


async def test_serve_reload_and_drain(tmp_path: Path) -> None:
    async with running_filter(tmp_path, quiet()) as running:
        await running.until(running.ready)
        async with connect(running.grpc) as client:
            assert await health(client) == SERVING
            stream = client.open()
            assert await stream.ask(request_headers([(":method", "POST"), (":path", "/x")])) is not None

            first = await sha(running)
            running.file.write_text("filter: {sever: {}}\n")
            running.signal(signal.SIGHUP)
            await running.until(lambda: "reload_rejected" in running.events())
            assert await sha(running) == first and await running.ready()

            changed = quiet()
            changed["filter"]["allow_debug"] = False
            running.write(changed)  # no signal: the changed file is noticed
            await running.until(lambda: "reloaded" in running.events())
            assert await sha(running) != first
            metrics = await running.get("/metrics")
            assert metrics is not None and "vsr_config" in metrics.text

            broken = quiet()
            broken["routing"] = {"signals": {"hallucination": [{"name": "grounded"}]}}
            broken["global"] = {"model_catalog": {"modules": {"hallucination_mitigation": {
                "detector": {"model_id": "/nonexistent/detector"}}}}}  # fmt: skip
            broken["filter"]["fact_check"] = "always"
            before, rejected = await sha(running), running.events().count("reload_rejected")
            running.write(broken)
            running.signal(signal.SIGHUP)
            await running.until(lambda: running.events().count("reload_rejected") > rejected, 200)
            assert await sha(running) == before and await running.ready()

            running.signal(signal.SIGTERM)
            await running.until(lambda: "drain_started" in running.events())
            assert await health(client) == NOT_SERVING
            answer = await running.get("/ready")
            assert answer is not None and answer.status_code == 503
            headers = [(":status", "200"), ("content-type", "application/json")]
            assert await stream.ask(response_headers(headers)) is not None  # in flight: served to its end
            assert await stream.finish() is grpc.StatusCode.OK
        assert running.process is not None
        assert await asyncio.wait_for(running.process.wait(), 60) == 0
        assert running.events()[-1] == "stopped"


async def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    slow = quiet()
    slow["filter"]["server"]["drain_wait"] = 30
    async with running_filter(tmp_path, slow) as running:
        await running.until(running.ready)
        running.signal(signal.SIGINT)
        await running.until(lambda: "drain_started" in running.events())
        running.signal(signal.SIGINT)
        assert running.process is not None
        assert await asyncio.wait_for(running.process.wait(), 60) == 0
        assert "drain_cut_short" in running.events()


@pytest.mark.parametrize("which", ["grpc", "admin"])
async def test_a_port_in_use_is_one_clear_line(tmp_path: Path, which: str) -> None:
    filter_process = FilterProcess(tmp_path, quiet())
    address = filter_process.grpc if which == "grpc" else filter_process.admin
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(address.rpartition(":")[2])))
        taken.listen()
        await filter_process.start()
        assert filter_process.process is not None
        assert await asyncio.wait_for(filter_process.process.wait(), 60) == 1
    last = (tmp_path / "filter.log").read_text().splitlines()[-1]
    assert last.startswith("vsr-hallucination: filter.") and address in last and "Traceback" not in last


async def test_a_bad_configuration_is_exit_2(tmp_path: Path) -> None:
    filter_process = FilterProcess(tmp_path, {"filter": {"nonsense": 1}})
    await filter_process.start()
    assert filter_process.process is not None
    assert await asyncio.wait_for(filter_process.process.wait(), 60) == 2
    assert "nonsense" in (tmp_path / "filter.log").read_text()
