"""DescribeGroups and ConsumerGroupDescribe: groups as their coordinator shows them.

Source: GroupMetadataManager.describeGroups; modern.consumer.ConsumerGroup.asDescribedGroup,
ConsumerGroupMember.asConsumerGroupDescribeMember.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from coordinator.engine.calls import Call, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember, normal_partitions
from coordinator.engine.consumer.target_assignment import shown_assignor
from coordinator.engine.context import Context
from coordinator.engine.records import TopicPartitions
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeGroupsAnswer:
    groups: tuple[DescribedGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeGroups(Request[DescribeGroupsAnswer]):
    """DescribeGroups v0–v6."""

    groups: tuple[str, ...]
    version: int = 6

    def refused(self, error: RequestRefused) -> DescribeGroupsAnswer:
        return DescribeGroupsAnswer(
            groups=tuple(
                DescribedGroup(group=each, error=error.code, message=error.message) for each in self.groups
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedMember:
    member: str
    instance: str | None
    client_id: str
    host: str
    metadata: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup:
    """An error has a message from v6 on, and is answered as state Dead without error below."""

    group: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[DescribedMember, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribeAnswer:
    groups: tuple[DescribedConsumerGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribe(Request[ConsumerGroupDescribeAnswer]):
    """ConsumerGroupDescribe v0–v1."""

    groups: tuple[str, ...]

    def refused(self, error: RequestRefused) -> ConsumerGroupDescribeAnswer:
        return ConsumerGroupDescribeAnswer(
            groups=tuple(
                DescribedConsumerGroup(group=each, error=error.code, message=error.message)
                for each in self.groups
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedConsumer:
    """A member of a consumer group. `classic` is memberType 0; `regex` "" is none."""

    member: str
    instance: str | None
    rack: str | None
    epoch: int
    client_id: str
    host: str
    topics: tuple[str, ...]
    regex: str
    assignment: Mapping[UUID, tuple[int, ...]]
    target: Mapping[UUID, tuple[int, ...]]
    classic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedConsumerGroup:
    group: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: tuple[DescribedConsumer, ...] = ()


def describe_classic(ctx: Context, call: Call, request: DescribeGroups) -> None:
    """Classic groups in the order asked for. Any other is Dead, which is an error only from version 6 on."""
    groups = tuple(_describe_classic(ctx, each, request.version) for each in request.groups)
    ctx.answer(call.ticket, DescribeGroupsAnswer(groups=groups))


def _describe_classic(ctx: Context, name: str, version: int) -> DescribedGroup:
    group = ctx.state.groups.get(name)
    if isinstance(group, ClassicGroup):
        return _described(group)
    dead = GroupState.DEAD.value
    if version < 6:
        return DescribedGroup(group=name, state=dead)
    why = "not found" if group is None else "is not a classic group"
    return DescribedGroup(
        group=name, error=ErrorCode.GROUP_ID_NOT_FOUND, message=f"Group {name} {why}.", state=dead
    )


def _described(group: ClassicGroup) -> DescribedGroup:
    """Only a Stable group shows its protocol, and what the members sent for it."""
    protocol = group.protocol if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group=group.id,
        state=group.state.value,
        protocol_type=group.protocol_type,
        protocol=protocol or "",
        members=tuple(
            DescribedMember(
                member=member.id,
                instance=member.instance,
                client_id=member.client_id,
                host=member.host,
                metadata=member.metadata(protocol) or b"",
                assignment=member.assignment,
            )
            for member in group.in_order()
        ),
    )


def describe_consumer(ctx: Context, call: Call, request: ConsumerGroupDescribe) -> None:
    """Answer with every group asked for, in that order; one that cannot be shown has an error of its own."""
    groups = tuple(_describe_consumer(ctx, group) for group in request.groups)
    ctx.answer(call.ticket, ConsumerGroupDescribeAnswer(groups=groups))


def _describe_consumer(ctx: Context, group_id: str) -> DescribedConsumerGroup:
    if not group_id:
        return DescribedConsumerGroup(group=group_id, error=ErrorCode.INVALID_GROUP_ID)
    try:
        group = ctx.consumer_group(group_id)
    except RequestRefused as error:
        return DescribedConsumerGroup(group=group_id, error=error.code, message=error.message)
    return DescribedConsumerGroup(
        group=group_id,
        state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor=shown_assignor(group.wishes(), ctx.config.group_consumer_assignors[0]),
        members=tuple(_member(group, member, ctx.topics) for member in group.in_order()),
    )


def _member(group: ConsumerGroup, member: ConsumerMember, topics: TopicImage) -> DescribedConsumer:
    metadata = member.metadata
    return DescribedConsumer(
        member=member.id,
        instance=metadata.instance,
        rack=metadata.rack,
        epoch=member.epoch,
        client_id=metadata.client_id,
        host=metadata.host,
        topics=metadata.topics,
        regex=metadata.regex,
        assignment=_existing(held(member), topics),
        target=_existing(group.targets.get(member.id, {}), topics),
        classic=metadata.classic is not None,
    )


def held(member: ConsumerMember) -> TopicPartitions:
    """What a member has, with what it is giving up: its assignment as describe shows it."""
    has = {
        topic: member.assigned.get(topic, ()) + member.revoking.get(topic, ()) for topic in member.revoking
    }
    return normal_partitions({**member.assigned, **has})


def _existing(partitions: TopicPartitions, topics: TopicImage) -> TopicPartitions:
    return {topic: numbers for topic, numbers in partitions.items() if topic in topics.by_id}
