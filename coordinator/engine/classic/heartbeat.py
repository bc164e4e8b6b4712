"""Heartbeat."""

from coordinator.engine.calls import Call, Repeat, Request
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.context import EngineContext
from coordinator.engine.records import ClassicMemberMetadata, MemberState
from coordinator.engine.static_members import check_classic_member, static_member
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.errors import RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode
from wire.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatAnswer:
    error: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Request[HeartbeatAnswer]):
    """Heartbeat v0–v4."""

    group: str
    generation: int
    member: str
    instance: str | None

    def refused(self, error: RequestRefused) -> HeartbeatAnswer:
        return HeartbeatAnswer(error=error.code)


_ALIVE, _MUST_JOIN = HeartbeatAnswer(), HeartbeatAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS)


def handle(ctx: EngineContext, call: Call, request: Heartbeat) -> None:
    group = ctx.group_of_member(request.group)
    if isinstance(group, ClassicGroup):
        check_classic_member(group, request.member, request.instance)
        if request.generation != group.generation:
            raise RequestRefused(ErrorCode.ILLEGAL_GENERATION)
        rebalance.keep_alive(ctx, group, group.members[request.member])
        preparing = group.state is GroupState.PREPARING_REBALANCE
        ctx.answer(call.ticket, _MUST_JOIN if preparing else _ALIVE)
    else:
        member, classic = classic_member(group, request.member, request.instance, request.generation)
        ctx.start(TimerKind.SESSION, group.id, member.id, classic.session_timeout_ms)
        state = member.current.state
        must_join = (
            member.epoch < group.assignment_epoch
            or state is MemberState.UNREVOKED_PARTITIONS
            or (state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member))
        )
        if must_join:
            expect_join(ctx, group, member)
        ctx.answer(call.ticket, _MUST_JOIN if must_join else _ALIVE)


def steady(ctx: EngineContext, request: Heartbeat, answer: object) -> Repeat | None:
    """See `Engine.steady`."""
    group = ctx.state.groups.get(request.group)
    member = group.members.get(request.member) if isinstance(group, ClassicGroup) else None
    if not isinstance(group, ClassicGroup) or member is None or answer != _ALIVE:
        return None
    key = TimerKey(TimerKind.SESSION, group.id, member.id)

    def repeat(now_ms: int) -> bool:
        is_same = (
            ctx.state.groups.get(group.id) is group
            and group.members.get(member.id) is member
            and group.generation == request.generation
            and group.state is not GroupState.PREPARING_REBALANCE
            and (request.instance is None or group.static.get(request.instance) == member.id)
        )
        if is_same:
            ctx.timers.set(key, now_ms + member.session_timeout_ms)
        return is_same

    return repeat


def classic_member(
    group: ConsumerGroup, member_id: str, instance: str | None, generation: int
) -> tuple[ConsumerMember, ClassicMemberMetadata]:
    """The member, if it uses the classic protocol and knows its epoch. Raises RequestRefused."""
    member = group.member(member_id) if instance is None else static_member(group, member_id, instance)
    if member.classic is None:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)
    if generation != member.epoch:
        raise RequestRefused(ErrorCode.ILLEGAL_GENERATION)
    return member, member.classic


def expect_join(ctx: EngineContext, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Start the rebalance timeout of a member that was asked to rejoin, unless it is running."""
    key = TimerKey(TimerKind.JOIN, group.id, member.id)
    if ctx.timers.deadline(key) is None:
        ctx.timers.set(key, ctx.now_ms + member.metadata.rebalance_timeout_ms)
