"""The target assignment as the broker stores it: per member a map from topic id to a set of partition numbers.

A target is read from its record (`Assignment.fromRecord`) into a HashMap filled topic by topic, with a
`new HashSet(list)` for each. Their iteration orders decide which partitions an overloaded member revokes. `Java`
remembers whether Java's version mattered: versions differ in the size of a copied set.

The order of topics in the map that an assignor creates matters too (`TargetMaps`): it is written to a record and read
into a `new HashMap<>()` by topic id, where topics that share a bin keep their order. This order decides which of them
an overloaded member revokes first in the next round.

The uniform assignor uses the current target unchanged, or a copy of it as soon as something changes: a topic is removed
when no member subscribes to it or its last partition is removed, and `computeIfAbsent` puts a new one first in its bin.
The range assignor puts topic after topic into an empty map, each last in its bin.

Source: java.util.HashMap; modern.Assignment.fromRecord, AssignorHelpers.deepCopyAssignment.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

import numpy as np

from assignors.java import hash_map
from assignors.model import Assignment, DenseGroup, Ints, MemberSpec

JAVA_RESIZED_COPIES = 19
"""The first Java whose `new HashSet(collection)` needs `ceil(n / 0.75)` places instead of `n / 0.75 + 1`."""


@dataclass(slots=True)
class Java:
    version: int = 17
    mattered: bool = False  # whether another version would have given some set another size

    def copied_capacity(self, size: int) -> int:
        before = hash_map.copied_capacity(size, java=JAVA_RESIZED_COPIES - 1)
        since = hash_map.copied_capacity(size, java=JAVA_RESIZED_COPIES)
        self.mattered |= before != since
        return since if self.version >= JAVA_RESIZED_COPIES else before


def topic_id(group: DenseGroup, topic: int) -> UUID:
    """The topic's id; if it is unknown, a placeholder in the order of the topics."""
    return group.spec.topics[topic].id or UUID(int=topic + 1)


def named_topics(group: DenseGroup, member: MemberSpec, java: Java) -> list[int]:
    """Topics of the member in the order of its set of names, which is also the order of `subscribedTopicIds()`."""
    index = group.topic_index
    names = list(dict.fromkeys(member.topics))
    order = hash_map.string_order(names, java.copied_capacity(len(member.topics)))
    return [index[names[i]] for i in order.tolist() if names[i] in index]


def subscribed_topics(group: DenseGroup, member: MemberSpec, java: Java) -> list[int]:
    """Topics of the member in the order of `new HashSet<>(subscribedTopicIds())`, with room for missing names."""
    topics = named_topics(group, member, java)
    ids = [topic_id(group, topic) for topic in topics]
    return [
        topics[i] for i in hash_map.uuid_order(ids, java.copied_capacity(len(set(member.topics)))).tolist()
    ]


def homogeneous(group: DenseGroup) -> bool:
    """Whether the broker considers subscriptions equal: missing topics count, topics of regular expressions never."""
    members = group.spec.members
    if any(member.by_regex for member in members):
        return False
    named = np.array([len(member.topics) for member in members])
    if np.array_equal(named, group.subscriptions.lengths):
        # Each name is a topic that exists, and none occurs twice.
        return group.all_alike
    return len({frozenset(member.topics) for member in members}) <= 1


class Targets:
    """Iteration over the targets of members, in Java's order."""

    def __init__(self, group: DenseGroup, java: Java) -> None:
        self.group, self.java = group, java
        self.hashes = hash_map.uuid_hashes([topic_id(group, t) for t in range(len(group.spec.topics))])

    def of(self, member: int) -> Iterator[tuple[int, Ints]]:
        """Topics of a member's target that exist, each with its dense partition ids."""
        row, topics = self._row(member)
        for topic in self.topics(member):
            yield topic, self._set(row[topics == topic])

    def topics(self, member: int) -> list[int]:
        _, topics = self._row(member)
        known, first = np.unique(topics[topics >= 0], return_index=True)
        in_order = known[np.argsort(first)]
        # Deleted topics add to the length of the array; their bins are unknown.
        gone = self.gone(member)
        order = hash_map.map_order(
            self.hashes[in_order],
            capacity=hash_map.grown_capacity(len(in_order) + gone) if gone else hash_map.DEFAULT_CAPACITY,
            keys=[hash_map.uuid_sort_key(topic_id(self.group, int(topic))) for topic in in_order],
        )
        return [int(topic) for topic in in_order[order.indices]]

    def gone(self, member: int) -> int:
        row, topics = self._row(member)
        return len({self.group.name_of(int(p))[0] for p in row[topics < 0]})

    def _row(self, member: int) -> tuple[Ints, Ints]:
        row = self.group.owned.partitions[member]
        return row, self.group.topic_of[row]

    def _set(self, ids: Ints) -> Ints:
        distinct = np.array(list(dict.fromkeys(ids.tolist())), dtype=np.int64)
        numbers = np.array([self.group.name_of(p)[1] for p in distinct.tolist()], dtype=np.int64)
        capacity = self.java.copied_capacity(len(ids))
        return distinct[hash_map.map_order(numbers, capacity=capacity, keys=numbers.tolist()).indices]


