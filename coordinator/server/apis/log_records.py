"""Records, of which none are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from coordinator.server.apis.fields import Each
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange, PeerFault
from wire.errors import ErrorCode

WHY = "kohort serve keeps no records"


async def produce(exchange: Exchange) -> Mapping[str, Any]:
    """Produce v3–v13: refused. It is served because librdkafka fetches only from brokers that know it.

    A producer that wants no answer learns of the refusal by the end of its connection, as it does of any from Kafka.
    """
    request = exchange.request
    if request.acks == 0:
        raise PeerFault(f"records were sent, and {WHY}")
    return {
        "responses": [
            {
                "name": topic.name,
                "topic_id": topic.topic_id,
                "partition_responses": Each(_refused_partition, topic.partition_data),
            }
            for topic in request.topic_data
        ]
    }


def _refused_partition(asked: Any) -> Mapping[str, Any]:
    return {
        "index": asked.index,
        "error_code": ErrorCode.POLICY_VIOLATION,
        "base_offset": -1,
        "log_append_time_ms": -1,
        "log_start_offset": -1,
        "record_errors": (),
        "error_message": WHY,
    }


BY_ID = 13
NO_SESSION = 0
LONGEST_WAIT_MS = 300_000


async def fetch(exchange: Exchange) -> Mapping[str, Any]:
    """Fetch v4–v18: always empty, and therefore answered after the client's max wait. Fetch sessions are declined."""
    request = exchange.request
    topics = [_fetched_topic(exchange.cluster, topic, exchange.version) for topic in request.topics]
    refused = any(one["error_code"] for topic in topics for one in topic["partitions"])
    if not refused and request.min_bytes > 0:
        await asyncio.sleep(min(max(0, request.max_wait_ms), LONGEST_WAIT_MS) / 1000)
    return {"error_code": ErrorCode.NONE, "session_id": NO_SESSION, "responses": topics}


def _fetched_topic(cluster: Cluster, asked: Any, version: int) -> Mapping[str, Any]:
    if version >= BY_ID:
        topic = cluster.topics.image.by_id.get(asked.topic_id)
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if topic is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        topic = cluster.topics.image.topics.get(asked.topic)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions = 0 if topic is None else topic.partitions
    return {
        "topic": asked.topic,
        "topic_id": asked.topic_id,
        "partitions": [
            _fetched_partition(one, unknown if not 0 <= one.partition < partitions else ErrorCode.NONE)
            for one in asked.partitions
        ],
    }


def _fetched_partition(asked: Any, error: int) -> Mapping[str, Any]:
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


FIRST_ID = 0


async def init_producer_id(exchange: Exchange) -> Mapping[str, Any]:
    """InitProducerId v0–v5: an id, so that a producer gets as far as being told that records are not kept."""
    request = exchange.request
    if request.transactional_id is not None:
        return {"error_code": ErrorCode.COORDINATOR_NOT_AVAILABLE, "producer_id": -1, "producer_epoch": -1}
    return {"error_code": ErrorCode.NONE, "producer_id": FIRST_ID, "producer_epoch": 0}
