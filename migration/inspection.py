"""Where a group stands on its way, and what each member waits for: told from what a broker shows.

Theory of operation, consumer groups (KIP-848). A member goes to the target assignment of an epoch in steps: it gives up
what is no longer in its target, then its epoch becomes the target's, then it gets what others have given up. What a
broker shows as a member's assignment includes what it is still to give up. So, with the epoch of the target known:

- it has something outside its target: it is to give that up, whatever its epoch;
- its epoch is older, but it has nothing to give up: its next heartbeat (or JoinGroup) brings it to the target's epoch;
- its target has more than it has: another member still owns that, or it comes with the next heartbeat (or JoinGroup);
- the group's epoch is ahead of the target's: a new target is still to be computed.

A member that speaks the classic protocol does all this by rejoining, which its heartbeats tell it to do.

Classic groups. In PreparingRebalance the coordinator waits for members to join and does not show which have. One that
came after the last finished rebalance has joined since, this one or one that was broken off. In CompletingRebalance
all have joined, and the leader's assignment is awaited.

Source: modern.consumer.CurrentAssignmentBuilder, ConsumerGroupMember.asConsumerGroupDescribeMember,
GroupMetadataManager.classicGroupHeartbeatToConsumerGroup, classic.ClassicGroup. Tried on 4.3.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from groups.model import Group, GroupState, GroupType, Member, MemberProtocol, Partitions
from groups.succession import Succession, leader_of, succession
from migration.clients import DeclaredClients, MemberClient, client_of

AWAY = -2
"""Epoch of a static member that left for a while (KIP-848, Static Membership)."""
COOPERATIVE = "cooperative-sticky"
WRITERS_OF_USER_DATA = frozenset({("librdkafka", COOPERATIVE), ("sarama", "sticky")})
"""Library and assignor of the leaders that put user data into assignments; librdkafka's once a member has rejoined.
Read off the logs of real groups on 4.3.1."""


class WaitKind(Enum):
    """What a member waits for."""

    REVOKE = "revoke"
    """To give up partitions that its target does not have."""
    REJOIN = "rejoin"
    """To send JoinGroup, giving up `partitions` where there are any."""
    MAYBE_REJOIN = "maybe-rejoin"
    """To send JoinGroup, unless it has: the coordinator does not show it."""
    HEARTBEAT = "heartbeat"
    """For its next heartbeat, which brings the target's epoch, or `partitions`."""
    RELEASE = "release"
    """For partitions that another member still has."""
    ASSIGNOR = "assignor"
    """For the broker's assignor to compute a target."""
    JOINS = "joins"
    """For other members to join: it came after the last finished rebalance."""
    ASSIGN = "assign"
    """It leads, and is to send the assignment."""
    LEADER = "leader"
    """For the leader to send the assignment."""
    RETURN = "return"
    """Static, and away: to come back before its session ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Something that a member waits for."""

    kind: WaitKind
    partitions: Partitions = field(default_factory=dict)
    member: str | None = None
    """Id of the member that is waited for, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedMember:
    """A member, and where it stands."""

    member: Member
    label: str
    """What people call it: its instance, else its client id, or its id where others have the same."""
    client: MemberClient
    assignors: tuple[str, ...] | None
    """The assignors that it is known to list, preferred first; None when none is known."""
    all_assignors: bool
    """Whether `assignors` is its whole list."""
    epoch: int | None
    """Member epoch, or the generation that it has seen."""
    leads: bool | None
    """None when it cannot be told."""
    rank: int | None
    """Its place in the order of succession, from 1; None for the leader and where there is none or it is not known."""
    waits: tuple[Wait, ...] | None
    """In the order in which they end; None when it cannot be told, empty when it waits for nothing."""
    user_data_bytes: int | None
    """Size of the user data in its assignment; None when not known."""
    writes_user_data: bool | None
    """Whether, leading, it writes user data into the assignments that it makes; None when not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A group, and where it stands."""

    group: Group
    standing: str
    members: tuple[InspectedMember, ...]
    succession: Succession | None
    upgrade_blocked_by: tuple[str, ...] | None
    """Ids of members whose assignments carry user data, for which a broker refuses to convert the group online; None
    when not known, and where the question has no sense."""


def inspect(group: Group) -> Inspection:
    """All that can be told of a group in flight."""
    order = succession(group)
    labels = labels_of(group)
    waits = waits_of(group)
    leader = None if order is None else order.leader
    ranks = (
        {} if order is None or leader is None else {each: rank for rank, each in enumerate(order.order, 1)}
    )
    members = tuple(
        _inspected(group, member, labels[member.id], leader, ranks.get(member.id), waits[member.id])
        for member in group.members
    )
    return Inspection(
        group=group,
        standing=standing(group),
        members=members,
        succession=order,
        upgrade_blocked_by=_blockers(group),
    )


def labels_of(group: Group) -> dict[str, str]:
    """What to call each member, by id: nothing that two members share."""
    short = {member.id: member.instance or member.client.id or member.id for member in group.members}
    holders = Counter(short.values())
    return {
        each: name if holders[name] == 1 and (name == each or name not in short) else each
        for each, name in short.items()
    }


def standing(group: Group) -> str:
    """Where the group stands, in words."""
    total = len(group.members)
    if group.type in (GroupType.SHARE, GroupType.STREAMS):
        return f"A {group.type.value} group: neither of the protocols between which a migration leads is its own."
    if group.protocol_type not in (None, "", "consumer"):
        return f"A group of protocol type {group.protocol_type}, not of consumers."
    if not total:
        return "Empty: the protocol of the first member that joins becomes the group's."
    if group.type is GroupType.CLASSIC:
        return _classic_standing(group)
    if any(member.protocol is None for member in group.members):
        return f"Of type {group.type.value}; which protocol its members speak is not known."
    modern = sum(member.protocol is MemberProtocol.CONSUMER for member in group.members)
    if modern == total:
        return f"Consumer: {_all(total)} the consumer protocol."
    if modern:
        return (
            f"Mixed: {modern} of {total} members {_speak(modern)} the consumer protocol, "
            f"{total - modern} {_speak(total - modern)} the classic one."
        )
    return (
        f"Of type consumer, though {_all(total)} the classic protocol: the brokers' migration policy does not turn "
        "it back."
    )


def _classic_standing(group: Group) -> str:
    total = len(group.members)
    spoken = f"Classic: {_all(total)} the classic protocol"
    if group.state in (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE):
        return f"{spoken}; a rebalance is going on, and which assignor it will use is not known."
    if group.protocol is None:
        return f"{spoken}."
    lists = [member.protocols for member in group.members]
    if None in lists:
        bounced = ""
        if group.protocol == COOPERATIVE and _may_bounce(group):
            bounced = ": the first of two bounces to it is complete, if not both"
        return (
            f"{spoken} and {'lists' if total == 1 else 'list'} {group.protocol}, which is in use{bounced}. "
            "What else is listed, a broker does not show."
        )
    return f"{spoken}; {group.protocol} is in use{_bounced([each for each in lists if each is not None])}."


def _may_bounce(group: Group) -> bool:
    """Whether some member's library may list an eager and a cooperative assignor at once, or is not known."""
    libraries = [client_of(member, DeclaredClients()).library for member in group.members]
    return any(library is None or library.two_bounces for library in libraries)


