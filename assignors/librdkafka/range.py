"""librdkafka's range assignor, with its rack-aware passes.

As in Java's, every subscriber gets P // n partitions of a topic and the first P % n of them one more. Differences:

- Members are in librdkafka's order (`assignors.librdkafka.order`), topic by topic.
- Topics with the same subscribers and the same P always use the pass for co-partitioned topics, even if no topic
  needs racks. This pass assigns a partition to the first member that *has* a rack, with room and a match in every one
  of the topics; a member without a rack gets nothing before the plain ranges, whereas in Java it matches everywhere.
- A topic alone in its class uses racks only if it needs them itself. There, as in Java, a member without a rack
  matches everywhere.
- The leader requests racks only if some member of the group has one.

A topic needs racks if some subscriber's rack is among the racks of its partitions and these are not all in the same
number of racks.

Source: librdkafka 2.15, rd_kafka_range_assignor_assign_cb, rd_kafka_use_rack_aware_assignment.
"""

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
