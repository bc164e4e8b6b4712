"""The client's range assignor, with its rack-aware passes; and the parts that all range assignors share.

Per topic, with P partitions and n subscribers sorted `static_first`, every subscriber gets q = P // n partitions and
the first P % n of them one more. If no topic needs racks these are plain ranges in closed form: in each topic, every
subscriber in turn gets the next partitions. Otherwise (KIP-881):

1. Topics with the same subscribers and the same P are co-partitioned: partition p of all of them is assigned to the
   first member with room and a rack match in every one of them. In a topic that is alone in its class and needs
   racks, every member in turn gets the first partitions with a matching rack, as many as it has room for.
2. The rest is assigned in plain ranges, up to the same quotas.

A topic needs racks if some subscriber's rack is among the racks of its partitions and these are not all in the same
racks. Once one topic does, pass 1 runs for all. A member without a rack matches everywhere.

Source: org.apache.kafka.clients.consumer.RangeAssignor, AbstractPartitionAssignor.useRackAwareAssignment.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.java.hash_map import static_first
from assignors.model import Assignment, DenseGroup, Ints, Result, Rows, places

Racks = frozenset[str]


def assign(group: DenseGroup) -> Result:
    members = static_first(group.spec.members)
    if not any(member.rack for member in group.spec.members):
        return Result(assignment=plain_ranges(group, members))
    subscribers = group.subscribers(members)
    topics = range_topics(group, [members[subscribers[i]] for i in range(len(group.spec.topics))])
    _give_by_rack(group, topics, [member.rack or None for member in group.spec.members])
    return Result(assignment=finished(group, topics))


@dataclass(slots=True, kw_only=True)
class RangeTopic:
    subscribers: Ints  # sorted member indices
    partitions: int
    racks: Sequence[Racks] = ()  # the racks of each partition; empty if no subscriber has a rack
    quota: "Quota | None" = None
    owners: Ints | None = None
    """The assignments of pass 1: index into `subscribers` by partition, -1 for none yet."""

    def finish(self) -> Ints:
        if self.quota is None or self.owners is None:
            return np.repeat(self.subscribers, counts(self.partitions, len(self.subscribers)))
        left = self.owners < 0
        self.owners[left] = np.repeat(np.arange(len(self.subscribers)), self.quota.rest())
        return self.subscribers[self.owners]


def range_topics(group: DenseGroup, subscribers: Sequence[Ints]) -> list[RangeTopic]:
    pairs = zip(subscribers, group.spec.topics, strict=True)
    return [RangeTopic(subscribers=mine, partitions=topic.partitions) for mine, topic in pairs]


def finished(group: DenseGroup, topics: Sequence[RangeTopic]) -> Assignment:
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    for i, topic in enumerate(topics):
        if len(topic.subscribers) and topic.partitions:
            owners[group.topic_start[i] : group.topic_start[i + 1]] = topic.finish()
    return Assignment.from_owners(group, owners)


def _give_by_rack(group: DenseGroup, topics: Sequence[RangeTopic], racks: Sequence[str | None]) -> None:
    """Pass 1, if any topic needs it."""
    sets: dict[tuple[str, ...], Racks] = {}
    needy = {i for i, topic in enumerate(topics) if _needs_racks(group, i, topic, racks, sets)}
    if not needy:
        return
    classes: dict[tuple[bytes, int], list[int]] = {}
    for i, topic in enumerate(topics):
        if topic.racks:
            classes.setdefault((topic.subscribers.tobytes(), topic.partitions), []).append(i)
    for members in classes.values():
        if len(members) > 1:
            give_together([topics[i] for i in members], _of(topics[members[0]], racks))
        elif members[0] in needy:
            give_alone(topics[members[0]], _of(topics[members[0]], racks))


def _of(topic: RangeTopic, racks: Sequence[str | None]) -> list[str | None]:
    return [racks[member] for member in topic.subscribers.tolist()]


def _needs_racks(
    group: DenseGroup,
    index: int,
    topic: RangeTopic,
    racks: Sequence[str | None],
    sets: dict[tuple[str, ...], Racks],
) -> bool:
    """Whether the topic needs racks. Also sets `topic.racks`; `sets` has one object for each set of racks."""
    mine = {*_of(topic, racks)} - {None}
    if not mine or topic.partitions == 0:
        return False
    spec = group.spec.topics[index]
    of_partitions = spec.racks or (((),) * topic.partitions)
    for replicas in set(of_partitions) - sets.keys():
        sets[replicas] = frozenset(replicas)
    topic.racks = [sets[replicas] for replicas in of_partitions]
    distinct = set(topic.racks)
    union = frozenset().union(*distinct)
    return not mine.isdisjoint(union) and any(r != union for r in distinct)


def give_together(
    topics: Sequence[RangeTopic], racks: Sequence[str | None], *, rackless_match: bool = True
) -> None:
    """Co-partitioned topics: one member takes partition p of all of them, if one fits. `racks`: the subscribers'."""
    quota = Quota(topics[0].partitions, len(racks))
    owners = np.full(topics[0].partitions, -1)
    # Room only ever shrinks, so the search for each set of racks resumes where it stopped.
    search: dict[Racks, int] = {}
    for p, everywhere in enumerate(zip(*(topic.racks for topic in topics), strict=True)):
        common = frozenset.intersection(*set(everywhere))
        member = search.get(common, 0)
        while member < len(racks) and not (
            (racks[member] in common or (rackless_match and racks[member] is None)) and quota.room(member)
        ):
            member += 1
        search[common] = member
        if member < len(racks):
            quota.take(member)
            owners[p] = member
    for topic in topics:
        topic.quota, topic.owners = quota, owners.copy()


