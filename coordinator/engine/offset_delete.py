"""OffsetDelete. Source: KafkaApis.handleOffsetDeleteRequest, OffsetMetadataManager.deleteOffsets."""

from __future__ import annotations

from coordinator.engine import offsets
from coordinator.engine.answers import OffsetDeleteAnswer
from coordinator.engine.calls import Call, OffsetDelete
from coordinator.engine.context import Context
from coordinator.engine.group import Group
from coordinator.engine.records import OffsetRecord
from wire.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: OffsetDelete) -> None:
    """Delete the offsets of topics that the group is not subscribed to."""
    if not request.group:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    group = ctx.state.groups.get(request.group)
    if group is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
    group.validate_offset_delete()
    codes = [_judge(ctx, group, topic, partition) for topic, partition in request.partitions]
    for key, code in zip(request.partitions, codes, strict=True):
        if code is ErrorCode.NONE and offsets.exists(ctx.state, request.group, key):
            ctx.emit(OffsetRecord(group=request.group, topic=key[0], partition=key[1], value=None))
    answered = zip(request.partitions, codes, strict=True)
    ctx.answer(call.ticket, OffsetDeleteAnswer(partitions=tuple((*key, code) for key, code in answered)))


def _judge(ctx: Context, group: Group, topic: str, partition: int) -> ErrorCode:
    info = ctx.topics.topics.get(topic)
    if info is None or not 0 <= partition < info.partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.subscribed_to(topic) else ErrorCode.NONE
