"""The process ends as asked, whatever still runs in it."""

import subprocess
import sys

SCRIPT = """
import threading
import torch
from vsr_hallucination.server.app import leave_if_threads_remain

started = threading.Event()

def check():
    a = torch.ones(400, 400)
    started.set()
    while True:
        a = (a @ a).clamp(0, 1)

if {busy}:
    threading.Thread(target=check, daemon=True).start()
    started.wait(10)
print("flushed", end="")
leave_if_threads_remain()
print(", returned", end="")
"""


def test_a_check_that_outlives_the_drain_is_no_crash() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT.format(busy=True)], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "flushed")


def test_without_one_the_interpreter_ends_as_usual() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(busy=False)], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (0, "flushed, returned")
