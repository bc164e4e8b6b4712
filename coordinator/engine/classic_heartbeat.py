"""Heartbeat to a classic group. Source: GroupMetadataManager.classicGroupHeartbeatToClassicGroup."""

from __future__ import annotations

from coordinator.broker import classic_rebalance
from coordinator.broker.answers import HeartbeatAnswer
from coordinator.broker.calls import Call, Heartbeat
from coordinator.broker.classic_group import ClassicGroup
from coordinator.broker.classic_member import ClassicState
from coordinator.broker.context import Context
from coordinator.broker.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: Heartbeat, group: ClassicGroup) -> None:
    """Keep the member alive, and tell it to join again while a rebalance is prepared."""
    group.validate_member(request.member, request.instance)
    if request.generation != group.generation:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    classic_rebalance.keep_alive(ctx, group, group.members[request.member])
    preparing = group.state is ClassicState.PREPARING_REBALANCE
    error = ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE
    ctx.answer(call.ticket, HeartbeatAnswer(error=error))
