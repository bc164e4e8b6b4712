"""DescribeGroups: classic groups with their members."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wire.client.answers import Failure, refusal
from wire.client.batches import batches
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import DESCRIBE_GROUPS


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicMember:
    """One member. `metadata` and `assignment` are the embedded protocol's bytes, empty before Stable.

    `instance_id` is None without one, and below Kafka 2.4.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicGroup:
    """One classic group. `protocol` is the assignor in use, empty before Stable.

    State Dead is the answer of brokers before 4.0 for a group that does not exist.
    """

    group_id: str
    state: str
    protocol_type: str
    protocol: str
    members: tuple[ClassicMember, ...]


def describe_groups(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, ClassicGroup | Failure]]:
    """Ask one coordinator for `groups`."""
    yield from connection.open(deadline)
    version = connection.version(DESCRIBE_GROUPS)
    fields = {"include_authorized_operations": False} if version >= 3 else {}
    request = DESCRIBE_GROUPS.request_type(version)
    requests = [request(groups=batch, **fields) for batch in batches(groups)]
    responses = yield from connection.exchange(DESCRIBE_GROUPS, requests, deadline)
    return {group.group_id: _group(group) for response in responses for group in response.groups}


def _group(group: Any) -> ClassicGroup | Failure:
    if group.error_code:
        return refusal(group.error_code, getattr(group, "error_message", None))
    return ClassicGroup(
        group_id=group.group_id,
        state=group.group_state,
        protocol_type=group.protocol_type,
        protocol=group.protocol_data,
        members=tuple(_member(member) for member in group.members),
    )


def _member(member: Any) -> ClassicMember:
    return ClassicMember(
        member_id=member.member_id,
        instance_id=getattr(member, "group_instance_id", None),
        client_id=member.client_id,
        client_host=member.client_host,
        metadata=member.member_metadata,
        assignment=member.member_assignment,
    )
