"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords: the offsets of a log by time and by leader epoch."""

from __future__ import annotations

from collections import Counter
from functools import partial

from coordinator.errors import RequestRefused
from coordinator.partitions import partition as positions
from coordinator.server.apis.fields import per_partition
from coordinator.server.apis.leadership import led_partition, refusal, require_ordinary, topic_named
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.limits import Turn
from wire.acls import Operation
from wire.errors import ErrorCode
from wire.messages.schemas import log_records as schemas
from wire.messages.schemas import offsets as offsets_schemas

COMMITTED = 1
NONE = -1
SINCE = {
    positions.LATEST: 1,
    positions.EARLIEST: 1,
    positions.MAX_TIMESTAMP: 7,
    positions.EARLIEST_LOCAL: 8,
    positions.LATEST_TIERED: 9,
    positions.EARLIEST_PENDING_UPLOAD: 11,
}
"""The first ListOffsets version that knows each special timestamp."""
NEVER = 1 << 15


async def list_offsets(exchange: Exchange[offsets_schemas.ListOffsetsRequest]) -> AnswerFields:
    """ListOffsets v1–v11: isolation v2, leader epochs v4, max timestamp v7, tiered storage v8, v9 and v11."""
    request = exchange.request
    named = Counter((topic.name, one.partition_index) for topic in request.topics for one in topic.partitions)
    twice = {partition for partition, count in named.items() if count > 1}
    turn = Turn()
    topics = []
    for topic in request.topics:
        partitions = []
        for requested in topic.partitions:
            partitions.append(await _listed(exchange, topic.name, twice, requested))
            await turn.pause()
        topics.append({"name": topic.name, "partitions": partitions})
    return {"topics": topics}


async def _listed(
    exchange: Exchange[offsets_schemas.ListOffsetsRequest],
    name: str,
    twice: set[tuple[str, int]],
    requested: offsets_schemas.ListOffsetsRequestTopicPartition,
) -> AnswerFields:
    offset, timestamp, leader_epoch, error = NONE, NONE, NONE, ErrorCode.NONE
    try:
        if (name, requested.partition_index) in twice:
            raise RequestRefused(ErrorCode.INVALID_REQUEST)
        topic = topic_named(exchange, name, None, Operation.DESCRIBE, by_id=False)
        if requested.timestamp < 0 and exchange.version < SINCE.get(requested.timestamp, NEVER):
            raise RequestRefused(ErrorCode.UNSUPPORTED_VERSION)
        log = led_partition(exchange, topic, requested.partition_index, requested.current_leader_epoch)
        committed = exchange.request.isolation_level == COMMITTED
        find = partial(log.find_offset, requested.timestamp, committed=committed)
        first = await exchange.cluster.limits.bounded(find)
        offset, timestamp, leader_epoch = first.offset, first.timestamp, first.leader_epoch
    except (RequestRefused, OSError) as refused:
        error = refusal(refused).code
    return {
        "partition_index": requested.partition_index,
        "error_code": error,
        "timestamp": timestamp,
        "offset": offset,
        "leader_epoch": leader_epoch,
    }


async def offset_for_leader_epoch(exchange: Exchange[schemas.OffsetForLeaderEpochRequest]) -> AnswerFields:
    """OffsetForLeaderEpoch v2–v4 (KIP-320)."""
    topics = ((one.topic, one.partitions) for one in exchange.request.topics)
    return {"topics": per_partition(topics, partial(_end_of_epoch, exchange), key="topic")}


def _end_of_epoch(
    exchange: Exchange, name: str, requested: schemas.OffsetForLeaderEpochRequestTopicPartition
) -> AnswerFields:
    epoch, end, error = NONE, NONE, ErrorCode.NONE
    try:
        topic = topic_named(exchange, name, None, Operation.DESCRIBE, by_id=False)
        log = led_partition(exchange, topic, requested.partition, requested.current_leader_epoch)
        epoch, end = log.end_of_epoch(requested.leader_epoch)
    except (RequestRefused, OSError) as refused:
        error = refusal(refused).code
    return {"error_code": error, "partition": requested.partition, "leader_epoch": epoch, "end_offset": end}


async def delete_records(exchange: Exchange[schemas.DeleteRecordsRequest]) -> AnswerFields:
    """DeleteRecords v0–v2 (KIP-107)."""
    topics = ((one.name, one.partitions) for one in exchange.request.topics)
    return {"topics": per_partition(topics, partial(_records_deleted, exchange))}


def _records_deleted(
    exchange: Exchange, name: str, requested: schemas.DeleteRecordsRequestTopicPartition
) -> AnswerFields:
    start, error = NONE, ErrorCode.NONE
    try:
        topic = topic_named(exchange, name, None, Operation.DELETE, by_id=False)
        require_ordinary(topic)
        start = led_partition(exchange, topic, requested.partition_index).delete_records(requested.offset)
    except (RequestRefused, OSError) as refused:
        error = refusal(refused).code
    return {"partition_index": requested.partition_index, "low_watermark": start, "error_code": error}
