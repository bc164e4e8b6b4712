"""Offsets: committed offsets of groups, their commit and deletion, and the first and last offsets of logs.

OffsetFetch 10 uses topic ids only, without a benefit here: version 9 is the newest sent. OffsetCommit 10 is sent where
the topics must be those that a user has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from wire.client.connection import Connection
from wire.client.errors import AnswerTooLong, batches
from wire.client.steps import Deadline, Steps
from wire.errors import Failure, outcome
from wire.messages.schemas.offsets import (
    LIST_OFFSETS,
    OFFSET_COMMIT,
    OFFSET_COMMIT_BY_ID,
    OFFSET_DELETE,
    OFFSET_FETCH,
)

TopicPartition: TypeAlias = tuple[str, int]
Outcomes: TypeAlias = dict[TopicPartition, Failure | None]
"""The failure of each partition; None for a partition without an error."""

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
_CONSUMER = -1
_NO_GENERATION = -1
_NO_ID = UUID(int=0)
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


EARLIEST = OffsetSpec(-2)
"""The offset of the oldest record (the log start offset)."""
LATEST = OffsetSpec(-1)
"""The offset after the last record (the high watermark)."""
LAST_STABLE = OffsetSpec(-1, READ_COMMITTED)
"""The first offset of the oldest open transaction; without one, `LATEST`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOffset:
    """An offset to commit; `leader_epoch` -1 for none. Brokers before 2.1 do not store the epoch."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


def by_topic(
    places: Iterable[TopicPartition], fields: Callable[[TopicPartition], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Partitions in the form of most requests: `fields` of each under its topic, in ascending order."""
    return [
        {"name": topic, "partitions": [fields(place) for place in found]}
        for topic, found in groupby(sorted(set(places)), key=itemgetter(0))
    ]


def offset_fetch(
    only: Mapping[str, Sequence[TopicPartition]] | None,
    require_stable: bool,
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, Any | Failure]]:
    """Ask one coordinator for offsets of `groups` of any type, all or `only` some; a missing group has none.

    The result of a group has `topics` with partitions. With `require_stable`, partitions with an offset in an open
    transaction have the error UNSTABLE_OFFSET_COMMIT instead of an offset (since 2.5, KIP-447). Brokers before 3.0 are
    asked one group at a time, as are those whose responses would be too long otherwise.
    """
    yield from connection.open(deadline)
    stable = (
        {"require_stable": True}
        if require_stable and connection.version(OFFSET_FETCH) >= _FIRST_STABLE
        else {}
    )

    def topics(group: str) -> Sequence[Mapping[str, Any]] | None:
        if only is None:
            return None
        named = groupby(sorted(set(only[group])), key=itemgetter(0))
        return [{"name": name, "partition_indexes": [number for _, number in found]} for name, found in named]

    if connection.version(OFFSET_FETCH) < _FIRST_FETCHING_SEVERAL:
        requests: list[dict[str, Any]] = [
            {"group_id": group, "topics": topics(group), **stable} for group in groups
        ]
        responses = yield from connection.ask(OFFSET_FETCH, requests, deadline)
        return {
            group: outcome(response) or response for group, response in zip(groups, responses, strict=True)
        }

    def requested(per_request: int) -> list[dict[str, Any]]:
        return [
            {"groups": [{"group_id": group, "topics": topics(group)} for group in batch], **stable}
            for batch in batches(groups, per_request)
        ]

    try:
        responses = yield from connection.ask(OFFSET_FETCH, requested(_FETCHED_PER_REQUEST), deadline)
    except AnswerTooLong:
        responses = yield from connection.ask(OFFSET_FETCH, requested(1), deadline)
    return {group.group_id: outcome(group) or group for response in responses for group in response.groups}


