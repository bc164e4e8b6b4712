"""ConsumerGroupDescribe v0–v1 (KIP-848): the type of a member since v1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias
from uuid import UUID

from coordinator.engine.describe_groups import (
    ConsumerGroupDescribe,
    ConsumerGroupDescribeAnswer,
    DescribedConsumer,
    DescribedConsumerGroup,
)
from coordinator.engine.records import TopicPartitions
from coordinator.engine.topics import TopicInfo
from coordinator.server.apis.fields import Each, group_operations
from coordinator.server.exchange import Exchange

CLASSIC, CONSUMER = 0, 1

Topics: TypeAlias = Mapping[UUID, TopicInfo]


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = ConsumerGroupDescribe(groups=tuple(dict.fromkeys(request.group_ids)))
    described: ConsumerGroupDescribeAnswer = await exchange.ask(call)
    by_name = {one.group: one for one in described.groups}
    topics, operations = exchange.node.topics.image.by_id, group_operations(request)
    return {"groups": Each(lambda group: _fields(topics, by_name[group], operations), request.group_ids)}


def _fields(topics: Topics, group: DescribedConsumerGroup, operations: int) -> Mapping[str, Any]:
    return {
        "error_code": group.error,
        "error_message": group.message,
        "group_id": group.group,
        "group_state": group.state,
        "group_epoch": group.group_epoch,
        "assignment_epoch": group.assignment_epoch,
        "assignor_name": group.assignor,
        "members": [_member(topics, one) for one in group.members],
        "authorized_operations": operations,
    }


def _member(topics: Topics, member: DescribedConsumer) -> Mapping[str, Any]:
    return {
        "member_id": member.member,
        "instance_id": member.instance,
        "rack_id": member.rack,
        "member_epoch": member.epoch,
        "client_id": member.client_id,
        "client_host": member.host,
        "subscribed_topic_names": member.topics,
        "subscribed_topic_regex": member.regex,
        "assignment": _assignment(topics, member.assignment),
        "target_assignment": _assignment(topics, member.target),
        "member_type": CLASSIC if member.classic else CONSUMER,
    }


def _assignment(topics: Topics, assigned: TopicPartitions) -> Mapping[str, Any]:
    """A topic that was deleted has no name, and is left out as Kafka does."""
    return {
        "topic_partitions": [
            {"topic_id": topic, "topic_name": topics[topic].name, "partitions": partitions}
            for topic, partitions in assigned.items()
            if topic in topics
        ]
    }
