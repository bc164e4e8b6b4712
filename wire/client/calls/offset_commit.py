"""OffsetCommit, by somebody who is no member: the coordinator takes it of a group without members only.

Version 10 names topics by id only and gives nothing in return, so the newest version sent is 9.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from wire.client.answers import Failure, refusal
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import OFFSET_COMMIT

TopicPartition = tuple[str, int]

_NO_GENERATION = -1
_FIRST_WITH_EPOCHS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOffset:
    """An offset to be committed; `leader_epoch` -1 for none. Brokers before 2.1 do not keep the epoch."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


def offset_commit(
    connection: Connection,
    groups: Sequence[str],
    offsets: Mapping[str, Mapping[TopicPartition, NewOffset]],
    deadline: Deadline,
) -> Steps[dict[str, dict[TopicPartition, Failure | None] | Failure]]:
    """Ask one coordinator to commit the `offsets` of each of `groups`, a request per group.

    By group, None for each partition that is committed; a failure of the group when its coordinator has moved.
    """
    yield from connection.open(deadline)
    version = connection.version(OFFSET_COMMIT)
    schema = OFFSET_COMMIT.request_schema(version)
    with_epochs = version >= _FIRST_WITH_EPOCHS
    requests = [
        schema.OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=_NO_GENERATION,
            member_id="",
            topics=_topics(schema, offsets[group], with_epochs=with_epochs),
        )
        for group in groups
    ]
    responses = yield from connection.exchange(OFFSET_COMMIT, requests, deadline)
    return {group: _outcomes(response) for group, response in zip(groups, responses, strict=True)}


def _topics(
    schema: Any, offsets: Mapping[TopicPartition, NewOffset], *, with_epochs: bool
) -> tuple[Any, ...]:
    def partition(index: int, new: NewOffset) -> Any:
        epoch = {"committed_leader_epoch": new.leader_epoch} if with_epochs else {}
        return schema.OffsetCommitRequestPartition(
            partition_index=index, committed_offset=new.offset, committed_metadata=new.metadata, **epoch
        )

    return tuple(
        schema.OffsetCommitRequestTopic(
            name=topic, partitions=tuple(partition(index, offsets[topic, index]) for _, index in places)
        )
        for topic, places in groupby(sorted(offsets), key=itemgetter(0))
    )


def _outcomes(response: Any) -> dict[TopicPartition, Failure | None] | Failure:
    outcomes = {
        (topic.name, partition.partition_index): (
            refusal(partition.error_code) if partition.error_code else None
        )
        for topic in response.topics
        for partition in topic.partitions
    }
    moved = [failure for failure in outcomes.values() if failure is not None and failure.retriable]
    # Partitions that do not exist are refused before the coordinator is asked; it takes all of the others or none.
    return moved[0] if moved else outcomes
