"""Handing partitions one by one to whoever has least, in blocks.

The receiver of each is the member with the fewest partitions, the first in line among equals. So members at the
lowest level take turns until they reach the next level, then those of both levels take turns, and so on: whole runs of
turns are copies of one pattern.
"""

from __future__ import annotations

import numpy as np

from assignors.model import Ints


def level_fill(loads: Ints, amount: int) -> Ints:
    """Positions in `loads` of the receivers of `amount` partitions, in order. Raises `loads` accordingly.

    `loads` are how many partitions members have, in the order in which equals are served; not empty.
    """
    levels = np.unique(loads)
    turns, left = [], amount
    for level, following in zip(levels.tolist(), [*levels[1:].tolist(), None], strict=True):
        pattern = np.flatnonzero(loads <= level)
        take = left if following is None else min(left, (following - level) * len(pattern))
        turns.append(np.tile(pattern, -(-take // len(pattern)))[:take])
        left -= take
        if not left:
            break
    receivers = np.concatenate(turns)
    loads += np.bincount(receivers, minlength=len(loads))
    return receivers
