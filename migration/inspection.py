"""The progress of a group's migration, as a broker shows it; `groups.waits` computes what its members wait for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from groups.classic_streams import StreamsThread, streams_threads
from groups.counts import share
from groups.model import Group, GroupState, GroupType, Member, MemberProtocol
from groups.succession import Succession, succession
from groups.waits import Wait, labels_of, waits_of
from migration.clients import DeclaredClients, MemberClient, client_of

COOPERATIVE = "cooperative-sticky"
WRITERS_OF_USER_DATA = frozenset({("librdkafka", COOPERATIVE), ("sarama", "sticky")})
"""Library and assignor of leaders that put user data into assignments; librdkafka's do once a member has rejoined.
Found in the logs of real groups on 4.3.1."""


Waits: TypeAlias = tuple[Wait, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedMember:
    member: Member
    label: str
    """Its name in messages: its instance id, else its client id; its member id if others have the same name."""
    client: MemberClient
    assignors: tuple[str, ...] | None
    """The assignors that it is known to list, preferred first; None if none is known."""
    all_assignors: bool
    epoch: int | None  # Its member epoch, or its last generation
    leads: bool | None  # None: unknown
    rank: int | None
    """Its place in the order of succession, from 1; None for the leader, or if there is no known order."""
    waits: Waits  # In the order in which they end; None if unknown, empty if it waits for nothing
    user_data_bytes: int | None  # Size of the user data in its assignment; None if unknown
    user_data: str | None
    """What its user data is, if that is Kafka Streams': `AssignmentInfo 11`; None if unknown."""
    writes_user_data: bool | None
    """Whether it writes user data into the assignments when it leads; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    group: Group
    standing: str
    members: tuple[InspectedMember, ...]
    succession: Succession | None
    upgrade_blocked_by: tuple[str, ...] | None
    """Ids of members whose assignments carry user data, so that a broker refuses to convert the group online; None if
    unknown or not applicable."""


def inspect(group: Group) -> Inspection:
    order = succession(group)
    labels, waits = labels_of(group), waits_of(group)
    leader = None if order is None else order.leader
    followers = () if order is None or leader is None else order.order
    ranks = {name: rank for rank, name in enumerate(followers, 1)}
    members = tuple(
        _inspected(group, member, labels[member.id], leader, ranks.get(member.id), waits[member.id])
        for member in group.members
    )
    threads = {thread.member.id: thread for thread in streams_threads(group)}
    members = tuple(
        replace(inspected, user_data=_streams_data(threads.get(inspected.member.id))) for inspected in members
    )
    words, blocked = standing(group), blocking_upgrade(group)
    known: dict[str, Any] = {"standing": words, "succession": order, "upgrade_blocked_by": blocked}
    return Inspection(group=group, members=members, **known)


def standing(group: Group) -> str:
    total = len(group.members)
    if group.type in (GroupType.SHARE, GroupType.STREAMS):
        return f"A {group.type.value} group: it uses neither the classic nor the consumer protocol."
    if not group.shares_partitions:
        return f"A group of protocol type {group.protocol_type}, not of consumers."
    if not total:
        return "Empty: the group takes the protocol of the first member that joins."
    if group.type is GroupType.CLASSIC:
        return _classic_standing(group)
    if any(member.protocol is None for member in group.members):
        return f"Type {group.type.value}; the protocol of its members is unknown."
    modern = sum(member.protocol is MemberProtocol.CONSUMER for member in group.members)
    if modern == total:
        return f"Consumer: {_all(total)} the consumer protocol."
    if modern:
        others = f"{total - modern} {'speaks' if total - modern == 1 else 'speak'} the classic one"
        some = share(modern, total, "member", ("speaks", "speak"))
        return f"Mixed: {some} the consumer protocol, {others}."
    stays = "the brokers' migration policy does not turn it back"
    return f"Type consumer, although {_all(total)} the classic protocol: {stays}."


def _classic_standing(group: Group) -> str:
    total = len(group.members)
    spoken = f"Classic: {_all(total)} the classic protocol"
    if group.state in (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE):
        return f"{spoken}; a rebalance is in progress, and the assignor that it will use is unknown."
    if group.protocol is None:
        return f"{spoken}."
    threads = streams_threads(group)
    used = sorted({thread.used for thread in threads if thread.used is not None})
    newest = sorted({thread.newest_known for thread in threads if thread.newest_known is not None})
    if used:
        knows = f", and {_from_to(newest)} is the newest known" if newest else ""
        return f"{spoken}; they are threads of Kafka Streams: version {_from_to(used)} of its data is in use{knows}."
    lists = [member.protocols for member in group.members]
    if None in lists:
        bounced = ""
        if group.protocol == COOPERATIVE and _may_bounce(group):
            bounced = ": the first of two bounces to it is complete, if not both"
        listed = f"{'lists' if total == 1 else 'list'} {group.protocol}, which is in use{bounced}"
        return f"{spoken} and {listed}. A broker does not show what else is listed."
    return f"{spoken}; {group.protocol} is in use{_bounced([names for names in lists if names is not None])}."


def _from_to(versions: Sequence[int]) -> str:
    return str(versions[0]) if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def _may_bounce(group: Group) -> bool:
    """Whether some member's library may list an eager and a cooperative assignor at once, or is unknown."""
    libraries = [client_of(member, DeclaredClients()).library for member in group.members]
    return any(library is None or library.two_bounces for library in libraries)


