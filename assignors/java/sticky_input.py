"""The input of both sticky assignors: a group, its members' claims, and the orders in which Java walks it.

Claims are read from the user data (sticky) or from the owned partitions (cooperative-sticky). Only topics that exist,
have partitions and have subscribers take part: `AbstractPartitionAssignor.assign` drops the others.

`Subscribers`: the possible owners of each topic, for the general algorithm. Topics with the same subscribers form a
class: partitions of one class are interchangeable if only their possible owners matter. Real groups have few classes,
even if they have many topics.

`Racks` count only if they can make a difference: some member's rack is among the racks of the partitions, and not all
partitions are in the same racks. Then a member with a rack mismatches every partition that has no replica there, strays
and partitions without racks included; a member without a rack mismatches nothing.

Source: org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor (RackInfo, GeneralAssignmentBuilder),
AbstractPartitionAssignor (useRackAwareAssignment, KIP-881), ConsumerCoordinator.onLeaderElected (Kafka 4.3.1).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assignors.java.hash_map import hash_map_order, utf16
from assignors.model import NO_GENERATION, DenseGroup, Ints, Rows, places, sorted_indices, stable_order


@dataclass(frozen=True, eq=False, kw_only=True)
class StickyInput:
    """A group and its claims. Partition ids are dense, strays included."""

    group: DenseGroup
    claims: Rows  # partitions that each member claims, in the order in which it lists them
    since: Ints  # the generation of each member's claims, for comparison with the claims of earlier members

    @cached_property
    def sent(self) -> Ints:
        """The generation of each member's subscription, for later members' claims; Java ignores negative ones."""
        return np.maximum(self.group.owned.generations, NO_GENERATION)

    @property
    def member_count(self) -> int:
        return len(self.group.spec.members)

    @property
    def id_count(self) -> int:
        return self.group.partition_count + len(self.group.strays)

    @cached_property
    def hash_order(self) -> Ints:
        return hash_map_order(self.group.spec.members)

    @cached_property
    def owners_order(self) -> Ints:
        """Members in the order of the HashMap of owners, which differs only if bins become trees."""
        first = self.hash_order
        return first[hash_map_order([self.group.spec.members[i] for i in first.tolist()])]

    @cached_property
    def by_id(self) -> Ints:
        return sorted_indices([utf16(member.id) for member in self.group.spec.members])

    @cached_property
    def by_name(self) -> Ints:
        return sorted_indices([utf16(topic.name) for topic in self.group.spec.topics])

    @cached_property
    def takes_part(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        taking = np.zeros(len(self.group.spec.topics), dtype=bool)
        taking[self.group.subscriptions.values] = True
        return taking & (np.diff(self.group.topic_start) > 0)

    @cached_property
    def listed(self) -> Rows:
        """The topics of each member that take part, as often as its subscription lists them (real clients: once)."""
        rows = self.group.subscriptions
        if any(
            len(m.topics) > n for m, n in zip(self.group.spec.members, rows.lengths.tolist(), strict=True)
        ):
            index = self.group.topic_index
            rows = Rows.of([[index[t] for t in m.topics if t in index] for m in self.group.spec.members])
        if self.takes_part.all():
            return rows
        kept = self.takes_part[rows.values]
        start = np.concatenate(([0], np.cumsum(kept)))[rows.start]
        return Rows(start, rows.values[kept])

    @cached_property
    def all_equal(self) -> bool:
        """Whether Java uses its algorithm for equal subscriptions: every one, missing topics included, is compared with
        the first one that is not empty, so empty ones before it (in the order of the map) go unnoticed."""
        members, lengths = self.group.spec.members, self.group.subscriptions.lengths
        if not any(len(m.topics) > n for m, n in zip(members, lengths.tolist(), strict=True)):
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
        first: frozenset[str] = frozenset()
        for i in self.hash_order.tolist():
            if not first:
                first = frozenset(members[i].topics)
            elif len(members[i].topics) != len(first) or not first.issuperset(members[i].topics):
                return False
        return True

    @cached_property
    def stray_topics(self) -> Ints:
        """The topic of each stray that takes part, otherwise -1."""
        topics = self.group.topic_of[self.group.partition_count :]
        return topics if not len(self.takes_part) else np.where(self.takes_part[topics], topics, -1)

    def topics_of(self, ids: Ints) -> Ints:
        """Topic of each dense id; -1 for strays of topics that take no part."""
        if not len(self.group.strays):
            return self.group.partition_topic[ids]
        return np.concatenate((self.group.partition_topic, self.stray_topics))[ids]

    def numbers_of(self, ids: Ints) -> Ints:
        count = self.group.partition_count
        real = np.minimum(ids, max(count - 1, 0))
        known = ids < count
        numbers = np.zeros(len(ids), dtype=np.int64)
        numbers[known] = real[known] - self.group.topic_start[self.group.partition_topic[real[known]]]
        stray_numbers = np.array([number for _, number in self.group.strays], dtype=np.int64)
        numbers[~known] = stray_numbers[ids[~known] - count]
        return numbers

    def partitions_of(self, topics: Ints) -> Ints:
        start = self.group.topic_start[topics]
        lengths = self.group.topic_start[topics + 1] - start
        ends = np.cumsum(lengths)
        shift: Ints = np.repeat(start - (ends - lengths), lengths)
        shift += np.arange(len(shift))
        return shift


@dataclass(frozen=True, eq=False, kw_only=True)
class Subscribers:
    inputs: StickyInput
    potential: Ints
    """The number of subscribers of each topic; a member that lists a topic twice counts twice, as in Java."""
    class_of: Ints  # class of each topic; 0 for topics that take no part
    members: Rows  # subscribers of each class, by member id

    @cached_property
    def in_order(self) -> Ints:
        """Topics that take part, in Java's order: those with the fewest subscribers first, then by name."""
        by_name = self.inputs.by_name[self.inputs.takes_part[self.inputs.by_name]]
        return by_name[np.argsort(self.potential[by_name], kind="stable")]

    @cached_property
    def capacity(self) -> Ints:
        """The number of partitions that each member could have. A list with as many topics as all counts as all."""
        sizes = np.diff(self.inputs.group.topic_start)
        listed = self.inputs.listed
        summed = np.concatenate(([0], np.cumsum(sizes[listed.values])))[listed.start]
        everything = int(sizes[self.inputs.takes_part].sum())
        return np.where(listed.lengths == len(self.in_order), everything, np.diff(summed))

    @cached_property
    def subscribed(self) -> NDArray[np.bool_]:
        """Whether the member (row) subscribes to the topics of the class (column)."""
        table = np.zeros((self.inputs.member_count, len(self.members)), dtype=bool)
        table[self.members.values, self.members.row_of] = True
        return table


