"""The rebalance of a classic group. PreparingRebalance waits for every known member's JoinGroup (or the rebalance
timeout), CompletingRebalance for the leader's SyncGroup. Source: GroupMetadataManager.prepareRebalance,
completeClassicGroupJoin, propagateAssignment."""

from coordinator.engine.classic.group import ClassicGroup, ClassicMember
from coordinator.engine.context import EngineContext
from coordinator.engine.records import ClassicGroupRecord, ClassicMemberValue
from coordinator.engine.timers import TimerKey, TimerKind
from groups.listing import GroupState
from wire.errors import ErrorCode
from wire.values import dataclass, made


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupAnswer:
    """A refusal has generation -1, leader "" and no protocol."""

    error: ErrorCode = ErrorCode.NONE
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    member: str = ""
    members: tuple[ClassicMemberValue, ...] = ()
    """All members, with their metadata for the chosen protocol; empty except for the leader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupAnswer:
    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


def keep_alive(
    ctx: EngineContext, group: ClassicGroup, member: ClassicMember, timeout_ms: int | None = None
) -> None:
    """Restart a member's session timer."""
    timeout_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
    ctx.timers.set(made(TimerKey, (TimerKind.SESSION, group.id, member.id)), ctx.now_ms + timeout_ms)


def prepare_or_complete(ctx: EngineContext, group: ClassicGroup) -> None:
    """Start a rebalance or, if one is being prepared, complete it if possible."""
    if group.can_rebalance():
        prepare(ctx, group)
    else:
        complete_if_all_joined(ctx, group)


def prepare(ctx: EngineContext, group: ClassicGroup) -> None:
    """Enter PreparingRebalance: parked SyncGroups are answered, and every member must rejoin."""
    if group.state is GroupState.COMPLETING_REBALANCE:
        for member in group.members.values():
            member.assignment = b""
        answer_syncs(ctx, group, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_sync.clear()
    ctx.stop(TimerKind.SYNC, group.id)
    initial = group.is_empty()
    group.transition(GroupState.PREPARING_REBALANCE, ctx.now_ms)
    if initial:
        group.initial_delay_ms = max(0, ctx.config.group_initial_rebalance_delay_ms)
        group.initial_remaining_ms = max(0, group.rebalance_timeout_ms() - group.initial_delay_ms)
        ctx.start(TimerKind.INITIAL_DELAY, group.id, "", group.initial_delay_ms)
    elif group.all_joined():
        complete(ctx, group)
    else:
        ctx.start(TimerKind.JOIN, group.id, "", group.rebalance_timeout_ms())


def complete_if_all_joined(ctx: EngineContext, group: ClassicGroup) -> None:
    """Continue when all members have joined; the initial delay always runs to its end."""
    initial = group.previous_state is GroupState.EMPTY
    if group.state is GroupState.PREPARING_REBALANCE and not initial and group.all_joined():
        complete(ctx, group)


def complete(ctx: EngineContext, group: ClassicGroup) -> None:
    """End PreparingRebalance: dynamic members that did not join are removed, the others get the next generation."""
    ctx.stop(TimerKind.INITIAL_DELAY, group.id)
    ctx.stop(TimerKind.JOIN, group.id)
    for member in [member for member in group.members.values() if member.id not in group.joining]:
        if member.instance is None:
            group.remove(member.id)
            ctx.stop(TimerKind.SESSION, group.id, member.id)
    if not group.reelect_leader() and group.members:
        # Only static members are left and none of them has joined: wait for them again.
        ctx.start(TimerKind.JOIN, group.id, "", max(1, group.rebalance_timeout_ms()))
        return
    group.next_generation(ctx.now_ms)
    if group.is_empty():
        ctx.emit(ClassicGroupRecord(group=group.id, value=group.value({}, ctx.now_ms)))
        return
    for member in group.members.values():
        answer_join(ctx, group, member.id, joined(group, member.id))
        keep_alive(ctx, group, member)
        member.is_new = False
        group.pending_sync.add(member.id)
    ctx.start(TimerKind.SYNC, group.id, "", group.rebalance_timeout_ms())


def joined(group: ClassicGroup, member: str) -> JoinGroupAnswer:
    """The current generation; the leader's answer has all members and their metadata for the chosen protocol."""
    return JoinGroupAnswer(
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader or "",
        member=member,
        members=group.member_values(group.protocol, {}) if member == group.leader else (),
    )


def answer_join(ctx: EngineContext, group: ClassicGroup, member: str, answer: JoinGroupAnswer) -> None:
    """Answer a parked JoinGroup, if there is one."""
    ticket = group.joining.pop(member, None)
    if ticket is not None:
        ctx.answer(ticket, answer)


def answer_sync(ctx: EngineContext, group: ClassicGroup, member: str, answer: SyncGroupAnswer) -> bool:
    """Answer a parked SyncGroup; False if none is parked."""
    ticket = group.syncing.pop(member, None)
    if ticket is None:
        return False
    ctx.answer(ticket, answer)
    return True


def refuse_parked(ctx: EngineContext, group: ClassicGroup, error: ErrorCode) -> None:
    """Answer every parked request with an error, in the order of the group."""
    for member in group.in_order():
        answer_join(ctx, group, member.id, JoinGroupAnswer(error=error, member=member.id))
        answer_sync(ctx, group, member.id, SyncGroupAnswer(error=error))


def answer_syncs(ctx: EngineContext, group: ClassicGroup, error: ErrorCode = ErrorCode.NONE) -> None:
    """Answer every parked SyncGroup, with the member's assignment unless there is an error."""
    for member in group.members.values():
        answer = SyncGroupAnswer(error=error) if error else assigned(group, member)
        if answer_sync(ctx, group, member.id, answer):
            keep_alive(ctx, group, member)


def assigned(group: ClassicGroup, member: ClassicMember) -> SyncGroupAnswer:
    return SyncGroupAnswer(
        protocol_type=group.protocol_type, protocol=group.protocol, assignment=member.assignment
    )


def park_join(ctx: EngineContext, group: ClassicGroup, member: str, ticket: int) -> None:
    """Park a JoinGroup until the rebalance continues; an earlier one of the member is answered, unlike in Kafka."""
    if member in group.joining:
        answer_join(ctx, group, member, JoinGroupAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS, member=member))
    group.joining[member] = ticket


def park_sync(ctx: EngineContext, group: ClassicGroup, member: str, ticket: int) -> None:
    """Park a SyncGroup until the leader's arrives; for an earlier one see `park_join`."""
    if member in group.syncing:
        answer_sync(ctx, group, member, SyncGroupAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS))
    group.syncing[member] = ticket


def drop_member(ctx: EngineContext, group: ClassicGroup, member: str) -> None:
    """Remove a member or a pending id with its timers; its parked requests get UNKNOWN_MEMBER_ID."""
    answer_join(ctx, group, member, JoinGroupAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID))
    answer_sync(ctx, group, member, SyncGroupAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID))
    group.remove(member)
    ctx.stop(TimerKind.SESSION, group.id, member)
    ctx.stop(TimerKind.PENDING_MEMBER, group.id, member)
