"""ConsumerGroupHeartbeat v0–v1 (KIP-848): regexes and ids made by the client since v1."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.records import TopicPartitions
from coordinator.server.apis.fields import ZERO_ID, by_topic
from coordinator.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
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
        version=exchange.version,
    )
    return _fields(await exchange.ask(call))


def _owned(given: Any) -> TopicPartitions | None:
    """Partitions by topic id; a topic named twice owns both lists."""
    if given is None:
        return None
    lists = by_topic((one.topic_id or ZERO_ID, one.partitions) for one in given)
    return {topic: tuple(chain.from_iterable(parts)) for topic, parts in lists}


def _fields(beaten: ConsumerGroupHeartbeatAnswer) -> Mapping[str, Any]:
    assigned = beaten.assignment
    return {
        "error_code": beaten.error,
        "error_message": beaten.message,
        "member_id": beaten.member,
        "member_epoch": beaten.epoch,
        "heartbeat_interval_ms": beaten.heartbeat_interval_ms,
        "assignment": None
        if assigned is None
        else {
            "topic_partitions": [
                {"topic_id": topic, "partitions": partitions} for topic, partitions in assigned.items()
            ]
        },
    }
