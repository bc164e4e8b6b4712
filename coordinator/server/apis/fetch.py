"""Fetch v4–v18: always empty, and therefore answered after the client's max wait. Fetch sessions are declined."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from coordinator.server.exchange import Exchange
from coordinator.server.node import Node
from wire.errors import ErrorCode

BY_ID = 13
NO_SESSION = 0
LONGEST_WAIT_MS = 300_000


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    topics = [_topic(exchange.node, topic, exchange.version) for topic in request.topics]
    refused = any(one["error_code"] for topic in topics for one in topic["partitions"])
    if not refused and request.min_bytes > 0:
        await asyncio.sleep(min(max(0, request.max_wait_ms), LONGEST_WAIT_MS) / 1000)
    return {"error_code": ErrorCode.NONE, "session_id": NO_SESSION, "responses": topics}


def _topic(node: Node, asked: Any, version: int) -> Mapping[str, Any]:
    if version >= BY_ID:
        topic = node.topics.image.by_id.get(asked.topic_id)
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if topic is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        topic = node.topics.image.topics.get(asked.topic)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions = 0 if topic is None else topic.partitions
    return {
        "topic": asked.topic,
        "topic_id": asked.topic_id,
        "partitions": [
            _partition(one, unknown if not 0 <= one.partition < partitions else ErrorCode.NONE)
            for one in asked.partitions
        ],
    }


def _partition(asked: Any, error: int) -> Mapping[str, Any]:
    if not error and asked.fetch_offset != 0:
        error = ErrorCode.OFFSET_OUT_OF_RANGE
    end = -1 if error else 0
    return {
        "partition_index": asked.partition,
        "error_code": error,
        "high_watermark": end,
        "last_stable_offset": end,
        "log_start_offset": end,
        "aborted_transactions": None,
        "preferred_read_replica": -1,
        "records": b"",
    }
