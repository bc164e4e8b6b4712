"""Removal of offsets: by OffsetDelete, with their group, or by expiry (KIP-211). Source:
KafkaApis.handleOffsetDeleteRequest, OffsetMetadataManager.deleteOffsets, cleanupExpiredOffsets;
GroupCoordinatorShard.cleanupGroupMetadata."""

from dataclasses import dataclass

from coordinator.engine.calls import Call, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.context import EngineContext, EngineState, Group
from coordinator.engine.offsets.pending import Partition
from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.errors import RequestRefused
from groups.listing import GroupState
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


def handle(ctx: EngineContext, call: Call, request: OffsetDelete) -> None:
    """Delete the offsets of topics that the group is not subscribed to."""
    group = ctx.state.groups.get(request.group)
    if group is None:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND)
    if isinstance(group, ClassicGroup) and not (group.is_empty() or group.uses_consumer_protocol()):
        raise RequestRefused(ErrorCode.NON_EMPTY_GROUP)
    codes = [_judge(ctx, group, topic, partition) for topic, partition in request.partitions]
    allowed = [key for key, code in zip(request.partitions, codes, strict=True) if code is ErrorCode.NONE]
    ctx.emit(
        *(
            OffsetRecord(group=request.group, topic=topic, partition=partition, value=None)
            for topic, partition in dict.fromkeys(allowed)
            if exists(ctx.state, request.group, (topic, partition))
        )
    )
    answered = zip(request.partitions, codes, strict=True)
    ctx.answer(call.ticket, OffsetDeleteAnswer(partitions=tuple((*key, code) for key, code in answered)))


def _judge(ctx: EngineContext, group: Group, topic: str, partition: int) -> ErrorCode:
    info = ctx.topics.topics.get(topic)
    if info is None or not 0 <= partition < info.partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.subscribed_to(topic) else ErrorCode.NONE


def exists(state: EngineState, group: str, key: Partition) -> bool:
    """Whether an offset is committed or pending."""
    return key in state.offsets.get(group, ()) or key in state.pending.partitions(group)


def tombstones(state: EngineState, group: str) -> list[OffsetRecord]:
    """The records that delete every offset of a group, including pending ones."""
    keys = dict.fromkeys((*state.offsets.get(group, ()), *state.pending.partitions(group)))
    return [OffsetRecord(group=group, topic=topic, partition=number, value=None) for topic, number in keys]


CHECK = TimerKey(TimerKind.OFFSET_EXPIRY)


def schedule(ctx: EngineContext) -> None:
    """Schedule the next check after the interval."""
    ctx.timers.set(CHECK, ctx.now_ms + ctx.config.offsets_retention_check_interval_ms)


def expire_offsets(ctx: EngineContext) -> None:
    """Delete expired offsets, except of open transactions, then Empty groups that have none left."""
    for group in list(ctx.state.groups.values()):
        unstable = ctx.state.pending.partitions(group.id)
        for (topic, partition), value in list(ctx.state.offsets.get(group.id, {}).items()):
            base = None if group.subscribed_to(topic) else _base_ms(group, value)
            if base is None or (topic, partition) in unstable:
                continue
            end_ms = base + ctx.config.offsets_retention_ms if value.expire_ms is None else value.expire_ms
            if ctx.now_ms >= end_ms:
                ctx.emit(OffsetRecord(group=group.id, topic=topic, partition=partition, value=None))
        has_offsets = ctx.state.offsets.get(group.id) or ctx.state.pending.partitions(group.id)
        if not has_offsets and group.is_empty():
            ctx.remove_group(group)
    schedule(ctx)


def _base_ms(group: Group, offset: StoredOffset) -> int | None:
    """When the retention time of an unsubscribed topic's offset starts; None: the offset does not expire."""
    if isinstance(group, ConsumerGroup) or not group.protocol_type:
        return offset.commit_ms
    if group.is_empty():
        return offset.commit_ms if group.state_since_ms < 0 else group.state_since_ms
    if group.state is GroupState.STABLE and group.subscribed is not None:
        return offset.commit_ms
    return None