def subscribers_of(inputs: StickyInput) -> Subscribers:
    listed, topics = inputs.listed, len(inputs.group.spec.topics)
    rank = places(inputs.by_id)
    # Two stable sorts: by member id, then by topic.
    by_member = stable_order(rank[listed.row_of])
    by_topic = by_member[stable_order(listed.values[by_member])]
    members = listed.row_of[by_topic]
    potential = np.bincount(listed.values, minlength=topics)
    start = np.concatenate(([0], np.cumsum(potential)))
    classes: dict[bytes, int] = {}
    rows: list[Ints] = []
    class_of = np.zeros(topics, dtype=np.int64)
    for topic in np.flatnonzero(inputs.takes_part).tolist():
        row = members[start[topic] : start[topic + 1]]
        class_of[topic] = classes.setdefault(row.tobytes(), len(classes))
        if len(rows) < len(classes):
            rows.append(row)
    # A member that lists a topic twice is there twice in a row.
    distinct = [row[np.concatenate(([True], row[1:] != row[:-1]))] for row in rows]
    return Subscribers(inputs=inputs, potential=potential, class_of=class_of, members=Rows.of(distinct))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Racks:
    """Racks and rack sets are small integers."""

    of_member: Ints  # the rack of each member; -1: none
    set_of: Ints  # rack set of each dense id; partitions that take no part and strays have the empty one
    contains: NDArray[np.bool_]  # whether the rack set (row) contains the rack (column)

    def mismatch(self, members: Ints, ids: Ints) -> NDArray[np.bool_]:
        """Whether the member's rack mismatches the partition, element by element."""
        racks = self.of_member[members]
        return (racks >= 0) & ~self.contains[self.set_of[ids], racks]

    def members_by_set(self) -> Ints:
        with_rack = np.bincount(self.of_member[self.of_member >= 0], minlength=self.contains.shape[1])
        counts: Ints = self.contains.astype(np.int64) @ with_rack
        return counts


def racks_of(inputs: StickyInput) -> Racks | None:
    """The racks of a group; None if racks make no difference."""
    spec = inputs.group.spec
    named = {member.rack for member in spec.members if member.rack}
    if not named or all(topic.racks is None for topic in spec.topics):
        return None
    sets: dict[frozenset[str], int] = {frozenset(): 0}
    set_of = np.zeros(inputs.id_count, dtype=np.int64)
    for i in np.flatnonzero(inputs.takes_part).tolist():
        replicas, start = spec.topics[i].racks, int(inputs.group.topic_start[i])
        if replicas is not None:
            seen: dict[tuple[str, ...], int] = {}
            result = []
            for names in replicas:
                known = seen.get(names)
                if known is None:
                    known = seen[names] = sets.setdefault(frozenset(names), len(sets))
                result.append(known)
            set_of[start : start + len(replicas)] = result
    partitions = inputs.partitions_of(np.flatnonzero(inputs.takes_part))
    used = set(np.unique(set_of[partitions]).tolist())
    present = [racks for racks, i in sets.items() if i in used]
    union = frozenset[str]().union(*present)
    if union.isdisjoint(named) or all(racks == union for racks in present):
        return None
    index = {rack: i for i, rack in enumerate(sorted(union | named))}
    contains = np.zeros((len(sets), len(index)), dtype=bool)
    for racks, i in sets.items():
        contains[i, [index[rack] for rack in racks]] = True
    of_member = np.array([index[m.rack] if m.rack else -1 for m in spec.members], dtype=np.int64)
    return Racks(of_member=of_member, set_of=set_of, contains=contains)


def run_starts(keys: Ints) -> Ints:
    """The start of each run; none in an empty array."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(keys[1:] != keys[:-1]) + 1))


def runs(keys: Ints) -> list[tuple[int, int]]:
    starts = run_starts(keys).tolist()
    ends = [*starts[1:], len(keys)] if starts else []
    return list(zip(starts, ends, strict=True))
