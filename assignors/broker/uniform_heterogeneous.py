"""The broker's uniform assignor if members subscribe to different topics.

Members keep their partitions of topics they subscribe to. Then, topics with the most partitions per subscriber first
(fewer subscribers first among equals, then by id), every partition without an owner is assigned to the subscriber
with the fewest, counting all topics. Then up to 16 sweeps over the topics in that order level the loads: the last
partition of the subscriber with the most moves to the subscriber with the fewest, until they differ by at most one.
A sweep without a move is the last. Among equals members are in map order.

`level_topic` levels the loads of one topic's subscribers by moving its partitions, as the broker does. Two pointers
move over the list of subscribers, which is sorted by load. The giving pointer cycles through those with the highest
load, from the back, and removes members without a partition of this topic; after a cycle its level is one lower. The
receiving pointer cycles through those with the lowest load, from the front. Levels count cycles, so the pointers meet
when their levels differ by one or less; a partition that was already taken is then returned.

Source: org.apache.kafka.coordinator.group.assignor.UniformHeterogeneousAssignmentBuilder (balanceTopic,
MemberAssignmentBalancer).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.broker.targets import Changes, Java, TargetMaps, Targets, no_changes, topic_id
from assignors.errors import AssignorFailedError
from assignors.java.hash_map import hash_map_order, uuid_sort_key
from assignors.model import Assignment, DenseGroup, Ints, Rows, level_fill, places, stable_order

MAXIMUM_SWEEPS = 16


def assign_heterogeneous(group: DenseGroup, java: Java) -> tuple[Assignment, Changes]:
    order = hash_map_order(group.spec.members)
    state = _State(group, order)
    if not len(state.subscribers.values):
        return Assignment.from_pairs(group, np.zeros(0, dtype=np.int64)), no_changes
    state.keep(java)
    topics = state.topics_in_order()
    state.fill(topics)
    state.level([topic for topic in topics if len(state.subscribers[topic]) > 1])
    return state.finish(), state.change


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """Partitions of one topic that move one at a time. Members are positions in map order."""

    topic: int
    partitions: Ints  # dense ids
    givers: NDArray[np.int32]  # -1 for no member
    receivers: NDArray[np.int32]


class _State:
    """Owners and loads while partitions move. Members are positions in map order."""

    def __init__(self, group: DenseGroup, order: Ints) -> None:
        self.group, self.order = group, order
        self.subscribers: Rows = group.subscribers(order)
        self.owners: NDArray[np.int32] = np.full(group.partition_count, -1, dtype=np.int32)
        self.loads: Ints = np.zeros(len(order), dtype=np.int64)
        self._total = np.int64(group.partition_count + len(group.strays))
        self.overshadowed: Ints | None = None
        """Pairs (as in `from_pairs`) of the claims that are not the last ones of their partitions: they stay."""
        self.moves: list[_Moves] = []
        """In order; the moves of an element all assign partitions without owner, or all level loads."""

    def keep(self, java: Java) -> None:
        """Start from the targets; of several owners of a partition the last in map order counts."""
        rows = self.group.owned.partitions
        if not len(rows.values):
            return
        rank = places(self.order).astype(np.int32)
        members = np.repeat(np.arange(len(rows)), rows.lengths)
        topics = self.group.topic_of[rows.values]
        subscribed = self.group.subscribed()[members, topics] & (topics >= 0)
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
        """The claims if some partition occurs twice: each claim once, ordered by member."""
        keys = np.unique(positions * self._total + values)
        members, values = np.divmod(keys, self._total)
        # Ascending members: of several values for one index numpy keeps the last.
        self.owners[values] = members
        shadowed = self.owners[values] != members
        self.overshadowed = self.order[members[shadowed]] * self._total + values[shadowed]
        return values, members.astype(np.int32)

    def _fail(self, java: Java) -> None:
        """A claim beyond a topic's partitions: Java's array throws for the first such claim."""
        targets = Targets(self.group, java)
        subscribed = self.group.subscribed()
        for member in self.order.tolist():
            for topic, ids in targets.of(member):
                beyond = ids[ids >= self.group.partition_count] if subscribed[member, topic] else ids[:0]
                if len(beyond):
                    number = self.group.name_of(int(beyond[0]))[1]
                    count = self.group.spec.topics[topic].partitions
                    raise AssignorFailedError(f"Index {number} out of bounds for length {count}")

    def topics_in_order(self) -> list[int]:
        counts, members = np.diff(self.group.topic_start), self.subscribers.lengths

        def key(topic: int) -> tuple[float, int, tuple[int, int]]:
            return (
                -(counts[topic] / members[topic]),
                int(members[topic]),
                uuid_sort_key(topic_id(self.group, topic)),
            )

        return sorted(np.flatnonzero(members).tolist(), key=key)

    def fill(self, topics: list[int]) -> None:
        """Assign every partition without an owner to the subscriber with the fewest."""
        free = np.flatnonzero(self.owners < 0)
        edges = np.searchsorted(free, self.group.topic_start).tolist()
        for topic in topics:
            ids = free[edges[topic] : edges[topic + 1]]
            if len(ids):
                line = self._by_load(self.subscribers[topic])
                loads = self.loads[line]
                receivers = line[level_fill(loads, len(ids))]
                self.moves.append(_Moves(topic, ids, self.owners[ids], receivers.astype(np.int32)))
                self.owners[ids] = receivers
                self.loads[line] = loads

    def level(self, topics: list[int]) -> None:
        """Sweep until a whole sweep moves nothing, at most 16 times."""
        last = -1
        for _ in range(MAXIMUM_SWEEPS):
            for i, topic in enumerate(topics):
                if i == last:
                    return
                if self._level(topic) or last == -1:
                    last = i

    def _level(self, topic: int) -> int:
        subscribers = self.subscribers[topic]
        loads = self.loads[subscribers]
        if int(loads.max()) - int(loads.min()) <= 1:
            return 0
        start, end = self.group.topic_start[topic : topic + 2]
        owners = self.owners[start:end]
        before = owners.copy()
        moved = level_topic(self.loads, self._by_load(subscribers), owners)
        if moved:
            self.moves.append(_Moves(topic, np.array(moved) + start, before[moved], owners[moved]))
        return len(moved)

    def change(self, maps: TargetMaps) -> None:
        subscribed = self.group.subscribed()
        for member in self.order.tolist():
            maps.revoke(member, subscribed[member].tolist())
        for moves in self.moves:
            if moves.givers[0] < 0:
                self._hand_out(moves, maps)
                continue
            givers, receivers = self.order[moves.givers].tolist(), self.order[moves.receivers].tolist()
            for partition, giver, receiver in zip(moves.partitions.tolist(), givers, receivers, strict=True):
                maps.remove(giver, moves.topic, [partition])
                maps.add(receiver, moves.topic, [partition])

    def _hand_out(self, moves: _Moves, maps: TargetMaps) -> None:
        """A member gets all its partitions of a topic together: other members have separate maps."""
        by_member = np.argsort(moves.receivers, kind="stable")
        members, first = np.unique(moves.receivers[by_member], return_index=True)
        parts = np.split(moves.partitions[by_member], first[1:])
        for member, partitions in zip(self.order[members].tolist(), parts, strict=True):
            maps.add(member, moves.topic, partitions.tolist())

    def _by_load(self, subscribers: Ints) -> Ints:
        """The subscribers by load, ascending; in map order among equals."""
        loads = self.loads[subscribers]
        return subscribers[stable_order(loads - loads.min())]

    def finish(self) -> Assignment:
        owned = self.owners >= 0
        if self.overshadowed is None:
            owners = np.where(owned, self.order.astype(np.int32)[self.owners], np.int32(-1))
            return Assignment.from_owners(self.group, owners)
        # A granted claim ends when the partition moves on.
        moved = [self.order[m.givers] * self._total + m.partitions for m in self.moves if m.givers[0] >= 0]
        shadows = np.setdiff1d(self.overshadowed, np.concatenate([self.overshadowed[:0], *moved]))
        ids = np.flatnonzero(owned)
        owners = self.order[self.owners[ids]] * self._total + ids
        return Assignment.from_pairs(self.group, np.concatenate((shadows, owners)))


def level_topic(loads: Ints, line: Ints, owners: NDArray[np.int32]) -> list[int]:
    """Move partitions; `loads` (by member) and `owners` (by partition) change in place. `line` are the subscribers by
    load ascending. Returns the moved partitions in order. Two pointers cycle through the highest loads, from the back,
    and the lowest, from the front, until their levels differ by one or less."""
    pointers = _Pointers(loads, line)
    holdings = _TopicHoldings(owners)
    moved: list[int] = []
    received: list[int] = []
    while not pointers.level():
        giver = pointers.giver(holdings)
        if giver is None:
            break
        partition = holdings.pop(giver)
        receiver = pointers.receiver()
        if pointers.level():
            break
        moved.append(partition)
        received.append(receiver)
        pointers.loads[giver] -= 1
        pointers.loads[receiver] += 1
    if moved:
        np.subtract.at(loads, owners[moved], 1)
        np.add.at(loads, received, 1)
        owners[moved] = received
    return moved


class _TopicHoldings:
    """The initial partitions of the topic by member, as stacks: the highest partition is popped first."""

    def __init__(self, owners: NDArray[np.int32]) -> None:
        order = np.argsort(owners, kind="stable")
        by_owner = owners[order]
        last = np.flatnonzero(np.append(by_owner[1:] != by_owner[:-1], True)) if len(order) else order
        self.partitions: list[int] = order.tolist()
        self.top = dict(zip(by_owner[last].tolist(), (last + 1).tolist(), strict=True))
        """The end of each member's stack in `partitions`."""
        self.bottom = dict(zip(self.top, [0, *self.top.values()], strict=False))

    def holds(self, member: int) -> bool:
        return member in self.top and self.top[member] > self.bottom[member]

    def pop(self, member: int) -> int:
        self.top[member] -= 1
        return self.partitions[self.top[member]]


