"""librdkafka's round robin assignor: all partitions in order, members in a circle.

Topics by name, partitions ascending, members as `librdkafka_order` sorts them; a member that does not subscribe to
the topic is passed over. Differs from Java's in the two orders only.

Source: librdkafka 2.15, rd_kafka_roundrobin_assignor_assign_cb.
"""

from __future__ import annotations

import numpy as np

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.librdkafka.order import MemberOrder, no_order, readable, utf8, without_unreadable
from assignors.model import Assignment, DenseGroup, Result
from assignors.subscribers import by_topic


def assign(group: DenseGroup) -> Result:
    """Assign as a librdkafka leader's `roundrobin` does."""
    group = without_unreadable(group)
    taking_part = [m for m, member in enumerate(group.spec.members) if readable(member)]
    order = MemberOrder([group.spec.members[m] for m in taking_part])
    idle = np.setdiff1d(np.arange(len(group.spec.members)), taking_part)
    circle = np.concatenate([np.array(taking_part, dtype=np.int64)[order.all], idle])
    subscribers = by_topic(group, circle)
    topics = group.spec.topics
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    pointer = 0
    for topic in sorted(range(len(topics)), key=lambda t: utf8(topics[t].name)):
        turns, count = subscribers[topic], topics[topic].partitions
        if len(turns) == 0 or count == 0:
            continue
        first = int(np.searchsorted(turns, pointer))
        taken = turns[(first + np.arange(count)) % len(turns)]
        owners[group.topic_start[topic] : group.topic_start[topic + 1]] = circle[taken]
        pointer = int(taken[-1]) + 1
    assignment = Assignment.from_owners(group, owners)
    doubtful = () if order.is_order else no_order([group.spec.members[m] for m in taking_part])
    return Result(assignment=assignment, undetermined=doubtful)


ASSIGNORS = (
    Assignor(
        name="roundrobin",
        side=Side.CLIENT,
        leader=Leader.LIBRDKAFKA,
        protocols=frozenset({RebalanceProtocol.EAGER}),
        assign=assign,
    ),
)
