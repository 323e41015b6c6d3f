"""The admin service as an operator meets it: over HTTP, on a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from dataclasses import replace

import httpx
import pytest

from support.admin import LOOPBACK, WITH_TOKEN, admin, stored
from support.records import record
from vsr_hallucination.config.schema import AdminSettings
from vsr_hallucination.server.admin import (
    AdminConfigError,
    AdminListenError,
    Readiness,
    make_app,
    serve_admin,
)
from vsr_hallucination.telemetry import Telemetry

# -- health, readiness, metrics ----------------------------------------------------------------------------------


async def test_health_says_alive_and_ready_says_what_is_missing() -> None:
    async with admin(readiness=Readiness(False, ("recipe default: detector",))) as client:
        assert (await client.get("/health")).json() == {"status": "ok"}
        ready = await client.get("/ready")
        assert ready.status_code == 503
        assert ready.json() == {"status": "not_ready", "missing": ["recipe default: detector"]}
    async with admin() as client:
        assert (await client.get("/ready")).status_code == 200


async def test_metrics_are_scrapable() -> None:
    telemetry = Telemetry()
    telemetry.recorded(record())
    async with admin(telemetry=telemetry) as client:
        plain = await client.get("/metrics")
        assert plain.headers["content-type"].startswith("text/plain")
        assert (
            'llm_signal_match_total{signal_name="ungrounded_claims",signal_type="hallucination"} 1.0'
            in plain.text
        )
        modern = await client.get(
            "/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"}
        )
        assert modern.headers["content-type"].startswith("application/openmetrics-text")
        assert modern.text.endswith("# EOF\n")


async def test_the_index_lists_the_paths() -> None:
    async with admin() as client:
        body = (await client.get("/")).json()
        assert body["version"] == "0" and "/v1/router_replay" in body["paths"]


# -- who may ask -------------------------------------------------------------------------------------------------


async def test_the_token_guards_all_but_health() -> None:
    async with stored(record()) as reader, admin(reader, settings=WITH_TOKEN) as client:
        for path in ("/health", "/ready"):
            assert (await client.get(path)).status_code == 200
        for path in (
            "/",
            "/metrics",
            "/v1/router_replay",
            "/v1/router_replay/r1",
            "/nothing",
            "//health",
            "/health/",
        ):
            answer = await client.get(path)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert "479" not in answer.text
        good = {"authorization": "Bearer t0ken-ü".encode()}
        assert (await client.get("/v1/router_replay", headers=good)).status_code == 200
        assert (
            await client.get("/metrics", headers={"authorization": "bearer t0ken-ü".encode()})
        ).status_code == 200


async def test_near_misses_of_the_token() -> None:
    async with admin(settings=WITH_TOKEN) as client:
        for value in (
            "",
            "Bearer",
            "Bearer t0ken",
            "Basic t0ken-ü",
            "t0ken-ü",
            "Bearer x t0ken-ü",
            "Bearer\tt0ken-ü",
        ):
            answer = await client.get("/metrics", headers={"authorization": value.encode()})
            assert answer.status_code == 401, value


async def test_two_authorization_headers_are_none() -> None:
    async with admin(settings=WITH_TOKEN) as client:
        twice = [(b"authorization", "Bearer t0ken-ü".encode()), (b"authorization", b"Bearer x")]
        assert (await client.get("/metrics", headers=twice)).status_code == 401


@pytest.mark.parametrize("listen", ["0.0.0.0:9090", "[::]:9090", "10.0.0.5:9090", "admin.example:9090"])
def test_an_open_address_needs_a_token(listen: str) -> None:
    settings = AdminSettings(listen=listen)
    with pytest.raises(AdminConfigError, match=r"set filter\.admin\.token"):
        make_app(None, Telemetry(), lambda: Readiness(True), settings, dict)
    make_app(None, Telemetry(), lambda: Readiness(True), replace(settings, token="x"), dict)


async def test_dns_rebinding_is_refused_on_loopback() -> None:
    async with stored(record()) as reader, admin(reader) as client:
        for host in (
            "evil.example",
            "evil.example:9090",
            "127.0.0.1.evil.example",
            "192.168.1.9",
            "",
            "127.0.0.1:x",
        ):
            for path in ("/v1/router_replay", "/health"):
                answer = await client.get(path, headers={"host": host})
                assert answer.status_code == 403, host
                assert answer.json()["error"]["code"] == "host_not_allowed"


async def test_loopback_names_are_served() -> None:
    async with admin() as client:
        for host in ("localhost", "localhost:9090", "127.0.0.1:1", "127.0.0.1", "[::1]:9090", "[::1]"):
            assert (await client.get("/health", headers={"host": host})).status_code == 200, host


async def test_an_open_address_serves_any_host_that_knows_the_token() -> None:
    settings = AdminSettings(listen="0.0.0.0:0", token="x")
    async with admin(settings=settings) as client:
        headers = {"host": "filter.prod.example", "authorization": "Bearer x"}
        assert (await client.get("/metrics", headers=headers)).status_code == 200


async def test_nothing_is_changed_here() -> None:
    async with stored(record()) as reader, admin(reader) as client:
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            for path in ("/v1/router_replay", "/v1/router_replay/r1", "/health", "/nothing"):
                answer = await client.request(method, path, headers={"origin": "https://evil.example"})
                assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD"
                assert not any(name.startswith("access-control") for name in answer.headers)


async def test_head_answers_like_get_without_a_body() -> None:
    async with stored(record()) as reader, admin(reader) as client:
        for path in ("/health", "/ready", "/metrics", "/v1/router_replay", "/v1/router_replay/r1"):
            answer = await client.head(path)
            assert answer.status_code == 200 and answer.content == b""


async def test_every_answer_carries_the_security_headers() -> None:
    async with admin() as client:
        for path in ("/health", "/nothing", "/v1/router_replay?limit=0"):
            headers = (await client.get(path, headers={"origin": "https://evil.example"})).headers
            assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
            assert (
                headers["x-frame-options"] == "DENY"
                and "default-src 'none'" in headers["content-security-policy"]
            )
            assert "server" not in headers and "access-control-allow-origin" not in headers


# -- the server --------------------------------------------------------------------------------------------------


async def test_a_taken_port_says_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = AdminSettings(listen=f"127.0.0.1:{taken.getsockname()[1]}")
        app = make_app(None, Telemetry(), lambda: Readiness(True), settings, dict)
        with pytest.raises(AdminListenError, match="choose another address"):
            await serve_admin(app, settings)


@pytest.mark.parametrize("listen", ["nonsense", ":9090", "h:port", "h:70000"])
async def test_an_unreadable_address_says_how_to_write_one(listen: str) -> None:
    with pytest.raises(ValueError, match="write host:port"):
        make_app(None, Telemetry(), lambda: Readiness(True), AdminSettings(listen=listen), dict)


async def test_signals_stay_with_the_process() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with admin() as client:
        await client.get("/health")
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


async def test_a_closed_server_is_gone_and_its_port_free() -> None:
    app = make_app(None, Telemetry(), lambda: Readiness(True), LOOPBACK, dict)
    server = await serve_admin(app, LOOPBACK)
    await server.aclose()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", server.port)


async def test_rubbish_on_the_socket_harms_nobody() -> None:
    app = make_app(None, Telemetry(), lambda: Readiness(True), LOOPBACK, dict)
    server = await serve_admin(app, LOOPBACK)
    for rubbish in (
        b"\x00" * 100 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"a" * 100_000 + b"\r\n\r\n",
        b"\x16\x03\x01",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(rubbish)
        writer.write_eof()
        with contextlib.suppress(ConnectionError):
            answer = await asyncio.wait_for(reader.read(), 5)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
        writer.close()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False) as client:
        assert (await client.get("/health")).status_code == 200
    await server.aclose()
