"""ConsumerGroupDescribe: a consumer group as its coordinator shows it.

Topics that no longer exist are left out. What a member is giving up still counts as its assignment.

Source: modern.consumer.ConsumerGroup.asDescribedGroup, ConsumerGroupMember.asConsumerGroupDescribeMember.
"""

from __future__ import annotations

from coordinator.engine.answers import ConsumerGroupDescribeAnswer, DescribedConsumer, DescribedConsumerGroup
from coordinator.engine.assignor_choice import shown
from coordinator.engine.calls import Call, ConsumerGroupDescribe, TopicPartitions
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.consumer_member import ConsumerMember, normal_partitions
from coordinator.engine.consumer_open import find_group
from coordinator.engine.context import Context
from coordinator.engine.topics import TopicImage
from wire.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: ConsumerGroupDescribe) -> None:
    """Answer with every group asked for, in that order; one that cannot be shown has an error of its own."""
    groups = tuple(_describe(ctx, group) for group in request.groups)
    ctx.answer(call.ticket, ConsumerGroupDescribeAnswer(groups=groups))


def _describe(ctx: Context, group_id: str) -> DescribedConsumerGroup:
    if not group_id:
        return DescribedConsumerGroup(group=group_id, error=ErrorCode.INVALID_GROUP_ID)
    try:
        group = find_group(ctx, group_id)
    except CoordinatorError as error:
        return DescribedConsumerGroup(group=group_id, error=error.code, message=error.message)
    return DescribedConsumerGroup(
        group=group_id,
        state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor=shown(group.wishes(), ctx.config.group_consumer_assignors[0]),
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
