"""JoinGroup to a classic group.

A member comes with an empty id (new, or a static member that restarted) or with one that it was given. Refusals
echo the member id that was sent, except where the group is full. Source: GroupMetadataManager.classicGroupJoin*.
"""

from __future__ import annotations

from coordinator.engine import classic_rebalance
from coordinator.engine.answers import JoinGroupAnswer
from coordinator.engine.calls import Call, JoinGroup
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.classic_member import ClassicMember, ClassicState
from coordinator.engine.classic_static import replace
from coordinator.engine.config import NEW_MEMBER_JOIN_TIMEOUT_MS
from coordinator.engine.context import Context
from coordinator.engine.records import ClassicGroupRecord, ClassicGroupValue
from coordinator.engine.timers import TimerKey, TimerKind
from wire.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: JoinGroup) -> None:
    """Join, park or refuse. The group is a classic one, an Empty consumer group, or none yet."""
    group = _group(ctx, request)
    if not _has_room(ctx, group, request.member):
        classic_rebalance.dismiss(ctx, group, request.member)
        ctx.answer(call.ticket, JoinGroupAnswer(error=ErrorCode.GROUP_MAX_SIZE_REACHED))
    elif not group.supports(request.protocol_type, request.protocols):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    elif not request.member:
        _join_without_id(ctx, call, request, group)
    else:
        _join_with_id(ctx, call, request, group)


def _group(ctx: Context, request: JoinGroup) -> ClassicGroup:
    """The group, made where there is none. An Empty consumer group makes way, whatever the migration policy says."""
    group = ctx.state.groups.get(request.group)
    if isinstance(group, ClassicGroup):
        return group
    if request.member:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if group is not None:
        ctx.remove_group(group)
    return _create(ctx, request.group)


def _create(ctx: Context, name: str) -> ClassicGroup:
    """A group comes into being with the first JoinGroup, even if that is refused."""
    value = ClassicGroupValue(
        protocol_type="", generation=0, protocol=None, leader=None, state_since_ms=ctx.now_ms
    )
    ctx.emit(ClassicGroupRecord(group=name, value=value))
    return classic_group(ctx, name)


def classic_group(ctx: Context, name: str) -> ClassicGroup:
    """A group that is known to be a classic one."""
    group = ctx.state.groups[name]
    if not isinstance(group, ClassicGroup):
        raise AssertionError(f"{name} is no classic group")
    return group


def _has_room(ctx: Context, group: ClassicGroup, member: str) -> bool:
    """While a rebalance is prepared only those count who have joined it, so newcomers may take a known one's place."""
    most = ctx.config.group_max_size
    if group.is_empty():
        return True
    if group.state is ClassicState.PREPARING_REBALANCE:
        return member in group.joining or len(group.joining) < most
    return group.has_member(member) or len(group.members) < most


def _join_without_id(ctx: Context, call: Call, request: JoinGroup, group: ClassicGroup) -> None:
    prefix = call.client_id if request.instance is None else request.instance
    member = f"{prefix}-{call.fresh_id}"
    if request.instance is not None and request.instance in group.static:
        replace(ctx, call, request, group, member)
    elif request.instance is None and request.version >= 4:
        _give_id(ctx, call, request, group, member)
    else:
        _add(ctx, call, request, group, member)


def _give_id(ctx: Context, call: Call, request: JoinGroup, group: ClassicGroup, member: str) -> None:
    """KIP-394: a dynamic member is to come back with its id, so that lost answers leave no ghosts behind."""
    group.pending.add(member)
    key = TimerKey(TimerKind.PENDING_MEMBER, group.id, member)
    ctx.timers.set(key, ctx.now_ms + request.session_timeout_ms)
    ctx.answer(call.ticket, JoinGroupAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member=member))


def _join_with_id(ctx: Context, call: Call, request: JoinGroup, group: ClassicGroup) -> None:
    if request.member in group.pending and request.instance is None:
        ctx.timers.cancel(TimerKey(TimerKind.PENDING_MEMBER, group.id, request.member))
        _add(ctx, call, request, group, request.member)
        return
    group.validate_member(request.member, request.instance)
    member = group.members[request.member]
    if _knows_generation(group, member, request):
        ctx.answer(call.ticket, classic_rebalance.joined(group, member.id))
        return
    group.offer(member, request.protocols)
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    member.session_timeout_ms = request.session_timeout_ms
    classic_rebalance.park_join(ctx, group, member.id, call.ticket)
    classic_rebalance.prepare_or_complete(ctx, group)


def _knows_generation(group: ClassicGroup, member: ClassicMember, request: JoinGroup) -> bool:
    """Whether nothing changes, so that the present generation answers at once. A leader of a Stable group who
    joins again wants a rebalance."""
    if member.protocols != request.protocols:
        return False
    if group.state is ClassicState.STABLE:
        return member.id != group.leader
    return group.state is ClassicState.COMPLETING_REBALANCE


def _add(ctx: Context, call: Call, request: JoinGroup, group: ClassicGroup, id_: str) -> None:
    member = ClassicMember(
        id=id_,
        instance=request.instance,
        client_id=call.client_id,
        host=call.host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocols=request.protocols,
        is_new=True,
    )
    if group.state is ClassicState.PREPARING_REBALANCE and group.previous_state is ClassicState.EMPTY:
        group.new_member_added = True
    group.add(member, request.protocol_type)
    classic_rebalance.park_join(ctx, group, id_, call.ticket)
    classic_rebalance.keep_alive(ctx, group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
    classic_rebalance.prepare_or_complete(ctx, group)
