"""The order of topics in the maps that the broker's assignors make of targets.

A target goes through a record into a `new HashMap<>()` by topic id, where topics that share a bin keep the order in
which they came. It decides which of them an overloaded member gives up first in the next round, and so the order of
the map that an assignor makes matters.

The uniform assignor copies the present target and adds to the copy by `computeIfAbsent`, which puts a new key first in
its bin. The range assignor puts topic after topic into an empty map, each last in its bin.

Source: java.util.HashMap; modern.Assignment.fromRecord, AssignorHelpers.deepCopyAssignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from assignors.broker_targets import Java, Targets, named_topics, topic_id, topic_of_ids
from assignors.java_order import (
    grown_capacity,
    map_order,
    presized_capacity,
    uuid_hashes,
    uuid_sort_key,
)
from assignors.model import Assignment, Ints
from assignors.subscribers import homogeneous

Came: TypeAlias = Callable[[], list[tuple[int, int]]]
"""What came into whose target while an assignor was at work, as (member, topic), in order; for who wants to know."""


def added(assignment: Assignment, came: Iterable[tuple[int, int]]) -> list[list[int]]:
    """By member: the topics of its target, with those that `came` to it put into a copy of the present one."""
    group = assignment.group
    new: list[dict[int, None]] = [{} for _ in group.spec.members]
    for member, topic in came:
        new[member].pop(topic, None)
        new[member][topic] = None
    targets = Targets(group, topic_of_ids(group), Java())
    orders = []
    for member, latest in enumerate(new):
        kept = [topic for topic, _ in targets.of(member) if topic not in latest]
        size = len(group.spec.members[member].owned.partitions)
        capacity = grown_capacity(size, presized_capacity(size))
        orders.append(_in_bins(assignment, member, [*reversed(latest), *kept], capacity))
    return orders


def put(assignment: Assignment, order: Ints) -> list[list[int]]:
    """By member: the topics of its target, put one by one as its set of names has them.

    Where all subscribe to the same ones it is the set of the first in `order`, the order of the members.
    """
    group, java = assignment.group, Java()
    members = group.spec.members
    if not members:
        return []
    if homogeneous(group):
        alike = named_topics(group, members[int(order[0])], java)
        return [_in_bins(assignment, i, alike, _for_all(len(alike))) for i in range(len(members))]
    return [
        _in_bins(assignment, i, named_topics(group, member, java), _for_all(len(set(member.topics))))
        for i, member in enumerate(members)
    ]


def _for_all(size: int) -> int:
    """Array length of `new HashMap<>((int) (size / 0.75f + 1.0f))`."""
    return presized_capacity(size * 4 // 3 + 1)


def _in_bins(assignment: Assignment, member: int, topics: Sequence[int], capacity: int) -> list[int]:
    """Those of the topics that the member has, as a map gives them back."""
    group = assignment.group
    row = assignment.partitions[member]
    has = set(group.partition_topic[row[row < group.partition_count]].tolist())
    present = [topic for topic in topics if topic in has]
    ids = [topic_id(group, topic) for topic in present]
    in_order = map_order(uuid_hashes(ids), capacity=capacity, keys=[uuid_sort_key(uuid) for uuid in ids])
    return [present[i] for i in in_order.indices.tolist()]
