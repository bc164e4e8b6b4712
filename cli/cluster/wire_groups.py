"""Groups as the brokers describe them on the wire, as `coordinator.model` objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias
from uuid import UUID

from cli.cluster.group_words import state_of
from coordinator.embedded_protocol import MalformedMetadata, read_assignment, read_subscription
from coordinator.model import (
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
    UserData,
)
from coordinator.uuids import format_uuid
from coordinator.wire.calls.assigned import AssignedTopic
from coordinator.wire.calls.consumer_group_describe import ConsumerGroup, ConsumerMember
from coordinator.wire.calls.consumer_group_describe import MemberProtocol as WireProtocol
from coordinator.wire.calls.describe_groups import ClassicGroup, ClassicMember
from coordinator.wire.calls.share_group_describe import ShareGroup
from coordinator.wire.calls.streams_group_describe import StreamsGroup

EMBEDDED = "consumer"
"""The protocol type whose metadata and assignments Kafka's consumers can read."""

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
    partitions: dict[str, tuple[int, ...]] = {}
    for entry in assigned:
        name = entry.topic or _unknown_topic(entry.topic_id)
        partitions[name] = tuple(sorted({*partitions.get(name, ()), *entry.partitions}))
    # In the broker's order: it is that of its map, and decides which topic a member gives up first.
    return partitions


def _unknown_topic(topic_id: UUID | None) -> str:
    return "?" if topic_id is None else format_uuid(topic_id)


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
    return _with_embedded(base, group, member, problems)


def _with_embedded(base: Member, group: ClassicGroup, sent: ClassicMember, problems: list[Problem]) -> Member:
    """The member with what its embedded protocol says; before Stable the broker shows neither part."""
    subscription = assignment = None
    try:
        subscription = read_subscription(sent.metadata) if sent.metadata else None
        assignment = read_assignment(sent.assignment) if sent.assignment else None
    except MalformedMetadata as error:
        problems.append(Problem(subject=f"{group.group_id}, member {sent.member_id}", message=str(error)))
    member = base
    if subscription is not None:
        member = replace(
            member,
            rack=subscription.rack,
            # As sent: the order decides where Java's maps keep insertion order in a bucket.
            subscription=Subscription(topics=tuple(dict.fromkeys(subscription.topics))),
        )
    stable = group.state == GroupState.STABLE.value
    if assignment is not None:
        member = replace(
            member, owned={name: tuple(sorted(set(p))) for name, p in sorted(assignment.partitions.items())}
        )
    elif stable and not sent.assignment:
        member = replace(member, owned={})
    if subscription is not None or assignment is not None:
        data = UserData(
            subscription=(subscription.user_data if subscription else None) or b"",
            assignment=(assignment.user_data if assignment else None) or b"",
        )
        member = replace(member, user_data=data)
    return member


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
    topics = tuple(sorted({topic for names in group.source_topics.values() for topic in names}))
    members = tuple(
        Member(
            id=member.member_id,
            instance=member.instance_id,
            client=Client(id=member.client_id, host=member.client_host),
            rack=member.rack,
            subscription=Subscription(topics=topics) if topics else None,
            owned=_task_partitions(group, member.assignment.active),
            target=_task_partitions(group, member.target.active),
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


def _task_partitions(group: StreamsGroup, tasks: Mapping[str, Sequence[int]]) -> Partitions:
    partitions: dict[str, set[int]] = {}
    for subtopology, numbers in tasks.items():
        for topic in group.source_topics.get(subtopology, ()):
            partitions.setdefault(topic, set()).update(numbers)
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions)}
