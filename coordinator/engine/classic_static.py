"""A static member that comes back without its member id, and replaces itself (KIP-345, KIP-814).

Source: GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin.
"""

from __future__ import annotations

from coordinator.engine import classic_rebalance
from coordinator.engine.answers import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.calls import Call, JoinGroup
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.classic_member import ClassicMember, ClassicState
from coordinator.engine.context import Context
from coordinator.engine.records import ClassicGroupRecord
from coordinator.engine.timers import TimerKey, TimerKind
from wire.errors import ErrorCode


def replace(ctx: Context, call: Call, request: JoinGroup, group: ClassicGroup, new: str) -> None:
    """Give the instance a new member id, fence the old one, and rebalance only if the group's protocol would change."""
    instance = request.instance or ""
    old = group.static[instance]
    was_leader = group.leader == old
    _fence(ctx, group, old)
    member = group.replace_static(instance, new)
    classic_rebalance.keep_alive(ctx, group, member)
    group.offer(member, request.protocols)
    member.session_timeout_ms = request.session_timeout_ms
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    if group.state is ClassicState.STABLE and group.elect_protocol() == group.protocol:
        _replace_silently(ctx, call, request, group, member, old if was_leader else None)
        return
    classic_rebalance.park_join(ctx, group, new, call.ticket)
    if group.state is ClassicState.PREPARING_REBALANCE:
        classic_rebalance.complete_if_all_joined(ctx, group)
    else:
        classic_rebalance.prepare(ctx, group)


def _fence(ctx: Context, group: ClassicGroup, old: str) -> None:
    fenced = ErrorCode.FENCED_INSTANCE_ID
    classic_rebalance.answer_join(ctx, group, old, JoinGroupAnswer(error=fenced, member=old))
    classic_rebalance.answer_sync(ctx, group, old, SyncGroupAnswer(error=fenced))
    ctx.timers.cancel(TimerKey(TimerKind.SESSION, group.id, old))


def _replace_silently(
    ctx: Context,
    call: Call,
    request: JoinGroup,
    group: ClassicGroup,
    member: ClassicMember,
    old_leader: str | None,
) -> None:
    """Write the new id down, and hand out the present generation.

    From v9 on a replaced leader gets the members and is told to skip the assignment. Below, it is told that its old
    id leads, so that it takes itself for a follower.
    """
    assignments = {each.id: each.assignment for each in group.members.values()}
    value = group.value(assignments, group.state_since_ms)
    ctx.emit(ClassicGroupRecord(group=group.id, value=value))
    leads = group.leader == member.id and request.version >= 9
    answer = JoinGroupAnswer(
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=(group.leader or "") if request.version >= 9 or old_leader is None else old_leader,
        skip_assignment=leads,
        member=member.id,
        members=classic_rebalance.member_list(group) if leads else (),
    )
    ctx.answer(call.ticket, answer)
