"""The client's range assignor, with its rack-aware passes.

Per topic, with P partitions and n subscribers sorted `static_first`, everybody gets q = P // n partitions
and the first P % n members to come one more. Where no topic needs racks these are plain ranges in closed
form. Otherwise (KIP-881):

1. Topics with the same subscribers and the same P are co-partitioned: partition p of all of them goes to
the first
   member that still has room and a rack match in every one of them. Alone in its class, a topic that needs
   racks gives every member in turn the first partitions with a matching rack, as many as it has room for.
2. What is left is handed out in plain ranges, up to the same quotas.

A topic needs racks where some subscriber's rack is among the racks of its partitions and these do not all
stand in the same racks. Once one topic does, pass 1 runs for all. A member without a rack matches
everywhere.

Source: org.apache.kafka.clients.consumer.RangeAssignor, AbstractPartitionAssignor.useRackAwareAssignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.member_order import static_first
from assignors.model import Assignment, DenseGroup, Ints, Result
from assignors.plain_ranges import counts, plain_ranges
from assignors.quota import Quota
from assignors.subscribers import by_topic

Racks = frozenset[str]
NO_RACKS: Racks = frozenset()


def assign(group: DenseGroup) -> Result:
    """Assign as Java's RangeAssignor does."""
    members = static_first(group.spec.members)
    racks = [group.spec.members[m].rack or None for m in members.tolist()]
    if not any(racks):
        return Result(assignment=plain_ranges(group, members))
    subscribers = by_topic(group, members)
    topics = [
        _Topic(subscribers=subscribers[i], partitions=topic.partitions)
        for i, topic in enumerate(group.spec.topics)
    ]
    _give_by_rack(group, topics, racks)
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    for i, topic in enumerate(topics):
        if len(topic.subscribers) and topic.partitions:
            owners[group.topic_start[i] : group.topic_start[i + 1]] = members[topic.finish()]
    return Result(assignment=Assignment.from_owners(group, owners))


@dataclass(slots=True, kw_only=True)
class _Topic:
    """A topic while it is handed out. Members are positions in the sorted list of members."""

    subscribers: Ints
    partitions: int
    racks: Sequence[Racks] = ()
    """By partition; empty where no subscriber has a rack."""
    quota: Quota | None = None
    owners: Ints | None = None
    """What pass 1 gave away: index into `subscribers` by partition, -1 is nobody yet."""

    def finish(self) -> Ints:
        """Owners of all partitions, the rest given in plain ranges."""
        if self.quota is None or self.owners is None:
            return np.repeat(self.subscribers, counts(self.partitions, len(self.subscribers)))
        left = self.owners < 0
        self.owners[left] = np.repeat(np.arange(len(self.subscribers)), self.quota.rest())
        return self.subscribers[self.owners]


def _give_by_rack(group: DenseGroup, topics: Sequence[_Topic], racks: Sequence[str | None]) -> None:
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
            _give_together([topics[i] for i in members], racks)
        elif members[0] in needy:
            _give_alone(topics[members[0]], racks)


def _needs_racks(
    group: DenseGroup,
    index: int,
    topic: _Topic,
    racks: Sequence[str | None],
    sets: dict[tuple[str, ...], Racks],
) -> bool:
    """Also notes the racks of the topic's partitions; `sets` holds one object for each set of racks."""
    mine = {racks[m] for m in topic.subscribers.tolist()} - {None}
    if not mine or topic.partitions == 0:
        return False
    spec = group.spec.topics[index]
    given = spec.racks or (((),) * topic.partitions)
    for replicas in set(given) - sets.keys():
        sets[replicas] = frozenset(replicas)
    topic.racks = [sets[replicas] for replicas in given]
    distinct = set(topic.racks)
    union = frozenset().union(*distinct)
    return not mine.isdisjoint(union) and any(r != union for r in distinct)


def _give_together(topics: Sequence[_Topic], racks: Sequence[str | None]) -> None:
    """Co-partitioned topics: one member takes partition p of all of them, if one fits."""
    first = topics[0]
    mine = [racks[m] for m in first.subscribers.tolist()]
    quota = Quota(first.partitions, len(mine))
    owners = np.full(first.partitions, -1)
    # Room only ever shrinks, so the search for each set of racks resumes where it stopped.
    search: dict[Racks, int] = {}
    for p, everywhere in enumerate(zip(*(topic.racks for topic in topics), strict=True)):
        common = frozenset.intersection(*set(everywhere))
        member = search.get(common, 0)
        while member < len(mine) and not (_match(mine[member], common) and quota.room(member)):
            member += 1
        search[common] = member
        if member < len(mine):
            quota.take(member, 1)
            owners[p] = member
    for topic in topics:
        topic.quota, topic.owners = quota, owners.copy()


def _give_alone(topic: _Topic, racks: Sequence[str | None]) -> None:
    """One topic: each member in turn takes the first partitions whose racks match."""
    mine = [racks[m] for m in topic.subscribers.tolist()]
    quota = Quota(topic.partitions, len(mine))
    owners = np.full(topic.partitions, -1)
    matching: dict[str | None, list[int]] = {
        rack: [p for p in reversed(range(topic.partitions)) if _match(rack, topic.racks[p])]
        for rack in set(mine)
    }
    for member, rack in enumerate(mine):
        room, taken = quota.room(member), 0
        candidates = matching[rack]
        while taken < room and candidates:
            p = candidates.pop()
            if owners[p] < 0:
                owners[p] = member
                taken += 1
        if taken:
            quota.take(member, taken)
    topic.quota, topic.owners = quota, owners


def _match(rack: str | None, racks: Racks) -> bool:
    return rack is None or rack in racks


ASSIGNORS = (
    Assignor(
        name="range",
        side=Side.CLIENT,
        leader=Leader.JAVA,
        protocols=frozenset({RebalanceProtocol.EAGER}),
        assign=assign,
    ),
)
