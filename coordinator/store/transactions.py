"""The transactions of a partition, as its batches tell: what they wrote, by producer, until each of them ends.

A producer has one transaction at a time; the control batch that ends it names it. What a rolled back transaction
wrote never was. Source: CoordinatorLoaderImpl.processMemoryRecords.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class Transactions(Generic[V]):
    """What was written by transactions that have not ended, the last value of each key."""

    def __init__(self) -> None:
        self._open: dict[int, dict[bytes, V]] = {}

    def write(self, producer_id: int, written: Iterable[tuple[bytes, V]]) -> None:
        """The producer writes within its transaction, which this may begin."""
        self._open.setdefault(producer_id, {}).update(written)

    def end(self, producer_id: int) -> dict[bytes, V]:
        """The transaction ends, however it does: what was written in it. Nothing where none is open."""
        return self._open.pop(producer_id, {})

    def open(self) -> Iterator[tuple[int, bytes, V]]:
        """What was written and not ended: producer id, key, value."""
        for producer_id, written in self._open.items():
            for key, value in written.items():
                yield producer_id, key, value
