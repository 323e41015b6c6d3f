"""``demo``: everything on loopback, the tour, and then a set-up to try by hand."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shlex
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import uvicorn

from vsr_hallucination.cli import marks
from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.demo.processes import ChildFailed, Children, choose_ports
from vsr_hallucination.demo.script import INVENTED, Step, steps
from vsr_hallucination.demo.setup import EnvoyMissing, Setup, envoy_command
from vsr_hallucination.demo.shown import step_text
from vsr_hallucination.demo.tour import take
from vsr_hallucination.demo.upstream import PATH, make_app

# Names and what they would be on a machine with nothing else on it.
PORTS = (("envoy", 8801), ("envoy-admin", 9901), ("filter", 50051), ("admin", 9090), ("upstream", 8000))
_BROKEN = tuple((f"broken {name}", 0) for name, _ in PORTS[:4])
_FAILED = 1


def run(args: argparse.Namespace) -> int:
    """0 if every step of the tour showed what it should; 1 if not, or if something did not start."""
    fixed = _fixed_ports(args.ports)
    color = marks.wants_color(sys.stdout) and not args.no_color
    try:
        return asyncio.run(_demo(once=args.once, fixed=fixed, envoy=args.envoy, color=color))
    except (ChildFailed, EnvoyMissing) as error:
        raise Failure(str(error), _FAILED) from error


async def _demo(*, once: bool, fixed: dict[str, int], envoy: str | None, color: bool) -> int:
    command = await envoy_command(envoy)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    ports = choose_ports((*PORTS, *_BROKEN), fixed)
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vsr-demo-")))
        children = await stack.enter_async_context(Children(folder))
        client = await stack.enter_async_context(httpx.AsyncClient(trust_env=False))
        await stack.enter_async_context(_upstream(ports["upstream"], steps()))
        main = Setup("main", children, folder, ports, broken=False)
        there = {name: ports.get(f"broken {name}", port) for name, port in ports.items()}
        broken = Setup("broken", children, folder, there, broken=True)
        work = asyncio.create_task(_tour(main, broken, command, client, children, color))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            return 128 + signal.SIGINT
        code = work.result()
        if once:
            stopping.cancel()
            return code
        print(_by_hand(main, ports), flush=True)
        while not stop.is_set():
            await asyncio.wait({stopping}, timeout=1.0)
            if gone := children.gone():
                raise ChildFailed(f"{gone[0]} ended; its last words:\n{children.tail(gone[0])}")
        print("stopping", flush=True)
        return code


async def _tour(
    main: Setup,
    broken: Setup,
    envoy: tuple[str, ...],
    client: httpx.AsyncClient,
    children: Children,
    color: bool,
) -> int:
    print("starting the filter and Envoy (loading the models takes some seconds) …", flush=True)
    await asyncio.gather(main.start(envoy, client), broken.start(envoy, client))
    wrong: list[str] = []
    for number, step in enumerate(steps(), 1):
        seen = await take(step, (broken if step.broken else main).door, client)
        print(f"\n{step_text(number, step, seen, color=color)}", flush=True)
        wrong += [f"{number}. {step.model}: {complaint}" for complaint in seen.complaints]
    await asyncio.gather(children.end("broken-filter"), children.end("broken-envoy"))
    if wrong:
        print(
            "\n" + "\n".join(["not every step showed what it should:", *(f"  {line}" for line in wrong)]),
            flush=True,
        )
        return _FAILED
    print(f"\nall {len(steps())} steps showed what they should", flush=True)
    return 0


@contextlib.asynccontextmanager
async def _upstream(port: int, script: tuple[Step, ...]) -> AsyncIterator[None]:
    """The scripted upstream, in this process, until the block ends."""
    app = make_app({step.model: step.answer for step in script})
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, log_level="error", access_log=False, timeout_graceful_shutdown=2
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = server.config.lifespan_class(server.config)
    try:
        await server.startup()
    except SystemExit as error:  # uvicorn's way to say that the port is taken
        raise ChildFailed(f"the scripted upstream did not start: port {port} is busy") from error
    serving = asyncio.create_task(server.main_loop())
    try:
        yield
    finally:
        server.should_exit = True
        await serving
        await server.shutdown()


def _by_hand(main: Setup, ports: dict[str, int]) -> str:
    body = {**steps()[1].request(), "metadata": {"answer": INVENTED}}
    curl = f"curl -i {main.door.envoy}{PATH} -H 'content-type: application/json' -H 'x-vsr-debug: true'"
    return (
        f"\nserving until Ctrl-C; try it by hand (metadata.answer is what the scripted upstream will say):\n\n"
        f"  {curl} \\\n    -d {shlex.quote(json.dumps(body, ensure_ascii=False))}\n\n"
        f"audit records   {main.door.admin}/v1/router_replay\n"
        f"metrics         {main.door.admin}/metrics\n"
        f"Envoy's admin   http://127.0.0.1:{ports['envoy-admin']}\n"
        f"configuration   {main.config}"
    )


def _fixed_ports(pairs: list[str]) -> dict[str, int]:
    names = [name for name, _ in PORTS]
    fixed: dict[str, int] = {}
    for pair in pairs:
        name, _, number = pair.partition("=")
        if name not in names or not number.isascii() or not number.isdigit() or not 0 < int(number) < 65536:
            raise Failure(f"--ports {pair}: use NAME=PORT with NAME one of {', '.join(names)}")
        if int(number) in fixed.values():
            raise Failure(f"--ports {pair}: that port is given twice")
        fixed[name] = int(number)
    return fixed
