"""Fewer bits where the CPU is faster with them: bfloat16 weights, halving their memory, else float32 as stored.

Whether it pays is measured once a process, on a matrix product of an encoder's size, the two taking turns; a processor
without the instructions (AVX-512 BF16, AMX, Arm BF16) emulates them and loses. A model keeps float32 where narrowing
moves its probabilities on a small input by more than ``TOLERANCE``, or fails. 8-bit products were tried too (dynamic,
weights by channel): faster still, but 5 % of answers changed their state; with bfloat16 none did.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from vsr_hallucination.detection.batching import Floats

PAYS = 1.2  # times as fast
TOLERANCE = 0.05
SHORT = 512  # tokens: up to here attention as plain products beats the fused kernel in bfloat16, in little memory
_ROUNDS = 9
_ROWS, _WIDTH, _WIDER = 256, 384, 1536


@functools.lru_cache(maxsize=1)
def bfloat16_pays() -> bool:
    """Whether this CPU multiplies matrices in bfloat16 clearly faster than in float32; some tens of milliseconds."""
    import torch

    left, right = torch.ones(_ROWS, _WIDTH), torch.ones(_WIDTH, _WIDER)
    pairs = {torch.float32: (left, right), torch.bfloat16: (left.bfloat16(), right.bfloat16())}
    spent: dict[torch.dtype, list[float]] = {kind: [] for kind in pairs}
    threads = torch.get_num_threads()
    # Time on one core is counted, not time that passes: a busy machine must not decide.
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            for _ in range(_ROUNDS):
                for kind, (a, b) in pairs.items():
                    began = time.thread_time()
                    torch.mm(a, b)
                    spent[kind].append(time.thread_time() - began)
    finally:
        torch.set_num_threads(threads)
    wide, narrow = (statistics.median(spent[kind]) for kind in pairs)
    return wide >= PAYS * narrow


def narrow(network: Any, run: Callable[[], list[Floats]], max_length: int) -> bool:
    """Turns ``network`` to bfloat16 in place. False: it did not stand that, and must be loaded anew.

    ``run`` gives its probabilities on a small input, whatever it has been turned to.
    """
    import torch

    before = run()
    try:
        network.to(torch.bfloat16)
        if max_length <= SHORT:
            network.set_attn_implementation("eager")
        after = run()
    # Not every architecture has every operation in bfloat16, and each says so in its own way.
    except Exception:
        return False
    moved = max(float(np.abs(a - b).max()) for a, b in zip(before, after, strict=True))
    return moved <= TOLERANCE  # False for NaN as well
