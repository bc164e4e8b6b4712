"""The broker's uniform assignor where members subscribe to different topics.

Members keep what they have of topics they subscribe to. Then, topics with the most partitions a subscriber
first (fewer subscribers first among equals, then by id), every partition without an owner goes to the
subscriber that has least, counting all topics. Then up to 16 sweeps over the topics in that order level
them: the last partition of the subscriber that has most goes to the one that has least, until they differ
by at most one; a sweep without a move ends it. Among equals members stand in map order.

Source: org.apache.kafka.coordinator.group.assignor.UniformHeterogeneousAssignmentBuilder.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assignors.broker_targets import Java, Targets, topic_id, topic_of_ids
from assignors.java_order import uuid_sort_key
from assignors.level_fill import level_fill
from assignors.map_order import Came
from assignors.member_order import hash_map_order
from assignors.model import Assignment, AssignorFailedError, DenseGroup, Ints, Rows
from assignors.pairs import from_pairs
from assignors.subscribers import by_topic, matrix
from assignors.topic_leveller import level_topic

MAXIMUM_SWEEPS = 16


def assign_heterogeneous(group: DenseGroup, java: Java) -> tuple[Assignment, Came]:
    """Assign a group whose members subscribe to different topics.

    Also gives what came into whose target, as (member, topic), in order.
    """
    order = hash_map_order(group.spec.members)
    state = _State(group, order)
    if not len(state.subscribers.values):
        return from_pairs(group, np.zeros(0, dtype=np.int64)), list
    state.keep(java)
    topics = state.topics_in_order()
    state.fill(topics)
    state.level([topic for topic in topics if len(state.subscribers[topic]) > 1])
    return state.finish(), state.came


class _State:
    """Owners and loads while partitions move. Members are positions in map order."""

    def __init__(self, group: DenseGroup, order: Ints) -> None:
        self.group, self.order = group, order
        self.subscribers: Rows = by_topic(group, order)
        self.owners: NDArray[np.int32] = np.full(group.partition_count, -1, dtype=np.int32)
        self.loads: Ints = np.zeros(len(order), dtype=np.int64)
        self._total = np.int64(group.partition_count + len(group.strays))
        self.overshadowed: Ints | None = None
        """Pairs (as in `from_pairs`) of claims that are not the last of their partition: they stay."""
        self.moves: list[tuple[int, NDArray[np.int32], NDArray[np.int32]]] = []
        """Topics some of whose partitions moved, with the owners of all before and after, in order."""

    def keep(self, java: Java) -> None:
        """Take over the targets; of several owners of a partition the last in map order counts."""
        rows = self.group.owned.partitions
        if not len(rows.values):
            return
        rank = np.empty(len(self.order), dtype=np.int32)
        rank[self.order] = np.arange(len(self.order), dtype=np.int32)
        members = np.repeat(np.arange(len(rows)), rows.lengths)
        topics = topic_of_ids(self.group)[rows.values]
        subscribed = matrix(self.group)[members, topics] & (topics >= 0)
        if not subscribed.all():
            values, members = rows.values[subscribed], members[subscribed]
        else:
            values = rows.values
        if self.group.strays and values.max(initial=-1) >= self.group.partition_count:
            self._fail(java)
        positions = rank[members]
        self.owners[values] = positions
        if int(np.count_nonzero(self.owners >= 0)) < len(values):
            values, positions = self._disputed(values, positions)
        self.loads += np.bincount(positions, minlength=len(self.order))

    def _disputed(self, values: Ints, positions: NDArray[np.int32]) -> tuple[Ints, NDArray[np.int32]]:
        """Some partition occurs twice: each claim once, ordered by member."""
        keys = np.unique(positions * self._total + values)
        members, values = np.divmod(keys, self._total)
        # Ascending members: of several values for one index numpy keeps the last.
        self.owners[values] = members
        shadowed = self.owners[values] != members
        self.overshadowed = self.order[members[shadowed]] * self._total + values[shadowed]
        return values, members.astype(np.int32)

    def _fail(self, java: Java) -> None:
        """A claim beyond a topic's partitions: Java's array says so for the first that it meets."""
        topic_of = topic_of_ids(self.group)
        targets = Targets(self.group, topic_of, java)
        subscribed = matrix(self.group)
        for member in self.order.tolist():
            for topic, ids in targets.of(member):
                beyond = ids[ids >= self.group.partition_count] if subscribed[member, topic] else ids[:0]
                if len(beyond):
                    number = self.group.name_of(int(beyond[0]))[1]
                    count = self.group.spec.topics[topic].partitions
                    raise AssignorFailedError(f"Index {number} out of bounds for length {count}")

    def topics_in_order(self) -> list[int]:
        """Topics that have subscribers."""
        counts, members = np.diff(self.group.topic_start), self.subscribers.lengths

        def key(topic: int) -> tuple[float, int, tuple[int, int]]:
            return (
                -(counts[topic] / members[topic]),
                int(members[topic]),
                uuid_sort_key(topic_id(self.group, topic)),
            )

        return sorted(np.flatnonzero(members).tolist(), key=key)

    def fill(self, topics: list[int]) -> None:
        """Give every partition without an owner to the subscriber that has least."""
        free = np.flatnonzero(self.owners < 0)
        edges = np.searchsorted(free, self.group.topic_start).tolist()
        for topic in topics:
            ids = free[edges[topic] : edges[topic + 1]]
            if len(ids):
                line = self._by_load(self.subscribers[topic])
                loads = self.loads[line]
                before = self._owners_of(topic).copy()
                self.owners[ids] = line[level_fill(loads, len(ids))]
                self.loads[line] = loads
                self.moves.append((topic, before, self._owners_of(topic).copy()))

    def level(self, topics: list[int]) -> None:
        """Sweep until a whole sweep moved nothing, or 16 times."""
        last = -1
        for _ in range(MAXIMUM_SWEEPS):
            for i, topic in enumerate(topics):
                if i == last:
                    return
                if self._level(topic) or last == -1:
                    last = i

    def _level(self, topic: int) -> int:
        """Move partitions of one topic; the answer is how many."""
        subscribers = self.subscribers[topic]
        loads = self.loads[subscribers]
        if int(loads.max()) - int(loads.min()) <= 1:
            return 0
        owners = self._owners_of(topic)
        before = owners.copy()
        moved = level_topic(self.loads, self._by_load(subscribers), owners)
        if moved:
            self.moves.append((topic, before, owners.copy()))
        return moved

    def came(self) -> list[tuple[int, int]]:
        """Topics of which the member had nothing before."""
        shadows = self._shadows()
        came = []
        for topic, before, after in self.moves:
            had = {member for member, partition in shadows if self.group.partition_topic[partition] == topic}
            members = self.order[np.setdiff1d(after, before)].tolist()
            came += [(member, topic) for member in members if member not in had]
            shadows -= self._given_away(topic, before, after)
        return came

    def _shadows(self) -> set[tuple[int, int]]:
        """Claims that are not the last of their partition, as (member, partition)."""
        if self.overshadowed is None:
            return set()
        members, partitions = np.divmod(self.overshadowed, self._total)
        return set(zip(members.tolist(), partitions.tolist(), strict=True))

    def _given_away(
        self, topic: int, before: NDArray[np.int32], after: NDArray[np.int32]
    ) -> set[tuple[int, int]]:
        """What moved, as (member that had it, partition): a claim that came true ends with it."""
        moved = np.flatnonzero((before != after) & (before >= 0))
        partitions = moved + self.group.topic_start[topic]
        return set(zip(self.order[before[moved]].tolist(), partitions.tolist(), strict=True))

    def _owners_of(self, topic: int) -> NDArray[np.int32]:
        return self.owners[self.group.topic_start[topic] : self.group.topic_start[topic + 1]]

    def _by_load(self, subscribers: Ints) -> Ints:
        """Least loaded first, map order among equals."""
        loads = self.loads[subscribers]
        low = loads.min()
        if int(loads.max()) - int(low) < 2**16:
            # Sixteen-bit keys are radix sorted.
            return subscribers[np.argsort((loads - low).astype(np.uint16), kind="stable")]
        return subscribers[np.argsort(loads, kind="stable")]

    def finish(self) -> Assignment:
        owned = self.owners >= 0
        if self.overshadowed is None:
            owners = np.where(owned, self.order.astype(np.int32)[self.owners], np.int32(-1))
            return Assignment.from_owners(self.group, owners)
        left = self._shadows().difference(*(self._given_away(*move) for move in self.moves))
        shadows = [member * int(self._total) + partition for member, partition in left]
        ids = np.flatnonzero(owned)
        owners = self.order[self.owners[ids]] * self._total + ids
        return from_pairs(self.group, np.concatenate((np.array(shadows, dtype=np.int64), owners)))
