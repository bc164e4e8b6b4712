"""Groups as the brokers describe them, and what they have committed, as `groups.model` objects.

A described group is what the broker's answer has of it, by the names of Kafka's definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from groups.told_members import (
    EMBEDDED,
    named_partitions,
    source_subscription,
    task_partitions,
    with_embedded,
)
from wire.client.answers import Failure, refusal

_PROTOCOLS = {0: MemberProtocol.CLASSIC, 1: MemberProtocol.CONSUMER}
"""By `memberType`, which is -1 below Kafka 4.0."""


def as_group(kind: GroupType, group: Any, coordinator: Node | None) -> tuple[Group, tuple[Problem, ...]]:
    """A group that the request of its type describes, and what of it could not be read."""
    if kind is GroupType.CONSUMER:
        return consumer_group(group, coordinator), ()
    if kind is GroupType.SHARE:
        return share_group(group, coordinator), ()
    if kind is GroupType.STREAMS:
        return streams_group(group, coordinator), ()
    return classic_group(group, coordinator)


def classic_group(group: Any, coordinator: Node | None) -> tuple[Group, tuple[Problem, ...]]:
    """A classic group; metadata that cannot be read leave a member's subscription or ownership unknown."""
    problems: list[Problem] = []
    members = tuple(_classic_member(group, member, problems) for member in group.members)
    return (
        Group(
            id=group.group_id,
            type=GroupType.CLASSIC,
            state=state_of(group.group_state),
            protocol_type=group.protocol_type,
            protocol=group.protocol_data or None,
            coordinator=coordinator,
            members=members,
        ),
        tuple(problems),
    )


def _classic_member(group: Any, member: Any, problems: list[Problem]) -> Member:
    base = Member(
        id=member.member_id,
        instance=member.group_instance_id,
        client=Client(id=member.client_id, host=member.client_host),
        protocol=MemberProtocol.CLASSIC,
    )
    if group.protocol_type != EMBEDDED:
        return base
    stable = group.group_state == GroupState.STABLE.value
    found, oddity = with_embedded(base, member.member_metadata, member.member_assignment, stable=stable)
    if oddity is not None:
        problems.append(Problem(subject=f"{group.group_id}, member {member.member_id}", message=oddity))
    return found


def consumer_group(group: Any, coordinator: Node | None) -> Group:
    """A group of type consumer, with epochs and targets."""
    return Group(
        id=group.group_id,
        type=GroupType.CONSUMER,
        state=state_of(group.group_state),
        protocol_type=EMBEDDED,
        protocol=group.assignor_name or None,
        coordinator=coordinator,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=tuple(_consumer_member(member) for member in group.members),
    )


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


def _partitions(assignment: Any) -> Partitions:
    """By topic name; a topic that is gone has none, and is named by its id."""
    return named_partitions(
        (entry.topic_name, entry.topic_id, entry.partitions) for entry in assignment.topic_partitions
    )


def share_group(group: Any, coordinator: Node | None) -> Group:
    """A share group (KIP-932): a partition may be assigned to several members."""
    members = tuple(
        Member(
            id=member.member_id,
            client=Client(id=member.client_id, host=member.client_host),
            rack=member.rack_id,
            subscription=Subscription(topics=member.subscribed_topic_names),
            owned=_partitions(member.assignment),
            epoch=member.member_epoch,
        )
        for member in group.members
    )
    return Group(
        id=group.group_id,
        type=GroupType.SHARE,
        state=state_of(group.group_state),
        protocol_type="share",
        protocol=group.assignor_name or None,
        coordinator=coordinator,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=members,
    )


def streams_group(group: Any, coordinator: Node | None) -> Group:
    """A streams group (KIP-1071): active tasks as partitions of their source topics."""
    subtopologies = (group.topology.subtopologies or ()) if group.topology else ()
    source_topics = {part.subtopology_id: part.source_topics for part in subtopologies}
    subscription = source_subscription(source_topics)
    members = tuple(
        Member(
            id=member.member_id,
            instance=member.instance_id,
            client=Client(id=member.client_id, host=member.client_host),
            rack=member.rack_id,
            subscription=subscription,
            owned=task_partitions(source_topics, _active_tasks(member.assignment)),
            target=task_partitions(source_topics, _active_tasks(member.target_assignment)),
            epoch=member.member_epoch,
        )
        for member in group.members
    )
    return Group(
        id=group.group_id,
        type=GroupType.STREAMS,
        state=state_of(group.group_state),
        protocol_type="streams",
        coordinator=coordinator,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=members,
    )


def _active_tasks(assignment: Any) -> dict[str, tuple[int, ...]]:
    return {task.subtopology_id: task.partitions for task in assignment.active_tasks}


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
