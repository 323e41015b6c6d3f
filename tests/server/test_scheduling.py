"""The event loop's slice: asked for by its thread alone, and nothing else of an operator's settings changed."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import textwrap

import pytest

LINUX = sys.platform.startswith("linux") and platform.machine() in ("x86_64", "aarch64")


def run(code: str, nice: int = 0) -> list[str]:
    """What ``code`` prints, in a process of its own: what it asks for cannot be taken back."""
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.nice(nice) and None,
    )
    return out.stdout.split()


@pytest.mark.skipif(not LINUX, reason="the call is Linux's")
def test_niceness_and_policy_stay_and_new_threads_start_afresh() -> None:
    said = run(
        """
        import os, threading
        from vsr_hallucination.server.scheduling import ask_for_short_slices
        print(ask_for_short_slices(), os.nice(0), os.sched_getscheduler(0) & os.SCHED_RESET_ON_FORK != 0)
        thread = threading.Thread(target=lambda: print(os.sched_getscheduler(0), os.nice(0)))
        thread.start()
        thread.join()
        """,
        nice=3,
    )
    nice = str(os.nice(0) + 3)
    assert said == ["True", nice, "True", str(os.SCHED_OTHER), nice]


@pytest.mark.skipif(not LINUX, reason="the call is Linux's")
def test_a_thread_of_another_policy_is_left_alone() -> None:
    said = run(
        """
        import os
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        from vsr_hallucination.server.scheduling import ask_for_short_slices
        print(ask_for_short_slices(), os.sched_getscheduler(0) == os.SCHED_IDLE)
        """
    )
    assert said == ["False", "True"]


def test_elsewhere_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from vsr_hallucination.server.scheduling import ask_for_short_slices

    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not ask_for_short_slices()
