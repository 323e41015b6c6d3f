"""Addresses, TLS, limits, health and drain of the gRPC server."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from support.ext_proc import Client, connect, request_headers, response_body
from support.scripted import Collected, RuntimeOf, ScriptedExchange
from support.tls import certificates
from vsr_hallucination.config.schema import Config, Limits, ServerSettings, TlsSettings
from vsr_hallucination.orders import Send
from vsr_hallucination.server.grpc_server import HEADROOM, GrpcServer, ListenError
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import SERVICE, Service
from vsr_hallucination.wire.messages import Continue, Phase

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
SERVING, NOT_SERVING = 1, 2
LIMITS = Limits(check=256 << 10)


def server_for(settings: ServerSettings) -> GrpcServer:
    out = Collected()

    def new(config: Config, *, id: str, metadata: object) -> ScriptedExchange:
        return ScriptedExchange(on_receive=lambda m: (Send(Continue(Phase.REQUEST_HEADERS)),))

    return GrpcServer(settings, LIMITS, Service(RuntimeSlot(RuntimeOf(Config())), new, out, out.note))


@asynccontextmanager
async def running(settings: ServerSettings) -> AsyncIterator[GrpcServer]:
    server = server_for(settings)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


async def health(client: Client, service: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(client.channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=3)
    return int(answer.status)


async def test_several_addresses_tcp_and_unix(tmp_path: Path) -> None:
    settings = ServerSettings(listen=("127.0.0.1:0", "127.0.0.1:0", f"unix:{tmp_path}/s.sock"))
    async with running(settings) as server:
        assert len(set(server.addresses)) == 3
        for address in server.addresses:
            async with connect(address) as client:
                assert await client.open().ask(request_headers()) is not None


async def test_a_socket_left_by_a_crash_is_taken_over(tmp_path: Path) -> None:
    import socket

    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "s.sock"))
    left.close()
    settings = ServerSettings(listen=(f"unix:{tmp_path}/s.sock",))
    async with running(settings) as server, connect(server.addresses[0]) as client:
        assert await client.open().ask(request_headers()) is not None


async def test_an_address_in_use_is_named() -> None:
    async with running(ServerSettings(listen=("127.0.0.1:0",))) as server:
        second = server_for(ServerSettings(listen=server.addresses))
        with pytest.raises(ListenError, match=rf"{server.addresses[0]}; is it in use\?"):
            await second.start()
        await second.stop()


async def test_a_socket_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    server = server_for(ServerSettings(listen=(f"unix:{tmp_path}/no/s.sock",)))
    with pytest.raises(ListenError, match="check that its folder exists"):
        await server.start()
    await server.stop()


async def test_health_follows_readiness() -> None:
    async with running(ServerSettings(listen=("127.0.0.1:0",))) as server, connect(server.addresses[0]) as client:
        assert await health(client) == await health(client, SERVICE) == NOT_SERVING
        await server.set_serving(True)
        assert await health(client) == await health(client, SERVICE) == SERVING
        with pytest.raises(grpc.aio.AioRpcError) as unknown:
            await health(client, "other")
        assert unknown.value.code() is grpc.StatusCode.NOT_FOUND


async def test_drain_says_so_waits_then_finishes_what_is_open() -> None:
    server = server_for(ServerSettings(listen=("127.0.0.1:0",), drain_wait=0.3, drain_timeout=5.0))
    (address,) = await server.start()
    await server.set_serving(True)
    async with connect(address) as client:
        stream = client.open()
        assert await stream.ask(request_headers()) is not None
        begun, drained = time.monotonic(), asyncio.ensure_future(server.drain())
        await asyncio.sleep(0.1)
        assert await health(client) == NOT_SERVING
        late = client.open()  # Envoy has not noticed yet: still served
        assert await late.ask(request_headers()) is not None
        await late.finish()
        await asyncio.sleep(0.4)
        assert not drained.done()  # the open stream is waited for
        assert await stream.ask(response_body(b"x")) is not None
        assert await stream.finish() is grpc.StatusCode.OK
        await asyncio.wait_for(drained, 3)
        assert 0.3 < time.monotonic() - begun < 3
    with pytest.raises(grpc.aio.AioRpcError):
        async with connect(address) as client:
            await client.open().ask(request_headers())


async def test_drain_gives_up_after_its_time() -> None:
    server = server_for(ServerSettings(listen=("127.0.0.1:0",), drain_wait=0.0, drain_timeout=0.2))
    (address,) = await server.start()
    async with connect(address) as client:
        stream = client.open()
        assert await stream.ask(request_headers()) is not None
        await asyncio.wait_for(server.drain(), 2)


async def test_c4_message_limits_follow_the_edge() -> None:
    async with running(ServerSettings(listen=("127.0.0.1:0",))) as server, connect(server.addresses[0]) as client:
        fits = client.open()
        assert await fits.ask(response_body(b"x" * LIMITS.edge)) is not None
        over = client.open()
        await over.send(response_body(b"x" * (LIMITS.edge + HEADROOM + 1)))
        assert await over.call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await client.open().ask(request_headers()) is not None


@pytest.fixture(scope="module")
def tls_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("mutual", [False, True])
async def test_tls(tls_files: Path, mutual: bool) -> None:
    tls = TlsSettings(
        certificate=str(tls_files / "server.pem"),
        key=str(tls_files / "server.key"),
        client_ca=str(tls_files / "ca.pem") if mutual else None,
    )
    ca = (tls_files / "ca.pem").read_bytes()
    anonymous = grpc.ssl_channel_credentials(ca)
    known = grpc.ssl_channel_credentials(
        ca, (tls_files / "client.key").read_bytes(), (tls_files / "client.pem").read_bytes()
    )
    async with running(ServerSettings(listen=("127.0.0.1:0",), tls=tls)) as server:
        async with connect(server.addresses[0], known) as client:
            assert await client.open().ask(request_headers()) is not None
        if mutual:
            async with connect(server.addresses[0], anonymous) as client:
                with pytest.raises(grpc.aio.AioRpcError):
                    await client.open().ask(request_headers())


@pytest.mark.parametrize(("content", "words"), [(None, "cannot read"), (b"hello", "is not a PEM file")])
async def test_bad_tls_files_are_named(tmp_path: Path, content: bytes | None, words: str) -> None:
    key = tmp_path / "server.key"
    if content is not None:
        key.write_bytes(content)
    tls = TlsSettings(certificate=str(key), key=str(key))
    server = server_for(ServerSettings(listen=("127.0.0.1:0",), tls=tls))
    with pytest.raises(ListenError, match=rf"filter\.server\.tls\.key: .*{words}"):
        await server.start()
    await server.stop()
