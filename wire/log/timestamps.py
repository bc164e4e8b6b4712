"""Timestamps of records: ms since 1970 in 64 bits, of which tables and texts show only those of the years 1 to 9999."""

import numpy as np
from numpy.typing import NDArray

from wire.log.varints import Ints

FIRST_MS = -62_135_596_800_000  # 0001-01-01T00:00Z: Python's and SQL's first date
LAST_MS = 253_402_300_799_999
US_PER_MS = 1000


def is_in_range(times_ms: Ints) -> NDArray[np.bool_]:
    """Whether a timestamp is in the years 1 to 9999."""
    return (times_ms >= FIRST_MS) & (times_ms <= LAST_MS)


def timestamp_us(time_ms: int, *, unset: int | None = -1) -> int | None:
    """A timestamp in µs; None if it is `unset` or out of range."""
    return time_ms * US_PER_MS if time_ms != unset and FIRST_MS <= time_ms <= LAST_MS else None
