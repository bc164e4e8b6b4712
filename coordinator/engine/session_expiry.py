"""Timeouts of groups: sessions that expire, members that have not joined, synced or revoked in time."""

from collections.abc import Callable

from coordinator.engine import topic_changes
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer import client_assignment
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.update import remove
from coordinator.engine.context import EngineContext, Group
from coordinator.engine.records import MemberState
from coordinator.engine.timers import TimerKey, TimerKind
from groups.listing import GroupState


def initial_delay_ended(ctx: EngineContext, group: ClassicGroup, key: TimerKey) -> None:
    """Extend the delay if members joined during it and the rebalance timeout permits it; otherwise continue."""
    remaining = group.initial_remaining_ms
    if not group.new_member_added or remaining == 0:
        join_timed_out(ctx, group, key)
    elif group.state is GroupState.PREPARING_REBALANCE:
        group.new_member_added = False
        group.initial_remaining_ms = max(0, remaining - group.initial_delay_ms)
        group.initial_delay_ms = min(ctx.config.group_initial_rebalance_delay_ms, remaining)
        ctx.timers.set(key, ctx.now_ms + group.initial_delay_ms)


def join_timed_out(ctx: EngineContext, group: ClassicGroup, _key: TimerKey) -> None:
    if group.state is GroupState.PREPARING_REBALANCE:
        rebalance.complete(ctx, group)


def sync_timed_out(ctx: EngineContext, group: ClassicGroup, _key: TimerKey) -> None:
    """Remove members that have not synced, whether or not the group has become Stable without them."""
    if group.pending_sync and group.state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
        for member in sorted(group.pending_sync):
            rebalance.drop_member(ctx, group, member)
        rebalance.prepare(ctx, group)


def session_timed_out(ctx: EngineContext, group: ClassicGroup, key: TimerKey) -> None:
    """Remove the member, unless it waits for an answer and is not new."""
    member = group.members.get(key.member)
    if member is None or (not member.is_new and (member.id in group.joining or member.id in group.syncing)):
        return
    rebalance.drop_member(ctx, group, member.id)
    if group.state is not GroupState.PREPARING_REBALANCE:
        rebalance.prepare_or_complete(ctx, group)
    elif group.all_joined():
        rebalance.complete(ctx, group)


def pending_member_timed_out(ctx: EngineContext, group: ClassicGroup, key: TimerKey) -> None:
    """Remove a member id that no member joined with."""
    group.pending.discard(key.member)
    if group.state is GroupState.PREPARING_REBALANCE and group.all_joined():
        rebalance.complete(ctx, group)


CLASSIC_TIMERS: dict[TimerKind, Callable[[EngineContext, ClassicGroup, TimerKey], None]] = {
    TimerKind.INITIAL_DELAY: initial_delay_ended,
    TimerKind.JOIN: join_timed_out,
    TimerKind.SYNC: sync_timed_out,
    TimerKind.SESSION: session_timed_out,
    TimerKind.PENDING_MEMBER: pending_member_timed_out,
}


def member_timed_out(ctx: EngineContext, group: ConsumerGroup, key: TimerKey) -> None:
    """Remove a member whose session expired, or a classic member that has not joined or synced in time."""
    member = group.members.get(key.member)
    if member is not None:
        remove(ctx, group, (member,))


def rebalance_timed_out(ctx: EngineContext, group: ConsumerGroup, key: TimerKey) -> None:
    """Remove a member that has not revoked in time."""
    member = group.members.get(key.member)
    if member is not None and member.current.state is MemberState.UNREVOKED_PARTITIONS:
        remove(ctx, group, (member,))


def group_loaded(ctx: EngineContext, group: Group) -> None:
    """Start every member's session after recovery; a classic group that is too large rebalances."""
    if isinstance(group, ClassicGroup):
        group.learn_subscriptions()
        for classic in group.members.values():
            rebalance.keep_alive(ctx, group, classic)
        if len(group.members) > ctx.config.group_max_size:
            rebalance.prepare(ctx, group)
        return
    session_timeout_ms = ctx.consumer_settings(group.id).session_timeout_ms
    for member in group.members.values():
        ctx.start(TimerKind.SESSION, group.id, member.id, session_timeout_ms)
        if member.current.state is MemberState.UNREVOKED_PARTITIONS:
            ctx.start(TimerKind.REBALANCE, group.id, member.id, member.metadata.rebalance_timeout_ms)


CONSUMER_TIMERS: dict[TimerKind, Callable[[EngineContext, ConsumerGroup, TimerKey], None]] = {
    TimerKind.SESSION: member_timed_out,
    TimerKind.REBALANCE: rebalance_timed_out,
    TimerKind.JOIN: member_timed_out,
    TimerKind.SYNC: member_timed_out,
    TimerKind.REGEX: lambda ctx, group, _key: topic_changes.resolve_regexes(ctx, group),
    TimerKind.CLIENT_ASSIGNOR: client_assignment.computing_timed_out,
}
