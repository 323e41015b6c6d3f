"""A UNIX socket that another filter serves on: as with a port, the second one must say so instead of taking it over."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.driving import policy
from support.ext_proc import Client, request_headers
from support.scripted import Collected, ModelOf, RuntimeOf
from vsr_hallucination.config.schema import ServerSettings
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.server.grpc_server import GrpcServer, ListenError
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import Service

pytestmark = pytest.mark.asyncio(loop_scope="session")


def server(address: str) -> GrpcServer:
    config, out = policy(), Collected()
    service = Service(RuntimeSlot(RuntimeOf(config, ModelOf(), ModelOf())), Exchange, out, out.note)
    return GrpcServer(ServerSettings(listen=(address,)), config.filter.limits, service)


async def test_a_second_filter_does_not_take_the_socket_over(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/filter.sock"
    first, second = server(address), server(address)
    await first.start()
    try:
        with pytest.raises(ListenError):
            await second.start()
    finally:
        await second.stop()
        await first.stop()


async def test_the_end_of_the_first_does_not_cut_off_the_second(tmp_path: Path) -> None:
    """A restart that overlaps: where the second may start, the first must not remove its socket."""
    address = f"unix:{tmp_path}/filter.sock"
    first, second = server(address), server(address)
    await first.start()
    try:
        await second.start()
    except ListenError:
        await first.stop()
        return
    await first.stop()
    try:
        stream = Client(address).open()
        assert await stream.ask(request_headers([(":method", "GET"), (":path", "/")]), timeout=5) is not None
    finally:
        await second.stop()
