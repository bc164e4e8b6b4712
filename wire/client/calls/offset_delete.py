"""OffsetDelete: forget committed offsets.

The coordinator deletes what it can and answers partition by partition; one whose topic a member subscribes to stays.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from wire.client.answers import Failure, refusal
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import OFFSET_DELETE

TopicPartition = tuple[str, int]


def offset_delete(
    connection: Connection,
    groups: Sequence[str],
    partitions: Mapping[str, Sequence[TopicPartition]],
    deadline: Deadline,
) -> Steps[dict[str, dict[TopicPartition, Failure | None] | Failure]]:
    """Ask one coordinator to delete the offsets of `partitions` of each of `groups`, a request per group.

    By group, None for each partition whose offset is gone, which includes those that had none.
    """
    yield from connection.open(deadline)
    schema = OFFSET_DELETE.request_schema(connection.version(OFFSET_DELETE))
    requests = [
        schema.OffsetDeleteRequest(group_id=group, topics=_topics(schema, partitions[group]))
        for group in groups
    ]
    responses = yield from connection.exchange(OFFSET_DELETE, requests, deadline)
    return {group: _outcomes(response) for group, response in zip(groups, responses, strict=True)}


def _topics(schema: Any, partitions: Sequence[TopicPartition]) -> tuple[Any, ...]:
    return tuple(
        schema.OffsetDeleteRequestTopic(
            name=topic,
            partitions=tuple(
                schema.OffsetDeleteRequestPartition(partition_index=index) for _, index in places
            ),
        )
        for topic, places in groupby(sorted(set(partitions)), key=itemgetter(0))
    )


def _outcomes(response: Any) -> dict[TopicPartition, Failure | None] | Failure:
    if response.error_code:
        return refusal(response.error_code)
    return {
        (topic.name, partition.partition_index): (
            refusal(partition.error_code) if partition.error_code else None
        )
        for topic in response.topics
        for partition in topic.partitions
    }
