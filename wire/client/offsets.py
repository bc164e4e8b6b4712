"""Offsets: committed offsets of groups and start offsets of share groups (KIP-932), and the offsets of logs.
OffsetFetch 10 uses topic ids only, without a benefit here: version 9 is the newest sent. OffsetCommit 10 is sent where
the topics must be those that a user has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers, AnswerTooLong, batches
from wire.client.metadata import ClusterMetadata, TopicPartition, by_topic, topic_entries
from wire.client.steps import Deadline, Replies
from wire.errors import Failure, outcome
from wire.messages.definition import Api
from wire.messages.layout import NO_UUID
from wire.messages.schemas import share_groups
from wire.messages.schemas.offsets import (
    LIST_OFFSETS,
    OFFSET_COMMIT,
    OFFSET_COMMIT_BY_ID,
    OFFSET_DELETE,
    OFFSET_FETCH,
)

if TYPE_CHECKING:
    from wire.messages.schemas.offsets import OffsetFetchResponse, OffsetFetchResponseGroup
    from wire.messages.schemas.share_groups import DescribeShareGroupOffsetsResponseGroup

T = TypeVar("T")
CommittedOffsets: TypeAlias = "OffsetFetchResponse | OffsetFetchResponseGroup"
"""A group's `topics`, with their partitions."""
Outcomes: TypeAlias = dict[TopicPartition, Failure | None]
"""The failure of each partition; None for a partition without an error."""

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
_CONSUMER = -1
_NO_GENERATION = -1
_FIRST_STABLE = 7
_FIRST_FETCHING_SEVERAL = 8
_FETCHED_PER_REQUEST = 50


class OffsetSpec(NamedTuple):
    """A requested offset of a log: EARLIEST, LATEST, LAST_STABLE, or the first at or after a time (ms since 1970)."""

    timestamp: int
    isolation_level: int = READ_UNCOMMITTED


class OffsetsAtTimes(NamedTuple):
    """The first offset of each partition at or after its own timestamp in ms since 1970."""

    times: Mapping[TopicPartition, int]
    isolation_level: int = READ_UNCOMMITTED


EARLIEST = OffsetSpec(-2)  # the offset of the oldest record (the log start offset)
LATEST = OffsetSpec(-1)  # the offset after the last record (the high watermark)
LAST_STABLE = OffsetSpec(-1, READ_COMMITTED)
"""The first offset of the oldest open transaction; without one, `LATEST`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOffset:
    """An offset to commit; `leader_epoch` -1 for none. Brokers before 2.1 do not store the epoch."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


def fetch_offsets(
    client: KafkaClient,
    groups: Iterable[str],
    *,
    only: Mapping[str, Sequence[TopicPartition]] | None = None,
    require_stable: bool = False,
) -> Answers[str, CommittedOffsets]:
    """The committed offsets of groups of any type, of all partitions or `only` of some; an unknown group has none. With
    `require_stable`, a partition with an offset in an open transaction fails with UNSTABLE_OFFSET_COMMIT (KIP-447).
    Brokers before 3.0 are asked one group at a time, as are those whose responses would be too long."""

    def requested(group: str) -> dict[str, object]:
        topics = None if only is None else by_topic(only[group])
        return {
            "group_id": group,
            "topics": topics and [{"name": name, "partition_indexes": numbers} for name, numbers in topics],
        }

    def ask(broker: Connection, groups: Sequence[str], deadline: Deadline) -> Replies[str, CommittedOffsets]:
        yield from broker.open(deadline)
        version = broker.version(OFFSET_FETCH)
        stable = {"require_stable": True} if require_stable and version >= _FIRST_STABLE else {}
        if version < _FIRST_FETCHING_SEVERAL:
            single = [{**requested(group), **stable} for group in groups]
            answers = yield from broker.ask(OFFSET_FETCH, single, deadline)
            return {group: outcome(answer) or answer for group, answer in zip(groups, answers, strict=True)}

        def several(most: int) -> list[dict[str, object]]:
            return [{"groups": [*map(requested, batch)], **stable} for batch in batches(groups, most)]

        try:
            answers = yield from broker.ask(OFFSET_FETCH, several(_FETCHED_PER_REQUEST), deadline)
        except AnswerTooLong:
            answers = yield from broker.ask(OFFSET_FETCH, several(1), deadline)
        return {group.group_id: outcome(group) or group for answer in answers for group in answer.groups}

    return client.ask_coordinators(groups, ask)


