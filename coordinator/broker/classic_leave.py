"""LeaveGroup to a classic group. Source: GroupMetadataManager.classicGroupLeaveToClassicGroup."""

from __future__ import annotations

from coordinator.broker import classic_rebalance
from coordinator.broker.answers import LeaveGroupAnswer
from coordinator.broker.calls import Call, LeaveGroup, LeavingMember
from coordinator.broker.classic_group import ClassicGroup
from coordinator.broker.classic_member import ClassicState
from coordinator.broker.context import Context
from coordinator.broker.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: LeaveGroup, group: ClassicGroup) -> None:
    """Remove the members one after the other, then rebalance once."""
    members = tuple((each.member, each.instance, _remove(ctx, group, each)) for each in request.members)
    ctx.answer(call.ticket, LeaveGroupAnswer(members=members))
    if not any(error is ErrorCode.NONE for _, _, error in members):
        return
    if group.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
        classic_rebalance.prepare_or_complete(ctx, group)
    else:
        classic_rebalance.complete_if_all_joined(ctx, group)


def _remove(ctx: Context, group: ClassicGroup, leaving: LeavingMember) -> ErrorCode:
    """An administrator names a static member by its instance id alone."""
    try:
        member = _leaving_id(group, leaving)
    except CoordinatorError as error:
        return error.code
    classic_rebalance.dismiss(ctx, group, member)
    return ErrorCode.NONE


def _leaving_id(group: ClassicGroup, leaving: LeavingMember) -> str:
    if not leaving.member:
        holder = None if leaving.instance is None else group.static.get(leaving.instance)
        if holder is None:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return holder
    if leaving.member not in group.pending:
        group.validate_member(leaving.member, leaving.instance)
    return leaving.member
