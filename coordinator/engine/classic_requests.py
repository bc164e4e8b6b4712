"""The requests of the classic protocol, up to the group that they are for.

What can be judged without the group is judged here, in the order of KafkaApis and GroupCoordinatorService. Then a
consumer group takes them in its own way: members of it may speak the classic protocol (KIP-848 "Online migration").
"""

from __future__ import annotations

from coordinator.engine import (
    classic_heartbeat,
    classic_join,
    classic_leave,
    classic_sync,
    interop,
    interop_join,
)
from coordinator.engine.calls import Call, Heartbeat, JoinGroup, LeaveGroup, SyncGroup
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.context import Context
from wire.errors import CoordinatorError, ErrorCode


def join(ctx: Context, call: Call, request: JoinGroup) -> None:
    _require_group_id(request.group)
    shortest, longest = ctx.config.group_min_session_timeout_ms, ctx.config.group_max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        raise CoordinatorError(ErrorCode.INVALID_SESSION_TIMEOUT)
    group = ctx.state.groups.get(request.group)
    if isinstance(group, ConsumerGroup) and not group.is_empty():
        interop_join.handle(ctx, call, request, group)
    else:
        classic_join.handle(ctx, call, request)


def sync(ctx: Context, call: Call, request: SyncGroup) -> None:
    if request.version >= 5 and (request.protocol_type is None or request.protocol is None):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = _known_group(ctx, request.group)
    if group.is_empty():
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if isinstance(group, ClassicGroup):
        classic_sync.handle(ctx, call, request, group)
    else:
        interop.sync(ctx, call, request, group)


def heartbeat(ctx: Context, call: Call, request: Heartbeat) -> None:
    group = _known_group(ctx, request.group)
    if isinstance(group, ClassicGroup):
        classic_heartbeat.handle(ctx, call, request, group)
    else:
        interop.heartbeat(ctx, call, request, group)


def leave(ctx: Context, call: Call, request: LeaveGroup) -> None:
    _require_group_id(request.group)
    group = ctx.state.groups.get(request.group)
    if isinstance(group, ClassicGroup):
        classic_leave.handle(ctx, call, request, group)
    elif isinstance(group, ConsumerGroup):
        interop.leave(ctx, call, request, group)
    else:
        unknown = [ErrorCode.UNKNOWN_MEMBER_ID] * len(request.members)
        ctx.answer(call.ticket, classic_leave.left(request, unknown))


def _require_group_id(group: str) -> None:
    if not group:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)


def _known_group(ctx: Context, name: str) -> ClassicGroup | ConsumerGroup:
    _require_group_id(name)
    group = ctx.state.groups.get(name)
    if not isinstance(group, ClassicGroup | ConsumerGroup):
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return group
