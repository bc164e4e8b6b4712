"""Metadata v0–v13: no topics v1, ids v10 (KIP-516), by id v12, a top-level error v13."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.broker.errors import ErrorCode
from coordinator.broker.topics import TopicInfo
from coordinator.wire.server.apis.fields import NO_OPERATIONS
from coordinator.wire.server.exchange import Exchange
from coordinator.wire.server.node import Node
from coordinator.wire.server.topics import TopicRefused, check_name

TOPIC_OPERATIONS = sum(1 << number for number in (3, 4, 5, 6, 7, 8, 10, 11))
CLUSTER_OPERATIONS = sum(1 << number for number in (5, 7, 8, 9, 10, 11, 12))


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    settings = exchange.node.settings
    operations = (
        TOPIC_OPERATIONS if getattr(request, "include_topic_authorized_operations", False) else NO_OPERATIONS
    )
    return {
        "brokers": [
            {
                "node_id": settings.node_id,
                "host": exchange.node.host,
                "port": exchange.node.port,
                "rack": settings.broker_rack,
            }
        ],
        "cluster_id": exchange.node.cluster_id,
        "controller_id": settings.node_id,
        "topics": [
            {**one, "topic_authorized_operations": operations}
            for one in _topics(exchange.node, request, exchange.version)
        ],
        "cluster_authorized_operations": CLUSTER_OPERATIONS
        if getattr(request, "include_cluster_authorized_operations", False)
        else NO_OPERATIONS,
        "error_code": ErrorCode.NONE,
    }


def _topics(node: Node, request: Any, version: int) -> list[Mapping[str, Any]]:
    # v0 has no null: an empty list is all topics.
    if request.topics is None or (version == 0 and not request.topics):
        return [_topic(node, one) for one in node.topics.image.topics.values()]
    return [_asked(node, one) for one in request.topics]


def _asked(node: Node, asked: Any) -> Mapping[str, Any]:
    topic_id = getattr(asked, "topic_id", None)
    found = node.topics.find(asked.name, topic_id)
    if found is not None:
        return _topic(node, found)
    if topic_id is not None:
        return _missing(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    try:
        check_name(asked.name or "")
    except TopicRefused as error:
        return _missing(asked.name, None, error.code)
    return _missing(asked.name, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _missing(name: str | None, topic_id: Any, error: int) -> Mapping[str, Any]:
    return {"error_code": error, "name": name, "topic_id": topic_id, "is_internal": False, "partitions": ()}


def _topic(node: Node, topic: TopicInfo) -> Mapping[str, Any]:
    here = (node.settings.node_id,)
    return {
        "error_code": ErrorCode.NONE,
        "name": topic.name,
        "topic_id": topic.id,
        "is_internal": False,
        "partitions": [
            {
                "error_code": ErrorCode.NONE,
                "partition_index": number,
                "leader_id": node.settings.node_id,
                "leader_epoch": 0,
                "replica_nodes": here,
                "isr_nodes": here,
                "offline_replicas": (),
            }
            for number in range(topic.partitions)
        ],
    }
