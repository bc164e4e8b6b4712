"""Rules about user data in assignments, which keeps a broker from converting a group online; the path around it.

The leader's library writes the assignments of all members. librdkafka's cooperative-sticky copies every member's
subscription user data into its assignment, from the member's second rebalance on; sarama's sticky writes its own user
data from the first rebalance on. No other pair of library and assignor writes any (field study on Kafka 4.3.1,
nineteen pairs).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from groups.findings import Finding, Level
from groups.model import GroupState, GroupType
from migration.rules.case import Case

COOPERATIVE_STICKY = "cooperative-sticky"
STICKY = "sticky"
STOP_ALL = "Plan to stop all members first (--offline): an Empty group converts without conditions."
_FIELD_STUDY = "Field trial on 4.3.1: librdkafka's cooperative-sticky and sarama's sticky leaders write it"


class OnlinePath(Enum):
    """The online paths to the consumer protocol for a group whose assignments carry user data."""

    BRIDGE_LEADER = "bridge leader"
    """A temporary member of another library leads, and its assignments carry no user data."""
    RANGE_FIRST = "one rolling restart with [range, sticky]"
    """For sarama: the group changes to range when the last member has the list."""


def members_with_data(case: Case) -> tuple[str, ...]:
    """Members whose assignment carries user data, in the group's order."""
    return tuple(
        member.id for member in case.group.members if member.user_data and member.user_data.assignment
    )


def data_will_come(case: Case) -> bool:
    """Whether the next rebalance may bring user data although it is absent now.

    True for a group on cooperative-sticky in which librdkafka may lead: it has no user data until a member rejoins.
    Also true for sarama on sticky if the source does not show user data: it exists from the first generation on.
    """
    group = case.group
    if group.type is not GroupType.CLASSIC or not group.members or members_with_data(case):
        return False
    if group.protocol == STICKY:
        unseen = any(member.user_data is None for member in group.members)
        return unseen and libraries_of(case) == {"sarama"}
    return group.protocol == COOPERATIVE_STICKY and "librdkafka" in libraries_of(case)


def online_path(case: Case) -> OnlinePath | None:
    """The path around user data, present or expected; None if no path exists (stop all members, start all).

    Also None for a group without user data or without members, which a broker converts as it is.
    """
    group, libraries = case.group, libraries_of(case)
    if group.type is not GroupType.CLASSIC or group.state is GroupState.EMPTY or not group.members:
        return None
    if not members_with_data(case) and not data_will_come(case):
        return None
    if group.protocol == COOPERATIVE_STICKY and "librdkafka" in libraries:
        return OnlinePath.BRIDGE_LEADER
    if group.protocol == STICKY and libraries == {"sarama"}:
        return OnlinePath.RANGE_FIRST
    return None


def libraries_of(case: Case) -> set[str]:
    """The known libraries of the members."""
    return {client.library.name for client in case.clients.values() if client.library is not None}


def no_user_data_in_assignments(case: Case) -> Iterator[Finding]:
    """The broker refuses to convert a group whose assignments carry user data."""
    members = members_with_data(case) if case.converts_online else ()
    if not members:
        return
    sizes = sorted({_size(case, member) for member in members})
    size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    whose = "Its assignment carries" if len(members) == 1 else "The assignments carry"
    way = online_path(case)
    yield case.finding(
        Level.BLOCKER if way is None else Level.WARNING,
        "assignment-user-data",
        members=members,
        message=f"{whose} {size} bytes of user data: the broker would refuse the online upgrade with "
        "GROUP_ID_NOT_FOUND.",
        remedy=_remedy(case, way),
        source=_FIELD_STUDY,
    )


def _size(case: Case, member: str) -> int:
    return next(
        len(each.user_data.assignment) for each in case.group.members if each.id == member and each.user_data
    )


def _remedy(case: Case, way: OnlinePath | None) -> str:
    if way is not None and len(case.clients) == 1:
        return (
            "It is the only member: stop it. While it is stopped the group is Empty and converts, whatever its "
            "assignment contained (with a static member: once its session has expired)."
        )
    match way:
        case OnlinePath.BRIDGE_LEADER:
            return (
                "Use a bridge leader (`kohort bridge`): a temporary member becomes the leader, and its assignments "
                "carry no user data. Or stop all members and start them on the consumer protocol."
            )
        case OnlinePath.RANGE_FIRST:
            return (
                "Do one rolling restart with [range, sticky], range first: the group changes to range, without user "
                "data. Or stop all members and start them on the consumer protocol."
            )
        case None:
            return STOP_ALL


def user_data_may_appear(case: Case) -> Iterator[Finding]:
    """A librdkafka group on cooperative-sticky can only be converted until a member has rejoined."""
    if case.converts_online and data_will_come(case):
        known = all(member.user_data is not None for member in case.group.members)
        library = "librdkafka" if case.group.protocol == "cooperative-sticky" else "sarama"
        yield case.warning(
            "user-data-to-come",
            message=f"{library} members on {case.group.protocol}: "
            + (
                "no assignment carries user data yet, but the next rebalance with a librdkafka leader adds it"
                if known
                else f"it is unknown whether their assignments carry user data, and a {library} leader adds it"
            )
            + ", and the broker then refuses the online upgrade.",
            remedy="Do not trust a trial on a fresh group. "
            + (
                ""
                if known
                else "Plan against the live cluster, with a login that Kohort's own client supports. "
            )
            + _remedy(case, online_path(case)),
            source=_FIELD_STUDY,
        )
