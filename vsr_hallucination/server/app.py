"""The filter as a process: starts in order, reloads on SIGHUP or a changed file, drains on SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from vsr_hallucination import __version__, logs
from vsr_hallucination.config.loading import Loaded, load
from vsr_hallucination.config.problems import ConfigError
from vsr_hallucination.config.schema import Config
from vsr_hallucination.detection.types import Checker, Gate
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.replay.opening import open_writer
from vsr_hallucination.replay.store import StoreConfigError
from vsr_hallucination.replay.writer import ReplayWriter
from vsr_hallucination.server.admin import AdminConfigError, Info, Readiness, make_app
from vsr_hallucination.server.admin_server import AdminListenError, AdminServer, serve_admin
from vsr_hallucination.server.config_file import ConfigFile
from vsr_hallucination.server.grpc_server import GrpcServer, ListenError
from vsr_hallucination.server.metering import Records
from vsr_hallucination.server.models import Factory
from vsr_hallucination.server.progress import say
from vsr_hallucination.server.provision import PROBE_AGAIN, ProvisionedRuntime, Provisioner
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.scheduling import ask_for_short_slices
from vsr_hallucination.server.service import Service
from vsr_hallucination.server.work import where
from vsr_hallucination.telemetry import Telemetry

log = logging.getLogger(__name__)

# How long a text thread may keep the interpreter from the event loop (Python's default is 5 ms, for each thread).
SWITCH_EVERY = 0.0002
# Exchanges leave no cycles behind, so the oldest are seldom looked through; but a look must not hold the loop for long.
COLLECT_EVERY = (2_000, 10, 100)
FLUSH_WITHIN = 10.0  # seconds for the replay store to take what waits, at the end


class StartError(RuntimeError):
    """The filter cannot start. The text says why and what to do."""


def run(config_path: str) -> int:
    """Serves until SIGTERM or SIGINT has drained it. 0: as asked; 1: could not start; 2: bad configuration."""
    try:
        run_on_loop(serve(config_path))
    except ConfigError as problem:
        print(problem, file=sys.stderr)
        return 2
    except StartError as problem:
        print(f"vsr-hallucination: {problem}", file=sys.stderr)
        return 1
    leave_if_threads_remain()
    return 0


def leave_if_threads_remain() -> None:
    """Ends the process with 0 if a check has outlived the drain: torch aborts an interpreter that ends around it."""
    if any(thread.daemon and thread.is_alive() for thread in threading.enumerate()):
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def run_on_loop(main: Coroutine[Any, Any, None]) -> None:
    """Runs ``main`` on uvloop, which takes a tenth less CPU an exchange; on asyncio's own loop where there is none."""
    try:
        from uvloop import new_event_loop
    except ImportError:  # Windows
        asyncio.run(main)
        return
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main)


async def serve(config_path: str, factory: Factory | None = None) -> None:
    """As ``run``, inside a running loop. Raises ``ConfigError`` or ``StartError``."""
    loaded = load(config_path)
    logs.configure(loaded.config.filter.log_level)
    sys.setswitchinterval(SWITCH_EVERY)
    ask_for_short_slices()
    log.info("starting: version %s, configuration %s", __version__, config_path)
    _tell_warnings(loaded)
    await App(config_path, loaded.config, factory).serve()


