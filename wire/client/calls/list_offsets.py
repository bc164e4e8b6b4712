"""ListOffsets: where a partition's log begins and ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from wire.client.answers import Failure, refusal
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import LIST_OFFSETS

TopicPartition = tuple[str, int]

LATEST = -1
"""The offset behind the last record (the high watermark)."""
EARLIEST = -2
"""The offset of the oldest record that is kept."""

_CONSUMER = -1
_READ_UNCOMMITTED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOffset:
    """An offset of a log. `timestamp` (ms) and `leader_epoch` are -1 where the broker names none.

    Looking up a timestamp beyond the last record gives offset -1.
    """

    offset: int
    timestamp: int
    leader_epoch: int


def list_offsets(
    connection: Connection, partitions: Sequence[TopicPartition], timestamp: int, deadline: Deadline
) -> Steps[dict[TopicPartition, LogOffset | Failure]]:
    """Ask one leader for `LATEST`, `EARLIEST`, or the first offset at or after a timestamp in ms."""
    yield from connection.open(deadline)
    version = connection.version(LIST_OFFSETS)
    schema = LIST_OFFSETS.request_schema(version)
    fields: dict[str, Any] = {"replica_id": _CONSUMER, "topics": _topics(schema, partitions, timestamp)}
    if version >= 2:
        fields["isolation_level"] = _READ_UNCOMMITTED
    if version >= 10:
        fields["timeout"] = timedelta(milliseconds=int(deadline.remaining_ms()))
    requests = [schema.ListOffsetsRequest(**fields)]
    (response,) = yield from connection.exchange(LIST_OFFSETS, requests, deadline)
    return {
        (topic.name, partition.partition_index): _offset(partition)
        for topic in response.topics
        for partition in topic.partitions
    }


def _topics(schema: Any, partitions: Sequence[TopicPartition], timestamp: int) -> tuple[Any, ...]:
    return tuple(
        schema.ListOffsetsTopic(
            name=topic,
            partitions=tuple(
                schema.ListOffsetsPartition(partition_index=index, timestamp=timestamp) for _, index in places
            ),
        )
        for topic, places in groupby(sorted(set(partitions)), key=itemgetter(0))
    )


def _offset(partition: Any) -> LogOffset | Failure:
    if partition.error_code:
        return refusal(partition.error_code)
    return LogOffset(
        offset=partition.offset,
        timestamp=partition.timestamp,
        leader_epoch=getattr(partition, "leader_epoch", -1),
    )
