"""User data in assignments: what keeps a broker from converting a group online, and which way leads past it.

The leader's library writes the assignments of all members. librdkafka's cooperative-sticky copies every member's
subscription user data into its assignment, from the second rebalance of a member on; sarama's sticky writes its own,
from the first. No other pair of library and assignor writes any (field study on Kafka 4.3.1, nineteen pairs).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from groups.model import GroupState, GroupType

if TYPE_CHECKING:
    from migration.rules.case import Case

COOPERATIVE_STICKY = "cooperative-sticky"
STICKY = "sticky"


class OnlineWay(Enum):
    """How a group whose assignments carry user data still gets to the consumer protocol without a stop."""

    BRIDGE_LEADER = "bridge leader"
    """A temporary member of another library leads, and its assignments carry none."""
    RANGE_FIRST = "one rolling restart with [range, sticky]"
    """sarama: the group turns to range when the last member has the list."""


def members_with_data(case: Case) -> tuple[str, ...]:
    """Members whose assignment carries user data, in the group's order."""
    return tuple(
        member.id for member in case.group.members if member.user_data and member.user_data.assignment
    )


def data_will_come(case: Case) -> bool:
    """Whether the next rebalance may bring user data although there is none now.

    Of a group on cooperative-sticky in which librdkafka may lead: one that never rejoined shows nothing yet. And of
    sarama on sticky, where the source does not show user data: it is there from the first generation on.
    """
    group = case.group
    if group.type is not GroupType.CLASSIC or not group.members or members_with_data(case):
        return False
    if group.protocol == STICKY:
        unseen = any(member.user_data is None for member in group.members)
        return unseen and libraries_of(case) == {"sarama"}
    return group.protocol == COOPERATIVE_STICKY and "librdkafka" in libraries_of(case)


def online_way(case: Case) -> OnlineWay | None:
    """The way past user data, there now or to come; None where there is none (stop all members, start all).

    None too for a group without user data, and one without members, which converts as it is.
    """
    group, libraries = case.group, libraries_of(case)
    if group.type is not GroupType.CLASSIC or group.state is GroupState.EMPTY or not group.members:
        return None
    if not members_with_data(case) and not data_will_come(case):
        return None
    if group.protocol == COOPERATIVE_STICKY and "librdkafka" in libraries:
        return OnlineWay.BRIDGE_LEADER
    if group.protocol == STICKY and libraries == {"sarama"}:
        return OnlineWay.RANGE_FIRST
    return None


def libraries_of(case: Case) -> set[str]:
    """The libraries of the members, as far as they are known."""
    return {client.library.name for client in case.clients.values() if client.library is not None}
