"""The reassignments of librdkafka's cooperative-sticky, move by move.

Members that own all partitions that they can have, none of which another member could take, are left out. Then, list
after list, each partition with two or more subscribers is checked until the group is balanced, and the list is walked
again while a walk moved something:

- a previous owner with at least two partitions fewer than the current owner gets the partition back;
- otherwise, if some subscriber has at least two fewer, the least loaded subscriber gets it.

The "current owner" is the one that the leader assumes: the last claimant, if nothing was assigned since. It may not
own the partition; then the partition ends up with two members. A leader that looks up a member that was left out
follows a null pointer: AssignorFailedError.

`Movements` is librdkafka's record of the moves between members, with its flaws. If some partition of a topic moved
from b to a, a move of another one from a to b should undo the earlier move instead. In librdkafka 2.15 this fails in
ways that can be modeled, and in ways that cannot:

- A partition that moved back to its source keeps its entry. When it is moved again, assertions fail and the leader's
  process exits: AssignorFailedError.
- The partition to move back is a reference into a list from which it is removed before it is used. With others left
  in the list, the next of them is moved instead. With none left, the list's memory has been freed: the moved partition
  is whatever that memory contains. FreedMemoryError.
- A list's key is freed with the entry of the partition that it was created for, though others may still be in the list.
  A search that compares such a key reads freed memory: FreedMemoryError.

Source: librdkafka 2.15, performReassignments, isBalanced, processPartitionMovement, PartitionMovements_movePartition,
PartitionMovements_getTheActualPartitionToBeMoved.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.errors import AssignorFailedError
from assignors.librdkafka.order import NO_MEMBER
from assignors.model import Ints

CRASH = (
    "librdkafka's leader crashes: it looks up the partitions of a member that takes no part in the balancing"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BalancingInput:
    """The values that stay the same while partitions move. Partitions are dense ids, members indices of the spec."""

    topic_start: Ints
    partition_topic: Ints
    subscribers: Sequence[Ints]  # the subscribers of each topic
    subscribed: Sequence[Ints]  # topics by member
    rank: Ints  # position of each member's id in byte order
    active: Ints  # members that take part
    identical: bool  # whether all members can have the same partitions
    previous: Ints

    def potential(self, member: int) -> int:
        topics = self.subscribed[member]
        return int((self.topic_start[topics + 1] - self.topic_start[topics]).sum())


@dataclass(slots=True, eq=False)
class Rebalancer:
    board: BalancingInput
    owner: Ints
    """The owner of each partition; of several owners the first in the order of the JoinGroup response."""
    thought: Ints  # the owner of each partition that the leader assumes
    counts: Ints  # the number of partitions of each member; a partition owned twice counts twice
    movements: "Movements" = field(init=False)
    shared: dict[int, Counter[int]] = field(default_factory=dict)
    """Owners of the partitions that are owned more than once, and how often each owns them."""
    _takes_part: list[bool] = field(init=False)
    _potential: list[int] = field(init=False)
    _witness: tuple[int, int] | None = None
    """A member and a partition that it could take from a member with more: a proof of imbalance."""

    def __post_init__(self) -> None:
        topic = self.board.partition_topic
        self.movements = Movements(lambda partition: int(topic[partition]))
        self._takes_part = [False] * len(self.counts)
        for member in self.board.active.tolist():
            self._takes_part[member] = True
        self._potential = [self.board.potential(member) for member in range(len(self.counts))]

    def reassign(self, partitions: Iterable[int]) -> bool:
        """Move partitions to improve the balance; returns whether any moved."""
        candidates = list(partitions)
        performed = False
        while self._walk(candidates):
            performed = True
        return performed

    def holders(self, partition: int) -> Counter[int]:
        return self.shared.get(partition) or Counter({int(self.owner[partition]): 1})

    def score(self) -> int:
        """The differences between all pairs of members that take part, added up."""
        counts = np.sort(self.counts[self.board.active])
        return int((counts * (2 * np.arange(len(counts)) - len(counts) + 1)).sum())

    # ---- one walk over the list ----

    def _walk(self, partitions: Sequence[int]) -> bool:
        modified = False
        for partition in partitions:
            if self.is_balanced():
                break
            new = self._better(partition)
            if new != NO_MEMBER:
                self._reassign(partition, new)
                modified = True
        return modified

    def _better(self, partition: int) -> int:
        load = self._count_of(int(self.thought[partition]))
        previous = int(self.board.previous[partition])
        if previous != NO_MEMBER and load > self._count_of(previous) + 1:
            return previous
        subscribers = self.board.subscribers[int(self.board.partition_topic[partition])]
        counts = self.counts[subscribers]
        least = counts.min()
        if load <= least + 1:
            return NO_MEMBER
        candidates = subscribers[counts == least]
        return int(candidates[np.argmin(self.board.rank[candidates])])

    def _count_of(self, member: int) -> int:
        if member == NO_MEMBER or not self._takes_part[member]:
            raise AssignorFailedError(CRASH)
        return int(self.counts[member])

    def _reassign(self, partition: int, new: int) -> None:
        old = int(self.thought[partition])
        partition, from_list = self.movements.actual(partition, old, new)
        old = int(self.thought[partition])
        partition = self.movements.move(partition, old, new, from_list=from_list)
        holders = self.holders(partition)
        holders[new] += 1
        self.counts[new] += 1
        if holders[old]:
            holders[old] -= 1
            self.counts[old] -= 1
        holders = +holders
        self.thought[partition] = new
        self.owner[partition] = min(holders)
        if holders.total() > 1:
            self.shared[partition] = holders
        else:
            self.shared.pop(partition, None)

    # ---- the test for balance ----

    def is_balanced(self) -> bool:
        """Whether loads differ by one at most, or no member could take a partition from a member with more."""
        counts = self.counts[self.board.active]
        if counts.min() >= counts.max() - 1:
            return True
        if self.board.identical and not self.shared:
            return False
        if self._witness is not None and self._proves(*self._witness):
            return False
        self._witness = self._find_witness()
        return self._witness is None

    def _proves(self, member: int, partition: int) -> bool:
        mine = int(self.counts[member])
        owner = int(self.owner[partition])
        return (
            mine != self._potential[member]
            and self._takes_part[owner]
            and mine < self.counts[owner]
            and not self.holders(partition)[member]
        )

    def _find_witness(self) -> tuple[int, int] | None:
        loads = np.where(np.array(self._takes_part)[self.owner], self.counts[self.owner], NO_MEMBER)
        starts = self.board.topic_start
        heaviest = {
            topic: int(loads[starts[topic] : starts[topic + 1]].max())
            for topic in {int(t) for m in self.board.active.tolist() for t in self.board.subscribed[m]}
            if starts[topic + 1] > starts[topic]
        }
        by_load = self.board.active[np.argsort(self.counts[self.board.active], kind="stable")]
        for member in by_load.tolist():
            mine = int(self.counts[member])
            if mine == self._potential[member]:
                continue
            for topic in self.board.subscribed[member].tolist():
                if heaviest.get(topic, NO_MEMBER) <= mine:
                    continue
                start = int(starts[topic])
                for offset in np.flatnonzero(loads[start : int(starts[topic + 1])] > mine).tolist():
                    if not self.holders(start + offset)[member]:
                        return member, start + offset
        return None


Pair = tuple[int, int]  # the members from which and to which a partition moved


class FreedMemoryError(Exception):
    """librdkafka reads memory that it has freed; confluent-kafka 2.16.1 crashed whenever a test reached this."""


@dataclass(slots=True, eq=False)
class _Moved:
    key_of: int  # the partition whose entry owns the memory of this list's key
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
        """Record the move; returns the partition that is actually moved."""
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
