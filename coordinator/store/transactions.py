"""The open transactions of a partition: their records by producer, until each of them ends.

A producer has one transaction at a time; the control batch that ends it has its id. Records of an aborted transaction
never take effect. Source: CoordinatorLoaderImpl.processMemoryRecords.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class Transactions(Generic[V]):
    """The records of open transactions, the last value of each key."""

    def __init__(self) -> None:
        self._open: dict[int, dict[bytes, V]] = {}

    def write(self, producer_id: int, written: Iterable[tuple[bytes, V]]) -> None:
        """Add records to the producer's transaction, which is started if none is open."""
        self._open.setdefault(producer_id, {}).update(written)

    def end(self, producer_id: int) -> dict[bytes, V]:
        """End the producer's transaction, committed or aborted. Returns its records; empty if none is open."""
        return self._open.pop(producer_id, {})

    def open(self) -> Iterator[tuple[int, bytes, V]]:
        """Producer id, key and value of all records of open transactions."""
        for producer_id, written in self._open.items():
            for key, value in written.items():
                yield producer_id, key, value
