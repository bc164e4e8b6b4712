"""DescribeShareGroupOffsets: how far share groups have come."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wire.client.answers import Failure, refusal
from wire.client.batches import batches
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import DESCRIBE_SHARE_GROUP_OFFSETS


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareOffset:
    """Where a share group's partition starts; `lag` is None where the broker tells none (before 4.2)."""

    start_offset: int
    leader_epoch: int
    lag: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroupOffsets:
    """All partitions of one share group by (topic, partition), and those that could not be read."""

    offsets: dict[tuple[str, int], ShareOffset]
    failed: dict[tuple[str, int], Failure]


def describe_share_group_offsets(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, ShareGroupOffsets | Failure]]:
    """Ask one coordinator for every partition of `groups`.

    :raises UnsupportedApi: the broker is older than share groups
    """
    yield from connection.open(deadline)
    version = connection.version(DESCRIBE_SHARE_GROUP_OFFSETS)
    schema = DESCRIBE_SHARE_GROUP_OFFSETS.request_schema(version)
    requests = [
        schema.DescribeShareGroupOffsetsRequest(
            groups=tuple(
                schema.DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=None) for group in batch
            )
        )
        for batch in batches(groups)
    ]
    responses = yield from connection.exchange(DESCRIBE_SHARE_GROUP_OFFSETS, requests, deadline)
    return {group.group_id: _group(group) for response in responses for group in response.groups}


def _group(group: Any) -> ShareGroupOffsets | Failure:
    if group.error_code:
        return refusal(group.error_code, group.error_message)
    entries = [
        ((topic.topic_name, partition.partition_index), partition)
        for topic in group.topics
        for partition in topic.partitions
    ]
    return ShareGroupOffsets(
        offsets={place: _offset(partition) for place, partition in entries if not partition.error_code},
        failed={
            place: refusal(partition.error_code, partition.error_message)
            for place, partition in entries
            if partition.error_code
        },
    )


def _offset(partition: Any) -> ShareOffset:
    lag = getattr(partition, "lag", -1)
    return ShareOffset(
        start_offset=partition.start_offset,
        leader_epoch=partition.leader_epoch,
        lag=None if lag < 0 else lag,
    )