def _bounced(lists: Sequence[Sequence[str]]) -> str:
    """How far the two bounces to the cooperative assignor have come, by the whole lists of all members."""
    listing, alone = (
        sum(COOPERATIVE in each for each in lists),
        sum(list(each) == [COOPERATIVE] for each in lists),
    )
    if not listing:
        return ""
    if listing < len(lists):
        return f"; {listing} of {len(lists)} list {COOPERATIVE}: the first of two bounces to it is under way"
    if alone < len(lists):
        return (
            f"; all list {COOPERATIVE}, {alone or 'none'} alone: the first of two bounces to it is complete"
        )
    return f"; all list {COOPERATIVE} alone: both bounces to it are complete"


def _all(total: int) -> str:
    return (
        "its one member speaks" if total == 1 else f"{'both' if total == 2 else f'all {total}'} members speak"
    )


def _speak(count: int) -> str:
    return "speaks" if count == 1 else "speak"


def waits_of(group: Group) -> dict[str, tuple[Wait, ...] | None]:
    """What each member waits for, by id; None where that cannot be told."""
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
        follow: tuple[Wait, ...] = (Wait(kind=WaitKind.LEADER, member=leader),)
        return {each: (Wait(kind=WaitKind.ASSIGN),) if each == leader else follow for each in ids}
    if group.state is GroupState.PREPARING_REBALANCE:
        return {
            member.id: (Wait(kind=WaitKind.JOINS if member.is_new else WaitKind.MAYBE_REJOIN),)
            for member in group.members
        }
    return dict.fromkeys(ids, None)


