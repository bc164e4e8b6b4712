"""Groups of the consumer protocol (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from itertools import chain
from typing import Any, TypeAlias

from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.describe_groups import ConsumerGroupDescribe, Described
from coordinator.engine.records import TopicPartitions
from coordinator.engine.topics import TopicInfo
from coordinator.errors import RequestRefused
from coordinator.server.apis.client_assignment import client_assignors, payload_fields
from coordinator.server.apis.fields import ZERO_ID, Each, Repeated, by_topic, group_operations
from coordinator.server.exchange import Exchange
from groups.model import Group, Member, MemberProtocol, Partitions, Subscription
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode

MOST_REPEATED = 8_192
"""Answers that are remembered: a member gets the same one as long as nothing changes."""
LONGEST_REMEMBERED = 64
"""Characters of the id of a member whose answers are."""


async def consumer_group_heartbeat(exchange: Exchange) -> Mapping[str, Any]:
    """ConsumerGroupHeartbeat v0–v1 (KIP-848): regexes and ids made by the client since v1."""
    if not exchange.cluster.serves_consumer_protocol:
        return {
            "error_code": ErrorCode.UNSUPPORTED_VERSION,
            "error_message": None,
            "member_id": None,
            "member_epoch": 0,
            "heartbeat_interval_ms": 0,
            "assignment": None,
        }
    request = exchange.request
    topics = request.subscribed_topic_names
    call = ConsumerGroupHeartbeat(
        group=request.group_id,
        member=request.member_id,
        epoch=request.member_epoch,
        instance=request.instance_id,
        rack=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topics=None if topics is None else tuple(topics),
        regex=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=_owned(request.topic_partitions),
        client_assignors=client_assignors(request.client_assignors),
        may_describe=exchange.may_describe,
        version=exchange.version,
    )
    if _hides_some(exchange, topics or ()) and exchange.allows(
        Operation.READ, ResourceType.GROUP, call.group
    ):
        return _heartbeat_fields(call.refused(RequestRefused(ErrorCode.TOPIC_AUTHORIZATION_FAILED)))
    return _heartbeat_fields(await exchange.ask(call))


def _hides_some(exchange: Exchange, topics: Iterable[str]) -> bool:
    """Whether who asks may not describe all of the topics."""
    may_describe = exchange.may_describe
    return may_describe is not None and not all(may_describe(topic) for topic in topics)


def _owned(given: Any) -> TopicPartitions | None:
    """Partitions by topic id; a topic named twice owns both lists."""
    if given is None:
        return None
    lists = by_topic((one.topic_id or ZERO_ID, one.partitions) for one in given)
    return {topic: tuple(chain.from_iterable(parts)) for topic, parts in lists}


def _heartbeat_fields(beaten: ConsumerGroupHeartbeatAnswer) -> Mapping[str, Any]:
    assigned = beaten.assignment
    if assigned is None and not beaten.error and len(beaten.member or "") <= LONGEST_REMEMBERED:
        return _unchanged(beaten)
    return {
        "error_code": beaten.error,
        "error_message": beaten.message,
        "member_id": beaten.member,
        "member_epoch": beaten.epoch,
        "heartbeat_interval_ms": beaten.heartbeat_interval_ms,
        "should_compute_assignment": beaten.should_compute,
        "assignment": None
        if assigned is None
        else {
            "topic_partitions": [
                {"topic_id": topic, "partitions": partitions} for topic, partitions in assigned.items()
            ],
            **payload_fields(beaten),
        },
    }


@lru_cache(maxsize=MOST_REPEATED)
def _unchanged(beaten: ConsumerGroupHeartbeatAnswer) -> Repeated:
    """The answer to a heartbeat that changes nothing."""
    return Repeated(
        error_code=ErrorCode.NONE,
        error_message=None,
        member_id=beaten.member,
        member_epoch=beaten.epoch,
        heartbeat_interval_ms=beaten.heartbeat_interval_ms,
        should_compute_assignment=beaten.should_compute,
        assignment=None,
    )


CLASSIC, CONSUMER = 0, 1

Topics: TypeAlias = Mapping[str, TopicInfo]


async def consumer_group_describe(exchange: Exchange) -> Mapping[str, Any]:
    """ConsumerGroupDescribe v0–v1 (KIP-848): the type of a member since v1."""
    request = exchange.request
    if not exchange.cluster.serves_consumer_protocol:
        return {"groups": Each(partial(_not_served, exchange), request.group_ids)}
    by_name = await exchange.ask_each(
        request.group_ids, lambda groups: ConsumerGroupDescribe(groups=groups), str
    )
    return {"groups": Each(lambda group: _group(exchange, by_name[group]), request.group_ids)}


def _not_served(exchange: Exchange, group: str) -> Mapping[str, Any]:
    return _group(exchange, Described(id=group, error=ErrorCode.UNSUPPORTED_VERSION))


HIDDEN = "The group has described topic(s) that the client is not authorized to describe."


def _group(exchange: Exchange, described: Described) -> Mapping[str, Any]:
    group, topics = described.group, exchange.cluster.topics.image.topics
    if group is not None and _hides_some(exchange, _assigned_topics(group)):
        described = Described(
            id=described.id, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED, message=HIDDEN, group=None
        )
        group = None
    return {
        "error_code": described.error,
        "error_message": described.message,
        "group_id": described.id,
        "group_state": "" if group is None else group.state.value,
        "group_epoch": 0 if group is None else group.group_epoch,
        "assignment_epoch": 0 if group is None else group.assignment_epoch,
        "assignor_name": "" if group is None else group.protocol or "",
        "members": [] if group is None else [_member(topics, one) for one in group.members],
        "authorized_operations": group_operations(exchange, described),
    }


def _assigned_topics(group: Group) -> set[str]:
    return {
        topic
        for member in group.members
        for assigned in (member.owned, member.target)
        for topic in assigned or ()
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
