"""What the broker says of a group, of whatever type: asked for directly, to wait for and to compare with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kio.schema.consumer_group_describe.v1 import request as consumer_request
from kio.schema.consumer_group_describe.v1 import response as consumer_response
from kio.schema.consumer_protocol_assignment.v0.data import ConsumerProtocolAssignment
from kio.schema.describe_groups.v6 import request as classic_request
from kio.schema.describe_groups.v6 import response as classic_response
from kio.schema.list_groups.v5.request import ListGroupsRequest
from kio.schema.list_groups.v5.response import ListGroupsResponse
from kio.schema.share_group_describe.v1 import request as share_request
from kio.schema.share_group_describe.v1 import response as share_response
from kio.schema.streams_group_describe.v0 import request as streams_request
from kio.schema.streams_group_describe.v0 import response as streams_response
from kio.schema.types import GroupId
from kio.serial import entity_reader

from tests.kafka.broker import Broker
from tests.kafka.events import Partitions
from tests.kafka.wait import PATIENCE_S, wait_until
from tests.kafka.wire import ask

# A classic assignment begins with its version, whose first fields are the same in every version.
VERSION_BYTES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A member as the broker shows it.

    Attributes:
        instance: its static instance id; None without one, and in share groups, which have none.
        assignment: what it holds; empty for a classic member of another protocol type than consumer.
    """

    member_id: str
    client_id: str
    host: str
    instance: str | None
    assignment: Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """A group as the broker shows it.

    Attributes:
        kind: `classic`, `consumer`, `share` or `streams`, as ListGroups has it.
        state: `Stable`, `Empty`, …
        protocol_type: `consumer`, `connect`, … or empty.
        members: those it has, in the broker's order.
    """

    kind: str
    state: str
    protocol_type: str
    members: tuple[MemberView, ...]


def describe(broker: Broker, group: str) -> GroupView | None:
    """Return `group`, or None if the broker does not list it."""
    listed = ask(broker.port, ListGroupsRequest(), ListGroupsResponse).groups
    for one in listed:
        if one.group_id == group:
            state, members = _DESCRIBERS[one.group_type](broker.port, GroupId(group))
            return GroupView(
                kind=one.group_type, state=state, protocol_type=one.protocol_type, members=members
            )
    return None


def wait_group(
    broker: Broker, group: str, *, members: int, state: str = "Stable", timeout_s: float = PATIENCE_S
) -> GroupView:
    """Return `group` as soon as it is in `state` with so many members.

    Raises:
        TimeoutError: it was not within `timeout_s` seconds; the message says how the group was at last.
    """
    last: list[GroupView | None] = [None]

    def reached() -> GroupView | None:
        last[0] = view = describe(broker, group)
        if view is not None and view.state == state and len(view.members) == members:
            return view
        return None

    return wait_until(
        reached, lambda: f"group {group} {state} with {members} members: {last[0]}", timeout_s=timeout_s
    )


_Members = tuple[MemberView, ...]


def _classic(port: int, group: GroupId) -> tuple[str, _Members]:
    request = classic_request.DescribeGroupsRequest(groups=(group,), include_authorized_operations=False)
    (found,) = ask(port, request, classic_response.DescribeGroupsResponse).groups
    return found.group_state, tuple(
        MemberView(
            member_id=one.member_id,
            client_id=one.client_id,
            host=one.client_host,
            instance=one.group_instance_id,
            assignment=_assigned(one.member_assignment) if found.protocol_type == "consumer" else {},
        )
        for one in found.members
    )


def _assigned(assignment: bytes) -> Partitions:
    if not assignment:
        return {}
    decoded, _ = entity_reader(ConsumerProtocolAssignment)(assignment, VERSION_BYTES)
    return _partitions((one.topic, one.partitions) for one in decoded.assigned_partitions)


def _consumer(port: int, group: GroupId) -> tuple[str, _Members]:
    request = consumer_request.ConsumerGroupDescribeRequest(
        group_ids=(group,), include_authorized_operations=False
    )
    return _newer(ask(port, request, consumer_response.ConsumerGroupDescribeResponse).groups)


def _share(port: int, group: GroupId) -> tuple[str, _Members]:
    request = share_request.ShareGroupDescribeRequest(group_ids=(group,), include_authorized_operations=False)
    return _newer(ask(port, request, share_response.ShareGroupDescribeResponse).groups)


def _newer(groups: Iterable[Any]) -> tuple[str, _Members]:
    """The one group that was asked for; members of a share group have no instance id."""
    (found,) = groups
    return found.group_state, tuple(
        MemberView(
            member_id=one.member_id,
            client_id=one.client_id,
            host=one.client_host,
            instance=getattr(one, "instance_id", None),
            assignment=_partitions((it.topic_name, it.partitions) for it in one.assignment.topic_partitions),
        )
        for one in found.members
    )


def _streams(port: int, group: GroupId) -> tuple[str, _Members]:
    request = streams_request.StreamsGroupDescribeRequest(
        group_ids=(group,), include_authorized_operations=False
    )
    (found,) = ask(port, request, streams_response.StreamsGroupDescribeResponse).groups
    subtopologies = (found.topology.subtopologies if found.topology else None) or ()
    sources = {one.subtopology_id: one.source_topics for one in subtopologies}
    return found.group_state, tuple(
        MemberView(
            member_id=one.member_id,
            client_id=one.client_id,
            host=one.client_host,
            instance=one.instance_id,
            assignment=_partitions(
                (topic, task.partitions)
                for task in one.assignment.active_tasks
                for topic in sources.get(task.subtopology_id, ())
            ),
        )
        for one in found.members
    )


def _partitions(found: Iterable[tuple[str, Iterable[int]]]) -> Partitions:
    return {str(topic): sorted(int(one) for one in partitions) for topic, partitions in sorted(found)}


_DESCRIBERS: Mapping[str, Callable[[int, GroupId], tuple[str, _Members]]] = {
    "classic": _classic,
    "consumer": _consumer,
    "share": _share,
    "streams": _streams,
}
