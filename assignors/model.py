"""The input and output of an assignor. `DenseGroup` turns the names of `GroupSpec` into small integers, on which all
algorithms work. Partition p of topic t is `topic_start[t] + p`; ids from `partition_count` on are *strays*: claims of
partitions that do not exist, which can matter to the result, as Java does not check claims against the metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Partitions = Mapping[str, Sequence[int]]  # partition numbers by topic name

NO_GENERATION = -1
"""A member that sent no generation (Java reads `Optional.empty()` and `DEFAULT_GENERATION` alike)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpec:
    name: str
    partitions: int
    id: UUID | None = None
    """Orders topics in the broker's uniform assignor; None if the source has no topic ids."""
    racks: tuple[tuple[str, ...], ...] | None = None
    """Racks of the replicas of each partition, by partition number; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The partitions that a member reports as its own, and since which generation."""

    partitions: Partitions = field(default_factory=dict)
    generation: int = NO_GENERATION


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """A member in the view of the leader (client side) or of the coordinator (broker side)."""

    id: str
    topics: tuple[str, ...]
    """Subscribed names, including missing topics: Java counts them when it compares subscriptions."""
    instance: str | None = None
    rack: str | None = None
    owned: Claim = Claim()
    """`ownedPartitions` and `generationId` of the embedded subscription; on the broker: its target."""
    user_data: bytes | None = None
    """The assignor's bytes in the embedded subscription (the metadata of KIP-848's client side), or None."""
    user_data_version: int = 0  # KIP-848's client side: the version of these bytes; -1: of a classic member
    reason: int = 0  # KIP-848's client side: why the member asks for a rebalance; 0: it does not
    by_regex: tuple[str, ...] = ()
    """On the broker: the topics of a regular expression that makes the group heterogeneous
    (ConsumerGroup.subscriptionType)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """The group to assign. The order of `members`, of the JoinGroup response or the coordinator's, matters because
    Java's maps keep insertion order in a bucket."""

    topics: tuple[TopicSpec, ...]
    members: tuple[MemberSpec, ...]


def starts_of(lengths: Ints | Sequence[int]) -> Ints:
    """The starts of consecutive runs of these lengths, and the end of the last."""
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


def places(order: Ints) -> Ints:
    """The place of each index in `order`, a permutation of all indices."""
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.arange(len(order))
    return inverse


