"""Counts by name, which forget a name that nobody has any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def count(counts: Counter[str], names: Iterable[str], change: int) -> None:
    """Add `change` to the count of each name."""
    for name in names:
        counts[name] += change
        if not counts[name]:
            del counts[name]
