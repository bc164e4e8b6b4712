"""What both sticky assignors are asked: a group, what its members claim, and the orders Java walks it in.

Claims come from the user data (sticky) or from the owned partitions (cooperative-sticky). Only topics that exist,
have partitions and are subscribed to by somebody take part: `AbstractPartitionAssignor.assign` drops the others.

Source: org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor, AbstractPartitionAssignor,
ConsumerCoordinator.onLeaderElected (Kafka 4.3.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assignors.java.java_order import utf16
from assignors.member_order import hash_map_order
from assignors.model import NO_GENERATION, DenseGroup, Ints, Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class StickyGroup:
    """A group and its claims. Partition ids are dense, strays included."""

    group: DenseGroup
    claims: Rows
    """Partitions that each member claims, in the order in which it lists them."""
    since: Ints
    """The generation a member's own claims are judged by."""
    sent: Ints
    """The generation a member's claims are judged by where they rival another's: always the subscription's."""

    @classmethod
    def of(cls, group: DenseGroup, claims: Rows, since: Ints) -> StickyGroup:
        """`Subscription` knows no negative generation: it reads as none."""
        sent = np.maximum(group.owned.generations, NO_GENERATION)
        return cls(group=group, claims=claims, since=since, sent=sent)

    @property
    def member_count(self) -> int:
        return len(self.group.spec.members)

    @property
    def id_count(self) -> int:
        """Partitions and strays."""
        return self.group.partition_count + len(self.group.strays)

    @cached_property
    def hash_order(self) -> Ints:
        """Members in the order of the HashMap of subscriptions."""
        return hash_map_order(self.group.spec.members)

    @cached_property
    def owners_order(self) -> Ints:
        """Members in the order of the HashMap of what they own, which is filled in the order of the other one.

        The two differ only where so many ids collide that Java makes a tree of them.
        """
        first = self.hash_order
        return first[hash_map_order([self.group.spec.members[i] for i in first.tolist()])]

    @cached_property
    def by_id(self) -> Ints:
        """Members in the order of their ids, as `String.compareTo` has it."""
        return _sorted_names(member.id for member in self.group.spec.members)

    @cached_property
    def by_name(self) -> Ints:
        """Topics in the order of their names."""
        return _sorted_names(topic.name for topic in self.group.spec.topics)

    @cached_property
    def takes_part(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """By topic."""
        taking = np.zeros(len(self.group.spec.topics), dtype=bool)
        taking[self.group.subscriptions.values] = True
        return taking & (np.diff(self.group.topic_start) > 0)

    @cached_property
    def listed(self) -> Rows:
        """Topics by member that take part, as often as the subscription names them (once, from real clients)."""
        rows = self.group.subscriptions
        if any(
            len(m.topics) > n for m, n in zip(self.group.spec.members, rows.lengths.tolist(), strict=True)
        ):
            index = {topic.name: i for i, topic in enumerate(self.group.spec.topics)}
            rows = Rows.of([[index[t] for t in m.topics if t in index] for m in self.group.spec.members])
        if self.takes_part.all():
            return rows
        kept = self.takes_part[rows.values]
        start = np.concatenate(([0], np.cumsum(kept)))[rows.start]
        return Rows(start, rows.values[kept])

    @cached_property
    def all_equal(self) -> bool:
        """Whether Java takes its algorithm for equal subscriptions.

        Everybody is compared with the first subscription that is not empty, so empty ones before it (in the
        order of the map) go unnoticed. Names that do not exist count.
        """
        members, lengths = self.group.spec.members, self.group.subscriptions.lengths
        if not any(len(m.topics) > n for m, n in zip(members, lengths.tolist(), strict=True)):
            return self._all_equal_existing()
        first: frozenset[str] = frozenset()
        for i in self.hash_order.tolist():
            if not first:
                first = frozenset(members[i].topics)
            elif len(members[i].topics) != len(first) or not first.issuperset(members[i].topics):
                return False
        return True

    def _all_equal_existing(self) -> bool:
        rows, lengths = self.group.subscriptions, self.group.subscriptions.lengths
        if not len(rows.values):
            return True
        if not lengths.all():
            in_order = lengths[self.hash_order]
            if not in_order[np.argmax(in_order > 0) :].all():
                return False
        width = int(lengths.max())
        if (lengths[lengths > 0] != width).any():
            return False
        return bool((rows.values.reshape(-1, width) == rows.values[:width]).all())

    @cached_property
    def stray_topics(self) -> Ints:
        """The topic of each stray that takes part, else -1."""
        index = {topic.name: i for i, topic in enumerate(self.group.spec.topics)}
        topics = np.array([index.get(name, -1) for name, _ in self.group.strays], dtype=np.int64)
        if not len(self.takes_part):
            return topics
        return np.where(self.takes_part[topics], topics, -1)

    def topics_of(self, ids: Ints) -> Ints:
        """Topic of each dense id; -1 for strays of topics that take no part."""
        if not len(self.group.strays):
            return self.group.partition_topic[ids]
        return np.concatenate((self.group.partition_topic, self.stray_topics))[ids]

    def numbers_of(self, ids: Ints) -> Ints:
        """Partition number of each dense id."""
        count = self.group.partition_count
        real = np.minimum(ids, max(count - 1, 0))
        known = ids < count
        numbers = np.zeros(len(ids), dtype=np.int64)
        numbers[known] = real[known] - self.group.topic_start[self.group.partition_topic[real[known]]]
        stray_numbers = np.array([number for _, number in self.group.strays], dtype=np.int64)
        numbers[~known] = stray_numbers[ids[~known] - count]
        return numbers

    def partitions_of(self, topics: Ints) -> Ints:
        """Dense ids of all partitions of the topics, in that order."""
        start = self.group.topic_start[topics]
        lengths = self.group.topic_start[topics + 1] - start
        ends = np.cumsum(lengths)
        shift: Ints = np.repeat(start - (ends - lengths), lengths)
        shift += np.arange(len(shift))
        return shift


def places(order: Ints) -> Ints:
    """The place of each index in an order of all of them."""
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.arange(len(order))
    return inverse


def _sorted_names(names: Iterable[str]) -> Ints:
    keys = [utf16(name) for name in names]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
