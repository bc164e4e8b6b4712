"""Fetch: the bytes of records, outside of any fetch session, from the leaders of their partitions.

Versions up to 12 name topics, later ones their ids. A broker gives the first partition of a request that has records
one whole batch, however long; every other one no more than `partition_max_bytes`, and nothing where that would cut its
first batch. The last batch may be cut off. Source: FetchRequest.json, ReplicaManager.readFromLog (KIP-74).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from wire.client.answers import Failure, error_name, refusal
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.errors import KafkaError
from wire.client.steps import Steps
from wire.messages.apis import FETCH

TopicPartition = tuple[str, int]

MOST_BYTES = 4 * 1024 * 1024
"""Of one answer, but for a first batch that is longer."""
_READ_UNCOMMITTED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Record batches from an offset on, as they stand in the log; no record is at or behind the high watermark."""

    records: bytes
    high_watermark: int


def fetch(
    connection: Connection,
    offsets: Mapping[TopicPartition, int],
    partition_max_bytes: int,
    deadline: Deadline,
) -> Steps[dict[TopicPartition, Fetched | Failure]]:
    """Ask one leader for what stands at an offset of each partition; it answers at once.

    A broker that holds back a client for its quota leaves partitions out: they are to be asked for again.
    """
    yield from connection.open(deadline)
    version = connection.version(FETCH)
    schema = FETCH.request_schema(version)
    fields: dict[str, Any] = {
        "max_wait": timedelta(0),
        "min_bytes": 0,
        "max_bytes": MOST_BYTES,
        "isolation_level": _READ_UNCOMMITTED,
        "topics": _topics(schema, offsets, partition_max_bytes),
    }
    if version >= 7:
        fields["forgotten_topics_data"] = ()
    (response,) = yield from connection.exchange(FETCH, [schema.FetchRequest(**fields)], deadline)
    code = getattr(response, "error_code", 0)
    if code:
        name = error_name(code)
        raise KafkaError(str(connection.address), int(code), name, f"Fetch was refused: {name}")
    answers = {
        (topic.topic, partition.partition_index): _fetched(partition)
        for topic in response.responses
        for partition in topic.partitions
    }
    if response.throttle_time:
        return answers
    left_out = Failure(message=f"{connection.address} left it out of its answer")
    return {place: answers.get(place, left_out) for place in offsets}


def _topics(schema: Any, offsets: Mapping[TopicPartition, int], partition_max_bytes: int) -> tuple[Any, ...]:
    return tuple(
        schema.FetchTopic(
            topic=topic,
            partitions=tuple(
                schema.FetchPartition(
                    partition=index,
                    fetch_offset=offsets[topic, index],
                    partition_max_bytes=partition_max_bytes,
                )
                for _, index in places
            ),
        )
        for topic, places in groupby(sorted(offsets), key=itemgetter(0))
    )


def _fetched(partition: Any) -> Fetched | Failure:
    if partition.error_code:
        return refusal(partition.error_code)
    return Fetched(records=partition.records or b"", high_watermark=partition.high_watermark)
