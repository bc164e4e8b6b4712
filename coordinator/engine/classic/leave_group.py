"""LeaveGroup."""

from collections.abc import Sequence
from dataclasses import dataclass

from coordinator.engine.calls import Call, Request
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.consumer.update import remove
from coordinator.engine.context import EngineContext
from coordinator.engine.static_members import check_classic_member, static_member
from coordinator.errors import RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupAnswer:
    """`members`: member id, instance id and error of each leaving member."""

    error: ErrorCode = ErrorCode.NONE
    members: tuple[tuple[str, str | None, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroup(Request[LeaveGroupAnswer]):
    """LeaveGroup v0–v5; exactly one member before v3."""

    group: str
    members: tuple[tuple[str, str | None], ...]
    """Member id and instance id of each member; the member id is empty if only the instance id is given."""
    version: int = 5

    def refused(self, error: RequestRefused) -> LeaveGroupAnswer:
        return LeaveGroupAnswer(error=error.code)


def handle(ctx: EngineContext, call: Call, request: LeaveGroup) -> None:
    group = ctx.state.groups.get(request.group)
    if isinstance(group, ClassicGroup):
        _leave_classic_group(ctx, call, request, group)
    elif isinstance(group, ConsumerGroup):
        leaving: dict[str, ConsumerMember] = {}
        codes = []
        for name, instance in request.members:
            try:
                if instance is None:
                    member = group.member(name)
                else:  # an administrator identifies a static member by its instance id only
                    holder = group.static_member(instance)
                    member = static_member(group, name or (holder.id if holder else ""), instance)
                leaving[member.id] = member
                codes.append(ErrorCode.NONE)
            except RequestRefused as error:
                codes.append(error.code)
        remove(ctx, group, tuple(leaving.values()))
        ctx.answer(call.ticket, _answer(request, codes))
    else:
        unknown = [ErrorCode.UNKNOWN_MEMBER_ID] * len(request.members)
        ctx.answer(call.ticket, _answer(request, unknown))


def _leave_classic_group(ctx: EngineContext, call: Call, request: LeaveGroup, group: ClassicGroup) -> None:
    """Remove the members one by one, then rebalance once."""
    codes = []
    for member, instance in request.members:
        # An administrator identifies a static member by its instance id only.
        holder = member or ("" if instance is None else group.static.get(instance, ""))
        try:
            if not member or member not in group.pending:
                check_classic_member(group, holder, instance)
            rebalance.drop_member(ctx, group, holder)
            codes.append(ErrorCode.NONE)
        except RequestRefused as error:
            codes.append(error.code)
    ctx.answer(call.ticket, _answer(request, codes))
    if ErrorCode.NONE not in codes:
        return
    if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
        rebalance.prepare_or_complete(ctx, group)
    else:
        rebalance.complete_if_all_joined(ctx, group)


def _answer(request: LeaveGroup, codes: Sequence[ErrorCode]) -> LeaveGroupAnswer:
    """The answer, given each member's error. Before version 3 the error of the only member is the request's."""
    members = tuple((*leaving, code) for leaving, code in zip(request.members, codes, strict=True))
    error = codes[0] if request.version < 3 and codes else ErrorCode.NONE
    return LeaveGroupAnswer(error=error, members=members)
