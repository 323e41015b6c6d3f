"""Nothing of the demo outlives it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vsr_hallucination.demo.processes import ChildFailed, Children, choose_ports, listening

SLEEPER = "import time; time.sleep(60)"


def alive(pid: int) -> bool:
    """A zombie is not alive: it waits for whoever adopted it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def no() -> bool:
    return False


async def test_all_children_end_with_the_block(tmp_path: Path) -> None:
    async with Children(tmp_path) as children:
        await children.start("one", sys.executable, "-c", SLEEPER)
        await children.start("two", sys.executable, "-c", SLEEPER)
        pids = [children.pid("one"), children.pid("two")]
        assert all(alive(pid) for pid in pids)
    assert not any(alive(pid) for pid in pids)


async def test_a_grandchild_ends_too(tmp_path: Path) -> None:
    parent = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(60)"
    )
    async with Children(tmp_path) as children:
        await children.start("parent", sys.executable, "-c", parent)
        while not (text := children.log("parent").read_text().strip()):
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.1)
    assert not alive(int(text))


async def test_a_child_that_ends_early_is_quoted(tmp_path: Path) -> None:
    async with Children(tmp_path) as children:
        await children.start("filter", sys.executable, "-c", "print('no such model'); raise SystemExit(3)")
        with pytest.raises(ChildFailed, match=r"(?s)filter ended with status 3.*no such model"):
            await children.ready("filter", no, 20.0)


async def test_a_child_that_never_gets_ready_is_named(tmp_path: Path) -> None:
    async with Children(tmp_path) as children:
        await children.start("filter", sys.executable, "-c", SLEEPER)
        with pytest.raises(ChildFailed, match="filter was not ready after 0 s"):
            await children.ready("filter", no, 0.2)


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with Children(tmp_path) as children:
        with pytest.raises(ChildFailed, match="envoy did not start: /nonexistent/envoy: No such file"):
            await children.start("envoy", "/nonexistent/envoy")


def test_children_end_when_we_are_killed(tmp_path: Path) -> None:
    code = (
        "import asyncio, pathlib, sys\n"
        "from vsr_hallucination.demo.processes import Children\n"
        "async def main():\n"
        f"    async with Children(pathlib.Path({str(tmp_path)!r})) as children:\n"
        f"        await children.start('child', sys.executable, '-c', {SLEEPER!r})\n"
        "        print(children.pid('child'), flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    ours = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert ours.stdout is not None
    child = int(ours.stdout.readline())
    os.kill(ours.pid, signal.SIGKILL)
    ours.wait(10)
    end = time.monotonic() + 10
    while alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(child)


def test_a_busy_port_is_replaced_by_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        chosen = choose_ports((("envoy", port), ("admin", port), ("other", 0)), {})
    assert port not in chosen.values()
    assert len(set(chosen.values())) == 3
    assert all(chosen.values())


def test_a_fixed_port_is_kept() -> None:
    assert choose_ports((("envoy", 0), ("admin", 0)), {"envoy": 18123})["envoy"] == 18123


async def test_listening_tells_an_open_port_from_a_closed_one() -> None:
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert await listening(port)
    server.close()
    await server.wait_closed()
    assert not await listening(port)
