"""The admin service on a real socket, over a real writer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import httpx

from vsr_hallucination.config.schema import AdminSettings
from vsr_hallucination.replay.memory import MemoryStore
from vsr_hallucination.replay.record import Record
from vsr_hallucination.replay.store import Store
from vsr_hallucination.replay.writer import Reader, ReplayWriter, WriterSettings
from vsr_hallucination.server.admin import Readiness, make_app, serve_admin
from vsr_hallucination.telemetry import Telemetry

LOOPBACK = AdminSettings(listen="127.0.0.1:0")
WITH_TOKEN = AdminSettings(listen="127.0.0.1:0", token="t0ken-ü")


@contextlib.asynccontextmanager
async def admin(
    reader: Reader | None = None,
    *,
    settings: AdminSettings = LOOPBACK,
    telemetry: Telemetry | None = None,
    readiness: Readiness | None = None,
) -> AsyncIterator[httpx.AsyncClient]:
    app = make_app(
        reader,
        telemetry or Telemetry(),
        lambda: readiness or Readiness(True),
        settings,
        lambda: {"version": "0"},
    )
    server = await serve_admin(app, settings)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False) as client:
        try:
            yield client
        finally:
            await server.aclose()


@contextlib.asynccontextmanager
async def stored(*records: Record, store: Store | None = None) -> AsyncIterator[ReplayWriter]:
    writer = ReplayWriter(store or MemoryStore(), WriterSettings(linger=0.0))
    writer.start()
    for each in records:
        writer.put(each)
    assert await writer.flush(5.0)
    yield writer
    await writer.aclose()