def sorted_indices(keys: Sequence[bytes]) -> Ints:
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def stable_order(keys: Ints) -> Ints:
    """The indices sorted by their keys, indices with equal keys ascending; no key may be negative."""
    # Sixteen-bit keys are radix sorted, an order of magnitude faster than wider ones.
    if len(keys) and int(keys.max()) < 2**16:
        return np.argsort(keys.astype(np.uint16), kind="stable")
    return np.argsort(keys, kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Ragged rows of integers: row i is `values[start[i]:start[i + 1]]`."""

    start: Ints
    values: Ints

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | Ints]) -> Rows:
        start = starts_of([len(row) for row in rows])
        values = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows]) if rows else start[:0]
        return cls(start, values)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.start[row] : self.start[row + 1]]

    @property
    def lengths(self) -> Ints:
        return np.diff(self.start)

    @property
    def row_of(self) -> Ints:
        return np.repeat(np.arange(len(self)), self.lengths)


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Claims of all members: dense partition ids (strays included) by member, and a generation each."""

    partitions: Rows
    generations: Ints


@dataclass(frozen=True, eq=False)
class DenseGroup:
    """A `GroupSpec` with integers for names. Topics and members keep the order of the spec."""

    spec: GroupSpec
    topic_start: Ints
    """The first partition id of each topic, and the end of the last: one more element than topics."""
    subscriptions: Rows  # existing topics of each member, ascending, without repetition
    owned: Claims
    strays: tuple[tuple[str, int], ...]  # topic and partition of the dense ids from `partition_count` on

    @classmethod
    def of(cls, spec: GroupSpec) -> DenseGroup:
        """Replace names with integers; a name that occurs twice among topics or members is a ValueError."""
        index = {topic.name: i for i, topic in enumerate(spec.topics)}
        if len(index) != len(spec.topics):
            raise ValueError("a topic occurs twice")
        if len({member.id for member in spec.members}) != len(spec.members):
            raise ValueError("a member occurs twice")
        start = starts_of([topic.partitions for topic in spec.topics])
        interner = _Interner(spec.topics, index, start)
        # Most members subscribe to the same topics.
        known = {
            topics: sorted({index[t] for t in topics if t in index})
            for topics in {m.topics for m in spec.members}
        }
        subscriptions = Rows.of([known[member.topics] for member in spec.members])
        owned = interner.claims([m.owned for m in spec.members])
        return cls(spec, start, subscriptions, owned, tuple(interner.strays))

    def with_claims(self, claims: Sequence[Claim]) -> tuple[DenseGroup, Claims]:
        """These claims, one for each member, and the group with the strays among them."""
        interner = _Interner(self.spec.topics, self.topic_index, self.topic_start, self.strays)
        dense = interner.claims(claims)
        strays = tuple(interner.strays)
        return (self if strays == self.strays else replace(self, strays=strays)), dense

    @property
    def partition_count(self) -> int:
        return int(self.topic_start[-1])

    @cached_property
    def partition_topic(self) -> Ints:
        """Topic of each dense partition id below `partition_count`."""
        topics: Ints = np.repeat(np.arange(len(self.spec.topics)), np.diff(self.topic_start))
        return topics

    @cached_property
    def topic_of(self) -> Ints:
        """Topic of every dense partition id, strays included; -1 if the topic is deleted."""
        if not self.strays:
            return self.partition_topic
        strays = np.array([self.topic_index.get(name, -1) for name, _ in self.strays], dtype=np.int64)
        return np.concatenate((self.partition_topic, strays))

    @cached_property
    def topic_index(self) -> dict[str, int]:
        return {topic.name: i for i, topic in enumerate(self.spec.topics)}

    @cached_property
    def all_alike(self) -> bool:
        """Whether every member subscribes to the same existing topics."""
        rows = self.subscriptions
        members = len(rows)
        if members == 0:
            return True
        width = int(rows.start[1])
        if len(rows.values) != members * width or not np.array_equal(
            rows.start, np.arange(members + 1) * width
        ):
            return False
        return bool((rows.values.reshape(members, width) == rows.values[:width]).all())

    def subscribers(self, order: Ints) -> Rows:
        """By topic: positions in `order` (a permutation of the members) of its subscribers, ascending."""
        topics = len(self.spec.topics)
        rows = self.subscriptions
        if self.all_alike:
            subscribed = rows.values[: int(rows.start[1])] if len(rows) else rows.values
            lengths = np.zeros(topics, dtype=np.int64)
            lengths[subscribed] = len(order)
            return Rows(starts_of(lengths), np.tile(np.arange(len(order)), len(subscribed)))
        positions = np.repeat(places(order), rows.lengths)
        lengths = np.bincount(rows.values, minlength=topics)
        if topics * len(order) <= _SPARSE * len(rows.values):
            cells = np.zeros((topics, len(order)), dtype=bool)
            cells[rows.values, positions] = True
            return Rows(starts_of(lengths), np.nonzero(cells)[1])
        return Rows(starts_of(lengths), positions[np.lexsort((positions, rows.values))])

    def subscribed(self) -> NDArray[np.bool_]:
        """Members × topics: the subscriptions. One byte a cell."""
        cells = np.zeros((len(self.spec.members), len(self.spec.topics)), dtype=bool)
        cells[self.subscriptions.row_of, self.subscriptions.values] = True
        return cells

    def label(self, partition: int) -> str:
        """`topic-3` of a dense id."""
        return "{}-{}".format(*self.name_of(partition))

    def name_of(self, partition: int) -> tuple[str, int]:
        if partition >= self.partition_count:
            return self.strays[partition - self.partition_count]
        topic = int(np.searchsorted(self.topic_start, partition, side="right")) - 1
        return self.spec.topics[topic].name, partition - int(self.topic_start[topic])


_SPARSE = 16
"""The limit of a matrix of members and topics, in cells per subscription, before it costs too much."""

_LONG = 32  # the number of partitions of one topic from which numpy is faster than a loop


class _Interner:
    """Assigns dense ids to claimed partitions, and ids from the partition count on to strays."""

    def __init__(
        self,
        topics: Sequence[TopicSpec],
        index: Mapping[str, int],
        start: Ints,
        strays: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.topics, self.index = topics, index
        self.bases: list[int] = start.tolist()
        self.strays = {stray: number for number, stray in enumerate(strays)}

    def claims(self, claims: Sequence[Claim]) -> Claims:
        rows = Rows.of([self._row(claim.partitions) for claim in claims])
        return Claims(rows, np.array([claim.generation for claim in claims], dtype=np.int64))

    def _row(self, partitions: Partitions) -> Ints:
        parts: list[Ints] = []
        ids: list[int] = []
        for name, numbers in partitions.items():
            topic = self.index.get(name)
            count = 0 if topic is None else self.topics[topic].partitions
            base = 0 if topic is None else self.bases[topic]
            if len(numbers) > _LONG:
                dense = np.asarray(numbers, dtype=np.int64)
                if int(dense.min()) >= 0 and int(dense.max()) < count:
                    parts += [np.array(ids, dtype=np.int64), dense + base]
                    ids = []
                    continue
            # For the few partitions of a topic that a member usually has, one at a time is faster.
            ids += [base + p if 0 <= p < count else self._stray(name, int(p)) for p in numbers]
        last = np.array(ids, dtype=np.int64)
        return np.concatenate([*parts, last]) if parts else last

    def _stray(self, name: str, partition: int) -> int:
        return self.bases[-1] + self.strays.setdefault((name, partition), len(self.strays))


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """Dense partition ids by member, ascending. A partition may be assigned twice, as in Java."""

    group: DenseGroup
    partitions: Rows

    @classmethod
    def from_owners(cls, group: DenseGroup, owners: NDArray[np.signedinteger]) -> Assignment:
        """An assignment from the member index of every partition id; -1 for no member."""
        shifted = owners + 1
        counts = np.bincount(shifted, minlength=len(group.spec.members) + 1)
        return cls(group, Rows(starts_of(counts[1:]), stable_order(shifted)[counts[0] :]))

    @classmethod
    def from_pairs(cls, group: DenseGroup, keys: Ints) -> Assignment:
        """An assignment from `member * (partition_count + strays) + partition` of every pair; pairs may repeat."""
        total = group.partition_count + len(group.strays)
        members, values = np.divmod(np.unique(keys), max(1, total))
        start = np.searchsorted(members, np.arange(len(group.spec.members) + 1))
        return cls(group, Rows(start, values))

    def owners(self) -> Ints:
        """Member index of every partition id, strays included: the last owner, or -1 for no member."""
        owners = np.full(self.group.partition_count + len(self.group.strays), -1, dtype=np.int64)
        owners[self.partitions.values] = self.partitions.row_of
        return owners

    def named(self) -> dict[str, dict[str, list[int]]]:
        """Member id → topic name → partition numbers ascending; topics by name, members as in the spec."""
        spec, values, start = self.group.spec, self.partitions.values.tolist(), self.partitions.start.tolist()
        names = [(topic.name, number) for topic in spec.topics for number in range(topic.partitions)]
        names += self.group.strays
        result = {}
        for member, first, end in zip(spec.members, start, start[1:], strict=False):
            row: dict[str, list[int]] = {}
            for dense in values[first:end]:
                name, number = names[dense]
                row.setdefault(name, []).append(number)
            result[member.id] = {name: sorted(row[name]) for name in sorted(row)}
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Undetermined:
    """A fact that the result depends on and that is unknown outside the JVM."""

    subject: str  # A member id, a topic, or a partition as `topic-3`
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """An assignment, and the limits of what is known about it."""

    assignment: Assignment
    undetermined: tuple[Undetermined, ...] = ()
    user_data: Mapping[str, bytes] = field(default_factory=dict)
    """On the client: the assignor's bytes in members' assignments, by member id."""
    map_order: Callable[[], list[list[int]]] | None = None
    """On the broker: topics by member, those that share a bin in the order of its target's map, and others."""


def level_fill(loads: Ints, amount: int) -> Ints:
    """Assign partitions one at a time to the member with the fewest, the first in line among equals. Returns the
    positions in `loads` of the receivers, in order; `loads` grows. Members at the lowest level take turns until they
    reach the next level, then the members of both: runs of turns are copies of one pattern."""
    levels = np.unique(loads)
    turns, left = [], amount
    for level, following in zip(levels.tolist(), [*levels[1:].tolist(), None], strict=True):
        pattern = np.flatnonzero(loads <= level)
        take = left if following is None else min(left, (following - level) * len(pattern))
        turns.append(np.tile(pattern, -(-take // len(pattern)))[:take])
        left -= take
        if not left:
            break
    receivers = np.concatenate(turns)
    loads += np.bincount(receivers, minlength=len(loads))
    return receivers
