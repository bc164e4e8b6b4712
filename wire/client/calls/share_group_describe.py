"""ShareGroupDescribe: share groups (KIP-932) with their members."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wire.client.answers import Failure
from wire.client.calls.assigned import AssignedTopic, assigned_topics
from wire.client.calls.described import describe
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import SHARE_GROUP_DESCRIBE


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareMember:
    """One member of a share group; partitions may be assigned to several members."""

    member_id: str
    rack: str | None
    epoch: int
    client_id: str
    client_host: str
    topics: tuple[str, ...]
    assignment: tuple[AssignedTopic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroup:
    """One share group."""

    group_id: str
    state: str
    group_epoch: int
    assignment_epoch: int
    assignor: str
    members: tuple[ShareMember, ...]


def share_group_describe(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, ShareGroup | Failure]]:
    """Ask one coordinator for `groups`; one that is not a share group fails with GROUP_ID_NOT_FOUND (69).

    :raises UnsupportedApi: the broker is older than share groups
    """
    return (yield from describe(connection, SHARE_GROUP_DESCRIBE, groups, _group, deadline))


def _group(group: Any) -> ShareGroup:
    return ShareGroup(
        group_id=group.group_id,
        state=group.group_state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor=group.assignor_name,
        members=tuple(_member(member) for member in group.members),
    )


def _member(member: Any) -> ShareMember:
    return ShareMember(
        member_id=member.member_id,
        rack=member.rack_id,
        epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=member.subscribed_topic_names,
        assignment=assigned_topics(member.assignment),
    )