def commit_offsets(
    client: KafkaClient,
    offsets: Mapping[str, Mapping[TopicPartition, NewOffset]],
    topic_ids: Mapping[str, UUID] | None = None,
) -> Answers[str, Outcomes]:
    """Commit offsets by group, not as a member: the coordinator refuses them for a group with members. Topics are named
    by their `topic_ids`, if all are known and the broker can compare them (Kafka 4.1)."""
    return client.ask_coordinators(offsets, partial(_commit, offsets, topic_ids or {}))


def _commit(
    offsets: Mapping[str, Mapping[TopicPartition, NewOffset]],
    topic_ids: Mapping[str, UUID],
    broker: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Replies[str, Outcomes]:
    yield from broker.open(deadline)
    topics = {topic for group in groups for topic, _ in offsets[group]}
    by_id = topics <= topic_ids.keys() and broker.supports(OFFSET_COMMIT_BY_ID)
    names: dict[object, str] = {topic_ids[topic]: topic for topic in topics} if by_id else {}
    requests = [
        {
            "group_id": group,
            "generation_id_or_member_epoch": _NO_GENERATION,
            "member_id": "",
            "topics": [
                {
                    "name": topic,
                    "topic_id": topic_ids.get(topic, NO_UUID),
                    "partitions": [
                        {
                            "partition_index": number,
                            "committed_offset": offsets[group][topic, number].offset,
                            "committed_leader_epoch": offsets[group][topic, number].leader_epoch,
                            "committed_metadata": offsets[group][topic, number].metadata,
                        }
                        for number in numbers
                    ],
                }
                for topic, numbers in by_topic(offsets[group])
            ],
        }
        for group in groups
    ]
    answers = yield from broker.ask(OFFSET_COMMIT_BY_ID if by_id else OFFSET_COMMIT, requests, deadline)
    results: dict[str, Outcomes | Failure] = {}
    for group, answer in zip(groups, answers, strict=True):
        outcomes = _outcomes(answer.topics, "topic_id" if by_id else "name")
        # Partitions that do not exist are refused before the coordinator decides; it accepts all others or none.
        moved = (failure for failure in outcomes.values() if failure is not None and failure.retriable)
        results[group] = next(moved, None) or {
            (names.get(topic, topic), number): failure for (topic, number), failure in outcomes.items()
        }
    return results


def delete_offsets(
    client: KafkaClient, partitions: Mapping[str, Sequence[TopicPartition]]
) -> Answers[str, Outcomes]:
    """Delete committed offsets, by group, except of topics that a member subscribes to."""

    def topics(group: str) -> list[dict[str, object]]:
        return topic_entries(partitions[group], "name", lambda key: {"partition_index": key[1]})

    return _ask_groups(
        client, OFFSET_DELETE, partitions, topics, lambda answer: _outcomes(answer.topics, "name")
    )


def fetch_share_offsets(
    client: KafkaClient, groups: Iterable[str]
) -> Answers[str, DescribeShareGroupOffsetsResponseGroup]:
    """Start offsets and lag of every partition of share groups; lag is -1 before Kafka 4.2."""

    def ask(
        broker: Connection, groups: Sequence[str], deadline: Deadline
    ) -> Replies[str, DescribeShareGroupOffsetsResponseGroup]:
        asked = [{"group_id": group, "topics": None} for group in groups]
        requests = [{"groups": batch} for batch in batches(asked)]
        answers = yield from broker.ask(share_groups.DESCRIBE_SHARE_GROUP_OFFSETS, requests, deadline)
        return {group.group_id: outcome(group) or group for answer in answers for group in answer.groups}

    return client.ask_coordinators(groups, ask)


def alter_share_group_offsets(
    client: KafkaClient, offsets: Mapping[str, Mapping[TopicPartition, int]]
) -> Answers[str, Outcomes]:
    """Set start offsets of share groups: without members; a missing group is created."""

    def topics(group: str) -> list[dict[str, object]]:
        starts = offsets[group]
        return topic_entries(
            starts, "topic_name", lambda key: {"partition_index": key[1], "start_offset": starts[key]}
        )

    return _ask_groups(
        client,
        share_groups.ALTER_SHARE_GROUP_OFFSETS,
        offsets,
        topics,
        lambda answer: _outcomes(answer.responses, "topic_name"),
    )


def delete_share_group_offsets(
    client: KafkaClient, topics: Mapping[str, Sequence[str]]
) -> Answers[str, dict[str, Failure | None]]:
    """Delete start offsets of share groups by topic; None for each deleted topic, or why it was refused."""
    return _ask_groups(
        client,
        share_groups.DELETE_SHARE_GROUP_OFFSETS,
        topics,
        lambda group: [{"topic_name": topic} for topic in topics[group]],
        lambda answer: {topic.topic_name: outcome(topic) for topic in answer.responses},
    )


def _ask_groups(
    client: KafkaClient,
    api: Api,
    groups: Iterable[str],
    topics: Callable[[str], list[dict[str, object]]],
    results: Callable[[Any], T],
) -> Answers[str, T]:
    """Ask the coordinators with a request per group about some `topics`; the failure or the `results` of each."""

    def ask(broker: Connection, groups: Sequence[str], deadline: Deadline) -> Replies[str, T]:
        requests = [{"group_id": group, "topics": topics(group)} for group in groups]
        answers = yield from broker.ask(api, requests, deadline)
        return {group: outcome(reply) or results(reply) for group, reply in zip(groups, answers, strict=True)}

    return client.ask_coordinators(groups, ask)


def _outcomes(topics: Iterable[Any], name: str) -> Outcomes:
    return {
        (getattr(topic, name), partition.partition_index): outcome(partition)
        for topic in topics
        for partition in topic.partitions
    }


def offsets_at(
    client: KafkaClient,
    partitions: Iterable[TopicPartition],
    specs: Sequence[OffsetSpec | OffsetsAtTimes],
    *,
    leaders: ClusterMetadata | None = None,
) -> Answers[TopicPartition, tuple[int, ...]]:
    """Offsets of each log, in the order of `specs`, or -1. `leaders`: fresh metadata, which saves a lookup."""
    return client.ask_leaders(partitions, partial(list_offsets, specs), known=leaders)


def list_offsets(
    specs: Sequence[OffsetSpec | OffsetsAtTimes],
    broker: Connection,
    partitions: Sequence[TopicPartition],
    deadline: Deadline,
) -> Replies[TopicPartition, tuple[int, ...]]:
    """Ask one leader for offsets of each partition, in the order of `specs`, or -1. There is one request per spec,
    answered in order: an end requested last is never before the last stable offset. A partition fails if one offset is
    refused."""

    def entry(spec: OffsetSpec | OffsetsAtTimes, key: TopicPartition) -> dict[str, object]:
        timestamp = spec.timestamp if isinstance(spec, OffsetSpec) else spec.times[key]
        return {"partition_index": key[1], "timestamp": timestamp}

    requests = [
        {
            "replica_id": _CONSUMER,
            "isolation_level": spec.isolation_level,
            "topics": topic_entries(partitions, "name", partial(entry, spec)),
            "timeout_ms": int(deadline.remaining_ms()),
        }
        for spec in specs
    ]
    answers = yield from broker.ask(LIST_OFFSETS, requests, deadline)
    offsets: dict[TopicPartition, tuple[int, ...]] = {}
    failed: dict[TopicPartition, Failure] = {}
    for answer in answers:
        for topic in answer.topics:
            for partition in topic.partitions:
                key = topic.name, partition.partition_index
                failure = outcome(partition)
                if failure is not None:
                    failed.setdefault(key, failure)
                offsets[key] = (*offsets.get(key, ()), partition.offset)
    # A broker that leaves a partition out of one response has not answered for it.
    return {key: values for key, values in offsets.items() if len(values) == len(specs)} | failed
