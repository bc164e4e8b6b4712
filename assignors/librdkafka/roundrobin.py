"""librdkafka's round robin assignor (rd_kafka_roundrobin_assignor_assign_cb, 2.15): Java's, but topics by bytes of
their names and members as `MemberOrder` sorts them."""

import numpy as np

from assignors.java.roundrobin import assign_round_robin
from assignors.librdkafka.order import MemberOrder, no_order, readable, utf8, without_unreadable
from assignors.model import DenseGroup, Result, sorted_indices


def assign(group: DenseGroup) -> Result:
    group = without_unreadable(group)
    taking_part = [m for m, member in enumerate(group.spec.members) if readable(member)]
    order = MemberOrder([group.spec.members[m] for m in taking_part])
    idle = np.setdiff1d(np.arange(len(group.spec.members)), taking_part)
    circle = np.concatenate([np.array(taking_part, dtype=np.int64)[order.all], idle])
    topics = sorted_indices([utf8(topic.name) for topic in group.spec.topics])
    assignment = assign_round_robin(group, circle, topics)
    doubtful = () if order.is_order else no_order([group.spec.members[m] for m in taking_part])
    return Result(assignment=assignment, undetermined=doubtful)
