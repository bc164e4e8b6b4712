"""librdkafka's range assignor, with its rack-aware passes.

As in Java's, everybody gets P // n partitions of a topic and the first P % n members to come one more. What differs:

- Members stand in librdkafka's order (`librdkafka_order`), topic by topic.
- Topics with the same subscribers and the same P always go through the pass for co-partitioned topics, also where no
  topic needs racks. In it a partition goes to the first member that *has* a rack, with room and a match in every one
  of the topics; a member without a rack gets nothing before the plain ranges, where Java's matches everywhere.
- A topic alone in its class goes by racks only if it needs them itself. There, as in Java, a member without a rack
  matches everywhere.
- The leader asks for racks only where some member of the group has one.

A topic needs racks where some subscriber's rack is among the racks of its partitions and these do not all stand in
the same number of racks.

Source: librdkafka 2.15, rd_kafka_range_assignor_assign_cb, rd_kafka_use_rack_aware_assignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.librdkafka.order import MemberOrder, no_order, readable, without_unreadable
from assignors.model import Assignment, DenseGroup, Ints, Result, Undetermined
from assignors.quota import Quota
from assignors.subscribers import by_topic

Racks = frozenset[str]
NO_RACKS: Racks = frozenset()


def assign(group: DenseGroup) -> Result:
    """Assign as a librdkafka leader's `range` does."""
    group = without_unreadable(group)
    members = group.spec.members
    subscribers, doubtful = _subscribers(group)
    topics = [
        _Topic(subscribers=subscribers[i], partitions=topic.partitions)
        for i, topic in enumerate(group.spec.topics)
    ]
    if any(member.rack for member in members if readable(member)):
        _give_by_rack(group, topics)
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    for i, topic in enumerate(topics):
        if len(topic.subscribers) and topic.partitions:
            owners[group.topic_start[i] : group.topic_start[i + 1]] = topic.finish()
    return Result(assignment=Assignment.from_owners(group, owners), undetermined=doubtful)


def _subscribers(group: DenseGroup) -> tuple[list[Ints], tuple[Undetermined, ...]]:
    """Member indices by topic, sorted; and what is not known about the orders."""
    members = group.spec.members
    order = MemberOrder(members)
    if order.is_order:
        circle = np.array(order.all, dtype=np.int64)
        positions = by_topic(group, circle)
        return [circle[positions[t]] for t in range(len(group.spec.topics))], ()
    plain = by_topic(group, np.arange(len(members)))
    rows, doubtful = [], set()
    for topic in range(len(group.spec.topics)):
        own = order.of(plain[topic].tolist())
        rows.append(np.array(own, dtype=np.int64))
        if not order.agrees(own):
            doubtful.update(own)
    return rows, no_order([members[m] for m in sorted(doubtful)])


@dataclass(slots=True, kw_only=True)
class _Topic:
    """A topic while it is handed out."""

    subscribers: Ints
    """Member indices, sorted."""
    partitions: int
    racks: Sequence[Racks] = ()
    """By partition."""
    quota: Quota | None = None
    taken: Ints | None = None
    """Index into `subscribers` by partition after the rack passes, -1 is nobody yet."""

    def finish(self) -> Ints:
        """Members of all partitions, the rest given in plain ranges."""
        if self.quota is None or self.taken is None:
            each, extra = divmod(self.partitions, len(self.subscribers))
            counts = np.full(len(self.subscribers), each)
            counts[:extra] += 1
            return np.repeat(self.subscribers, counts)
        left = self.taken < 0
        self.taken[left] = np.repeat(np.arange(len(self.subscribers)), self.quota.rest())
        return self.subscribers[self.taken]


def _give_by_rack(group: DenseGroup, topics: Sequence[_Topic]) -> None:
    rack_of = [member.rack or None for member in group.spec.members]
    classes: dict[tuple[bytes, int], list[_Topic]] = {}
    for i, topic in enumerate(topics):
        if len(topic.subscribers) and topic.partitions:
            known = group.spec.topics[i].racks
            topic.racks = [frozenset(r) for r in known] if known else [NO_RACKS] * topic.partitions
            classes.setdefault((topic.subscribers.tobytes(), topic.partitions), []).append(topic)
    for alike in classes.values():
        racks = [rack_of[m] for m in alike[0].subscribers.tolist()]
        if len(alike) > 1:
            _give_together(alike, racks)
        elif _needs_racks(alike[0], racks):
            _give_alone(alike[0], racks)


def _needs_racks(topic: _Topic, racks: Sequence[str | None]) -> bool:
    union = frozenset().union(*topic.racks)
    some_match = any(rack in union for rack in racks if rack is not None)
    return some_match and any(len(own) != len(union) for own in topic.racks)


def _give_together(topics: Sequence[_Topic], racks: Sequence[str | None]) -> None:
    """Co-partitioned topics: one member with a rack takes partition p of all of them, if one fits."""
    partitions = topics[0].partitions
    quota = Quota(partitions, len(racks))
    taken = np.full(partitions, -1)
    # Room only ever shrinks, so the search for each set of racks resumes where it stopped.
    search: dict[Racks, int] = {}
    for p in range(partitions):
        common = topics[0].racks[p].intersection(*(topic.racks[p] for topic in topics[1:]))
        member = search.get(common, 0)
        while member < len(racks) and not (racks[member] in common and quota.room(member)):
            member += 1
        search[common] = member
        if member < len(racks):
            quota.take(member)
            taken[p] = member
    for topic in topics:
        topic.quota, topic.taken = quota, taken.copy()


def _give_alone(topic: _Topic, racks: Sequence[str | None]) -> None:
    """One topic: each member in turn takes the first free partitions whose racks match."""
    quota = Quota(topic.partitions, len(racks))
    taken = np.full(topic.partitions, -1)
    matching = {
        rack: [p for p in reversed(range(topic.partitions)) if rack is None or rack in topic.racks[p]]
        for rack in set(racks)
    }
    for member, rack in enumerate(racks):
        wanted, candidates = quota.room(member), matching[rack]
        while wanted and candidates:
            p = candidates.pop()
            if taken[p] < 0:
                taken[p] = member
                quota.take(member)
                wanted -= 1
    topic.quota, topic.taken = quota, taken


ASSIGNORS = (
    Assignor(
        name="range",
        side=Side.CLIENT,
        leader=Leader.LIBRDKAFKA,
        protocols=frozenset({RebalanceProtocol.EAGER}),
        assign=assign,
    ),
)
