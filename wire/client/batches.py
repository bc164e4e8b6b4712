"""Cutting long requests: one answer stays well below the largest frame."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_SIZE = 200


def batches(items: Sequence[T], size: int = _SIZE) -> Iterator[tuple[T, ...]]:
    """`items` in their order, at most `size` at a time."""
    for start in range(0, len(items), size):
        yield tuple(items[start : start + size])
