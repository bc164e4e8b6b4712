"""The order of topics in the maps that the broker's assignors make of targets.

A target goes through a record into a `new HashMap<>()` by topic id, where topics that share a bin keep the order in
which they came. It decides which of them an overloaded member gives up first in the next round, and so the order of
the map that an assignor makes matters.

The uniform assignor takes the present target as it is, or a copy of it as soon as something changes: a topic goes when
nobody subscribes to it or its last partition went, and `computeIfAbsent` puts a new one first in its bin. The range
assignor puts topic after topic into an empty map, each last in its bin.

Source: java.util.HashMap; modern.Assignment.fromRecord, AssignorHelpers.deepCopyAssignment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assignors.broker.targets import Java, Targets, named_topics, topic_id, topic_of_ids
from assignors.java.java_map import JavaMap
from assignors.java.java_order import (
    grown_capacity,
    map_order,
    presized_capacity,
    spread,
    uuid_hashes,
    uuid_sort_key,
)
from assignors.model import Assignment, DenseGroup, Ints
from assignors.subscribers import homogeneous

NOTHING: Mapping[int, Sequence[int]] = {}


@dataclass(slots=True, eq=False)
class _Target:
    """A copy of a member's target that changes."""

    topics: JavaMap
    partitions: dict[int, set[int]]
    """Dense ids by topic; no topic is empty."""

    def drop(self, topic: int) -> None:
        """A topic goes that is there."""
        del self.partitions[topic]
        self.topics.remove(topic)


class TargetMaps:
    """The targets of all members while the uniform assignor changes them, partition by partition."""

    def __init__(self, group: DenseGroup) -> None:
        self._group = group
        self._topic_of: list[int] = topic_of_ids(group).tolist()
        targets = Targets(group, topic_of_ids(group), Java())
        self._spreads: list[int] = spread(targets.hashes).tolist()
        self._keys = [uuid_sort_key(topic_id(group, topic)) for topic in range(len(group.spec.topics))]
        self._present = [targets.topics(member) for member in range(len(group.spec.members))]
        self._gone = [targets.gone(member) for member in range(len(group.spec.members))]
        self._copies: dict[int, _Target] = {}

    def copy(self, member: int) -> None:
        """Copy a target although nothing may come to it; a later copy is the same one."""
        self._copy(member)

    def revoke(
        self, member: int, topics: Sequence[bool], given_up: Mapping[int, Sequence[int]] = NOTHING
    ) -> None:
        """Walk through a target: topics that are not wanted (False by topic, or gone) leave it, and what is given up.

        `given_up` are partitions by topic.
        """
        if self._gone[member]:
            self._copy(member)
        for topic in self._present[member]:
            if not topics[topic]:
                self._copy(member).drop(topic)
            elif topic in given_up:
                self.remove(member, topic, given_up[topic])

    def add(self, member: int, topic: int, partitions: Sequence[int]) -> None:
        """Partitions of one topic that come to a member one after the other, at least one."""
        target = self._copy(member)
        # The second one can still make the array longer, all later ones only find their topic.
        for _ in partitions[:2]:
            target.topics.compute_if_absent(topic)
        target.partitions.setdefault(topic, set()).update(partitions)

    def remove(self, member: int, topic: int, partitions: Sequence[int]) -> None:
        """Partitions of one topic that a member gives up one after the other; it has some of the topic."""
        target = self._copy(member)
        left = target.partitions[topic]
        left.difference_update(partitions)
        if not left:
            target.drop(topic)

    def order(self) -> list[list[int]]:
        """By member: the topics of its target."""
        return [
            list(self._copies[member].topics) if member in self._copies else present
            for member, present in enumerate(self._present)
        ]

    def _copy(self, member: int) -> _Target:
        if member not in self._copies:
            topics, gone = self._present[member], self._gone[member]
            capacity = presized_capacity(len(topics) + gone)
            if gone:
                # They only make the array longer: nobody subscribes to them, so they go before anything comes.
                capacity = grown_capacity(len(topics) + gone, capacity)
            copied = JavaMap(self._spreads, capacity, self._keys)
            partitions: dict[int, set[int]] = {}
            for topic in topics:
                copied.put(topic)
            for partition in self._group.owned.partitions[member].tolist():
                if self._topic_of[partition] >= 0:
                    partitions.setdefault(self._topic_of[partition], set()).add(partition)
            self._copies[member] = _Target(copied, partitions)
        return self._copies[member]


Changes: TypeAlias = Callable[[TargetMaps], None]
"""Does to the maps what an assignor did to them; for who wants to know their order."""


def no_changes(maps: TargetMaps) -> None:
    """Of an assignor that leaves nobody anything: without topics there is no order."""


def changed(group: DenseGroup, changes: Changes) -> list[list[int]]:
    """By member: the topics of its target after the uniform assignor changed it."""
    maps = TargetMaps(group)
    changes(maps)
    return maps.order()


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
        return [_in_bins(assignment, i, alike, len(alike)) for i in range(len(members))]
    return [
        _in_bins(assignment, i, named_topics(group, member, java), len(set(member.topics)))
        for i, member in enumerate(members)
    ]


def _in_bins(assignment: Assignment, member: int, topics: Sequence[int], size: int) -> list[int]:
    """Those of the topics that the member has, as a map of `new HashMap<>((int) (size / 0.75f + 1.0f))` has them."""
    group = assignment.group
    row = assignment.partitions[member]
    has = set(group.partition_topic[row[row < group.partition_count]].tolist())
    present = [topic for topic in topics if topic in has]
    ids = [topic_id(group, topic) for topic in present]
    capacity = presized_capacity(size * 4 // 3 + 1)
    in_order = map_order(uuid_hashes(ids), capacity=capacity, keys=[uuid_sort_key(uuid) for uuid in ids])
    return [present[i] for i in in_order.indices.tolist()]
