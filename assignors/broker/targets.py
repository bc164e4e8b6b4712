"""The target assignment as the broker holds it: per member a map from topic id to a set of partition numbers.

A target comes from its record (`Assignment.fromRecord`): a HashMap filled topic by topic, of `new
HashSet(list)`s. Their iteration orders decide which partitions an overloaded member gives up. Where Java
versions size a copied set differently, `Java` remembers that it mattered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from assignors.java.java_order import (
    DEFAULT_CAPACITY,
    copied_capacity,
    grown_capacity,
    map_order,
    string_hashes,
    utf16,
    uuid_hashes,
    uuid_sort_key,
)
from assignors.model import DenseGroup, Ints, MemberSpec

JAVA_RESIZED_COPIES = 19
"""The first Java whose `new HashSet(collection)` needs `ceil(n / 0.75)` places instead of `n / 0.75 + 1`."""


@dataclass(slots=True)
class Java:
    """The Java that the broker runs on."""

    version: int = 17
    mattered: bool = False
    """Whether some set was met that another version would have made of another size."""

    def copied_capacity(self, size: int) -> int:
        before = copied_capacity(size, java=JAVA_RESIZED_COPIES - 1)
        since = copied_capacity(size, java=JAVA_RESIZED_COPIES)
        self.mattered |= before != since
        return since if self.version >= JAVA_RESIZED_COPIES else before


def topic_id(group: DenseGroup, topic: int) -> UUID:
    """The topic's id; where it is not known a stand-in, in the order of the topics."""
    return group.spec.topics[topic].id or UUID(int=topic + 1)


def named_topics(group: DenseGroup, member: MemberSpec, java: Java) -> list[int]:
    """Topics of the member in the order of its set of names, which is that of `subscribedTopicIds()`."""
    index = {topic.name: i for i, topic in enumerate(group.spec.topics)}
    names = list(dict.fromkeys(member.topics))
    order = map_order(
        string_hashes(names),
        capacity=java.copied_capacity(len(member.topics)),
        keys=[utf16(name) for name in names],
    )
    return [index[names[i]] for i in order.indices.tolist() if names[i] in index]


def subscribed_topics(group: DenseGroup, member: MemberSpec, java: Java) -> list[int]:
    """Topics of the member in the order of `new HashSet<>(subscribedTopicIds())`.

    The ids enter it in the order of the set of names; names without a topic count for its size.
    """
    topics = named_topics(group, member, java)
    ids = [topic_id(group, topic) for topic in topics]
    by_id = map_order(
        uuid_hashes(ids),
        capacity=java.copied_capacity(len(set(member.topics))),
        keys=[uuid_sort_key(uuid) for uuid in ids],
    )
    return [topics[i] for i in by_id.indices.tolist()]


def topic_of_ids(group: DenseGroup) -> Ints:
    """Topic of every dense partition id, strays included; -1 where the topic is gone."""
    if not group.strays:
        return group.partition_topic
    index = {topic.name: i for i, topic in enumerate(group.spec.topics)}
    strays = np.array([index.get(name, -1) for name, _ in group.strays], dtype=np.int64)
    return np.concatenate((group.partition_topic, strays))


class Targets:
    """Iteration over the targets of members, in Java's order."""

    def __init__(self, group: DenseGroup, topic_of: Ints, java: Java) -> None:
        self.group, self.topic_of, self.java = group, topic_of, java
        self.hashes = uuid_hashes([topic_id(group, t) for t in range(len(group.spec.topics))])

    def of(self, member: int) -> Iterator[tuple[int, Ints]]:
        """Topics of a member's target that exist, each with its dense partition ids."""
        row, topics = self._row(member)
        for topic in self.topics(member):
            yield topic, self._set(row[topics == topic])

    def topics(self, member: int) -> list[int]:
        """Topics of a member's target that exist."""
        _, topics = self._row(member)
        known, first = np.unique(topics[topics >= 0], return_index=True)
        in_order = known[np.argsort(first)]
        # Topics that are gone count for the length of the array; their bins are not known.
        gone = self.gone(member)
        order = map_order(
            self.hashes[in_order],
            capacity=grown_capacity(len(in_order) + gone) if gone else DEFAULT_CAPACITY,
            keys=[self._key(int(topic)) for topic in in_order],
        )
        return [int(topic) for topic in in_order[order.indices]]

    def gone(self, member: int) -> int:
        """How many topics of a member's target do not exist any more."""
        row, topics = self._row(member)
        return len({self.group.name_of(int(p))[0] for p in row[topics < 0]})

    def _row(self, member: int) -> tuple[Ints, Ints]:
        row = self.group.owned.partitions[member]
        return row, self.topic_of[row]

    def _set(self, ids: Ints) -> Ints:
        distinct = np.array(list(dict.fromkeys(ids.tolist())), dtype=np.int64)
        numbers = np.array([self.group.name_of(p)[1] for p in distinct.tolist()], dtype=np.int64)
        capacity = self.java.copied_capacity(len(ids))
        return distinct[map_order(numbers, capacity=capacity, keys=numbers.tolist()).indices]

    def _key(self, topic: int) -> tuple[int, int]:
        return uuid_sort_key(topic_id(self.group, topic))
