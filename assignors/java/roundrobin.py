"""The client's round robin assignor: all partitions in order, members in a circle.

Topics by name (`String.compareTo`), partitions ascending, members as `static_first` sorts them; a member
that does not subscribe to the topic is passed over. Racks play no part.

Source: org.apache.kafka.clients.consumer.RoundRobinAssignor.
"""

from __future__ import annotations

import numpy as np

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.java.java_order import utf16
from assignors.member_order import static_first
from assignors.model import Assignment, DenseGroup, Ints, Result
from assignors.subscribers import by_topic


def assign(group: DenseGroup) -> Result:
    """Assign as Java's RoundRobinAssignor does."""
    members = static_first(group.spec.members)
    subscribers = by_topic(group, members)
    topics = group.spec.topics
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    pointer = 0
    for topic in sorted(range(len(topics)), key=lambda t: utf16(topics[t].name)):
        positions = subscribers[topic]
        count = topics[topic].partitions
        if len(positions) == 0 or count == 0:
            continue
        turns = _turns(positions, pointer, count)
        owners[group.topic_start[topic] : group.topic_start[topic + 1]] = members[turns]
        pointer = int(turns[-1]) + 1
    return Result(assignment=Assignment.from_owners(group, owners))


def _turns(positions: Ints, pointer: int, count: int) -> Ints:
    """Who of the positions is next, `count` times, going round from `pointer`."""
    first = int(np.searchsorted(positions, pointer))
    return positions[(first + np.arange(count)) % len(positions)]


ASSIGNORS = (
    Assignor(
        name="roundrobin",
        side=Side.CLIENT,
        leader=Leader.JAVA,
        protocols=frozenset({RebalanceProtocol.EAGER}),
        assign=assign,
    ),
)
