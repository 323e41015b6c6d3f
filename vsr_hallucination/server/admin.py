"""The admin HTTP service: health, readiness, metrics and the replay records. For operators, never for clients.

``/health`` and ``/ready`` are open, so that an orchestrator can ask; everything else needs the token where one is set
or where the address is not loopback. On loopback the ``Host`` header must name loopback too, else a web page could
read the records through a browser on this machine (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vsr_hallucination.config.schema import AdminSettings
from vsr_hallucination.replay.writer import Reader
from vsr_hallucination.server.admin_server import AdminListenError, AdminServer, serve_admin, split_address
from vsr_hallucination.server.replay_api import ReplayApi, error_response
from vsr_hallucination.telemetry import Telemetry

_OPEN_PATHS = ("/health", "/ready")
_SECURITY_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


@dataclass(frozen=True, slots=True)
class Readiness:
    """``ready`` only once every provisioned model has answered a probe; ``missing`` names what has not."""

    ready: bool
    missing: tuple[str, ...] = ()


Info = Mapping[str, str | int | float | bool | None]


class AdminConfigError(ValueError):
    """The admin settings would expose the records. The message says what to set."""


def make_app(
    store_reader: Reader | None,
    telemetry: Telemetry,
    readiness: Callable[[], Readiness],
    settings: AdminSettings,
    info: Callable[[], Info],
) -> ASGIApp:
    """The ASGI application. ``store_reader`` None: replay is switched off, and its paths say so.

    ``info`` is shown to authorised operators at ``/``: version, configuration, addresses; nothing secret.
    """
    host, _ = split_address(settings.listen)
    if not is_loopback(host) and not settings.token:
        raise AdminConfigError(
            f"filter.admin.listen is {settings.listen}, which others can reach; set filter.admin.token, "
            "or listen on 127.0.0.1"
        )

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        state = readiness()
        if state.ready:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not_ready", "missing": list(state.missing)}, status_code=503)

    async def metrics(request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(await asyncio.to_thread(encode, telemetry.registry), media_type=content_type)

    async def index(_: Request) -> Response:
        paths = ("/health", "/ready", "/metrics", "/v1/router_replay", "/v1/router_replay/{id}")
        return JSONResponse({**info(), "paths": paths})

    replay = ReplayApi(store_reader)
    routes = [
        Route("/", index),
        Route("/health", health),
        Route("/ready", ready),
        Route("/metrics", metrics),
        Route("/v1/router_replay", replay.list),
        Route("/v1/router_replay/", replay.list),
        Route("/v1/router_replay/{replay_id}", replay.get),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error, Exception: _broken})
    app.router.redirect_slashes = False  # a redirect would be built from the Host header
    return Guard(app, settings)


class Guard:
    """Asks host, method and token before anything else, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, settings: AdminSettings) -> None:
        host, _ = split_address(settings.listen)
        self._app = app
        self._token = settings.token.encode() if settings.token else None
        self._loopback = is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)

        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_SECURITY_HEADERS]}
            await send(message)

        await (refusal or self._app)(scope, receive, hardened)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = scope["headers"]
        if self._loopback and not _names_loopback([value for name, value in headers if name == b"host"]):
            return error_response(
                403, "the Host header must name this machine's loopback address", "host_not_allowed"
            )
        if scope["method"] not in ("GET", "HEAD"):
            refusal = error_response(405, "only GET and HEAD are served here", "method_not_allowed")
            refusal.headers["allow"] = "GET, HEAD"
            return refusal
        if scope["path"] not in _OPEN_PATHS and self._token is not None and not self._authorised(headers):
            refusal = error_response(401, "send the admin token as 'Authorization: Bearer …'", "unauthorized")
            refusal.headers["www-authenticate"] = 'Bearer realm="vsr-hallucination admin"'
            return refusal
        return None

    def _authorised(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        sent = [value for name, value in headers if name == b"authorization"]
        scheme, _, token = sent[0].partition(b" ") if len(sent) == 1 else (b"", b"", b"")
        same = hmac.compare_digest(token.strip(), self._token or b"")
        return same and scheme.lower() == b"bearer"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _names_loopback(hosts: list[bytes]) -> bool:
    if len(hosts) != 1:
        return False
    host = hosts[0].decode("latin-1").strip()
    bare, _, port = host.rpartition(":")
    if not host.endswith("]") and bare and port.isdigit():
        host = bare
    return is_loopback(host.removeprefix("[").removesuffix("]"))


async def _http_error(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return error_response(status, "there is nothing at this path; / lists the paths", "not_found")


async def _broken(_: Request, __: Exception) -> Response:  # the HTTP server logs it
    return error_response(500, "the request could not be answered; the log says why", "internal_error")


__all__ = [
    "AdminConfigError",
    "AdminListenError",
    "AdminServer",
    "Guard",
    "Info",
    "Readiness",
    "is_loopback",
    "make_app",
    "serve_admin",
]
