"""Committed offsets: OffsetCommit, OffsetFetch and OffsetDelete."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from coordinator.engine.offsets.commit import Offset, OffsetCommit
from coordinator.engine.offsets.fetch import FetchedOffset, OffsetFetch, OffsetQuery, QueriedOffsets
from coordinator.engine.offsets.removal import OffsetDelete
from coordinator.server.apis.fields import ZERO_ID, LazyEntries, by_topic, judged_partition
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.limits import Turn
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode

if TYPE_CHECKING:
    from wire.messages.schemas import offsets as schemas
    from wire.messages.schemas.transactions import TxnOffsetCommitRequest


DEFAULT_RETENTION_MS = -1


async def offset_commit(exchange: Exchange[schemas.OffsetCommitRequest]) -> AnswerFields:
    """OffsetCommit v2–v10: retention v2–v4, leader epochs v6, KIP-848 members v9, topic ids v10."""
    request, turn = exchange.request, Turn()
    call = OffsetCommit(
        group=request.group_id,
        generation_or_epoch=request.generation_id_or_member_epoch,
        member=request.member_id,
        instance=request.group_instance_id,
        offsets=committed_offsets(request),
        # The broker decides if the version has no retention time.
        retention_ms=None if request.retention_time_ms == DEFAULT_RETENTION_MS else request.retention_time_ms,
        version=exchange.version,
    )
    forbidden = forbidden_commits(exchange, call.group, call.offsets)
    call = replace(call, offsets=tuple(one for one in call.offsets if one not in forbidden))
    await turn.pause()
    committed = (await exchange.ask(call)).partitions if call.offsets or not forbidden else ()
    refused = judged(forbidden, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    await turn.pause()
    return committed_fields([*refused, *committed])


Judged: TypeAlias = tuple[str, UUID | None, int, ErrorCode]
"""Topic name, topic id, partition and error."""


def judged(offsets: Iterable[Offset], code: ErrorCode) -> list[Judged]:
    return [(one.topic, one.topic_id, one.partition, code) for one in offsets]


def committed_fields(partitions: Iterable[Judged]) -> AnswerFields:
    """The answer to OffsetCommit and TxnOffsetCommit."""
    topics = by_topic(((name, id_), (partition, error)) for name, id_, partition, error in partitions)
    results = [
        {"name": name, "topic_id": id_, "partitions": LazyEntries(judged_partition, some)}
        for (name, id_), some in topics
    ]
    return {"topics": results}


def committed_offsets(request: schemas.OffsetCommitRequest | TxnOffsetCommitRequest) -> tuple[Offset, ...]:
    return tuple(
        Offset(
            topic=topic.name,
            topic_id=getattr(topic, "topic_id", None),
            partition=one.partition_index,
            offset=one.committed_offset,
            leader_epoch=one.committed_leader_epoch,
            metadata=one.committed_metadata,
        )
        for topic in request.topics
        for one in topic.partitions
    )


def forbidden_commits(exchange: Exchange, group: str, offsets: Iterable[Offset]) -> Collection[Offset]:
    """Offsets of topics that the caller may not read; empty if it may not read the group, which is refused first."""
    if not exchange.has_acls or not exchange.allows(Operation.READ, ResourceType.GROUP, group):
        return ()
    names = {one: exchange.topic_name(one.topic, one.topic_id) for one in offsets}
    return dict.fromkeys(
        one
        for one, name in names.items()
        if name is not None and not exchange.allows(Operation.READ, ResourceType.TOPIC, name)
    )


TOP_LEVEL_ERROR = 2
BATCHED = 8
BY_ID = 10


async def offset_fetch(exchange: Exchange[schemas.OffsetFetchRequest]) -> AnswerFields:
    """OffsetFetch v1–v10: null for all topics v2, several groups v8 (KIP-709), KIP-848 members v9, topic ids v10."""
    request = exchange.request
    if exchange.version >= BATCHED:
        requested = [
            OffsetQuery(
                group=one.group_id,
                member=one.member_id,
                epoch=one.member_epoch,
                topics=_fetched_topics(one, exchange.version),
            )
            for one in request.groups
        ]
    else:
        requested = [OffsetQuery(group=request.group_id, topics=_fetched_topics(request, exchange.version))]
    visible = {one: _visible(exchange, one) for one in requested}
    make = partial(OffsetFetch, require_stable=request.require_stable, version=exchange.version)
    fetched = await exchange.ask_each(visible.values(), lambda some: make(groups=some), lambda one: one.group)
    answers = {one: _with_hidden(exchange, one, fetched[visible[one]]) for one in requested}
    if exchange.version >= BATCHED:
        return {"groups": LazyEntries(lambda one: _fetched_group(answers[one], exchange.version), requested)}
    (single,) = answers.values()
    if exchange.version < TOP_LEVEL_ERROR and single.error:
        return {"topics": _refused(request, single.error)}
    return _fetched_group(single, exchange.version)


def _visible(exchange: Exchange, query: OffsetQuery) -> OffsetQuery:
    if query.topics is None or not exchange.has_acls:
        return query
    return replace(query, topics=tuple(topic for topic in query.topics if not _is_hidden(exchange, topic[0])))


def _with_hidden(exchange: Exchange, query: OffsetQuery, fetched: QueriedOffsets) -> QueriedOffsets:
    """The answer with topics that the caller may not describe: an error if requested by name, omitted if all were."""
    if fetched.error or not exchange.has_acls:
        return fetched
    if query.topics is None:
        shown = tuple(topic for topic in fetched.topics if not _is_hidden(exchange, topic[0]))
        return replace(fetched, topics=shown)
    refusal = FetchedOffset(error=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    refused = tuple(
        (topic, tuple((partition, refusal) for partition in partitions))
        for topic, partitions in query.topics
        if _is_hidden(exchange, topic)
    )
    return replace(fetched, topics=(*fetched.topics, *refused))


def _is_hidden(exchange: Exchange, topic: str | UUID) -> bool:
    name = topic if isinstance(topic, str) else exchange.topic_name(None, topic)
    return name is not None and exchange.hides(name)


def _fetched_topics(
    group: schemas.OffsetFetchRequest | schemas.OffsetFetchRequestGroup, version: int
) -> tuple[tuple[str | UUID, tuple[int, ...]], ...] | None:
    if group.topics is None:
        return None
    return tuple(
        (
            (getattr(topic, "topic_id", None) or ZERO_ID) if version >= BY_ID else topic.name,
            tuple(topic.partition_indexes),
        )
        for topic in group.topics
    )


def _fetched_group(fetched: QueriedOffsets, version: int) -> AnswerFields:
    key = "topic_id" if version >= BY_ID else "name"
    return {
        "group_id": fetched.group,
        "error_code": fetched.error,
        "topics": [
            {key: topic, "partitions": LazyEntries(_fetched_partition, partitions)}
            for topic, partitions in fetched.topics
        ],
    }


def _fetched_partition(partition: tuple[int, FetchedOffset]) -> AnswerFields:
    number, fetched = partition
    return {
        "partition_index": number,
        "committed_offset": fetched.offset,
        "committed_leader_epoch": fetched.leader_epoch,
        "metadata": fetched.metadata,
        "error_code": fetched.error,
    }


def _refused(request: schemas.OffsetFetchRequest, error: ErrorCode) -> list[AnswerFields]:
    """v1 has no field for a group error: each partition carries it."""
    fetched = FetchedOffset(error=error)
    return [
        {
            "name": topic.name,
            "partitions": [_fetched_partition((one, fetched)) for one in topic.partition_indexes],
        }
        for topic in request.topics or ()
    ]


async def offset_delete(exchange: Exchange[schemas.OffsetDeleteRequest]) -> AnswerFields:
    """OffsetDelete v0 (KIP-496)."""
    request = exchange.request
    readable, refused = [], []
    for topic in request.topics:
        numbers = [one.partition_index for one in topic.partitions]
        if exchange.allows(Operation.READ, ResourceType.TOPIC, topic.name):
            readable += [(topic.name, number) for number in numbers]
        else:
            refused += [(topic.name, number, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for number in numbers]
    call = OffsetDelete(group=request.group_id, partitions=tuple(readable))
    deleted = await exchange.ask(call, Operation.DELETE)
    if deleted.error:
        refused = []
    answers = (*refused, *deleted.partitions)
    topics = by_topic((topic, (partition, error)) for topic, partition, error in answers)
    results = [{"name": name, "partitions": LazyEntries(judged_partition, some)} for name, some in topics]
    return {"error_code": deleted.error, "topics": results}
