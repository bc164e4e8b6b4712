"""SyncGroup, Heartbeat and LeaveGroup to a consumer group: members of it that speak the classic protocol.

SyncGroup fetches the member's assignment, Heartbeat says when it has to join again. A member that should join again
has its rebalance timeout for it, and one that joined has it for its SyncGroup.

Source: GroupMetadataManager.classicGroupSyncToConsumerGroup, classicGroupHeartbeatToConsumerGroup,
classicGroupLeaveToConsumerGroup.
"""

from __future__ import annotations

from coordinator.engine.answers import HeartbeatAnswer, SyncGroupAnswer
from coordinator.engine.calls import Call, Heartbeat, LeaveGroup, LeavingMember, SyncGroup
from coordinator.engine.classic_group import CONSUMER_PROTOCOL
from coordinator.engine.classic_leave import left
from coordinator.engine.consumer_checks import static_member
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.consumer_leave import remove
from coordinator.engine.consumer_member import ConsumerMember
from coordinator.engine.context import Context
from coordinator.engine.downgrade import encode_assignment
from coordinator.engine.records import ClassicMemberMetadata, MemberState
from coordinator.engine.timers import TimerKey, TimerKind
from wire.errors import CoordinatorError, ErrorCode


def sync(ctx: Context, call: Call, request: SyncGroup, group: ConsumerGroup) -> None:
    """Answer with the member's assignment, which may still be one that it has to get smaller from."""
    member, classic = _classic_member(group, request.member, request.instance, request.generation)
    first, subscription = classic.protocols[0]
    for asked, actual in ((request.protocol_type, CONSUMER_PROTOCOL), (request.protocol, first)):
        if asked is not None and asked != actual:
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    unrevoked = member.current.state is MemberState.UNREVOKED_PARTITIONS
    if group.assignment_epoch > member.epoch and not unrevoked:
        _expect_join(ctx, group, member)
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    ctx.timers.cancel(TimerKey(TimerKind.SYNC, group.id, member.id))
    _keep_alive(ctx, group, member, classic)
    if member.epoch == group.assignment_epoch:
        group.client.reach_target(member.id)
    word = group.client.word_for(member.id)
    assignment = encode_assignment(ctx.topics, member.assigned, subscription, word)
    ctx.answer(
        call.ticket,
        SyncGroupAnswer(
            protocol_type=request.protocol_type, protocol=request.protocol, assignment=assignment
        ),
    )


def heartbeat(ctx: Context, call: Call, request: Heartbeat, group: ConsumerGroup) -> None:
    """REBALANCE_IN_PROGRESS where there is something for the member to give up or to get."""
    member, classic = _classic_member(group, request.member, request.instance, request.generation)
    _keep_alive(ctx, group, member, classic)
    state = member.current.state
    must_join = (
        member.epoch < group.assignment_epoch
        or state is MemberState.UNREVOKED_PARTITIONS
        or (state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member))
    )
    if must_join:
        _expect_join(ctx, group, member)
    error = ErrorCode.REBALANCE_IN_PROGRESS if must_join else ErrorCode.NONE
    ctx.answer(call.ticket, HeartbeatAnswer(error=error))


def leave(ctx: Context, call: Call, request: LeaveGroup, group: ConsumerGroup) -> None:
    """Remove all that can be removed at once: members of either protocol."""
    leaving: dict[str, ConsumerMember] = {}
    codes = []
    for each in request.members:
        try:
            member = _leaving(group, each)
        except CoordinatorError as error:
            codes.append(error.code)
        else:
            leaving[member.id] = member
            codes.append(ErrorCode.NONE)
    remove(ctx, group, tuple(leaving.values()))
    ctx.answer(call.ticket, left(request, codes))


def _leaving(group: ConsumerGroup, leaving: LeavingMember) -> ConsumerMember:
    """An administrator names a static member by its instance id alone."""
    if leaving.instance is None:
        return group.member(leaving.member)
    holder = group.static_member(leaving.instance)
    return static_member(group, leaving.member or (holder.id if holder else ""), leaving.instance)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance: str | None, generation: int
) -> tuple[ConsumerMember, ClassicMemberMetadata]:
    """The member, if it speaks the classic protocol and knows its epoch. Raises CoordinatorError."""
    member = group.member(member_id) if instance is None else static_member(group, member_id, instance)
    if member.classic is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if generation != member.epoch:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    return member, member.classic


def _keep_alive(
    ctx: Context, group: ConsumerGroup, member: ConsumerMember, classic: ClassicMemberMetadata
) -> None:
    session = TimerKey(TimerKind.SESSION, group.id, member.id)
    ctx.timers.set(session, ctx.now_ms + classic.session_timeout_ms)


def _expect_join(ctx: Context, group: ConsumerGroup, member: ConsumerMember) -> None:
    """The member has been told to join again: from the first time on it has its rebalance timeout."""
    key = TimerKey(TimerKind.JOIN, group.id, member.id)
    if ctx.timers.deadline(key) is None:
        ctx.timers.set(key, ctx.now_ms + member.metadata.rebalance_timeout_ms)
