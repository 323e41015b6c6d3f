"""``make container-test`` where there is no container engine: it says so, and is no failure."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(path: Path) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", str(ROOT / "envoy/container-test.sh"), "/bin/echo"]
    env = {"PATH": str(path)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


def tools(folder: Path, **scripts: str) -> Path:
    for name, text in {"dirname": 'exec /usr/bin/dirname "$@"', **scripts}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return folder


def test_without_an_engine_it_is_skipped_and_says_so(tmp_path: Path) -> None:
    done = run(tools(tmp_path))
    assert done.returncode == 0
    assert "SKIPPED: no running container engine" in done.stdout


def test_an_engine_whose_daemon_is_down_does_not_count(tmp_path: Path) -> None:
    done = run(tools(tmp_path, docker="exit 1"))
    assert done.returncode == 0
    assert "SKIPPED" in done.stdout


def test_with_an_engine_the_tour_gets_the_image_s_envoy(tmp_path: Path) -> None:
    done = run(tools(tmp_path, docker="exit 1", podman="exit 0"))
    assert done.returncode == 0
    assert "SKIPPED" not in done.stdout
    assert "demo --once --envoy podman compose -f" in done.stdout
    assert "-v {config}:/etc/envoy/tour.yaml:ro envoy envoy -c /etc/envoy/tour.yaml" in done.stdout
