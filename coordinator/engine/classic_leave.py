"""LeaveGroup to a classic group. Source: GroupMetadataManager.classicGroupLeaveToClassicGroup."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.engine import classic_rebalance
from coordinator.engine.answers import LeaveGroupAnswer
from coordinator.engine.calls import Call, LeaveGroup, LeavingMember
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.classic_member import ClassicState
from coordinator.engine.context import Context
from wire.errors import CoordinatorError, ErrorCode


def handle(ctx: Context, call: Call, request: LeaveGroup, group: ClassicGroup) -> None:
    """Remove the members one after the other, then rebalance once."""
    codes = [_remove(ctx, group, each) for each in request.members]
    ctx.answer(call.ticket, left(request, codes))
    if ErrorCode.NONE not in codes:
        return
    if group.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
        classic_rebalance.prepare_or_complete(ctx, group)
    else:
        classic_rebalance.complete_if_all_joined(ctx, group)


def left(request: LeaveGroup, codes: Sequence[ErrorCode]) -> LeaveGroupAnswer:
    """The answer, given each member's error. Below version 3 there is one member, and its error is the request's."""
    members = tuple(
        (each.member, each.instance, code) for each, code in zip(request.members, codes, strict=True)
    )
    error = codes[0] if request.version < 3 and codes else ErrorCode.NONE
    return LeaveGroupAnswer(error=error, members=members)


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
