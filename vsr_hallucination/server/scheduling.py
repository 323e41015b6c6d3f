"""A short time slice for the event loop's thread, so that a model's thread on the same core does not keep it waiting.

Linux picks the thread whose slice ends first (EEVDF), and from 6.12 on a thread may ask for a shorter one than the
default of 3 ms: it gets no more of the processor, but gets it sooner. Without that the loop, woken by a thread that
goes on to multiply matrices, waits out that thread's slice.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys

_SLICE = 100_000  # nanoseconds; the kernel's least
_RESET_ON_FORK = 1  # threads begun by this one get the default again
_FORMAT = "=IIQiIQQQII"  # struct sched_attr (sched_setattr(2)), its first 56 bytes
_CALLS = {"x86_64": (314, 315), "aarch64": (274, 275)}  # sched_setattr, sched_getattr
_ORDINARY = (0, 3)  # SCHED_OTHER, SCHED_BATCH: for others the field means something else


def ask_for_short_slices() -> bool:
    """Asks for the calling thread. False where nothing was changed: another system, or one that does not let us.

    An operator's policy and niceness stay as they are; older kernels take the call and do nothing.
    """
    if not sys.platform.startswith("linux") or platform.machine() not in _CALLS or struct.calcsize("P") != 8:
        return False
    set_attr, get_attr = _CALLS[platform.machine()]
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    size = struct.calcsize(_FORMAT)
    found = ctypes.create_string_buffer(size)
    if syscall(ctypes.c_long(get_attr), 0, found, size, 0) != 0:
        return False
    _, policy, flags, nice, priority, _, *_ = struct.unpack(_FORMAT, found.raw)
    if policy not in _ORDINARY or nice < 0:  # a thread begun by this one would lose its better niceness
        return False
    wanted = struct.pack(_FORMAT, size, policy, flags | _RESET_ON_FORK, nice, priority, _SLICE, 0, 0, 0, 0)
    return bool(syscall(ctypes.c_long(set_attr), 0, wanted, 0) == 0)
