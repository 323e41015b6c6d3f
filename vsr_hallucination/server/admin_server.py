"""Serves the admin application inside the running event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from vsr_hallucination.config.schema import AdminSettings


class AdminListenError(OSError):
    """The admin address cannot be served. The text says which, why, and what to do."""


class _Server(uvicorn.Server):
    """Leaves signals alone: the process that runs this loop decides when to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class AdminServer:
    """A running admin service; ``aclose`` ends it."""

    def __init__(self, server: uvicorn.Server, task: asyncio.Task[None], address: tuple[str, int]) -> None:
        self._server = server
        self._task = task
        self.host, self.port = address

    async def aclose(self) -> None:
        """Stop accepting, let answers in flight finish for a moment, close."""
        self._server.should_exit = True
        await asyncio.gather(self._task, return_exceptions=True)


async def serve_admin(app: ASGIApp, settings: AdminSettings) -> AdminServer:
    """Bind ``settings.listen`` and serve; returns once connections are accepted. Port 0 picks a free one."""
    host, port = split_address(settings.listen)
    listener = _bind(host, port, settings.listen)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        loop="none",
        log_config=None,  # the process's logging stands
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=16 << 10,
    )
    server = _Server(config)
    task = asyncio.get_running_loop().create_task(server.serve(sockets=[listener]), name="admin-http")
    while not server.started:
        if task.done():
            listener.close()
            await task
            raise AdminListenError(
                f"filter.admin.listen: the server on {settings.listen} ended before it began"
            )
        await asyncio.sleep(0.005)
    bound = listener.getsockname()
    return AdminServer(server, task, (bound[0], bound[1]))


def split_address(listen: str) -> tuple[str, int]:
    """Host and port of ``host:port`` or ``[v6]:port``; ValueError names the address."""
    host, _, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{listen!r} is no address; write host:port, for example 127.0.0.1:9090")
    return host, int(port)


def _bind(host: str, port: int, listen: str) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise AdminListenError(
            f"filter.admin.listen: {listen} cannot be resolved: {error.strerror}"
        ) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise AdminListenError(
            f"filter.admin.listen: cannot listen on {listen}: {error.strerror}; stop what uses it, or choose another "
            "address"
        ) from error
    return listener
