"""librdkafka's range assignor, with its rack-aware passes. Unlike in Java, members are in librdkafka's order, topic by
topic; topics with the same subscribers and P always use the co-partitioned pass, in which a member without a rack gets
nothing; a topic alone in its class uses racks only if its partitions are not all in the same *number* of racks.
Source: librdkafka 2.15, rd_kafka_range_assignor_assign_cb, rd_kafka_use_rack_aware_assignment."""

from collections.abc import Sequence

import numpy as np

from assignors.java.range import RangeTopic, finished, give_alone, give_together, range_topics
from assignors.librdkafka.order import MemberOrder, no_order, readable, without_unreadable
from assignors.model import DenseGroup, Ints, Result, Undetermined


def assign(group: DenseGroup) -> Result:
    group = without_unreadable(group)
    members = group.spec.members
    subscribers, doubtful = _subscribers(group)
    topics = range_topics(group, subscribers)
    if any(member.rack for member in members if readable(member)):
        _give_by_rack(group, topics)
    return Result(assignment=finished(group, topics), undetermined=doubtful)


def _subscribers(group: DenseGroup) -> tuple[list[Ints], tuple[Undetermined, ...]]:
    """Member indices by topic, sorted; and what is unknown about the orders."""
    members = group.spec.members
    order = MemberOrder(members)
    if order.is_order:
        circle = np.array(order.all, dtype=np.int64)
        positions = group.subscribers(circle)
        return [circle[positions[t]] for t in range(len(group.spec.topics))], ()
    plain = group.subscribers(np.arange(len(members)))
    rows, doubtful = [], set()
    for topic in range(len(group.spec.topics)):
        ordered = order.of(plain[topic].tolist())
        rows.append(np.array(ordered, dtype=np.int64))
        if not order.agrees(ordered):
            doubtful.update(ordered)
    return rows, no_order([members[m] for m in sorted(doubtful)])


def _give_by_rack(group: DenseGroup, topics: Sequence[RangeTopic]) -> None:
    rack_of = [member.rack or None for member in group.spec.members]
    classes: dict[tuple[bytes, int], list[RangeTopic]] = {}
    for i, topic in enumerate(topics):
        if len(topic.subscribers) and topic.partitions:
            known = group.spec.topics[i].racks
            topic.racks = [frozenset(r) for r in known] if known else [frozenset()] * topic.partitions
            classes.setdefault((topic.subscribers.tobytes(), topic.partitions), []).append(topic)
    for alike in classes.values():
        racks = [rack_of[m] for m in alike[0].subscribers.tolist()]
        if len(alike) > 1:
            give_together(alike, racks, rackless_match=False)
        elif _needs_racks(alike[0], racks):
            give_alone(alike[0], racks)


def _needs_racks(topic: RangeTopic, racks: Sequence[str | None]) -> bool:
    union = frozenset().union(*topic.racks)
    some_match = any(rack in union for rack in racks if rack is not None)
    return some_match and any(len(replicas) != len(union) for replicas in topic.racks)
