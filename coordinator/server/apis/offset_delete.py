"""OffsetDelete v0 (KIP-496)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.offsets.delete import OffsetDelete, OffsetDeleteAnswer
from coordinator.server.apis.fields import Each, by_topic, judged_partition
from coordinator.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    asked = tuple((topic.name, one.partition_index) for topic in request.topics for one in topic.partitions)
    deleted: OffsetDeleteAnswer = await exchange.ask(OffsetDelete(group=request.group_id, partitions=asked))
    topics = by_topic((topic, (partition, error)) for topic, partition, error in deleted.partitions)
    return {
        "error_code": deleted.error,
        "topics": [
            {"name": topic, "partitions": Each(judged_partition, partitions)} for topic, partitions in topics
        ],
    }
