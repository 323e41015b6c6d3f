"""One real set-up for all end-to-end tests: Envoy, the filter with its embedded models, the scripted upstream."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from vsr_hallucination.demo.processes import choose_ports

START_WAIT = 240.0
LAST_LINE = "configuration   "


@dataclass(frozen=True)
class Demo:
    """A running ``vsr-hallucination demo``: where clients and operators reach it, and what its tour printed."""

    envoy: str
    admin: str
    tour: str
    process: subprocess.Popen[str]

    def record(self, replay_id: str) -> dict[str, Any]:
        """The audit record, once it is complete."""
        end = time.monotonic() + 30
        while True:
            with urllib.request.urlopen(
                f"{self.admin}/v1/router_replay/{replay_id}?showDetails=true"
            ) as response:
                record: dict[str, Any] = json.load(response)
            if record["lifecycle"] != "in_progress":
                return record
            assert time.monotonic() < end, record
            time.sleep(0.05)


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    ports = choose_ports((("envoy", 0), ("admin", 0)), {})
    fixed = [f"{name}={port}" for name, port in ports.items()]
    process = subprocess.Popen(
        [sys.executable, "-m", "vsr_hallucination", "demo", "--ports", *fixed],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watchdog = threading.Timer(START_WAIT, process.kill)
    watchdog.start()
    lines: list[str] = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line)
            if line.startswith(LAST_LINE):
                break
        tour = "".join(lines)
        assert LAST_LINE in tour, f"the demo did not come up:\n{tour}"
        watchdog.cancel()
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield Demo(f"http://127.0.0.1:{ports['envoy']}", f"http://127.0.0.1:{ports['admin']}", tour, process)
    finally:
        watchdog.cancel()
        process.send_signal(signal.SIGINT)
        process.wait(30)