def _bounced(lists: Sequence[Sequence[str]]) -> str:
    """The progress of the two bounces to the cooperative assignor, according to the lists of all members."""
    listing = sum(COOPERATIVE in names for names in lists)
    alone = sum(list(names) == [COOPERATIVE] for names in lists)
    if not listing:
        return ""
    if listing < len(lists):
        lists_it = f"{listing} of {len(lists)} {'lists' if listing == 1 else 'list'} {COOPERATIVE}"
        return f"; {lists_it}: the first of two bounces to it is in progress"
    if alone < len(lists):
        lists_it = f"all list {COOPERATIVE}, {alone or 'none'} alone"
        return f"; {lists_it}: the first of two bounces to it is complete"
    return f"; all list {COOPERATIVE} alone: both bounces to it are complete"


def _all(total: int) -> str:
    if total == 1:
        return "its one member speaks"
    return f"{'both' if total == 2 else f'all {total}'} members speak"


def _inspected(
    group: Group, member: Member, label: str, leader: str | None, rank: int | None, waits: Waits
) -> InspectedMember:
    client = client_of(member, DeclaredClients())
    assignors, epoch = member.protocols, member.epoch
    leads: bool | None = False
    writes: bool | None = None
    if group.type is GroupType.CLASSIC:
        epoch = group.generation if member.generation is None else member.generation
        leads = None if leader is None else member.id == leader
        if client.library is not None and group.protocol:
            writes = (client.library.name, group.protocol) in WRITERS_OF_USER_DATA
        if assignors is None and group.protocol:
            assignors = (group.protocol,)  # A classic group shows only its choice
    return InspectedMember(
        member=member,
        label=label,
        client=client,
        assignors=assignors,
        all_assignors=member.protocols is not None,
        epoch=epoch,
        leads=leads,
        rank=rank,
        waits=waits,
        user_data_bytes=None if member.user_data is None else len(member.user_data.assignment),
        user_data=None,
        writes_user_data=writes,
    )


def _streams_data(thread: StreamsThread | None) -> str | None:
    assignment = None if thread is None else thread.assignment
    return None if assignment is None else f"AssignmentInfo {assignment.version}"


def blocking_upgrade(group: Group) -> tuple[str, ...] | None:
    if group.type is not GroupType.CLASSIC or group.protocol_type not in (None, "", "consumer"):
        return None
    members = group.members
    carriers = tuple(one.id for one in members if one.user_data and one.user_data.assignment)
    unknown = any(member.user_data is None for member in group.members)
    return None if unknown and not carriers else carriers