def offset_commit(
    offsets: Mapping[str, Mapping[TopicPartition, NewOffset]],
    topic_ids: Mapping[str, UUID],
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, Outcomes | Failure]]:
    """Ask one coordinator to commit the `offsets` of each of `groups`, one request per group, not as a member.

    The coordinator accepts it only for a group without members. A group fails as a whole if its coordinator moved.
    Topics are named by their ids if all are known, and the coordinator can.
    """
    yield from connection.open(deadline)
    topics = {topic for group in groups for topic, _ in offsets[group]}
    by_id = topics <= topic_ids.keys() and connection.supports(OFFSET_COMMIT_BY_ID)
    names = {topic_ids[topic]: topic for topic in topics} if by_id else {}

    def partition(group: str) -> Callable[[TopicPartition], Mapping[str, Any]]:
        def fields(place: TopicPartition) -> Mapping[str, Any]:
            new = offsets[group][place]
            return {
                "partition_index": place[1],
                "committed_offset": new.offset,
                "committed_leader_epoch": new.leader_epoch,
                "committed_metadata": new.metadata,
            }

        return fields

    requests = [
        {
            "group_id": group,
            "generation_id_or_member_epoch": _NO_GENERATION,
            "member_id": "",
            "topics": [
                {**topic, "topic_id": topic_ids.get(topic["name"], _NO_ID)}
                for topic in by_topic(offsets[group], partition(group))
            ],
        }
        for group in groups
    ]
    api = OFFSET_COMMIT_BY_ID if by_id else OFFSET_COMMIT
    responses = yield from connection.ask(api, requests, deadline)
    return {group: _committed(response, names) for group, response in zip(groups, responses, strict=True)}


def _committed(response: Any, names: Mapping[UUID, str]) -> Outcomes | Failure:
    outcomes = _outcomes(response, names)
    moved = [failure for failure in outcomes.values() if failure is not None and failure.retriable]
    # Partitions that do not exist are refused before the coordinator decides; it accepts all of the others or none.
    return moved[0] if moved else outcomes


def offset_delete(
    partitions: Mapping[str, Sequence[TopicPartition]],
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, Outcomes | Failure]]:
    """Ask one coordinator to delete the offsets of `partitions` of each of `groups`, one request per group.

    The coordinator deletes all but offsets of topics that a member subscribes to. A partition without an offset is no
    error.
    """
    requests = [
        {
            "group_id": group,
            "topics": by_topic(partitions[group], lambda place: {"partition_index": place[1]}),
        }
        for group in groups
    ]
    responses = yield from connection.ask(OFFSET_DELETE, requests, deadline)
    return {
        group: outcome(response) or _outcomes(response)
        for group, response in zip(groups, responses, strict=True)
    }


def _outcomes(response: Any, names: Mapping[UUID, str] | None = None) -> Outcomes:
    """The outcomes by partition; `names` are the names of topics that the response contains by id."""
    return {
        (names[topic.topic_id] if names else topic.name, partition.partition_index): outcome(partition)
        for topic in response.topics
        for partition in topic.partitions
    }


def list_offsets(
    specs: Sequence[OffsetSpec | OffsetsAtTimes],
    connection: Connection,
    partitions: Sequence[TopicPartition],
    deadline: Deadline,
) -> Steps[dict[TopicPartition, tuple[int, ...] | Failure]]:
    """Ask one leader for offsets of each partition, in the order of `specs`, or -1.

    There is one request per spec, sent together and answered in this order: an end offset requested last is never
    before the last stable offset. A partition fails if one of its offsets is refused.
    """
    requests = [
        {
            "replica_id": _CONSUMER,
            "isolation_level": spec.isolation_level,
            "topics": by_topic(partitions, partial(_partition_at, spec)),
            "timeout_ms": int(deadline.remaining_ms()),
        }
        for spec in specs
    ]
    responses = yield from connection.ask(LIST_OFFSETS, requests, deadline)
    found: dict[TopicPartition, tuple[int, ...]] = {}
    failed: dict[TopicPartition, Failure] = {}
    for response in responses:
        for topic in response.topics:
            for partition in topic.partitions:
                place = topic.name, partition.partition_index
                failure = outcome(partition)
                if failure is not None:
                    failed.setdefault(place, failure)
                found[place] = (*found.get(place, ()), partition.offset)
    # A broker that leaves a partition out of one response has not answered for it.
    whole = {place: offsets for place, offsets in found.items() if len(offsets) == len(specs)}
    return {**whole, **failed}


def _partition_at(spec: OffsetSpec | OffsetsAtTimes, place: TopicPartition) -> Mapping[str, Any]:
    timestamp = spec.timestamp if isinstance(spec, OffsetSpec) else spec.times[place]
    return {"partition_index": place[1], "timestamp": timestamp}
