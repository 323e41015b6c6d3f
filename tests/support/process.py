"""The filter as ``serve`` runs it: a process of its own, with its configuration file, admin service and log."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from support.envoy import free_port

ROOT = Path(__file__).resolve().parents[2]


class FilterProcess:
    """A running ``vsr-hallucination serve``."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        self.folder = folder
        self.file = folder / "config.yaml"
        self.grpc = f"127.0.0.1:{free_port()}"
        self.admin = f"127.0.0.1:{free_port()}"
        self.process: asyncio.subprocess.Process | None = None
        self.write(config)

    def write(self, config: dict[str, Any]) -> None:
        """Puts a configuration in place, on this process's ports."""
        ours = config.setdefault("filter", {})
        ours.setdefault("server", {})["listen"] = [self.grpc]
        ours.setdefault("admin", {})["listen"] = self.admin
        self.file.write_text(yaml.safe_dump({"version": "v0.3", **config}, sort_keys=False), "utf-8")

    async def start(self) -> None:
        with (self.folder / "filter.log").open("wb") as err:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "vsr_hallucination", "serve", "--config", str(self.file),
                stderr=err, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            )  # fmt: skip

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def log(self) -> list[dict[str, Any]]:
        """The log's lines; each must be JSON."""
        lines = (self.folder / "filter.log").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def events(self) -> list[str]:
        return [line["event"] for line in self.log()]

    async def get(self, path: str) -> httpx.Response | None:
        try:
            async with httpx.AsyncClient() as client:
                return await client.get(f"http://{self.admin}{path}", timeout=2)
        except httpx.HTTPError:
            return None

    async def until(self, condition: Callable[[], Any], seconds: float = 60.0) -> None:
        """Until ``condition`` (a plain or a coroutine function) is true; fails with the log if it ends before."""
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if await found if asyncio.iscoroutine(found) else found:
                return
            text = (self.folder / "filter.log").read_text("utf-8", "replace")
            assert time.monotonic() < end, f"did not happen in {seconds} s:\n{text[-3000:]}"
            assert self.process is None or self.process.returncode is None, f"the filter ended:\n{text[-3000:]}"
            await asyncio.sleep(0.05)

    async def ready(self) -> bool:
        answer = await self.get("/ready")
        return answer is not None and answer.status_code == 200

    async def stop(self) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.kill()
        return await self.process.wait()


@asynccontextmanager
async def running_filter(folder: Path, config: dict[str, Any]) -> AsyncIterator[FilterProcess]:
    filter_process = FilterProcess(folder, config)
    await filter_process.start()
    try:
        yield filter_process
    finally:
        await filter_process.stop()
