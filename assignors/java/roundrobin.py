"""The client's round robin assignor (RoundRobinAssignor): all partitions in order, members in a circle, `static_first`.
Topics are sorted by `String.compareTo`; a member that does not subscribe to the topic is skipped."""

import numpy as np

from assignors.java.hash_map import static_first, utf16
from assignors.model import Assignment, DenseGroup, Ints, Result, sorted_indices


def assign(group: DenseGroup) -> Result:
    members = static_first(group.spec.members)
    topics = sorted_indices([utf16(topic.name) for topic in group.spec.topics])
    return Result(assignment=assign_round_robin(group, members, topics))


def assign_round_robin(group: DenseGroup, circle: Ints, topics: Ints) -> Assignment:
    """Assign the topics in this order; `circle` is the order of the members."""
    subscribers = group.subscribers(circle)
    owners = np.full(group.partition_count, -1, dtype=np.int32)
    pointer = 0
    for topic in topics.tolist():
        positions, count = subscribers[topic], group.spec.topics[topic].partitions
        if len(positions) == 0 or count == 0:
            continue
        first = int(np.searchsorted(positions, pointer))
        turns = positions[(first + np.arange(count)) % len(positions)]
        owners[group.topic_start[topic] : group.topic_start[topic + 1]] = circle[turns]
        pointer = int(turns[-1]) + 1
    return Assignment.from_owners(group, owners)
