"""The broker's uniform assignor: all members get equally many partitions, and keep as many as possible.

It has two algorithms: `assign_homogeneous`, and `uniform_heterogeneous`. The broker uses the first if every topic is
subscribed to by name by all members; topics that do not exist count, and topics from regular expressions never count as
subscribed by name.

If all members subscribe to the same topics, every member may have P // n partitions and P % n members one more.
Members in map order keep their partitions up to this quota: whole topics while they fit, as many as possible of the
first topic that does not fit, none of later topics. A member that would not use its extra partition passes it on, as
long as more members than extras are left. Partitions without an owner (topics in set order, then the revoked ones)
are assigned in consecutive runs to the members below their quota.

Source: org.apache.kafka.coordinator.group.assignor.UniformAssignor, UniformHomogeneousAssignmentBuilder,
modern.ModernGroup.subscriptionType.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from assignors.broker.targets import (
    JAVA_RESIZED_COPIES,
    Changes,
    Java,
    TargetMaps,
    Targets,
    changed_order,
    homogeneous,
    no_changes,
    subscribed_topics,
)
from assignors.broker.uniform_heterogeneous import assign_heterogeneous
from assignors.errors import AssignorFailedError
from assignors.java.hash_map import hash_map_order
from assignors.model import Assignment, DenseGroup, Ints, Result, Rows, Undetermined


def assign(group: DenseGroup) -> Result:
    """Assign like the broker's UniformAssignor; the members' `owned` are their current targets."""
    if not group.spec.members:
        return Result(assignment=Assignment.from_pairs(group, np.zeros(0, dtype=np.int64)), map_order=list)
    algorithm = assign_homogeneous if homogeneous(group) else assign_heterogeneous
    java = Java()
    assignment, changes = algorithm(group, java)
    undetermined = _without_ids(group)
    if java.mattered:
        other, _ = algorithm(group, Java(version=JAVA_RESIZED_COPIES))
        undetermined += _differences(assignment, other)
    return Result(
        assignment=assignment, undetermined=undetermined, map_order=partial(changed_order, group, changes)
    )


def _without_ids(group: DenseGroup) -> tuple[Undetermined, ...]:
    if all(topic.id is not None for topic in group.spec.topics):
        return ()
    topics = [group.spec.topics[i] for i in np.unique(group.subscriptions.values).tolist()]
    if len(topics) < 2:
        return ()
    why = "its topic id is unknown, and the assignor orders topics by their ids"
    return tuple(Undetermined(subject=topic.name, why=why) for topic in topics if topic.id is None)


def _differences(ours: Assignment, other: Assignment) -> tuple[Undetermined, ...]:
    why = (
        f"Java {JAVA_RESIZED_COPIES} and later make a copied HashSet of 12, 24, 48, … elements smaller than "
        "Java 17 does, which changes its order"
    )
    different = np.flatnonzero(ours.owners() != other.owners())
    return tuple(Undetermined(subject=ours.group.label(id_), why=why) for id_ in different.tolist())


def assign_homogeneous(group: DenseGroup, java: Java) -> tuple[Assignment, Changes]:
    order = hash_map_order(group.spec.members)
    topics = subscribed_topics(group, group.spec.members[int(order[0])], java)
    if not topics:
        nothing = Rows(np.zeros(len(order) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
        return Assignment(group, nothing), no_changes
    claims = _Claims.of(group, topics)
    plan = _Plan()
    _cut(group, claims, topics, order, plan, java)
    free = np.flatnonzero(claims.owners[: group.partition_count] < 0)
    edges = np.searchsorted(free, group.topic_start)
    unclaimed = [free[edges[topic] : edges[topic + 1]] for topic in topics]
    unassigned = np.concatenate([*unclaimed, *plan.given_up])
    room = np.array(plan.room, dtype=np.int64)
    if len(unassigned) > int(room.sum()):
        raise AssignorFailedError("Partitions were left unassigned")
    receivers = np.repeat(np.array(plan.unfilled, dtype=np.int64), room)[: len(unassigned)]
    assignment = claims.finish(group, plan, unassigned, receivers)
    return assignment, partial(_change, group, topics, plan, unassigned, receivers)


def _change(
    group: DenseGroup,
    topics: Sequence[int],
    plan: "_Plan",
    unassigned: Ints,
    receivers: Ints,
    maps: TargetMaps,
) -> None:
    """Apply the assignor's changes to the maps of targets: members revoke excess partitions, then others get more."""
    topic_of = group.topic_of
    subscribed = [False] * len(group.spec.topics)
    for topic in topics:
        subscribed[topic] = True
    given_up: dict[int, dict[int, list[int]]] = {}
    for member, ids in zip(plan.losers, plan.given_up, strict=True):
        given_up.setdefault(member, {})[int(topic_of[ids[0]])] = ids.tolist()
    for member in range(len(group.spec.members)):
        maps.revoke(member, subscribed, given_up.get(member, {}))
    for member in plan.unfilled:
        maps.copy(member)
    if not len(unassigned):
        return
    came = topic_of[unassigned]
    runs = np.flatnonzero((np.diff(receivers) != 0) | (np.diff(came) != 0)) + 1
    firsts = [0, *runs.tolist()]
    for first, partitions in zip(firsts, np.split(unassigned, runs), strict=True):
        maps.add(int(receivers[first]), int(came[first]), partitions.tolist())


