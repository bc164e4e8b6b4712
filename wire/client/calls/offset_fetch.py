"""OffsetFetch: what groups have committed.

Version 10 names topics by id only and gives nothing in return, so the newest version asked for is 9.
"""

from collections.abc import Sequence
from typing import Any

from groups.model import CommittedOffset
from wire.client.answers import Failure, refusal
from wire.client.batches import batches
from wire.client.calls.fetched_offsets import GroupOffsets, TopicPartition, read_fetched_offsets
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.errors import AnswerTooLong
from wire.client.steps import Steps
from wire.messages.apis import OFFSET_FETCH

_FIRST_BATCHED = 8
_FIRST_WITH_MEMBERS = 9
_GROUPS_PER_REQUEST = 50


def offset_fetch(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, GroupOffsets | Failure]]:
    """Ask one coordinator for every offset of `groups` of any type; one that does not exist has none.

    Brokers before 3.0 are asked group by group, and those whose answers would otherwise be too long.
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

    def asked(per_request: int) -> list[Any]:
        return [
            schema.OffsetFetchRequest(
                groups=tuple(
                    schema.OffsetFetchRequestGroup(group_id=group, topics=None, **member) for group in batch
                ),
                **stable,
            )
            for batch in batches(groups, per_request)
        ]

    try:
        answers = yield from connection.exchange(
            OFFSET_FETCH, asked(_GROUPS_PER_REQUEST), deadline, read_fetched_offsets
        )
    except AnswerTooLong:
        answers = yield from connection.exchange(OFFSET_FETCH, asked(1), deadline, read_fetched_offsets)
    return {group: told for answer in answers for group, told in answer.items()}


def _offsets(response: Any) -> GroupOffsets | Failure:
    """Of a group that was asked for alone, brokers before 3.0."""
    code = getattr(response, "error_code", 0)
    if code:
        return refusal(code)
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    failed: dict[TopicPartition, Failure] = {}
    for topic in response.topics:
        for partition in topic.partitions:
            index, epoch = partition.partition_index, getattr(partition, "committed_leader_epoch", -1)
            if partition.error_code:
                failed[topic.name, index] = refusal(partition.error_code)
                continue
            offsets.setdefault(topic.name, {})[index] = CommittedOffset(
                offset=partition.committed_offset,
                leader_epoch=None if epoch < 0 else epoch,
                metadata=partition.metadata or "",
            )
    return GroupOffsets(offsets=offsets, failed=failed)
