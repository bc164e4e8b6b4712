"""SyncGroup to a classic group. Source: GroupMetadataManager.classicGroupSyncToClassicGroup."""

from __future__ import annotations

from coordinator.engine import classic_rebalance
from coordinator.engine.calls import Call, SyncGroup
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.classic_member import ClassicState
from coordinator.engine.context import Context
from coordinator.engine.records import ClassicGroupRecord
from coordinator.engine.timers import TimerKey, TimerKind
from wire.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: SyncGroup, group: ClassicGroup) -> None:
    """Take the leader's assignments and hand them out; a follower waits for them."""
    _validate(request, group)
    if group.state is ClassicState.PREPARING_REBALANCE:
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_sync.discard(request.member)
    if not group.pending_sync:
        ctx.timers.cancel(TimerKey(TimerKind.SYNC, group.id))
    if group.state is ClassicState.STABLE:
        ctx.answer(call.ticket, classic_rebalance.assigned(group, group.members[request.member]))
        return
    classic_rebalance.park_sync(ctx, group, request.member, call.ticket)
    if request.member == group.leader:
        value = group.value(dict(request.assignments), group.state_since_ms)
        ctx.emit(ClassicGroupRecord(group=group.id, value=value))
        classic_rebalance.answer_syncs(ctx, group)


def _validate(request: SyncGroup, group: ClassicGroup) -> None:
    group.validate_member(request.member, request.instance)
    if request.generation != group.generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    for asked, actual in (
        (request.protocol_type, group.protocol_type or None),
        (request.protocol, group.protocol),
    ):
        if asked is not None and actual is not None and asked != actual:
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
