"""OffsetDelete. Source: KafkaApis.handleOffsetDeleteRequest, OffsetMetadataManager.deleteOffsets."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.engine.calls import Call, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.context import Context, Group, State
from coordinator.engine.offsets.pending import Partition
from coordinator.engine.records import OffsetRecord
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDeleteAnswer:
    error: ErrorCode = ErrorCode.NONE
    partitions: tuple[tuple[str, int, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDelete(Request[OffsetDeleteAnswer]):
    """OffsetDelete v0."""

    group: str
    partitions: tuple[tuple[str, int], ...]

    def refused(self, error: RequestRefused) -> OffsetDeleteAnswer:
        return OffsetDeleteAnswer(error=error.code)


def handle(ctx: Context, call: Call, request: OffsetDelete) -> None:
    """Delete the offsets of topics that the group is not subscribed to."""
    if not request.group:
        raise RequestRefused(ErrorCode.INVALID_GROUP_ID)
    group = ctx.state.groups.get(request.group)
    if group is None:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND)
    if isinstance(group, ClassicGroup) and not (group.is_empty() or group.uses_consumer_protocol()):
        raise RequestRefused(ErrorCode.NON_EMPTY_GROUP)
    codes = [_judge(ctx, group, topic, partition) for topic, partition in request.partitions]
    for key, code in zip(request.partitions, codes, strict=True):
        if code is ErrorCode.NONE and exists(ctx.state, request.group, key):
            ctx.emit(OffsetRecord(group=request.group, topic=key[0], partition=key[1], value=None))
    answered = zip(request.partitions, codes, strict=True)
    ctx.answer(call.ticket, OffsetDeleteAnswer(partitions=tuple((*key, code) for key, code in answered)))


def _judge(ctx: Context, group: Group, topic: str, partition: int) -> ErrorCode:
    info = ctx.topics.topics.get(topic)
    if info is None or not 0 <= partition < info.partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.subscribed_to(topic) else ErrorCode.NONE


def exists(state: State, group: str, key: Partition) -> bool:
    """Whether an offset is committed or pending."""
    return key in state.offsets.get(group, ()) or key in state.pending.partitions(group)


def delete_all(ctx: Context, group: str) -> None:
    """Delete every offset of a group, those that are pending too."""
    for topic, partition in [*ctx.state.offsets.get(group, ()), *ctx.state.pending.partitions(group)]:
        if exists(ctx.state, group, (topic, partition)):
            ctx.emit(OffsetRecord(group=group, topic=topic, partition=partition, value=None))
