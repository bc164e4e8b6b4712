"""Java's String order and HashSet, written out bucket by bucket: slow, and nothing to get wrong.

Source: the documented contracts of `java.lang.String.hashCode` and `compareTo`, and the observable iteration
order of `java.util.HashMap`. Bins of nine and more in a table of 64 and more become trees in Java; `Buckets`
keeps a list there and says so in `tree`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")


def utf16(text: str) -> list[int]:
    raw = text.encode("utf-16-be", "surrogatepass")
    return [raw[i] * 256 + raw[i + 1] for i in range(0, len(raw), 2)]


def string_hash(text: str) -> int:
    value = 0
    for unit in utf16(text):
        value = (31 * value + unit) % 2**32
    return value


def partition_hash(partition: tuple[str, int]) -> int:
    """`TopicPartition.hashCode`."""
    topic, number = partition
    return (31 * (31 + number) + string_hash(topic)) % 2**32


class Buckets(Generic[K]):
    """A `HashSet` of keys with the given hashes."""

    def __init__(self) -> None:
        self.table: list[list[tuple[int, K]]] = [[] for _ in range(16)]
        self.count = 0
        self.tree = False

    def _bucket(self, spread: int) -> list[tuple[int, K]]:
        return self.table[spread & (len(self.table) - 1)]

    def add(self, key: K, hashed: int) -> None:
        spread = hashed ^ (hashed >> 16)
        bucket = self._bucket(spread)
        if (spread, key) in bucket:
            return
        bucket.append((spread, key))
        if len(bucket) >= 9:
            if len(self.table) < 64:
                self._double()
            else:
                self.tree = True
        self.count += 1
        if self.count > len(self.table) * 3 // 4:
            self._double()

    def discard(self, key: K, hashed: int) -> None:
        spread = hashed ^ (hashed >> 16)
        bucket = self._bucket(spread)
        if (spread, key) in bucket:
            bucket.remove((spread, key))
            self.count -= 1

    def _double(self) -> None:
        entries = [entry for bucket in self.table for entry in bucket]
        self.table = [[] for _ in range(2 * len(self.table))]
        for spread, key in entries:
            self._bucket(spread).append((spread, key))

    def __iter__(self) -> Iterator[K]:
        return (key for bucket in self.table for _, key in bucket)

    def __len__(self) -> int:
        return self.count
