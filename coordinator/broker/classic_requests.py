"""The requests of the classic protocol, up to the group that they are for.

What can be judged without the group is judged here, in the order of KafkaApis and GroupCoordinatorService. Then a
consumer group takes them in its own way: members of it may speak the classic protocol (KIP-848 "Online migration").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coordinator.broker import classic_heartbeat, classic_join, classic_leave, classic_sync, interop
from coordinator.broker.answers import JoinGroupAnswer
from coordinator.broker.calls import Call, Heartbeat, JoinGroup, LeaveGroup, SyncGroup
from coordinator.broker.classic_group import ClassicGroup
from coordinator.broker.context import Context
from coordinator.broker.errors import CoordinatorError, ErrorCode
from coordinator.broker.group import Group, GroupType

INTEROP: Mapping[type, Callable[[Context, Call, Any, Any], None]] = interop.HANDLERS
"""How a consumer group takes JoinGroup, SyncGroup, Heartbeat and LeaveGroup: (context, call, request, group)."""


def join(ctx: Context, call: Call, request: JoinGroup) -> None:
    _require_group_id(request.group)
    shortest, longest = ctx.config.group_min_session_timeout_ms, ctx.config.group_max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        raise CoordinatorError(ErrorCode.INVALID_SESSION_TIMEOUT)
    group = ctx.state.groups.get(request.group)
    if group is not None and group.type is GroupType.CONSUMER and not group.is_empty():
        _join_consumer_group(ctx, call, request, group)
    else:
        classic_join.handle(ctx, call, request)


def _join_consumer_group(ctx: Context, call: Call, request: JoinGroup, group: Group) -> None:
    """A refusal by a consumer group does not echo the member id."""
    try:
        INTEROP[JoinGroup](ctx, call, request, group)
    except CoordinatorError as error:
        ctx.answer(call.ticket, JoinGroupAnswer(error=error.code))


def sync(ctx: Context, call: Call, request: SyncGroup) -> None:
    if request.version >= 5 and (request.protocol_type is None or request.protocol is None):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = _known_group(ctx, request.group)
    if group.is_empty():
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if isinstance(group, ClassicGroup):
        classic_sync.handle(ctx, call, request, group)
    else:
        INTEROP[SyncGroup](ctx, call, request, group)


def heartbeat(ctx: Context, call: Call, request: Heartbeat) -> None:
    group = _known_group(ctx, request.group)
    if isinstance(group, ClassicGroup):
        classic_heartbeat.handle(ctx, call, request, group)
    else:
        INTEROP[Heartbeat](ctx, call, request, group)


def leave(ctx: Context, call: Call, request: LeaveGroup) -> None:
    _require_group_id(request.group)
    group = ctx.state.groups.get(request.group)
    if group is None:
        unknown = [ErrorCode.UNKNOWN_MEMBER_ID] * len(request.members)
        ctx.answer(call.ticket, classic_leave.left(request, unknown))
    elif isinstance(group, ClassicGroup):
        classic_leave.handle(ctx, call, request, group)
    else:
        INTEROP[LeaveGroup](ctx, call, request, group)


def _require_group_id(group: str) -> None:
    if not group:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)


def _known_group(ctx: Context, name: str) -> Group:
    _require_group_id(name)
    group = ctx.state.groups.get(name)
    if group is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return group
