"""The reassignments of librdkafka's cooperative-sticky, move by move.

Members that hold all they can, none of which anybody else could take, stay out. Then, list after list, each partition
with two or more subscribers is looked at until the group is balanced, and the list is walked again while that moved
something:

- a previous owner with at least two partitions fewer than the current one gets it back;
- else, where some subscriber has at least two fewer, the least loaded subscriber gets it.

"Current one" is whom the leader thinks to hold the partition: the last claimant, where nothing was assigned since. He
may hold something else altogether; then the partition ends up with two members. A leader that looks up a member that
stayed out follows a null pointer: AssignorFailedError.

Source: librdkafka 2.15, performReassignments, isBalanced, processPartitionMovement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.librdkafka.claims import NOBODY
from assignors.librdkafka.movements import Movements
from assignors.model import AssignorFailedError, Ints

CRASH = (
    "librdkafka's leader crashes: it looks up the partitions of a member that takes no part in the balancing"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Board:
    """What does not change while partitions move. Partitions are dense ids, members indices of the spec."""

    topic_start: Ints
    partition_topic: Ints
    subscribers: Sequence[Ints]
    """By topic."""
    subscribed: Sequence[Ints]
    """Topics by member."""
    rank: Ints
    """Position of each member's id in byte order."""
    active: Ints
    """Members that take part."""
    identical: bool
    """Whether all members can have the same partitions."""
    previous: Ints

    def potential(self, member: int) -> int:
        """How many partitions the member could have."""
        topics = self.subscribed[member]
        return int((self.topic_start[topics + 1] - self.topic_start[topics]).sum())


@dataclass(slots=True, eq=False)
class Balance:
    """Who holds what, while it is balanced."""

    board: Board
    owner: Ints
    """A member by partition; of several that hold it the first in the order of the JoinGroup response."""
    thought: Ints
    """Whom the leader thinks to hold it."""
    counts: Ints
    """How many partitions each member has, twice held ones twice."""
    movements: Movements = field(init=False)
    shared: dict[int, Counter[int]] = field(default_factory=dict)
    """Holders of the partitions that are held more than once, and how often each holds them."""
    _takes_part: list[bool] = field(init=False)
    _potential: list[int] = field(init=False)
    _witness: tuple[int, int] | None = None
    """A member and a partition that it could take from somebody with more: proof of imbalance."""

    def __post_init__(self) -> None:
        topic = self.board.partition_topic
        self.movements = Movements(lambda partition: int(topic[partition]))
        self._takes_part = [False] * len(self.counts)
        for member in self.board.active.tolist():
            self._takes_part[member] = True
        self._potential = [self.board.potential(member) for member in range(len(self.counts))]

    def reassign(self, partitions: Iterable[int]) -> bool:
        """Move what can be moved to improve the balance; whether anything was."""
        candidates = list(partitions)
        performed = False
        while self._walk(candidates):
            performed = True
        return performed

    def holders(self, partition: int) -> Counter[int]:
        """Who holds the partition, and how often."""
        return self.shared.get(partition) or Counter({int(self.owner[partition]): 1})

    def score(self) -> int:
        """Sum of the differences of all pairs of members that take part."""
        counts = np.sort(self.counts[self.board.active])
        return int((counts * (2 * np.arange(len(counts)) - len(counts) + 1)).sum())

    # ---- one walk over the list ----

    def _walk(self, partitions: Sequence[int]) -> bool:
        modified = False
        for partition in partitions:
            if self.is_balanced():
                break
            new = self._better(partition)
            if new != NOBODY:
                self._reassign(partition, new)
                modified = True
        return modified

    def _better(self, partition: int) -> int:
        """Who is to have the partition, NOBODY if it stays."""
        load = self._count_of(int(self.thought[partition]))
        previous = int(self.board.previous[partition])
        if previous != NOBODY and load > self._count_of(previous) + 1:
            return previous
        subscribers = self.board.subscribers[int(self.board.partition_topic[partition])]
        counts = self.counts[subscribers]
        least = counts.min()
        if load <= least + 1:
            return NOBODY
        candidates = subscribers[counts == least]
        return int(candidates[np.argmin(self.board.rank[candidates])])

    def _count_of(self, member: int) -> int:
        if member == NOBODY or not self._takes_part[member]:
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

    # ---- balanced? ----

    def is_balanced(self) -> bool:
        """Whether nobody could take a partition from somebody with more.

        Members are within one partition of each other; or each either has as many as it could have, or nobody with
        more partitions holds one that it could have and has not.
        """
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
        loads = np.where(np.array(self._takes_part)[self.owner], self.counts[self.owner], NOBODY)
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
                if heaviest.get(topic, NOBODY) <= mine:
                    continue
                start = int(starts[topic])
                for offset in np.flatnonzero(loads[start : int(starts[topic + 1])] > mine).tolist():
                    if not self.holders(start + offset)[member]:
                        return member, start + offset
        return None
