"""Texts that are the same for many records in a row, made once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def per_run(text: Callable[[int], str], *columns: NDArray[np.int64]) -> list[str]:
    """A text per row of the columns; `text` is asked for the first of rows that are equal, one behind the other."""
    rows = len(columns[0])
    changes = np.zeros(rows, dtype=bool)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    firsts = np.flatnonzero(changes)
    texts = np.array([text(first) for first in firsts.tolist()], dtype=object)
    repeated: list[str] = np.repeat(texts, np.diff(firsts, append=rows)).tolist()
    return repeated
