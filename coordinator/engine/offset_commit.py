"""OffsetCommit. Source: KafkaApis.handleOffsetCommitRequest, OffsetMetadataManager.commitOffset."""

from __future__ import annotations

from coordinator.engine import classic_rebalance
from coordinator.engine.answers import OffsetCommitAnswer
from coordinator.engine.calls import Call, Offset, OffsetCommit
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.context import Context
from coordinator.engine.group import Group, PartitionCheck
from coordinator.engine.java_string import length
from coordinator.engine.records import CommittedOffset, OffsetRecord
from coordinator.engine.topics import TopicImage, TopicInfo
from wire.errors import CoordinatorError, ErrorCode

BY_ID = 10
"""The version from which on topics are named by id."""
BY_EPOCH = 9
"""The version from which on an unknown group is told from an old generation."""


def handle(ctx: Context, call: Call, request: OffsetCommit) -> None:
    """Commit what may be committed; a refusal of the group spoils every partition that exists."""
    found = [_find(ctx.topics, each, by_id=request.version >= BY_ID) for each in request.offsets]
    codes = [each if isinstance(each, ErrorCode) else ErrorCode.NONE for each in found]
    topics = {i: each for i, each in enumerate(found) if isinstance(each, TopicInfo)}
    if topics:
        try:
            codes = _commit(ctx, request, topics, codes)
        except CoordinatorError as error:
            codes = [error.code if i in topics else code for i, code in enumerate(codes)]
    ctx.answer(call.ticket, _answer(request, codes))


def _find(image: TopicImage, offset: Offset, *, by_id: bool) -> TopicInfo | ErrorCode:
    """The topic, if it and the partition exist; else why not."""
    if by_id:
        topic = None if offset.topic_id is None else image.by_id.get(offset.topic_id)
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic = image.topics.get(offset.topic)
    if topic is None or not 0 <= offset.partition < topic.partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return topic


def _commit(
    ctx: Context, request: OffsetCommit, topics: dict[int, TopicInfo], codes: list[ErrorCode]
) -> list[ErrorCode]:
    """Judge everything, then write. CoordinatorError: nothing may be committed.

    An unknown group comes into being with its first offset, when that is replayed.
    """
    group = ctx.state.groups.get(request.group)
    check = None if group is None else group.validate_offset_commit(request)
    if group is None and request.generation_or_epoch >= 0:
        raise CoordinatorError(
            ErrorCode.GROUP_ID_NOT_FOUND if request.version >= BY_EPOCH else ErrorCode.ILLEGAL_GENERATION
        )
    records = []
    codes = list(codes)
    for i, topic in topics.items():
        offset = request.offsets[i]
        if length(offset.metadata or "") > ctx.config.offset_metadata_max_bytes:
            codes[i] = ErrorCode.OFFSET_METADATA_TOO_LARGE
        else:
            records.append(_record(ctx, request, offset, topic, check))
    _keep_alive(ctx, request, group)
    for record in records:
        ctx.emit(record)
    return codes


def _record(
    ctx: Context, request: OffsetCommit, offset: Offset, topic: TopicInfo, check: PartitionCheck | None
) -> OffsetRecord:
    if check is not None:
        check(topic.name, topic.id, offset.partition)
    kept = request.retention_ms is None or request.retention_ms == -1
    value = CommittedOffset(
        offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata or "",
        commit_ms=ctx.now_ms,
        expire_ms=None if kept else ctx.now_ms + (request.retention_ms or 0),
        topic_id=topic.id,
    )
    return OffsetRecord(group=request.group, topic=topic.name, partition=offset.partition, value=value)


def _keep_alive(ctx: Context, request: OffsetCommit, group: Group | None) -> None:
    """A commit keeps a member of a classic group alive, as a heartbeat does, except while nobody may commit."""
    if isinstance(group, ClassicGroup) and group.has_member(request.member):
        classic_rebalance.keep_alive(ctx, group, group.members[request.member])


def _answer(request: OffsetCommit, codes: list[ErrorCode]) -> OffsetCommitAnswer:
    return OffsetCommitAnswer(
        partitions=tuple(
            (each.topic, each.topic_id, each.partition, code)
            for each, code in zip(request.offsets, codes, strict=True)
        )
    )
