"""The UTC date of a moment."""

from __future__ import annotations

from typing import Final

_DAY_US: Final = 24 * 3600 * 1_000_000


def day_of(time: int) -> int:
    """Days since 1970 of µs since 1970, as Arrow's and Spark's dates count."""
    return time // _DAY_US