NOTHING: Mapping[int, Sequence[int]] = {}


@dataclass(slots=True, eq=False)
class _Target:
    topics: hash_map.JavaMap
    partitions: dict[int, set[int]]  # dense ids by topic; no topic is empty

    def drop(self, topic: int) -> None:
        del self.partitions[topic]
        self.topics.remove(topic)


class TargetMaps:
    """The targets of all members while the uniform assignor changes them, partition by partition."""

    def __init__(self, group: DenseGroup) -> None:
        self._group = group
        self._topic_of: list[int] = group.topic_of.tolist()
        targets = Targets(group, Java())
        self._spreads: list[int] = hash_map.spread(targets.hashes).tolist()
        self._keys = [
            hash_map.uuid_sort_key(topic_id(group, topic)) for topic in range(len(group.spec.topics))
        ]
        self._present = [targets.topics(member) for member in range(len(group.spec.members))]
        self._gone = [targets.gone(member) for member in range(len(group.spec.members))]
        self._copies: dict[int, _Target] = {}

    def revoke(
        self, member: int, topics: Sequence[bool], given_up: Mapping[int, Sequence[int]] = NOTHING
    ) -> None:
        """Remove revoked partitions (`given_up`, by topic), and unwanted topics (False by topic, or deleted)."""
        if self._gone[member]:
            self.copy(member)
        for topic in self._present[member]:
            if not topics[topic]:
                self.copy(member).drop(topic)
            elif topic in given_up:
                self.remove(member, topic, given_up[topic])

    def add(self, member: int, topic: int, partitions: Sequence[int]) -> None:
        """Add at least one partition of a topic to a member, one at a time."""
        target = self.copy(member)
        # The second partition can still make the array longer; all later ones only find their topic.
        for _ in partitions[:2]:
            target.topics.compute_if_absent(topic)
        target.partitions.setdefault(topic, set()).update(partitions)

    def remove(self, member: int, topic: int, partitions: Sequence[int]) -> None:
        """Remove partitions of a topic that a member revokes one at a time; its target contains the topic."""
        target = self.copy(member)
        left = target.partitions[topic]
        left.difference_update(partitions)
        if not left:
            target.drop(topic)

    def order(self) -> list[list[int]]:
        return [
            list(self._copies[member].topics) if member in self._copies else present
            for member, present in enumerate(self._present)
        ]

    def copy(self, member: int) -> _Target:
        """The target, copied by the first call."""
        if member not in self._copies:
            topics, gone = self._present[member], self._gone[member]
            capacity = hash_map.presized_capacity(len(topics) + gone)
            if gone:
                # Deleted topics only make the array longer: they are removed before anything is added.
                capacity = hash_map.grown_capacity(len(topics) + gone, capacity)
            copied = hash_map.JavaMap(self._spreads, capacity, self._keys)
            partitions: dict[int, set[int]] = {}
            for topic in topics:
                copied.put(topic)
            for partition in self._group.owned.partitions[member].tolist():
                if self._topic_of[partition] >= 0:
                    partitions.setdefault(self._topic_of[partition], set()).add(partition)
            self._copies[member] = _Target(copied, partitions)
        return self._copies[member]


Changes: TypeAlias = Callable[[TargetMaps], None]
"""Applies an assignor's changes to the maps, to determine the order of their topics."""


def no_changes(maps: TargetMaps) -> None:
    """The changes of an assignor that assigns nothing: without topics there is no order."""


def changed_order(group: DenseGroup, changes: Changes) -> list[list[int]]:
    maps = TargetMaps(group)
    changes(maps)
    return maps.order()


def inserted_order(assignment: Assignment, order: Ints) -> list[list[int]]:
    """By member: the topics of its target, inserted in the order of its set of names. If all members subscribe to the
    same topics, the set of the first member in `order` is used for all."""
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
    """The topics that the member has, in the order of `new HashMap<>((int) (size / 0.75f + 1.0f))`."""
    group = assignment.group
    row = assignment.partitions[member]
    has = set(group.partition_topic[row[row < group.partition_count]].tolist())
    present = [topic for topic in topics if topic in has]
    ids = [topic_id(group, topic) for topic in present]
    return [
        present[i] for i in hash_map.uuid_order(ids, hash_map.presized_capacity(size * 4 // 3 + 1)).tolist()
    ]