class _Unprovisioned:
    """In force until the models are loaded: whoever asks before then hears ``not_provisioned``."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def gate(self, recipe: str) -> Gate | None:
        return None

    def checker(self, recipe: str) -> Checker | None:
        return None

    async def aclose(self) -> None:
        return None


class App:
    """One filter process."""

    def __init__(self, path: str, config: Config, factory: Factory | None = None) -> None:
        self._path = Path(path)
        self._file = ConfigFile(self._path, config.sha256)
        self._config = config
        self._telemetry = Telemetry()
        self._provisioner = Provisioner(self._telemetry, factory)
        self._slot = RuntimeSlot(_Unprovisioned(config))
        self._runtime: ProvisionedRuntime | None = None
        self._in_force_since = time.monotonic()
        self._stopping = asyncio.Event()
        self._stop_now = asyncio.Event()
        self._reload = asyncio.Event()
        self._addresses: tuple[str, ...] = ()

    async def serve(self) -> None:
        """Starts, serves until asked to stop, drains. Raises ``StartError``."""
        config = self._config
        self._listen_to_signals()
        writer = self._open_writer()
        records = Records(self._telemetry, writer)
        background = config.filter.detection.queue
        service = Service(self._slot, Exchange, records, self._telemetry.note, background=background)
        self._telemetry.watch_open_exchanges(lambda: service.open_exchanges)
        server = GrpcServer(config.filter.server, config.filter.limits, service)
        admin: AdminServer | None = None
        try:
            admin = await self._start_admin(writer)
            self._addresses = await server.start()
            if not await self._first_provision():
                await server.stop()
                return
            await server.set_serving(True)
            listens = ", ".join(self._addresses)
            log.info("serving: version %s on %s, configuration %s", __version__, listens, config.sha256[:12])
            say(f"serving on {listens}{self._admin_words()}; ctrl-c drains and ends it")
            await self._until_stopped()
            await self._end(server)
        except (ListenError, AdminListenError, AdminConfigError) as problem:
            await server.stop()
            raise StartError(str(problem)) from problem
        finally:
            if admin is not None:
                await admin.aclose()
            if writer is not None:
                await writer.aclose(FLUSH_WITHIN)
            await self._slot.aclose()
        log.info("stopped")

    # -- starting --------------------------------------------------------------------------------------------

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked_to_stop)
        loop.add_signal_handler(signal.SIGHUP, self._reload.set)

    def _asked_to_stop(self) -> None:
        if self._stopping.is_set():
            self._stop_now.set()  # asked twice: at once
        self._stopping.set()

    def _open_writer(self) -> ReplayWriter | None:
        if not self._config.replay.enabled:
            return None
        try:
            writer = open_writer(self._config.replay, self._telemetry)
        except StoreConfigError as problem:
            raise StartError(str(problem)) from problem
        writer.start()
        return writer

    async def _start_admin(self, writer: ReplayWriter | None) -> AdminServer | None:
        settings = self._config.filter.admin
        if not settings.enabled:
            return None
        app = make_app(writer, self._telemetry, self._readiness, settings, self._info)
        return await serve_admin(app, settings)

    def _admin_words(self) -> str:
        admin = self._config.filter.admin
        return f", admin on http://{admin.listen}" if admin.enabled else ""

    async def _first_provision(self) -> bool:
        """False: asked to stop before the models were loaded."""
        loading = asyncio.ensure_future(self._provisioner.provision(self._config))
        stopped = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((loading, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not loading.done():
            loading.cancel()
            return False
        self._put_in_force(loading.result())
        # What is loaded by now stays: a full collection would walk all of torch, and hold every stream meanwhile.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECT_EVERY)
        return True

    def _put_in_force(self, runtime: ProvisionedRuntime) -> None:
        self._config, self._runtime = runtime.config, runtime
        self._in_force_since = time.monotonic()
        self._slot.swap(runtime)
        self._telemetry.config_loaded(runtime.config, time.time())
        self._tell_models(runtime)

    def _tell_models(self, runtime: ProvisionedRuntime) -> None:
        for recipe in runtime.config.recipes:
            for kind, loaded in runtime.states(recipe):
                self._telemetry.model_state(recipe.name, kind, loaded=loaded)

    # -- serving ---------------------------------------------------------------------------------------------

    async def _until_stopped(self) -> None:
        tasks = [
            asyncio.create_task(self._reload_when_asked(), name="reload"),
            asyncio.create_task(self._watch_file(), name="watch-config"),
            asyncio.create_task(self._probe_silent(), name="probe"),
        ]
        try:
            await self._stopping.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _reload_when_asked(self) -> None:
        while True:
            await self._reload.wait()
            self._reload.clear()
            try:
                accepted = await self._try_reload()
            except Exception as problem:
                log.error("reload_failed: %s at %s", type(problem).__name__, where(problem))
                accepted = False
            self._telemetry.reloaded(accepted=accepted)

    async def _try_reload(self) -> bool:
        """All or nothing: the old configuration serves on unless the new one is whole."""
        try:
            loaded = await self._file.read()
        except ConfigError as error:
            for problem in error.problems:
                log.error("reload_rejected: %s", problem)
            return False
        if _checks(self._config) and not _checks(loaded.config):
            # As a file cut short does: whoever means it restarts.
            log.error(
                "reload_rejected: %s: nothing would be checked any more (no recipe has a hallucination rule or "
                "plugin); the old configuration serves on; restart the filter if this is meant",
                self._path,
            )
            return False
        _tell_warnings(loaded)
        runtime = await self._provisioner.provision(loaded.config)
        if runtime.failed:
            for missing in runtime.failed:
                log.error("reload_rejected: %s; the old configuration serves on", missing)
            await runtime.aclose()
            return False
        for name in _needs_restart(self._config, loaded.config):
            log.warning("reload_incomplete: %s takes effect with a restart", name)
        gc.unfreeze()  # the models of the old one must be able to go
        before, age = self._config.sha256, time.monotonic() - self._in_force_since
        self._put_in_force(runtime)
        now = loaded.config.sha256
        old = "unchanged" if now == before else f"in place of {before[:12]}, which held for {age:.0f} s"
        log.info("reloaded: configuration %s, %s", now[:12], old)
        return True

    async def _watch_file(self) -> None:
        while True:
            await self._file.changed()
            self._reload.set()

    async def _probe_silent(self) -> None:
        while True:
            await asyncio.sleep(PROBE_AGAIN)
            runtime = self._runtime
            if runtime is not None and runtime.silent and await runtime.probe():
                log.info("models_ready")
                if runtime is self._runtime:
                    self._tell_models(runtime)

    # -- ending ----------------------------------------------------------------------------------------------

    async def _end(self, server: GrpcServer) -> None:
        draining = asyncio.ensure_future(server.drain())
        hurried = asyncio.ensure_future(self._stop_now.wait())
        await asyncio.wait((draining, hurried), return_when=asyncio.FIRST_COMPLETED)
        hurried.cancel()
        if not draining.done():
            log.warning("drain_cut_short: asked to stop a second time")
            draining.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await draining
            await server.stop()

    # -- what the admin service tells ------------------------------------------------------------------------

    def _readiness(self) -> Readiness:
        if self._stopping.is_set():
            return Readiness(False, ("the filter is draining",))
        runtime = self._runtime
        if runtime is None:
            return Readiness(False, ("models are being loaded",))
        missing = tuple(str(model) for model in runtime.missing)
        return Readiness(not missing, missing)

    def _info(self) -> Info:
        return {
            "version": __version__,
            "config": str(self._path),
            "config_sha256": self._config.sha256,
            "recipes": ", ".join(recipe.name for recipe in self._config.recipes),
            "listen": ", ".join(self._addresses),
        }


def _checks(config: Config) -> bool:
    return any(recipe.needs_models for recipe in config.recipes)


def _needs_restart(old: Config, new: Config) -> list[str]:
    """Settings that differ but are bound to what was made at the start."""
    found = []
    if old.filter.server != new.filter.server:
        found.append("filter.server")
    if old.filter.admin != new.filter.admin:
        found.append("filter.admin")
    if new.filter.limits.edge > old.filter.limits.edge:  # gRPC's own limits were made for the old one
        found.append("filter.limits.check")
    if old.filter.log_level != new.filter.log_level:
        found.append("filter.log_level")
    if old.replay != new.replay:
        found.append("replay")
    return found


def _tell_warnings(loaded: Loaded) -> None:
    for problem in loaded.warnings:
        log.warning("config_warning: %s", problem)