@dataclass(slots=True)
class _Plan:
    unfilled: list[int] = field(default_factory=list)
    room: list[int] = field(default_factory=list)
    """The number of partitions that each member of `unfilled` still needs."""
    given_up: list[Ints] = field(default_factory=list)
    losers: list[int] = field(default_factory=list)  # the member that revoked each array of `given_up`


@dataclass(slots=True, eq=False)
class _Claims:
    """Current targets, without topics that no member subscribes to."""

    values: Ints
    members: NDArray[np.signedinteger]
    owners: NDArray[np.int32]  # by dense partition id: one of its claimants, or -1
    disputed: bool  # whether a partition occurs twice

    @classmethod
    def of(cls, group: DenseGroup, topics: Sequence[int]) -> "_Claims":
        rows = group.owned.partitions
        values = rows.values
        members = np.repeat(np.arange(len(rows), dtype=np.int32), rows.lengths)
        if group.strays or len(topics) < len(group.spec.topics):
            subscribed = np.zeros(len(group.spec.topics) + 1, dtype=bool)
            subscribed[topics] = True
            kept = subscribed[group.topic_of[values]]
            values, members = values[kept], members[kept]
        owners = np.full(group.partition_count + len(group.strays), -1, dtype=np.int32)
        owners[values] = members
        disputed = int(np.count_nonzero(owners >= 0)) < len(values)
        if disputed:
            key = np.unique(members * np.int64(len(owners)) + values)
            members, values = np.divmod(key, len(owners))
        return cls(values, members, owners, disputed)

    def finish(self, group: DenseGroup, plan: _Plan, unassigned: Ints, receivers: Ints) -> Assignment:
        if not self.disputed:
            self.owners[unassigned] = receivers
            return Assignment.from_owners(group, self.owners)
        total = len(self.owners)
        keys = self.members * np.int64(total) + self.values
        lost = [m * np.int64(total) + ids for m, ids in zip(plan.losers, plan.given_up, strict=True)]
        if lost:
            keys = np.setdiff1d(keys, np.concatenate(lost))
        return Assignment.from_pairs(group, np.concatenate((keys, receivers * np.int64(total) + unassigned)))


def _cut(
    group: DenseGroup, claims: _Claims, topics: Sequence[int], order: Ints, plan: _Plan, java: Java
) -> None:
    """Walk the members: members above their quota revoke, members below it are noted with the difference."""
    counts = np.diff(group.topic_start)
    least, extras = divmod(int(counts[topics].sum()), len(order))
    sizes = np.bincount(claims.members, minlength=len(order)).tolist()
    targets: Targets | None = None
    for position, member in enumerate(order.tolist()):
        has_extra = extras > 0
        quota = least + has_extra
        if sizes[member] > quota:
            targets = targets or Targets(group, java)
            for ids in _beyond(targets, member, set(topics), quota):
                plan.given_up.append(ids)
                plan.losers.append(member)
        quota = max(0, quota - sizes[member])
        if quota > 0 and has_extra and len(order) - position > extras:
            quota -= 1
            has_extra = False
        if quota > 0:
            plan.unfilled.append(member)
            plan.room.append(quota)
        extras -= has_extra


def _beyond(targets: Targets, member: int, topics: set[int], quota: int) -> list[Ints]:
    given_up = []
    for topic, ids in targets.of(member):
        if topic in topics:
            kept = min(quota, len(ids))
            quota -= kept
            if kept < len(ids):
                given_up.append(ids[kept:])
    return given_up
