"""Groups as the brokers describe them on the wire, as `groups.model` objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from groups.listing import state_of
from groups.model import (
    Client,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Node,
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
from wire.client.calls.assigned import AssignedTopic
from wire.client.calls.consumer_group_describe import ConsumerGroup, ConsumerMember
from wire.client.calls.consumer_group_describe import MemberProtocol as WireProtocol
from wire.client.calls.describe_groups import ClassicGroup, ClassicMember
from wire.client.calls.share_group_describe import ShareGroup
from wire.client.calls.streams_group_describe import StreamsGroup

_PROTOCOLS = {WireProtocol.CLASSIC: MemberProtocol.CLASSIC, WireProtocol.CONSUMER: MemberProtocol.CONSUMER}


def classic_group(group: ClassicGroup, coordinator: Node | None) -> tuple[Group, tuple[Problem, ...]]:
    """A classic group; metadata that cannot be read leave a member's subscription or ownership unknown."""
    problems: list[Problem] = []
    members = tuple(_classic_member(group, member, problems) for member in group.members)
    return (
        Group(
            id=group.group_id,
            type=GroupType.CLASSIC,
            state=state_of(group.state),
            protocol_type=group.protocol_type,
            protocol=group.protocol or None,
            coordinator=coordinator,
            members=members,
        ),
        tuple(problems),
    )


def consumer_group(group: ConsumerGroup, coordinator: Node | None) -> Group:
    """A group of type consumer, with epochs and targets."""
    return Group(
        id=group.group_id,
        type=GroupType.CONSUMER,
        state=state_of(group.state),
        protocol_type=EMBEDDED,
        protocol=group.assignor or None,
        coordinator=coordinator,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=tuple(_consumer_member(member) for member in group.members),
    )


def assigned_partitions(assigned: Iterable[AssignedTopic]) -> Partitions:
    """By topic name; a topic that is gone is named by its id."""
    return named_partitions((entry.topic, entry.topic_id, entry.partitions) for entry in assigned)


def _consumer_member(member: ConsumerMember) -> Member:
    return Member(
        id=member.member_id,
        instance=member.instance_id,
        client=Client(id=member.client_id, host=member.client_host),
        rack=member.rack,
        protocol=_PROTOCOLS.get(member.protocol),
        subscription=Subscription(topics=tuple(member.topics), regex=member.regex),
        owned=assigned_partitions(member.assignment),
        target=assigned_partitions(member.target),
        epoch=member.epoch,
    )


def _classic_member(group: ClassicGroup, member: ClassicMember, problems: list[Problem]) -> Member:
    base = Member(
        id=member.member_id,
        instance=member.instance_id,
        client=Client(id=member.client_id, host=member.client_host),
        protocol=MemberProtocol.CLASSIC,
    )
    if group.protocol_type != EMBEDDED:
        return base
    stable = group.state == GroupState.STABLE.value
    found, oddity = with_embedded(base, member.metadata, member.assignment, stable=stable)
    if oddity is not None:
        problems.append(Problem(subject=f"{group.group_id}, member {member.member_id}", message=oddity))
    return found


Described: TypeAlias = ClassicGroup | ConsumerGroup | ShareGroup | StreamsGroup
"""A group as one of the describe answers has it."""


def as_group(described: Described, coordinator: Node | None) -> tuple[Group, tuple[Problem, ...]]:
    """A group of any type, and what of it could not be read."""
    if isinstance(described, ClassicGroup):
        return classic_group(described, coordinator)
    if isinstance(described, ConsumerGroup):
        return consumer_group(described, coordinator), ()
    if isinstance(described, ShareGroup):
        return share_group(described, coordinator), ()
    return streams_group(described, coordinator), ()


def share_group(group: ShareGroup, coordinator: Node | None) -> Group:
    """A share group (KIP-932): a partition may be assigned to several members."""
    members = tuple(
        Member(
            id=member.member_id,
            client=Client(id=member.client_id, host=member.client_host),
            rack=member.rack,
            subscription=Subscription(topics=tuple(member.topics)),
            owned=assigned_partitions(member.assignment),
            epoch=member.epoch,
        )
        for member in group.members
    )
    return Group(
        id=group.group_id,
        type=GroupType.SHARE,
        state=state_of(group.state),
        protocol_type="share",
        protocol=group.assignor or None,
        coordinator=coordinator,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=members,
    )


def streams_group(group: StreamsGroup, coordinator: Node | None) -> Group:
    """A streams group (KIP-1071): active tasks as partitions of their source topics."""
    subscription = source_subscription(group.source_topics)
    members = tuple(
        Member(
            id=member.member_id,
            instance=member.instance_id,
            client=Client(id=member.client_id, host=member.client_host),
            rack=member.rack,
            subscription=subscription,
            owned=task_partitions(group.source_topics, member.assignment.active),
            target=task_partitions(group.source_topics, member.target.active),
            epoch=member.epoch,
        )
        for member in group.members
    )
    return Group(
        id=group.group_id,
        type=GroupType.STREAMS,
        state=state_of(group.state),
        protocol_type="streams",
        coordinator=coordinator,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=members,
    )
