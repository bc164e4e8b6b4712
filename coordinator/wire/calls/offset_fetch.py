"""OffsetFetch: what groups have committed.

Version 10 names topics by id only and gives nothing in return, so the newest version asked for is 9.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.wire.answers import Failure, refusal
from coordinator.wire.apis import OFFSET_FETCH
from coordinator.wire.batches import batches
from coordinator.wire.connection import Connection
from coordinator.wire.deadline import Deadline
from coordinator.wire.steps import Steps

_FIRST_BATCHED = 8
_FIRST_WITH_MEMBERS = 9
_GROUPS_PER_REQUEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """One committed offset; `leader_epoch` is -1 when none was committed with it, `metadata` "" without any."""

    offset: int
    leader_epoch: int
    metadata: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffsets:
    """All that one group has committed, by (topic, partition), and the partitions that could not be read."""

    offsets: dict[tuple[str, int], CommittedOffset]
    failed: dict[tuple[str, int], Failure]


def offset_fetch(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, GroupOffsets | Failure]]:
    """Ask one coordinator for every offset of `groups` of any type; one that does not exist has none.

    Brokers before 3.0 are asked group by group.
    """
    yield from connection.open(deadline)
    version = connection.version(OFFSET_FETCH)
    schema = OFFSET_FETCH.request_schema(version)
    stable = {"require_stable": False} if version >= 7 else {}
    if version < _FIRST_BATCHED:
        requests = [schema.OffsetFetchRequest(group_id=group, topics=None, **stable) for group in groups]
        responses = yield from connection.exchange(OFFSET_FETCH, requests, deadline)
        return {group: _offsets(response) for group, response in zip(groups, responses, strict=True)}
    member = {"member_id": None, "member_epoch": -1} if version >= _FIRST_WITH_MEMBERS else {}
    requests = [
        schema.OffsetFetchRequest(
            groups=tuple(
                schema.OffsetFetchRequestGroup(group_id=group, topics=None, **member) for group in batch
            ),
            **stable,
        )
        for batch in batches(groups, _GROUPS_PER_REQUEST)
    ]
    responses = yield from connection.exchange(OFFSET_FETCH, requests, deadline)
    return {entry.group_id: _offsets(entry) for response in responses for entry in response.groups}


def _offsets(entry: Any) -> GroupOffsets | Failure:
    if entry.error_code:
        return refusal(entry.error_code)
    return GroupOffsets(
        offsets={place: _offset(partition) for place, partition in _all(entry) if not partition.error_code},
        failed={
            place: refusal(partition.error_code) for place, partition in _all(entry) if partition.error_code
        },
    )


def _all(entry: Any) -> Iterable[tuple[tuple[str, int], Any]]:
    for topic in entry.topics:
        for partition in topic.partitions:
            yield (topic.name, partition.partition_index), partition


def _offset(partition: Any) -> CommittedOffset:
    return CommittedOffset(
        offset=partition.committed_offset,
        leader_epoch=getattr(partition, "committed_leader_epoch", -1),
        metadata=partition.metadata or "",
    )
