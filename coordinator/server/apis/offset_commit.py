"""OffsetCommit v2–v10: retention v2–v4, leader epochs v6, KIP-848 members v9, topic ids v10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.server.apis.fields import Each, by_topic, judged_partition
from coordinator.server.exchange import Exchange

DEFAULT_RETENTION_MS = -1


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = OffsetCommit(
        group=request.group_id,
        generation_or_epoch=request.generation_id_or_member_epoch,
        member=request.member_id,
        instance=request.group_instance_id,
        offsets=tuple(
            Offset(
                topic=topic.name,
                topic_id=topic.topic_id,
                partition=one.partition_index,
                offset=one.committed_offset,
                leader_epoch=one.committed_leader_epoch,
                metadata=one.committed_metadata,
            )
            for topic in request.topics
            for one in topic.partitions
        ),
        # Left to the broker where the version has no retention.
        retention_ms=None if request.retention_time_ms == DEFAULT_RETENTION_MS else request.retention_time_ms,
        version=exchange.version,
    )
    committed: OffsetCommitAnswer = await exchange.ask(call)
    topics = by_topic(
        ((name, topic_id), (partition, error)) for name, topic_id, partition, error in committed.partitions
    )
    return {
        "topics": [
            {"name": name, "topic_id": topic_id, "partitions": Each(judged_partition, partitions)}
            for (name, topic_id), partitions in topics
        ]
    }
