"""ListOffsets v1–v11: every log begins and ends at 0."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from coordinator.server.apis.fields import Each
from coordinator.server.exchange import Exchange
from coordinator.server.node import Node
from wire.errors import ErrorCode

LATEST, EARLIEST, EARLIEST_LOCAL = -1, -2, -4


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    return {
        "topics": [
            {
                "name": topic.name,
                "partitions": Each(partial(_partition, exchange.node, topic.name), topic.partitions),
            }
            for topic in request.topics
        ]
    }


def _partition(node: Node, topic: str, asked: Any) -> Mapping[str, Any]:
    """A question for a time or for the newest timestamp finds nothing in an empty log."""
    known = node.topics.image.topics.get(topic)
    exists = known is not None and 0 <= asked.partition_index < known.partitions
    found = exists and asked.timestamp in (LATEST, EARLIEST, EARLIEST_LOCAL)
    return {
        "partition_index": asked.partition_index,
        "error_code": ErrorCode.NONE if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "timestamp": -1,
        "offset": 0 if found else -1,
        "leader_epoch": 0 if found else -1,
    }