Owners = Mapping[tuple[str, int], str]
"""Member ids by topic and partition."""


def _owners(group: Group) -> Owners | None:
    """None when what some member owns is not known."""
    if any(member.owned is None for member in group.members):
        return None
    return {place: member.id for member in group.members for place in _places(member.owned or {})}


def _consumer_waits(group: Group, member: Member, owners: Owners | None) -> tuple[Wait, ...] | None:
    """In the order of the steps that the module describes."""
    if member.epoch == AWAY:
        return (Wait(kind=WaitKind.RETURN),)
    if (
        owners is None
        or member.owned is None
        or member.target is None
        or member.epoch is None
        or group.assignment_epoch is None
        or group.group_epoch is None
    ):
        return None
    owned, target = set(_places(member.owned)), set(_places(member.target))
    return tuple(_steps(group, member, owners, owned - target, target - owned))


def _steps(
    group: Group, member: Member, owners: Owners, surplus: set[tuple[str, int]], wanted: set[tuple[str, int]]
) -> Iterator[Wait]:
    classic = member.protocol is MemberProtocol.CLASSIC
    behind = (member.epoch or 0) < (group.assignment_epoch or 0)
    if surplus:
        yield Wait(kind=WaitKind.REJOIN if classic else WaitKind.REVOKE, partitions=_partitions(surplus))
    held: dict[str, set[tuple[str, int]]] = {}
    free: set[tuple[str, int]] = set()
    for place in wanted:
        if place in owners:
            held.setdefault(owners[place], set()).add(place)
        else:
            free.add(place)
    # A classic member is told to rejoin for what is free when nothing of its target is held any more.
    if not surplus and (behind or (free and not (classic and held))):
        kind = WaitKind.REJOIN if classic else WaitKind.HEARTBEAT
        yield Wait(kind=kind, partitions={} if classic else _partitions(free))
    for owner in sorted(held):
        yield Wait(kind=WaitKind.RELEASE, partitions=_partitions(held[owner]), member=owner)
    if (group.assignment_epoch or 0) < (group.group_epoch or 0):
        yield Wait(kind=WaitKind.ASSIGNOR)


def _places(partitions: Partitions) -> Iterator[tuple[str, int]]:
    return ((topic, number) for topic, numbers in partitions.items() for number in numbers)


def _partitions(places: set[tuple[str, int]]) -> Partitions:
    found: dict[str, list[int]] = {}
    for topic, number in sorted(places):
        found.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in found.items()}


def _inspected(
    group: Group,
    member: Member,
    label: str,
    leader: str | None,
    rank: int | None,
    waits: tuple[Wait, ...] | None,
) -> InspectedMember:
    assignors, whole = _assignors(group, member)
    client = client_of(member, DeclaredClients())
    return InspectedMember(
        member=member,
        label=label,
        client=client,
        assignors=assignors,
        all_assignors=whole,
        epoch=_epoch(group, member),
        leads=_leads(group, member, leader),
        rank=rank,
        waits=waits,
        user_data_bytes=None if member.user_data is None else len(member.user_data.assignment),
        writes_user_data=_writes_user_data(group, client),
    )


def _writes_user_data(group: Group, client: MemberClient) -> bool | None:
    if client.library is None or group.type is not GroupType.CLASSIC or not group.protocol:
        return None
    return (client.library.name, group.protocol) in WRITERS_OF_USER_DATA


def _leads(group: Group, member: Member, leader: str | None) -> bool | None:
    if group.type is not GroupType.CLASSIC:
        return False
    return None if leader is None else member.id == leader


def _assignors(group: Group, member: Member) -> tuple[tuple[str, ...] | None, bool]:
    """What a member is known to list, and whether that is all: a classic group shows only what it chose."""
    if member.protocols is not None:
        return member.protocols, True
    if group.type is GroupType.CLASSIC and group.protocol:
        return (group.protocol,), False
    return None, False


def _epoch(group: Group, member: Member) -> int | None:
    if group.type is not GroupType.CLASSIC:
        return member.epoch
    return group.generation if member.generation is None else member.generation


def _blockers(group: Group) -> tuple[str, ...] | None:
    if group.type is not GroupType.CLASSIC or group.protocol_type not in (None, "", "consumer"):
        return None
    found = tuple(member.id for member in group.members if member.user_data and member.user_data.assignment)
    unknown = any(member.user_data is None for member in group.members)
    return None if unknown and not found else found
