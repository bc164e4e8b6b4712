"""The leader of a classic group, and its successor when the leader leaves.

Theory of operation. A broker keeps the members of a classic group in a Java HashMap, and whenever it needs a leader it
takes the first member in the map's order. A member becomes the leader in these cases:

- a group without members: the first member to join leads;
- the leader is removed (it leaves, its session expires, or it misses a rebalance and is dynamic): the first of the
  remaining members leads, whether it has joined the rebalance already or not;
- the leader is static and misses a rebalance: it remains a member, and the first member that has joined leads;
- a static leader rejoins under a new member id: the new id leads, so a restart does not change the leader;
- the last member of the consumer protocol leaves: the first classic member in the order of the consumer group's map
  leads;
- the coordinator moves or restarts: the recorded leader still leads.

Members that join before the leader is removed count: if a leader dies without LeaveGroup, the process started in its
place may succeed it. A leader that sends LeaveGroup is removed at once.

Therefore a dynamic leader leads as long as it is a member. If the leader in the record is no longer a member, a
rebalance is in progress (or the record was read at another time than the rest): the leader is known once the group is
Stable.

The map's order depends on the length of its array, which grows with the group, never shrinks, and is created again (for
the current number of members) when another broker loads the group, or the same broker after a restart. Members of
one bin are in the order in which they joined. Usually none of that is needed: DescribeGroups and the group's record
list the members in the map's order. If a source did not keep that order, every possible length of the array is tried.

Source: classic.ClassicGroup.add, remove, maybeElectNewJoinedLeader, replaceStaticMember, fromConsumerGroup;
GroupMetadataManager.replay, completeClassicGroupJoin, describeGroups. Tested on 4.3.1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assignors.java.hash_map import grown_capacity, map_order, spread, string_hashes, utf16
from assignors.model import Ints
from groups.model import Group, GroupType

LONGEST_ARRAY = 1 << 14  # that is tried, enough for 12,288 members at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    leader: str | None  # the current leader; None when not known
    order: tuple[str, ...]
    """The other members in the order of succession: each leads when those before it have left and none has joined."""
    is_broker_order: bool  # of the broker's map; else only one possible order
    certain: bool  # whether the first of `order` is known to lead once the leader has left
    why: str  # the reason for `certain`


def succession(group: Group) -> Succession | None:
    """The leader and its successors; None for a group without a leader: not classic, or without members."""
    if group.type is not GroupType.CLASSIC or not group.members:
        return None
    ids = [member.id for member in group.members]
    leader = leader_of(group)
    followers = [other for other in ids if other != leader]
    is_broker_order = any(_as_listed(ids, capacity) for capacity in _capacities(len(ids)))
    if is_broker_order:
        order, certain, why = followers, True, "the members are listed in the order of the broker's map"
    else:
        order = _in_map(ids, leader, grown_capacity(len(ids)))
        certain = _all_agree(ids, leader)
        why = (
            "whatever the length of the broker's map, the same member comes first"
            if certain
            else "the members are not listed in a broker's order, and the first one depends on the length of its map"
        )
    if leader is None:
        certain, why = False, _unknown_leader(group)
    return Succession(
        leader=leader, order=tuple(order), is_broker_order=is_broker_order, certain=certain, why=why
    )


def leader_of(group: Group) -> str | None:
    """The current leader of a classic group; None if it has no leader or the leader is not known."""
    if group.type is not GroupType.CLASSIC:
        return None
    ids = [member.id for member in group.members]
    if len(ids) == 1:
        return ids[0]
    return group.leader if group.leader in ids else None


def after_load(group: Group) -> str | None:
    """The next leader if the group is loaded again, by any broker, before the leader leaves; None: unknown, or none."""
    leader = leader_of(group)
    if leader is None or len(group.members) < 2:
        return None
    ids = [member.id for member in group.members]
    return _in_map(ids, leader, grown_capacity(len(ids)))[0]


def leads(group: Group, client_id: str) -> bool | None:
    holders = {member.id for member in group.members if member.client.id == client_id}
    if group.type is not GroupType.CLASSIC or not holders:
        return False
    leader = leader_of(group)
    if leader is None:
        return True if len(holders) == len(group.members) else None
    return leader in holders


def precedes(group: Group, client_id: str) -> bool | None:
    """Whether a member with this client id leads, or leads after the leader has left. None when unknown."""
    holders = {member.id for member in group.members if member.client.id == client_id}
    line = succession(group)
    if line is None or not holders:
        return False
    if line.leader in holders:
        return True
    if line.leader is not None:
        return line.order[0] in holders if line.certain else None
    if not line.is_broker_order:
        return None
    first, second = line.order[:2]
    if first in holders:
        return True
    return None if second in holders else False


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstFollower:
    member: str  # the first follower
    places: int  # bins before it, where a new id may be by chance; in its bin, it is last
    bins: int  # the number of bins of the map
    others: tuple[str, ...] = ()  # the other followers in the same bin

    def is_preceded_by(self, newcomer: str) -> bool:
        """Whether a member that joins with this id would precede it."""
        return int(_bins([newcomer], self.bins)[0]) < self.places


def first_follower(group: Group, *, newcomers: int = 0) -> FirstFollower | None:
    """The first member after the leader, in the map after `newcomers` have joined; None if not known, or none."""
    line = succession(group)
    if line is None or not line.certain or not line.is_broker_order or not line.order:
        return None
    ids = [member.id for member in group.members]
    listed = next(capacity for capacity in _capacities(len(ids)) if _as_listed(ids, capacity))
    capacity = max(listed, grown_capacity(len(ids) + newcomers))
    bins = _bins(line.order, capacity)
    first = int(bins.argmin())
    together = [line.order[index] for index in np.flatnonzero(bins == bins[first]).tolist()]
    places, others = int(bins[first]), tuple(together[1:])
    return FirstFollower(member=together[0], places=places, bins=capacity, others=others)


def _unknown_leader(group: Group) -> str:
    if group.leader is None:
        return "the present leader is not known"
    return (
        f"{group.leader} led the last finished rebalance and is no longer a member; the new leader is known when the "
        "group is Stable again"
    )


def _capacities(size: int) -> Iterator[int]:
    capacity = grown_capacity(size)
    while capacity <= max(LONGEST_ARRAY, grown_capacity(size)):
        yield capacity
        capacity *= 2


def _bins(ids: Sequence[str], capacity: int) -> Ints:
    return spread(string_hashes(ids)) & (capacity - 1)


def _as_listed(ids: Sequence[str], capacity: int) -> bool:
    """Whether the members may be listed in the order of a map of this length."""
    return bool((np.diff(_bins(ids, capacity)) >= 0).all())


def _in_map(ids: Sequence[str], leader: str | None, capacity: int) -> list[str]:
    """The members except the leader in the order of a map of this length, inserted in the order of the list."""
    order = map_order(string_hashes(ids), capacity=capacity, keys=[utf16(member) for member in ids])
    return [ids[i] for i in order.indices.tolist() if ids[i] != leader]


def _all_agree(ids: Sequence[str], leader: str | None) -> bool:
    """Whether the same member is first, and alone in its bin, at every length of the array."""
    followers = [member for member in ids if member != leader]
    firsts: set[str] = set()
    for capacity in _capacities(len(ids)):
        bins = _bins(followers, capacity)
        holders = np.flatnonzero(bins == bins.min())
        if len(holders) > 1:
            return False
        firsts.add(followers[int(holders[0])])
    return len(firsts) == 1
