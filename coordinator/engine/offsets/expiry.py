"""Offsets that nobody will come back for, and groups that are left with nothing (KIP-211).

Source: GroupCoordinatorShard.cleanupGroupMetadata, OffsetMetadataManager.cleanupExpiredOffsets.
"""

from __future__ import annotations

from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.context import Context, Group
from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.engine.timers import TimerKey, TimerKind
from groups.listing import GroupState

CHECK = TimerKey(TimerKind.OFFSET_EXPIRY)


def schedule(ctx: Context) -> None:
    """Check once more after the interval."""
    ctx.timers.set(CHECK, ctx.now_ms + ctx.config.offsets_retention_check_interval_ms)


def expire_offsets(ctx: Context) -> None:
    """Delete expired offsets, then the Empty groups that have none left; a group only of pending members too.

    An open transaction keeps the partitions that it committed, and its group.
    """
    for group in list(ctx.state.groups.values()):
        _expire_offsets(ctx, group)
        has_offsets = ctx.state.offsets.get(group.id) or ctx.state.pending.partitions(group.id)
        if not has_offsets and group.is_empty():
            ctx.remove_group(group)
    schedule(ctx)


def _expire_offsets(ctx: Context, group: Group) -> None:
    unstable = ctx.state.pending.partitions(group.id)
    for (topic, partition), value in list(ctx.state.offsets.get(group.id, {}).items()):
        kept = group.subscribed_to(topic) or (topic, partition) in unstable
        if not kept and _is_expired(ctx, group, value):
            ctx.emit(OffsetRecord(group=group.id, topic=topic, partition=partition, value=None))


def _is_expired(ctx: Context, group: Group, value: StoredOffset) -> bool:
    base = _base_ms(group, value)
    if base is None:
        return False
    if value.expire_ms is not None:
        return ctx.now_ms >= value.expire_ms
    return ctx.now_ms - base >= ctx.config.offsets_retention_ms


def _base_ms(group: Group, offset: StoredOffset) -> int | None:
    """The time from which the retention of an unsubscribed topic's offset counts; None: it is kept."""
    if isinstance(group, ConsumerGroup) or not group.protocol_type:
        return offset.commit_ms
    if group.is_empty():
        return offset.commit_ms if group.state_since_ms < 0 else group.state_since_ms
    if group.state is GroupState.STABLE and group.subscribed is not None:
        return offset.commit_ms
    return None
