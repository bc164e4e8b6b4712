"""Groups as the brokers describe them, and what they have committed, as `groups.model` objects.

A described group is what the broker's answer has of it, by the names of Kafka's definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groups import described
from groups.listing import state_of
from groups.model import (
    Client,
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Node,
    Offsets,
    Partitions,
    Problem,
    Subscription,
)
from wire.client.answers import Failure, refusal

_PROTOCOLS = {0: MemberProtocol.CLASSIC, 1: MemberProtocol.CONSUMER}
"""By `memberType`, which is -1 below Kafka 4.0."""


def as_group(kind: GroupType, group: Any, coordinator: Node | None) -> tuple[Group, tuple[Problem, ...]]:
    """A group that the request of its type describes, and what of it could not be read."""
    if kind is GroupType.CONSUMER:
        return _modern_group(kind, group, map(_consumer_member, group.members), coordinator), ()
    if kind is GroupType.SHARE:
        return _modern_group(kind, group, map(_share_member, group.members), coordinator), ()
    if kind is GroupType.STREAMS:
        return _modern_group(kind, group, _streams_members(group), coordinator), ()
    bare = Group(
        id=group.group_id,
        type=GroupType.CLASSIC,
        state=state_of(group.group_state),
        protocol_type=group.protocol_type,
        protocol=group.protocol_data or None,
        coordinator=coordinator,
    )
    is_stable = bare.state is GroupState.STABLE
    return described.classic_group(bare, map(_classic_member, group.members), stable=is_stable)


def _modern_group(kind: GroupType, group: Any, members: Iterator[Member], coordinator: Node | None) -> Group:
    """A streams group has no assignor."""
    return Group(
        id=group.group_id,
        type=kind,
        state=state_of(group.group_state),
        protocol_type=kind.value,
        protocol=getattr(group, "assignor_name", None) or None,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=tuple(members),
        coordinator=coordinator,
    )


def _classic_member(member: Any) -> tuple[Member, bytes, bytes]:
    bare = Member(
        id=member.member_id,
        instance=member.group_instance_id,
        client=Client(id=member.client_id, host=member.client_host),
        protocol=MemberProtocol.CLASSIC,
    )
    return bare, member.member_metadata, member.member_assignment


def _consumer_member(member: Any) -> Member:
    """Its epoch is -2 while a static member is away; while it revokes, it still owns what it must give up."""
    return Member(
        id=member.member_id,
        instance=member.instance_id,
        client=Client(id=member.client_id, host=member.client_host),
        rack=member.rack_id,
        protocol=_PROTOCOLS.get(member.member_type),
        # The broker writes "no regex" as an empty string.
        subscription=Subscription(
            topics=member.subscribed_topic_names, regex=member.subscribed_topic_regex or None
        ),
        owned=_partitions(member.assignment),
        target=_partitions(member.target_assignment),
        epoch=member.member_epoch,
    )


def _share_member(member: Any) -> Member:
    return Member(
        id=member.member_id,
        client=Client(id=member.client_id, host=member.client_host),
        rack=member.rack_id,
        subscription=Subscription(topics=member.subscribed_topic_names),
        owned=_partitions(member.assignment),
        epoch=member.member_epoch,
    )


def _streams_members(group: Any) -> Iterator[Member]:
    subtopologies = (group.topology.subtopologies or ()) if group.topology else ()
    members = (
        (
            Member(
                id=member.member_id,
                instance=member.instance_id,
                client=Client(id=member.client_id, host=member.client_host),
                rack=member.rack_id,
                epoch=member.member_epoch,
            ),
            _active_tasks(member.assignment),
            _active_tasks(member.target_assignment),
        )
        for member in group.members
    )
    return described.streams_members(
        {each.subtopology_id: each.source_topics for each in subtopologies}, members
    )


def _active_tasks(assignment: Any) -> dict[str, tuple[int, ...]]:
    return {task.subtopology_id: task.partitions for task in assignment.active_tasks}


def _partitions(assignment: Any) -> Partitions:
    """By topic name; a topic that is gone has none, and is named by its id."""
    return described.named_partitions(
        (entry.topic_name, entry.topic_id, entry.partitions) for entry in assignment.topic_partitions
    )


def committed_offsets(group: Any) -> tuple[Offsets, dict[tuple[str, int], Failure]]:
    """What a group has committed, by the answer to OffsetFetch, and the partitions that could not be read."""
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    failed: dict[tuple[str, int], Failure] = {}
    for topic in group.topics:
        found = offsets.setdefault(topic.name, {})
        for partition in topic.partitions:
            index, offset, epoch, metadata, error = (
                partition.partition_index,
                partition.committed_offset,
                partition.committed_leader_epoch,
                partition.metadata,
                partition.error_code,
            )
            if error:
                failed[topic.name, index] = refusal(error)
            else:
                found[index] = CommittedOffset(
                    offset=offset, leader_epoch=None if epoch < 0 else epoch, metadata=metadata or ""
                )
    return {topic: found for topic, found in offsets.items() if found}, failed


def share_offsets(group: Any) -> tuple[Offsets, dict[tuple[str, int], Failure]]:
    """Where a share group starts to deliver, and the partitions that could not be read; lag is known since 4.2."""
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    failed: dict[tuple[str, int], Failure] = {}
    for topic, partition in _share_partitions(group):
        if partition.error_code:
            failed[topic, partition.partition_index] = refusal(partition.error_code, partition.error_message)
        elif partition.start_offset >= 0:
            offsets.setdefault(topic, {})[partition.partition_index] = CommittedOffset(
                offset=partition.start_offset,
                leader_epoch=None if partition.leader_epoch < 0 else partition.leader_epoch,
                lag=None if partition.lag < 0 else partition.lag,
            )
    return offsets, failed


def _share_partitions(group: Any) -> Iterator[tuple[str, Any]]:
    return ((topic.topic_name, partition) for topic in group.topics for partition in topic.partitions)
