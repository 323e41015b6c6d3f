"""What several windows of the evidence say of one answer, united to one probability a token.

A sentence is held to the window that supports it best (the least mean log-odds of being unsupported): what another
window says of a single token is no reason to believe it. With the least probability over all windows instead, token by
token, some window or other finds nearly every token likely, and a clean verdict gains confidence with every passage
that has nothing to do with the answer. Evidence that one sentence draws from two windows counts by ``SHARE`` of the
token's least log-odds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SHARE = 0.5
_FLOOR = 1e-4

Floats = npt.NDArray[np.float64]


def unite(windows: Floats, sentence: npt.NDArray[np.int64]) -> Floats:
    """(tokens,) from ``windows`` (windows, tokens); ``sentence``: (tokens,) the number of each token's sentence,
    ascending. One window is returned as it is."""
    if len(windows) == 1:
        return np.asarray(windows[0], dtype=np.float64)
    kept = np.clip(np.asarray(windows, dtype=np.float64), _FLOOR, 1 - _FLOOR)
    odds = np.log(kept / (1 - kept))
    least = odds.min(axis=0)
    borders = np.flatnonzero(np.diff(sentence, prepend=sentence[:1] - 1))
    best = np.empty_like(least)
    for start, end in zip(borders, [*borders[1:], len(sentence)], strict=True):
        best[start:end] = odds[odds[:, start:end].mean(axis=1).argmin(), start:end]
    mixed = SHARE * least + (1 - SHARE) * best
    return np.asarray(1 / (1 + np.exp(-mixed)), dtype=np.float64)
