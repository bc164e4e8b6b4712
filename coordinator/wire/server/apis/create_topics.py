"""CreateTopics v2–v7. Settings of a topic are accepted and mean nothing: topics hold no records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from coordinator.broker.errors import ErrorCode
from coordinator.wire.server.exchange import Exchange
from coordinator.wire.server.node import Node
from coordinator.wire.server.topics import TopicRefused

REPLICATION_FACTOR = 1
INVALID_REPLICATION_FACTOR = 38
TWICE = "Duplicate topic name."


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    named = Counter(topic.name for topic in request.topics)
    results = [
        _refused(name, ErrorCode.INVALID_REQUEST, TWICE)
        if count > 1
        else _create(
            exchange.node, next(one for one in request.topics if one.name == name), request.validate_only
        )
        for name, count in named.items()
    ]
    exchange.node.topics_changed()
    return {"topics": results}


def _create(node: Node, asked: Any, dry_run: bool) -> Mapping[str, Any]:
    try:
        partitions = _partitions(node, asked)
        topic = node.topics.create(asked.name, partitions, dry_run=dry_run)
    except TopicRefused as error:
        return _refused(asked.name, error.code, error.message)
    return {
        "name": topic.name,
        "topic_id": topic.id,
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "topic_config_error_code": ErrorCode.NONE,
        "num_partitions": partitions,
        "replication_factor": REPLICATION_FACTOR,
        "configs": (),
    }


def _partitions(node: Node, asked: Any) -> int:
    """The number wanted; -1 leaves it to the server, and replicas given by hand are counted."""
    if asked.assignments:
        return len(asked.assignments)
    if asked.replication_factor not in (-1, REPLICATION_FACTOR):
        raise TopicRefused(
            INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {asked.replication_factor} time(s): "
            "The target replication factor of "
            f"{asked.replication_factor} cannot be reached because only 1 broker(s) are registered.",
        )
    wanted: int = asked.num_partitions
    return node.settings.num_partitions if wanted == -1 else wanted


def _refused(name: str, code: int, message: str | None) -> Mapping[str, Any]:
    return {
        "name": name,
        "topic_id": None,
        "error_code": code,
        "error_message": message,
        "topic_config_error_code": ErrorCode.NONE,
        "num_partitions": -1,
        "replication_factor": -1,
        "configs": (),
    }
