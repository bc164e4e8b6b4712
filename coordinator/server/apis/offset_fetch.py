"""OffsetFetch v1–v10: null for all v2, several groups v8 (KIP-709), KIP-848 members v9, topic ids v10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.offsets.fetch import (
    FetchedOffset,
    OffsetFetch,
    OffsetFetchAnswer,
    OffsetQuery,
    QueriedOffsets,
)
from coordinator.server.apis.fields import ZERO_ID, Each
from coordinator.server.exchange import Exchange
from wire.errors import ErrorCode

TOP_LEVEL_ERROR = 2
BATCHED = 8
BY_ID = 10


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    if exchange.version >= BATCHED:
        asked = [
            OffsetQuery(
                group=one.group_id,
                member=one.member_id,
                epoch=one.member_epoch,
                topics=_topics(one, exchange.version),
            )
            for one in request.groups
        ]
    else:
        alone = OffsetQuery(
            group=request.group_id, member=None, epoch=-1, topics=_topics(request, exchange.version)
        )
        asked = [alone]
    distinct = tuple(dict.fromkeys(asked))
    call = OffsetFetch(
        groups=distinct,
        require_stable=request.require_stable,
        version=exchange.version,
    )
    fetched: OffsetFetchAnswer = await exchange.ask(call)
    if exchange.version >= BATCHED:
        found = dict(zip(distinct, fetched.groups, strict=True))
        return {"groups": Each(lambda one: _group(found[one], exchange.version), asked)}
    (single,) = fetched.groups
    if exchange.version < TOP_LEVEL_ERROR and single.error:
        return {"topics": _refused(request, single.error)}
    return _group(single, exchange.version)


def _topics(group: Any, version: int) -> Any:
    if group.topics is None:
        return None
    return tuple(
        ((topic.topic_id or ZERO_ID) if version >= BY_ID else topic.name, tuple(topic.partition_indexes))
        for topic in group.topics
    )


def _group(fetched: QueriedOffsets, version: int) -> Mapping[str, Any]:
    key = "topic_id" if version >= BY_ID else "name"
    return {
        "group_id": fetched.group,
        "error_code": fetched.error,
        "topics": [
            {key: topic, "partitions": Each(_partition, partitions)} for topic, partitions in fetched.topics
        ],
    }


def _partition(partition: tuple[int, FetchedOffset]) -> Mapping[str, Any]:
    number, fetched = partition
    return {
        "partition_index": number,
        "committed_offset": fetched.offset,
        "committed_leader_epoch": fetched.leader_epoch,
        "metadata": fetched.metadata,
        "error_code": fetched.error,
    }


def _refused(request: Any, error: ErrorCode) -> list[Mapping[str, Any]]:
    """v1 has no place for the group's error: every partition carries it."""
    return [
        {
            "name": topic.name,
            "partitions": [
                _partition((number, FetchedOffset(error=error))) for number in topic.partition_indexes
            ],
        }
        for topic in request.topics
    ]
