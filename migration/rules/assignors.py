"""What the assignors in use mean for the way."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.model import GroupType
from migration.model import Destination, Finding, Level
from migration.rules.case import Case

KAFKAS_OWN = {
    "range": "range",
    "roundrobin": "uniform",
    "sticky": "uniform",
    "cooperative-sticky": "uniform",
}
"""Client-side assignors, and the broker's that comes nearest."""


def assignor_is_kafkas_own(case: Case) -> Iterator[Finding]:
    """A custom assignor's name does not stop a migration, but its work is lost on the way."""
    group = case.group
    if group.type is not GroupType.CLASSIC or group.protocol_type not in (None, "consumer"):
        return
    if group.protocol and group.protocol not in KAFKAS_OWN and group.protocol != "RoundRobinAssigner":
        yield Finding(
            rule="custom-assignor",
            level=Level.WARNING,
            message=f"The group uses an assignor that is not Kafka's: {group.protocol}. Its work is lost.",
            remedy="Find out what it is for before the first step; one of Kafka's own must do in its place.",
            source="apache/kafka pull 18046",
        )


def no_user_data_in_assignments(case: Case) -> Iterator[Finding]:
    """The broker refuses to convert a group whose assignments carry user data."""
    if case.destination is not Destination.CONSUMER or case.group.type is not GroupType.CLASSIC:
        return
    for member in case.group.members:
        size = len(member.user_data.assignment) if member.user_data else 0
        if size:
            yield Finding(
                rule="assignment-user-data",
                level=Level.BLOCKER,
                member=member.id,
                message=f"Its assignment carries {size} bytes of user data: the broker refuses the online upgrade "
                "with GROUP_ID_NOT_FOUND.",
                remedy="Stop all members, then start them on the consumer protocol (offline).",
                source="Field trial on 4.3.1: librdkafka's cooperative-sticky and sarama's sticky leaders write it",
            )


def assignor_has_a_successor(case: Case) -> Iterator[Finding]:
    """Which assignor of the broker takes over."""
    successor = KAFKAS_OWN.get(case.group.protocol or "")
    if case.destination is Destination.CONSUMER and case.group.type is GroupType.CLASSIC and successor:
        yield Finding(
            rule="assignor-successor",
            level=Level.INFO,
            message=f"The nearest broker-side assignor to {case.group.protocol} is {successor}.",
            remedy=f"Ask for it with group.remote.assignor={successor}; otherwise the broker takes its first one.",
            source="KIP-848, Assignment Process",
        )