class _Pointers:
    def __init__(self, loads: Ints, sorted_members: Ints) -> None:
        line: list[int] = sorted_members.tolist()
        self.line = line
        self.loads: dict[int, int] = dict(zip(line, loads[sorted_members].tolist(), strict=True))
        self.low_level = self.loads[line[0]] - 1
        self.low_end = 0  # the receiving pointer cycles through `line[:low_end]`
        self.low_next = 0
        self.high_level = self.loads[line[-1]] + 1
        self.high_start = self.high_end = len(line)
        """The giving pointer cycles through `line[high_start:high_end]`."""
        self.high_next = len(line) - 1

    def level(self) -> bool:
        return self.high_level - self.low_level <= 1

    def receiver(self) -> int:
        if self.low_next >= self.low_end:
            self.low_level += 1
            while self.low_end < len(self.line) and self.loads[self.line[self.low_end]] == self.low_level:
                self.low_end += 1
            self.low_next = 0
        member = self.line[self.low_next]
        self.low_next += 1
        return member

    def giver(self, holdings: _TopicHoldings) -> int | None:
        """The next member to give a partition, or None."""
        while True:
            member = self._next_giver()
            if member is None or holdings.holds(member):
                return member
            # The member is removed from the cycle for good: it is swapped with the last one in it.
            self.high_end -= 1
            out = self.high_next + 1
            self.line[out], self.line[self.high_end] = self.line[self.high_end], self.line[out]

    def _next_giver(self) -> int | None:
        if self.high_next < self.high_start:
            if self.high_end <= self.high_start and self.high_start > 0:
                self.high_level = self.loads[self.line[self.high_start - 1]]
            else:
                self.high_level -= 1
            while self.high_start > 0 and self.loads[self.line[self.high_start - 1]] == self.high_level:
                self.high_start -= 1
            self.high_next = self.high_end - 1
        if self.high_next < 0:
            return None
        member = self.line[self.high_next]
        self.high_next -= 1
        return member
