"""ConsumerGroupDescribe: groups of type consumer (KIP-848) with their members."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from wire.client.answers import Failure
from wire.client.calls.assigned import AssignedTopic, assigned_topics
from wire.client.calls.described import describe
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import CONSUMER_GROUP_DESCRIBE


class MemberProtocol(Enum):
    """Which protocol a member of a consumer group speaks; UNKNOWN below version 1 of the answer (4.0)."""

    UNKNOWN = -1
    CLASSIC = 0
    CONSUMER = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """One member. `epoch` is -2 for a static member that is away; `regex` is None without one.

    While the member revokes, `assignment` still lists what it must give up.
    """

    member_id: str
    instance_id: str | None
    rack: str | None
    epoch: int
    client_id: str
    client_host: str
    topics: tuple[str, ...]
    regex: str | None
    assignment: tuple[AssignedTopic, ...]
    target: tuple[AssignedTopic, ...]
    protocol: MemberProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroup:
    """One consumer group; the target is of `assignment_epoch`, which may lag behind `group_epoch`."""

    group_id: str
    state: str
    group_epoch: int
    assignment_epoch: int
    assignor: str
    members: tuple[ConsumerMember, ...]


def consumer_group_describe(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, ConsumerGroup | Failure]]:
    """Ask one coordinator for `groups`; one that is not of type consumer fails with GROUP_ID_NOT_FOUND (69).

    :raises UnsupportedApi: the broker is older than consumer groups
    """
    return (yield from describe(connection, CONSUMER_GROUP_DESCRIBE, groups, _group, deadline))


def _group(group: Any) -> ConsumerGroup:
    return ConsumerGroup(
        group_id=group.group_id,
        state=group.group_state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor=group.assignor_name,
        members=tuple(_member(member) for member in group.members),
    )


def _member(member: Any) -> ConsumerMember:
    kind = getattr(member, "member_type", -1)
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack=member.rack_id,
        epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=member.subscribed_topic_names,
        # The broker writes "no regex" as an empty string.
        regex=member.subscribed_topic_regex or None,
        assignment=assigned_topics(member.assignment),
        target=assigned_topics(member.target_assignment),
        protocol=MemberProtocol(kind) if kind in (0, 1) else MemberProtocol.UNKNOWN,
    )
