"""Runs of equal keys in an array."""

from __future__ import annotations

import numpy as np

from assignors.model import Ints


def run_starts(keys: Ints) -> Ints:
    """Where each run starts; none in an empty array."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(keys[1:] != keys[:-1]) + 1))


def runs(keys: Ints) -> list[tuple[int, int]]:
    """Start and end of each run."""
    starts = run_starts(keys).tolist()
    ends = [*starts[1:], len(keys)] if starts else []
    return list(zip(starts, ends, strict=True))
