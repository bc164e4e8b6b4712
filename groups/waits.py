"""The waits of each member of a group in a rebalance, from the data that a broker shows; and the labels of members.

Theory of operation, consumer groups (KIP-848). A member reconciles with the target assignment of an epoch in steps:
it revokes partitions that are no longer in its target, then its epoch becomes the target's, then it gets partitions
that others have revoked. The assignment that a broker shows for a member includes the partitions that it must still
revoke. If the epoch of the target is known, this means:

- the member has partitions outside its target: it must revoke them, whatever its epoch;
- its epoch is older, but it has nothing to revoke: its next heartbeat (or JoinGroup) brings it to the target's epoch;
- its target has more partitions: another member still owns them, or it gets them with the next heartbeat (or
JoinGroup);
- the group's epoch is ahead of the target's: the broker must still compute a new target.

A member that speaks the classic protocol does all this by rejoining when a heartbeat response requests it.

Classic groups. In PreparingRebalance the coordinator waits for members to join and does not show which have. A member
that joined after the last finished rebalance has joined this one, or one that was aborted. In CompletingRebalance
all have joined, and the group waits for the leader's assignment.

Source: modern.consumer.CurrentAssignmentBuilder, ConsumerGroupMember.asConsumerGroupDescribeMember,
GroupMetadataManager.classicGroupHeartbeatToConsumerGroup, classic.ClassicGroup. Tested on 4.3.1.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from groups.model import (
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Partitions,
    TopicPartition,
    by_topic,
    each_partition,
)
from groups.succession import leader_of


class WaitKind(Enum):
    REVOKE = "revoke"  # It must revoke `partitions`, which its target does not contain
    REJOIN = "rejoin"  # It must send JoinGroup and revoke `partitions`, if any
    MAYBE_REJOIN = "maybe-rejoin"  # It must send JoinGroup, unless it has, which is not shown
    HEARTBEAT = "heartbeat"  # It waits for its next one, with the target's epoch or `partitions`
    RELEASE = "release"  # It waits for `partitions` that another member still owns
    ASSIGNOR = "assignor"  # It waits for the broker's assignor to compute a target
    JOINS = "joins"  # It waits for other members to join; it joined after the last finished rebalance
    ASSIGN = "assign"  # It leads and must send the assignment
    LEADER = "leader"  # It waits for the leader to send the assignment
    RETURN = "return"  # It is static and away, and must rejoin before its session expires


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    kind: WaitKind
    partitions: Partitions = field(default_factory=dict)
    member: str | None = None  # the id of the other member that must act, if there is one


def labels_of(group: Group) -> dict[str, str]:
    short = {member.id: member.instance or member.client.id or member.id for member in group.members}
    holders = Counter(short.values())
    return {
        member_id: name if holders[name] == 1 and (name == member_id or name not in short) else member_id
        for member_id, name in short.items()
    }


def waits_of(group: Group) -> dict[str, tuple[Wait, ...] | None]:
    if group.type is GroupType.CLASSIC:
        return _classic_waits(group)
    if group.type is not GroupType.CONSUMER:
        return dict.fromkeys((member.id for member in group.members), None)
    owners = _owners(group)
    return {member.id: _consumer_waits(group, member, owners) for member in group.members}


def _classic_waits(group: Group) -> dict[str, tuple[Wait, ...] | None]:
    ids = [member.id for member in group.members]
    if group.state is GroupState.STABLE:
        return dict.fromkeys(ids, ())
    if group.state is GroupState.COMPLETING_REBALANCE:
        leader = leader_of(group)
        assign, follow = Wait(kind=WaitKind.ASSIGN), Wait(kind=WaitKind.LEADER, member=leader)
        return {member_id: (assign if member_id == leader else follow,) for member_id in ids}
    if group.state is GroupState.PREPARING_REBALANCE:
        kinds = {one.id: WaitKind.JOINS if one.is_new else WaitKind.MAYBE_REJOIN for one in group.members}
        return {member_id: (Wait(kind=kind),) for member_id, kind in kinds.items()}
    return dict.fromkeys(ids, None)


Owners = Mapping[TopicPartition, str]  # Member ids by topic and partition


def _owners(group: Group) -> Owners | None:
    if any(member.owned is None for member in group.members):
        return None
    return {partition: member.id for member in group.members for partition in each_partition(member.owned)}


def _consumer_waits(group: Group, member: Member, owners: Owners | None) -> tuple[Wait, ...] | None:
    if member.is_away:
        return (Wait(kind=WaitKind.RETURN),)
    epochs = (member.epoch, group.assignment_epoch, group.group_epoch)
    if owners is None or member.owned is None or member.target is None or None in epochs:
        return None
    owned, target = set(each_partition(member.owned)), set(each_partition(member.target))
    return tuple(_steps(group, member, owners, owned - target, target - owned))


def _steps(
    group: Group, member: Member, owners: Owners, surplus: set[TopicPartition], missing: set[TopicPartition]
) -> Iterator[Wait]:
    classic = member.protocol is MemberProtocol.CLASSIC
    behind = (member.epoch or 0) < (group.assignment_epoch or 0)
    if surplus:
        yield Wait(kind=WaitKind.REJOIN if classic else WaitKind.REVOKE, partitions=by_topic(surplus))
    held: dict[str, set[TopicPartition]] = {}
    free: set[TopicPartition] = set()
    for partition in missing:
        if partition in owners:
            held.setdefault(owners[partition], set()).add(partition)
        else:
            free.add(partition)
    # A classic member rejoins for free partitions only when no other member owns a part of its target any more.
    if not surplus and (behind or (free and not (classic and held))):
        kind = WaitKind.REJOIN if classic else WaitKind.HEARTBEAT
        yield Wait(kind=kind, partitions={} if classic else by_topic(free))
    for owner in sorted(held):
        yield Wait(kind=WaitKind.RELEASE, partitions=by_topic(held[owner]), member=owner)
    if (group.assignment_epoch or 0) < (group.group_epoch or 0):
        yield Wait(kind=WaitKind.ASSIGNOR)
