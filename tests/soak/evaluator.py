"""Soak run of the evaluator: 10,000 items at three thresholds, 64 at once, against the scripted server.

Not part of the test run (it takes minutes): ``PYTHONPATH=tests python tests/soak/evaluator.py``. Fails unless memory
stays flat, no window of a minute holds more requests than the limit, none is repeated, and the run ends within 1.1
times what the limit allows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from pathlib import Path

import psutil

from support.model_server import IDK, Answer, Asked, csv_of, running_models, says

THRESHOLDS = ("0.5", "0.75", "0.9")


def script(asked: Asked) -> Answer:
    number = int(asked.question.split()[1].rstrip("?"))
    return IDK if number % 5 == 0 else says("yes" if number % 3 else "no")


def sampled(process: subprocess.Popen[bytes], every: float) -> list[tuple[float, float]]:
    """(seconds, MiB) of resident memory until the process ends."""
    found: list[tuple[float, float]] = []
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            found.append((time.monotonic(), watched.memory_info().rss / 2**20))
        except psutil.Error:
            break
        time.sleep(every)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rpm-limit", type=int, default=6_000)
    parser.add_argument("--concurrency", type=int, default=64)
    args = parser.parse_args()
    rows = [(f"i{n}", f"Item {n}?", "yes", 0) for n in range(args.items)]
    total = args.items * len(THRESHOLDS)
    with tempfile.TemporaryDirectory() as folder, running_models(script) as server:
        data, out = Path(folder) / "data.csv", Path(folder) / "out"
        data.write_text(csv_of(rows), "utf-8")
        words = ["eval", "model", "--data", str(data), "--base-url", server.url, "--model", "m", "--out", str(out)]
        words += ["--concurrency", str(args.concurrency), "--rpm-limit", str(args.rpm_limit), "--progress"]
        begun = time.monotonic()
        process = subprocess.Popen([sys.executable, "-m", "vsr_hallucination", *words, "--thresholds", *THRESHOLDS])
        memory: list[tuple[float, float]] = []
        watcher = threading.Thread(target=lambda: memory.extend(sampled(process, 0.5)))
        watcher.start()
        code = process.wait()
        watcher.join()
        took = time.monotonic() - begun
        arrivals = sorted(asked.at for asked in server.asked)
        repeated = total - len(set(server.questions()))
    first = arrivals[0]
    span = arrivals[-1] - first
    allowed = total / args.rpm_limit * 60.0
    busiest = max(bisect_left(arrivals, at + 60.0) - n for n, at in enumerate(arrivals))
    quarter = [mib for at, mib in memory if first + span * 0.2 <= at <= first + span * 0.3]
    end = [mib for at, mib in memory if first + span * 0.9 <= at <= first + span]
    growth = max(end, default=0.0) - max(quarter, default=0.0)
    peak = max((mib for _, mib in memory), default=0.0)
    print(
        f"{len(arrivals)} requests in {span:.1f} s (whole command {took:.1f} s), the limit allows {allowed:.0f} s; "
        f"busiest minute {busiest} of {args.rpm_limit}; most at once {server.most_at_once}; memory "
        f"{growth:+.1f} MiB from a quarter of the run to its end, peak {peak:.0f} MiB; exit {code}"
    )
    checks = {
        "exit code 0": code == 0,
        "every request once": len(arrivals) == total and repeated == 0,
        "no minute over the limit": busiest <= args.rpm_limit,
        "no more at once than asked": server.most_at_once <= args.concurrency,
        "memory flat (8 MiB)": growth < 8.0,
        "within 1.1 of the limit": span <= 1.1 * allowed,
    }
    for name, good in checks.items():
        print(f"{'ok  ' if good else 'FAIL'} {name}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
