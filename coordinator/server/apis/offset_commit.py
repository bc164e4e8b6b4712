"""OffsetCommit v2–v10: retention v2–v4, leader epochs v6, KIP-848 members v9, topic ids v10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.server.apis.fields import Each, by_topic, judged_partition, milliseconds
from coordinator.server.exchange import Exchange

DEFAULT_RETENTION_MS = -1


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = OffsetCommit(
        group=request.group_id,
        generation_or_epoch=request.generation_id_or_member_epoch,
        member=request.member_id,
        instance=getattr(request, "group_instance_id", None),
        offsets=tuple(
            Offset(
                topic=getattr(topic, "name", ""),
                topic_id=getattr(topic, "topic_id", None),
                partition=one.partition_index,
                offset=one.committed_offset,
                leader_epoch=getattr(one, "committed_leader_epoch", -1),
                metadata=one.committed_metadata,
            )
            for topic in request.topics
            for one in topic.partitions
        ),
        retention_ms=_retention_ms(request),
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


def _retention_ms(request: Any) -> int | None:
    """None where the version has no retention, or it is left to the broker."""
    given = getattr(request, "retention_time", None)
    retention = None if given is None else milliseconds(given)
    return None if retention == DEFAULT_RETENTION_MS else retention
