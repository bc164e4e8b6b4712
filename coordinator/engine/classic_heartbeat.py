"""Heartbeat to a classic group. Source: GroupMetadataManager.classicGroupHeartbeatToClassicGroup."""

from __future__ import annotations

from coordinator.engine import classic_rebalance
from coordinator.engine.answers import HeartbeatAnswer
from coordinator.engine.calls import Call, Heartbeat
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.classic_member import ClassicState
from coordinator.engine.context import Context
from wire.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: Heartbeat, group: ClassicGroup) -> None:
    """Keep the member alive, and tell it to join again while a rebalance is prepared."""
    group.validate_member(request.member, request.instance)
    if request.generation != group.generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    classic_rebalance.keep_alive(ctx, group, group.members[request.member])
    preparing = group.state is ClassicState.PREPARING_REBALANCE
    error = ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE
    ctx.answer(call.ticket, HeartbeatAnswer(error=error))