def give_alone(topic: RangeTopic, racks: Sequence[str | None]) -> None:
    """One topic: each subscriber in turn takes the first free partitions whose racks match."""
    quota = Quota(topic.partitions, len(racks))
    owners = np.full(topic.partitions, -1)
    matching = {
        rack: [p for p in reversed(range(topic.partitions)) if rack is None or rack in topic.racks[p]]
        for rack in set(racks)
    }
    for member, rack in enumerate(racks):
        room, candidates = quota.room(member), matching[rack]
        while room and candidates:
            p = candidates.pop()
            if owners[p] < 0:
                owners[p] = member
                quota.take(member)
                room -= 1
    topic.quota, topic.owners = quota, owners


@dataclass(slots=True)
class Quota:
    """An equal share for each member, and one more for as many members as partitions are left. It only shrinks."""

    partitions: int
    members: int
    quota: int = field(init=False)
    extras: int = field(init=False)  # members that may still get one more than `quota`
    have: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.quota, self.extras = divmod(self.partitions, self.members)
        self.have = [0] * self.members

    def room(self, member: int) -> int:
        return max(0, self.quota + (self.extras > 0) - self.have[member])

    def take(self, member: int) -> None:
        self.have[member] += 1
        if self.have[member] > self.quota:
            self.extras -= 1

    def rest(self) -> Ints:
        """The number of partitions that each member takes if all members, in order, take as many as they may."""
        have = np.array(self.have)
        rest: Ints = np.maximum(self.quota - have, 0)
        rest[np.flatnonzero(have <= self.quota)[: self.extras]] += 1
        return rest


def plain_ranges(group: DenseGroup, members: Ints) -> Assignment:
    return _alike_ranges(group, members) if group.all_alike else _differing_ranges(group, members)


def counts(partitions: int, members: int) -> Ints:
    quota, extra = divmod(partitions, members)
    result = np.full(members, quota, dtype=np.int64)
    result[:extra] += 1
    return result


def _alike_ranges(group: DenseGroup, members: Ints) -> Assignment:
    """Every member subscribes to the same topics: all ranges at once, one per member and topic."""
    rows = group.subscriptions
    topics = rows.values[: int(rows.start[1])] if len(members) else rows.values
    rank = places(members)[:, np.newaxis]
    quota, extra = np.divmod(np.diff(group.topic_start)[topics], max(1, len(members)))
    length = quota + (rank < extra)
    first = group.topic_start[topics] + rank * quota + np.minimum(rank, extra)
    start = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum(length.sum(axis=1), out=start[1:])
    flat = length.ravel()
    if flat.max(initial=0) == flat.min(initial=1) == 1:
        return Assignment(group, Rows(start, first.ravel()))
    ends = np.cumsum(flat)
    values = np.repeat(first.ravel() - ends + flat, flat)
    values += np.arange(len(values))
    return Assignment(group, Rows(start, values))


def _differing_ranges(group: DenseGroup, members: Ints) -> Assignment:
    subscribers = group.subscribers(members)
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    for topic, spec in enumerate(group.spec.topics):
        positions = subscribers[topic]
        if len(positions):
            owners[group.topic_start[topic] : group.topic_start[topic + 1]] = np.repeat(
                members[positions], counts(spec.partitions, len(positions))
            )
    return Assignment.from_owners(group, owners)
