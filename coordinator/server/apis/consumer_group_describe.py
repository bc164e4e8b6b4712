"""ConsumerGroupDescribe v0–v1 (KIP-848): the type of a member since v1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from coordinator.engine.describe_groups import ConsumerGroupDescribe, Described, DescribeGroupsAnswer
from coordinator.engine.topics import TopicInfo
from coordinator.server.apis.fields import Each, group_operations
from coordinator.server.exchange import Exchange
from groups.model import Member, MemberProtocol, Partitions, Subscription

CLASSIC, CONSUMER = 0, 1

Topics: TypeAlias = Mapping[str, TopicInfo]


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = ConsumerGroupDescribe(groups=tuple(dict.fromkeys(request.group_ids)))
    described: DescribeGroupsAnswer = await exchange.ask(call)
    by_name = {one.id: one for one in described.groups}
    topics, operations = exchange.node.topics.image.topics, group_operations(request)
    return {"groups": Each(lambda group: _fields(topics, by_name[group], operations), request.group_ids)}


def _fields(topics: Topics, described: Described, operations: int) -> Mapping[str, Any]:
    group = described.group
    return {
        "error_code": described.error,
        "error_message": described.message,
        "group_id": described.id,
        "group_state": "" if group is None else group.state.value,
        "group_epoch": 0 if group is None else group.group_epoch,
        "assignment_epoch": 0 if group is None else group.assignment_epoch,
        "assignor_name": "" if group is None else group.protocol or "",
        "members": [] if group is None else [_member(topics, one) for one in group.members],
        "authorized_operations": operations,
    }


def _member(topics: Topics, member: Member) -> Mapping[str, Any]:
    wanted = member.subscription or Subscription()
    return {
        "member_id": member.id,
        "instance_id": member.instance,
        "rack_id": member.rack,
        "member_epoch": member.epoch,
        "client_id": member.client.id,
        "client_host": member.client.host,
        "subscribed_topic_names": wanted.topics,
        "subscribed_topic_regex": wanted.regex or "",
        "assignment": _assignment(topics, member.owned or {}),
        "target_assignment": _assignment(topics, member.target or {}),
        "member_type": CLASSIC if member.protocol is MemberProtocol.CLASSIC else CONSUMER,
    }


def _assignment(topics: Topics, assigned: Partitions) -> Mapping[str, Any]:
    """A topic that was deleted has no name, and is left out as Kafka does."""
    return {
        "topic_partitions": [
            {"topic_id": topics[topic].id, "topic_name": topic, "partitions": partitions}
            for topic, partitions in assigned.items()
            if topic in topics
        ]
    }
