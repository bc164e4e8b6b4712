"""librdkafka's memory of which partitions were moved between which members, with its flaws.

A move from one member to another while some partition of that topic went the other way before is to take that one
back instead. In librdkafka 2.15 this goes wrong in ways that can be followed, and in ways that cannot:

- A partition that moved back to where it came from keeps its entry. When it is moved again, assertions fail and the
  leader's process ends: AssignorFailedError.
- The partition to take back is a reference into a list out of which it is removed before it is used. With others left
  in the list, the next of them is moved in its stead. With none left, the list's memory has been freed: what is moved
  then is whatever stands there. FreedMemoryError.
- A list's key is freed with the entry of the partition that it was made for, though others may still be in the list.
  A search that comes across such a key reads freed memory: FreedMemoryError.

Source: librdkafka 2.15, PartitionMovements_movePartition, PartitionMovements_getTheActualPartitionToBeMoved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.model import AssignorFailedError

Pair = tuple[int, int]
"""From and to."""


class FreedMemoryError(Exception):
    """librdkafka reads memory that it has freed; what follows cannot be known.

    confluent-kafka 2.16.1 on Linux crashed every time that a test came here.
    """


@dataclass(slots=True, eq=False)
class _Moved:
    """The partitions that went one way, in order."""

    key_of: int
    """The partition whose entry holds the memory of this list's key."""
    partitions: list[int]
    key_freed: bool = False


@dataclass(slots=True)
class Movements:
    """The moves of one assignment. Partitions are dense ids."""

    topic_of: Callable[[int], int]
    entries: dict[int, Pair] = field(default_factory=dict)
    by_topic: dict[int, dict[Pair, _Moved]] = field(default_factory=dict)

    def actual(self, partition: int, old: int, new: int) -> tuple[int, bool]:
        """The partition to move instead of `partition`, and whether it was found in a list of moves."""
        topic = self.by_topic.get(self.topic_of(partition))
        if topic is None:
            return partition, False
        self._check_entry(partition, old)
        opposite = self._search(topic, (new, old))
        return (partition, False) if opposite is None else (opposite.partitions[0], True)

    def move(self, partition: int, old: int, new: int, *, from_list: bool) -> int:
        """Note the move; returns the partition that is really moved."""
        if partition not in self.entries:
            self._add(partition, (old, new))
            return partition
        existing = self.entries[partition]
        really = self._remove(partition, existing, from_list=from_list)
        self._check_entry(partition, old)
        if existing[0] != new:
            self._add(really, (existing[0], new))
        return really

    def _check_entry(self, partition: int, old: int) -> None:
        entry = self.entries.get(partition)
        if entry is not None and entry[1] != old:
            raise AssignorFailedError("Assertion `!rd_strcmp(existing_cpair->dst, old_consumer)' failed.")

    def _remove(self, partition: int, pair: Pair, *, from_list: bool) -> int:
        number = self.topic_of(partition)
        topic = self.by_topic.get(number)
        moved = None if topic is None else self._search(topic, pair)
        if topic is None or moved is None:
            raise AssignorFailedError("Assertion `plist' failed.")
        if partition in moved.partitions:
            moved.partitions.remove(partition)
        if not moved.partitions:
            if from_list:
                raise FreedMemoryError
            del topic[pair]
            if not topic:
                del self.by_topic[number]
            return partition
        return moved.partitions[0] if from_list else partition

    def _add(self, partition: int, pair: Pair) -> None:
        number = self.topic_of(partition)
        before = self.entries.get(partition)
        self.entries[partition] = pair
        if before is not None:
            for moved in self.by_topic.get(number, {}).values():
                if moved.key_of == partition:
                    moved.key_freed = True
        topic = self.by_topic.setdefault(number, {})
        moved = self._search(topic, pair) or topic.setdefault(pair, _Moved(partition, []))
        moved.partitions.append(partition)

    def _search(self, topic: dict[Pair, _Moved], pair: Pair) -> _Moved | None:
        moved = topic.get(pair)
        if moved is not None and moved.key_freed:
            raise FreedMemoryError
        return moved
