"""Moves made while a general sticky assignment is balanced, so that none is made both ways.

Java records for every partition that moved from where to where it did. When it wants to move a partition of a topic
from a to b and another one of that topic went from b to a before, that one goes back instead: the first in the
iteration order of a HashSet of partitions.

Source: AbstractStickyAssignor.PartitionMovements.
"""

from __future__ import annotations

from collections.abc import Callable

TREE_LENGTH = 9
TREE_CAPACITY = 64


class PartitionSet:
    """A `HashSet<TopicPartition>` of partitions of one topic, for as long as its bins are lists."""

    __slots__ = ("bins", "capacity", "size", "tree")

    def __init__(self) -> None:
        self.bins: dict[int, list[tuple[int, int]]] = {}
        """Spread hash code and partition, by bin."""
        self.capacity = 16
        self.size = 0
        self.tree = False
        """Whether some bin became a tree, whose order is not followed here."""

    def add(self, spread: int, partition: int) -> None:
        """Add a partition that is not in the set."""
        bin_ = self.bins.setdefault(spread & (self.capacity - 1), [])
        bin_.append((spread, partition))
        if len(bin_) >= TREE_LENGTH:
            if self.capacity < TREE_CAPACITY:
                self._double()
            else:
                self.tree = True
        self.size += 1
        if self.size > self.capacity * 3 // 4:
            self._double()

    def remove(self, spread: int, partition: int) -> None:
        index = spread & (self.capacity - 1)
        self.bins[index].remove((spread, partition))
        if not self.bins[index]:
            del self.bins[index]
        self.size -= 1

    def first(self) -> int:
        return self.bins[min(self.bins)][0][1]

    def _double(self) -> None:
        self.capacity *= 2
        entries = [entry for index in sorted(self.bins) for entry in self.bins[index]]
        self.bins = {}
        for entry in entries:
            self.bins.setdefault(entry[0] & (self.capacity - 1), []).append(entry)


class Movements:
    """Every partition's way from its first owner to its present one."""

    def __init__(self, spread_of: Callable[[int], int]) -> None:
        """`spread_of` gives a partition's spread hash code."""
        self._spread_of = spread_of
        self._way: dict[int, tuple[int, int]] = {}
        self._by_way: dict[tuple[int, int, int], PartitionSet] = {}
        self.guessed: dict[int, int] = {}
        """Partitions that went back out of a set with a tree in it, and their topics."""

    def instead_of(self, partition: int, topic: int, source: int, target: int) -> int:
        """The partition to move where this one would be moved from source to target."""
        if partition in self._way:
            source = self._way[partition][0]
        back = self._by_way.get((topic, target, source))
        if back is None:
            return partition
        first = back.first()
        if back.tree and back.size > 1:
            self.guessed[first] = topic
        return first

    def state(self) -> object:
        """All that later answers hang on, to be compared."""
        sets = {
            way: (found.capacity, {index: tuple(bin_) for index, bin_ in found.bins.items()})
            for way, found in self._by_way.items()
        }
        return dict(self._way), sets

    def record(self, partition: int, topic: int, source: int, target: int) -> None:
        spread = self._spread_of(partition)
        known = self._way.pop(partition, None)
        if known is not None:
            key = (topic, *known)
            self._by_way[key].remove(spread, partition)
            if not self._by_way[key].size:
                del self._by_way[key]
            source = known[0]
            if source == target:
                return
        self._way[partition] = (source, target)
        self._by_way.setdefault((topic, source, target), PartitionSet()).add(spread, partition)
