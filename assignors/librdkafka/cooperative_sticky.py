"""librdkafka's cooperative-sticky assignor: Java's general algorithm, for every group.

There is no algorithm for equal subscriptions as in Java since 2.4, so results differ from Java's even in the simplest
groups. In order:

1. Claims are judged (`judge_claims`). Only `ownedPartitions` and `generationId` count, never user data.
2. All partitions with subscribers are put in order. If all members can have the same: round robin from the members that
   own most, partitions with previous owners first; then partitions without an owner, topics and partitions in reverse
   order of the Metadata response (or by name, if no member owns anything). Otherwise by number of subscribers,
   topic and partition.
3. Owned partitions stay if their owner still subscribes to them and, if racks count, its rack matches.
4. The rest is assigned, one at a time, to the subscriber with the fewest; if racks count, first among subscribers
   whose rack matches.
5. Partitions are moved (`sticky_balance`), first those of step 4 unless step 3 revoked something, then all. If
   members owned partitions and the balance is not better afterwards, the moves are undone.
6. A partition that its last claimant must revoke is withheld until then. Claimed partitions that are assigned to no
   member, because they have no subscribers or do not exist, are assigned to their last claimant again.

A member whose rack is the empty string, which librdkafka sends if `client.rack` is not set, has a rack that matches
nothing; a member whose rack is null matches everything. A leader crashes if racks count and a member's subscription
has a version below 3, or if any member's has version 0: the model does not include this.

Claims: per partition the claim of the highest generation counts; the claim before it determines the *previous* owner.
Two claims of one generation, even an old one, void all claims of the partition. Whether a partition exists, and
whether the claimant subscribes to it, is checked later.

In addition the leader stores, per partition, the *last claimant* in the order of the JoinGroup response, whatever its
generation, and uses it when partitions are moved and when the assignment is trimmed to the cooperative protocol.

Source: librdkafka 2.15, rd_kafka_sticky_assignor_assign_cb, rd_kafka_cooperative_protocol_adjust_assignment,
prepopulateCurrentAssignments, rd_kafka_collect_partitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.librdkafka.order import NO_MEMBER, metadata_order, readable, utf8, without_unreadable
from assignors.librdkafka.sticky_balance import BalancingInput, FreedMemoryError, Rebalancer
from assignors.model import (
    Assignment,
    DenseGroup,
    Ints,
    Result,
    Rows,
    Undetermined,
    level_fill,
    places,
    sorted_indices,
)

FREED = (
    "librdkafka's leader reads memory that it has freed while it moves partitions back: its assignment of shared "
    "topics depends on the content of that memory, and usually its process crashes"
)


def assign(group: DenseGroup) -> Result:
    """Assign like a librdkafka leader. Raises AssignorFailedError: its process would crash."""
    group = without_unreadable(group)
    members = [m for m, member in enumerate(group.spec.members) if readable(member)]
    if not members:
        return Result(assignment=Assignment(group, Rows.of([[] for _ in group.spec.members])))
    claims = judge_claims(group, members)
    plan = _Plan(group, members, claims)
    plan.keep()
    plan.hand_out()
    undetermined: tuple[Undetermined, ...] = ()
    try:
        plan.balance()
    except FreedMemoryError:
        active = [group.spec.members[m] for m in plan.active.tolist()]
        undetermined = tuple(Undetermined(subject=member.id, why=FREED) for member in active)
    # Step 6.
    claimant = claims.last_of_all
    owners = np.full(len(claimant), NO_MEMBER, dtype=np.int64)
    owners[: len(plan.owner)] = plan.owner
    final = np.where(owners < 0, claimant, owners)
    final[(owners >= 0) & (claimant >= 0) & (owners != claimant)] = NO_MEMBER
    # rd_kafka_sticky_assignor_assign_cb copies; the broker converts no such group online.
    copied = {member.id: member.user_data for member in group.spec.members if member.user_data is not None}
    return Result(
        assignment=Assignment.from_owners(group, final), undetermined=undetermined, user_data=copied
    )


class _Plan:
    """An unfinished assignment: members by partition id, or NO_MEMBER."""

    def __init__(self, group: DenseGroup, members: Sequence[int], claims: "JudgedClaims") -> None:
        self.group, self.members, self.claims = group, np.array(members, dtype=np.int64), claims
        plain = group.subscribers(np.arange(len(group.spec.members)))
        self.subscribers = [plain[t] for t in range(len(group.spec.topics))]
        self.rank = places(sorted_indices([utf8(member.id) for member in group.spec.members]))
        sizes = np.diff(group.topic_start)
        self.assignable = [t for t, subs in enumerate(self.subscribers) if len(subs) and sizes[t]]
        self.identical = all(len(self.subscribers[t]) == len(members) for t in self.assignable)
        self.racks = _Racks(group, members, self.assignable)
        self.owner = np.full(group.partition_count, NO_MEMBER, dtype=np.int64)
        self.thought = claims.last_claimant[: group.partition_count].copy()
        self.active = self.members
        self.order = np.empty(0, dtype=np.int64)
        self.left = np.empty(0, dtype=np.int64)  # partitions of `order` that no member keeps
        self.took_away = False
        self.initializing = False

    def counts(self) -> Ints:
        return np.bincount(self.owner[self.owner >= 0], minlength=len(self.group.spec.members))

    # ---- partitions that stay ----

    def keep(self) -> None:
        """Steps 2 and 3."""
        claimed = self.claims.owner[: self.group.partition_count]
        exists = np.zeros(self.group.partition_count, dtype=bool)
        for topic in self.assignable:
            exists[self._span(topic)] = True
        self.owner = np.where(exists, claimed, NO_MEMBER)
        self.order = self._in_order()
        for topic in self.assignable:
            span = self._span(topic)
            owners = self.owner[span]
            stays = np.isin(owners, self.subscribers[topic])
            if self.racks.count:
                stays &= self.racks.match(topic, owners)
            gone = (owners >= 0) & ~stays
            self.took_away |= bool(gone.any())
            owners[gone] = NO_MEMBER
        self.left = self.order[self.owner[self.order] < 0]
        self.initializing = not self.counts().any()

    def _span(self, topic: int) -> slice:
        return slice(int(self.group.topic_start[topic]), int(self.group.topic_start[topic + 1]))

    def _ids(self, topic: int) -> Ints:
        span = self._span(topic)
        return np.arange(span.start, span.stop)

    def _in_order(self) -> Ints:
        """All assignable partitions in the order in which they are assigned and moved."""
        names = [utf8(topic.name) for topic in self.group.spec.topics]
        if not self.identical:
            topics = sorted(self.assignable, key=lambda t: (len(self.subscribers[t]), names[t]))
            return _joined([self._ids(t) for t in topics])
        by_name = _joined([self._ids(t) for t in sorted(self.assignable, key=names.__getitem__)])
        owned = by_name[self.owner[by_name] >= 0]
        if not len(owned):
            return by_name
        backwards = [t for t in reversed(metadata_order(self.group)) if len(self.subscribers[t])]
        rest = _joined([self._ids(t)[::-1] for t in backwards])
        return np.concatenate((self._round_robin(owned), rest[self.owner[rest] < 0]))

    def _round_robin(self, owned: Ints) -> Ints:
        """Repeatedly one partition of the member with most left (the last by id), those with previous owners first."""
        members = self.owner[owned]
        by_member = np.lexsort((self.claims.previous[owned] < 0, members))
        owned, members = owned[by_member], members[by_member]
        ends = np.searchsorted(members, members, side="right")
        left = ends - np.arange(len(owned))
        return owned[np.lexsort((-self.rank[members], -left))]

    # ---- partitions that are assigned ----

    def hand_out(self) -> None:
        """Step 4."""
        counts = self.counts()
        if self.racks.count:
            for partition in self.left.tolist():
                topic = int(self.group.partition_topic[partition])
                subscribers = self.subscribers[topic]
                number = partition - int(self.group.topic_start[topic])
                matching = subscribers[self.racks.matching(topic, number, subscribers)]
                if len(matching):
                    least = np.lexsort((self.rank[matching], counts[matching]))[0]
                    self.owner[partition] = matching[least]
                    counts[matching[least]] += 1
        left = self.left[self.owner[self.left] < 0]
        at = 0
        while at < len(left):
            alike = self._end_of_run(left, at)
            subscribers = self.subscribers[int(self.group.partition_topic[left[at]])]
            in_line = subscribers[np.argsort(self.rank[subscribers])]
            loads = counts[in_line]
            self.owner[left[at:alike]] = in_line[level_fill(loads, alike - at)]
            counts[in_line] = loads
            at = alike
        self.thought[self.left] = self.owner[self.left]

    def _end_of_run(self, left: Ints, at: int) -> int:
        """The end of the run of partitions with the same subscribers."""
        if self.identical:
            return len(left)
        topics = self.group.partition_topic[left[at:]]
        other = np.flatnonzero(topics != topics[0])
        return at + int(other[0]) if len(other) else len(left)

    # ---- partitions that are moved ----

    def balance(self) -> None:
        """Step 5. A partition that is owned twice gets the owner that step 6 uses."""
        movable = np.zeros(self.group.partition_count, dtype=bool)
        for topic in self.assignable:
            movable[self._span(topic)] = len(self.subscribers[topic]) > 1
        sizes = np.diff(self.group.topic_start)
        potential = np.array([sizes[self.group.subscriptions[m]].sum() for m in self.members.tolist()])
        holds_movable = np.zeros(len(self.group.spec.members), dtype=bool)
        holds_movable[self.owner[movable]] = True
        counts = self.counts()
        self.active = self.members[(counts[self.members] < potential) | holds_movable[self.members]]
        if not movable.any():
            return
        balance = Rebalancer(
            BalancingInput(
                topic_start=self.group.topic_start,
                partition_topic=self.group.partition_topic,
                subscribers=self.subscribers,
                subscribed=[self.group.subscriptions[m] for m in range(len(self.group.spec.members))],
                rank=self.rank,
                active=self.active,
                identical=self.identical,
                previous=self.claims.previous,
            ),
            self.owner.copy(),
            self.thought,
            counts.astype(np.int64),
        )
        before = balance.score()
        if not self.took_away:
            balance.reassign(self.left[movable[self.left]].tolist())
        moved = balance.reassign(self.order[movable[self.order]].tolist())
        if moved and not self.initializing and balance.score() >= before:
            return
        self.owner = balance.owner
        for partition, holders in balance.shared.items():
            self.owner[partition] = max(holders)


class _Racks:
    """The racks of members and partitions. `count`: whether they matter at all."""

    def __init__(self, group: DenseGroup, members: Sequence[int], topics: Sequence[int]) -> None:
        self.of_member = [member.rack for member in group.spec.members]
        self.of_topic: dict[int, list[frozenset[str]]] = {}
        self.count = False
        mine = {self.of_member[m] for m in members} - {None, ""}
        if not mine:
            return
        for topic in topics:
            spec = group.spec.topics[topic]
            known = spec.racks or ((),) * spec.partitions
            self.of_topic[topic] = [frozenset(racks) for racks in known]
        places = [racks for topic in self.of_topic.values() for racks in topic]
        union = frozenset().union(*places)
        self.count = not mine.isdisjoint(union) and any(len(racks) != len(union) for racks in places)

    def matching(self, topic: int, number: int, members: Ints) -> list[bool]:
        """Whether the rack of each member matches the partition."""
        racks = self.of_topic[topic][number]
        return [self.of_member[m] is None or self.of_member[m] in racks for m in members.tolist()]

    def match(self, topic: int, members: Ints) -> NDArray[np.bool_]:
        """Whether each partition of the topic is in the rack of its member; `members` has -1 for no member."""
        places = zip(members.tolist(), self.of_topic[topic], strict=True)
        return np.array(
            [m >= 0 and (self.of_member[m] is None or self.of_member[m] in racks) for m, racks in places]
        )


def _joined(rows: Sequence[Ints]) -> Ints:
    return np.concatenate([*rows, np.empty(0, dtype=np.int64)])


@dataclass(frozen=True, slots=True, eq=False)
class JudgedClaims:
    """Members by dense partition id, strays included, or NO_MEMBER."""

    owner: Ints
    previous: Ints
    last_claimant: Ints  # the last claimant of each partition whose claims are not void
    last_of_all: Ints  # the last claimant of each partition, void claims included


def judge_claims(group: DenseGroup, members: Sequence[int]) -> JudgedClaims:
    """Judge the claims of `members`, which are in the order of the JoinGroup response."""
    everything = group.partition_count + len(group.strays)
    owner, previous, last = (np.full(everything, NO_MEMBER, dtype=np.int64) for _ in range(3))
    rows = [group.owned.partitions[m] for m in members]
    partitions = _joined(rows)
    claimants = np.repeat(np.array(members, dtype=np.int64), [len(row) for row in rows])
    last[partitions] = claimants
    generations = group.owned.generations[claimants]
    by_generation = np.lexsort((generations, partitions))
    partitions, claimants = partitions[by_generation], claimants[by_generation]
    generations = generations[by_generation]
    follows = partitions[1:] == partitions[:-1]
    void = partitions[1:][follows & (generations[1:] == generations[:-1])]
    owner[partitions] = claimants
    # The last of a partition's run is its owner; the previous owner, if any, is right before it.
    is_last = np.concatenate((~follows, [True])) if len(partitions) else np.zeros(0, dtype=bool)
    second = np.flatnonzero(is_last[1:] & follows)
    previous[partitions[second]] = claimants[second]
    claimant = last.copy()
    for known in (owner, previous, claimant):
        known[void] = NO_MEMBER
    return JudgedClaims(owner, previous, claimant, last)
