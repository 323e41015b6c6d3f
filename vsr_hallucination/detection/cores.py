"""CPU threads of a model call: how many pay here, and how a call is held to its number."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from vsr_hallucination.detection.batching import Floats, Model, Row

CGROUP = Path("/sys/fs/cgroup")


def on_threads(model: Model, threads: int) -> Model:
    """``model`` with ``threads`` CPU threads a call."""
    import torch

    def run(rows: Sequence[Row]) -> Sequence[Floats]:
        # Told anew for each batch: OpenMP's count belongs to the calling thread, but a thread that was told nothing
        # takes the one last told anywhere, and MKL has a single one for the whole process.
        torch.set_num_threads(threads)
        return model(rows)

    return run


@functools.lru_cache(maxsize=1)
def usable_cores() -> int:
    """What torch takes of itself (cores, or ``OMP_NUM_THREADS``), no more than the container's CPU limit. At least 1.

    Asked once, before a call has set another number: torch forgets its own.
    """
    import torch

    return max(1, min(torch.get_num_threads(), cpu_limit(CGROUP) or torch.get_num_threads()))


def cpu_limit(root: Path) -> int | None:
    """Whole CPUs that a control group may use, rounded up (cgroups(7), v2 then v1). None: no limit, or no groups."""
    for quota, period in (("cpu.max", None), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            words = (root / quota).read_text(encoding="ascii").split()
            if period is not None:
                words += (root / period).read_text(encoding="ascii").split()
            allowed, of = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):  # "max": no limit
            continue
        if allowed > 0 and of > 0:
            return -(-allowed // of)
    return None
